//! SHA-1 (RFC 3174), which UUIDs of version 5 are made with. It protects nothing here.

/// Computes the digest of bytes.
pub(super) fn digest(bytes: &[u8]) -> [u8; 20] {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let blocks = bytes.chunks_exact(64);
    let rest = blocks.remainder();
    for block in blocks {
        mix(&mut state, block);
    }
    // The end: one bit, zeros, and the length in bits, in one block or two.
    let mut end = [0_u8; 128];
    end[..rest.len()].copy_from_slice(rest);
    end[rest.len()] = 0x80;
    let end_bytes = if rest.len() < 56 { 64 } else { 128 };
    let bits = (bytes.len() as u64).wrapping_mul(8);
    end[end_bytes - 8..end_bytes].copy_from_slice(&bits.to_be_bytes());
    for block in end[..end_bytes].chunks_exact(64) {
        mix(&mut state, block);
    }
    let mut digest = [0; 20];
    for (place, word) in digest.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

fn mix(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
    }
    for at in 16..80 {
        words[at] = (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (round, word) in words.into_iter().enumerate() {
        let (chosen, constant) = match round / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let sum = [chosen, e, constant, word].into_iter().fold(a.rotate_left(5), u32::wrapping_add);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, sum);
    }
    for (kept, mixed) in state.iter_mut().zip([a, b, c, d, e]) {
        *kept = kept.wrapping_add(mixed);
    }
}
