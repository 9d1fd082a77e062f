//! Multibase: text forms of bytes whose first character names the alphabet.
//!
//! See the [table of bases](https://github.com/multiformats/multibase/blob/master/multibase.csv).

/// Marks a byte outside of the alphabet.
const NONE: u8 = u8::MAX;

const BASE16: &[u8] = b"0123456789abcdef";
const BASE16_UPPER: &[u8] = b"0123456789ABCDEF";
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BASE32_UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE32_HEX: &[u8] = b"0123456789abcdefghijklmnopqrstuv";
const BASE32_HEX_UPPER: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
const BASE32_Z: &[u8] = b"ybndrfg8ejkmcpqxot1uwisza345h769";
const BASE36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const BASE36_UPPER: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE58_BITCOIN: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE58_FLICKR: &[u8] = b"123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The usual base of the protocol comes first, since the list is searched in order.
static BASES: [Base; 22] = [
    Base::new(b'b', BASE32, Packing::Bits(5)),
    Base::new(b'z', BASE58_BITCOIN, Packing::Number),
    Base::new(b'f', BASE16, Packing::Bits(4)),
    Base::new(b'0', b"01", Packing::Bits(1)),
    Base::new(b'7', b"01234567", Packing::Bits(3)),
    Base::new(b'9', b"0123456789", Packing::Number),
    Base::new(b'F', BASE16_UPPER, Packing::Bits(4)),
    Base::new(b'v', BASE32_HEX, Packing::Bits(5)),
    Base::new(b'V', BASE32_HEX_UPPER, Packing::Bits(5)),
    Base::new(b't', BASE32_HEX, Packing::PaddedBits(5)),
    Base::new(b'T', BASE32_HEX_UPPER, Packing::PaddedBits(5)),
    Base::new(b'B', BASE32_UPPER, Packing::Bits(5)),
    Base::new(b'c', BASE32, Packing::PaddedBits(5)),
    Base::new(b'C', BASE32_UPPER, Packing::PaddedBits(5)),
    Base::new(b'h', BASE32_Z, Packing::Bits(5)),
    Base::new(b'k', BASE36, Packing::Number),
    Base::new(b'K', BASE36_UPPER, Packing::Number),
    Base::new(b'Z', BASE58_FLICKR, Packing::Number),
    Base::new(b'm', BASE64, Packing::Bits(6)),
    Base::new(b'M', BASE64, Packing::PaddedBits(6)),
    Base::new(b'u', BASE64_URL, Packing::Bits(6)),
    Base::new(b'U', BASE64_URL, Packing::PaddedBits(6)),
];

/// One way to write bytes as text.
pub(crate) struct Base {
    prefix: u8,
    /// The value of each byte as a digit; all are below 64 except for [`NONE`].
    values: [u8; 256],
    radix: u32,
    packing: Packing,
}

/// How digits become bytes.
#[derive(Clone, Copy)]
enum Packing {
    /// Every digit is so many bits, high bits first; what remains at the end must be zero.
    Bits(u32),
    /// The same, followed by any number of `=`.
    PaddedBits(u32),
    /// All digits are one big number, and every leading zero digit is a zero byte.
    Number,
}

impl Base {
    const fn new(prefix: u8, alphabet: &[u8], packing: Packing) -> Self {
        let mut values = [NONE; 256];
        let mut value = 0;
        while value < alphabet.len() {
            values[alphabet[value] as usize] = value as u8;
            value += 1;
        }
        Self { prefix, values, radix: alphabet.len() as u32, packing }
    }

    /// Tells whether the text after the prefix is spelled in the alphabet.
    pub(crate) fn accepts(&self, digits: &str) -> bool {
        let seen = |seen: u8, &byte: &u8| seen | self.values[usize::from(byte)];
        self.without_padding(digits).iter().fold(0, seen) < 64
    }

    /// Decodes the text after the prefix; nothing if it has a stray character or stray bits.
    pub(crate) fn decode(&self, digits: &str) -> Option<Vec<u8>> {
        if !self.accepts(digits) {
            return None;
        }
        let values =
            self.without_padding(digits).iter().map(|&byte| u32::from(self.values[usize::from(byte)]));
        match self.packing {
            Packing::Bits(bits) | Packing::PaddedBits(bits) => unpack_bits(values, bits),
            Packing::Number => Some(unpack_number(values, self.radix)),
        }
    }

    fn without_padding<'a>(&self, digits: &'a str) -> &'a [u8] {
        match self.packing {
            Packing::PaddedBits(_) => digits.trim_end_matches('=').as_bytes(),
            Packing::Bits(_) | Packing::Number => digits.as_bytes(),
        }
    }
}

/// Finds the base that the first character of a text names, and the digits that follow.
pub(crate) fn split(text: &str) -> Option<(&'static Base, &str)> {
    let prefix = *text.as_bytes().first()?;
    let base = BASES.iter().find(|base| base.prefix == prefix)?;
    Some((base, &text[1..]))
}

/// Writes bytes in lower-case base 32 without padding, with the prefix `b`.
pub(crate) fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(1 + (bytes.len() * 8).div_ceil(5));
    text.push('b');
    for group in bytes.chunks(5) {
        let number =
            (0..5).fold(0, |number, at| number << 8 | group.get(at).map_or(0_u64, |&byte| byte.into()));
        let digits = (group.len() * 8).div_ceil(5);
        let digit = |at: usize| char::from(BASE32[(number >> (35 - 5 * at)) as usize % 32]);
        text.extend((0..digits).map(digit));
    }
    text
}

fn unpack_bits(values: impl Iterator<Item = u32>, bits: u32) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(values.size_hint().0 * bits as usize / 8);
    let (mut pending, mut pending_bits) = (0, 0);
    for value in values {
        pending = pending << bits | value;
        pending_bits += bits;
        if pending_bits >= 8 {
            pending_bits -= 8;
            bytes.push((pending >> pending_bits) as u8);
            pending &= (1 << pending_bits) - 1;
        }
    }
    // A whole digit too many, or bits that would be lost, would give one value two spellings.
    (pending_bits < bits && pending == 0).then_some(bytes)
}

fn unpack_number(values: impl Iterator<Item = u32>, radix: u32) -> Vec<u8> {
    let mut zeros = 0;
    // The number in base 256, low byte first.
    let mut number: Vec<u8> = Vec::new();
    for value in values {
        if value == 0 && number.is_empty() {
            zeros += 1;
            continue;
        }
        let mut carry = value;
        for byte in &mut number {
            carry += u32::from(*byte) * radix;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            number.push(carry as u8);
        }
    }
    number.extend(std::iter::repeat_n(0, zeros));
    number.reverse();
    number
}
