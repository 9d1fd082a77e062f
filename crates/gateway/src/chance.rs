//! Chance: ids that nobody has had before.

use message::MessageId;

/// Returns random bytes. A machine that has none could have made no token either.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if let Err(error) = getrandom::fill(&mut bytes) {
        tracing::error!(error = %error, "the machine has no randomness");
    }
    bytes
}

/// Returns a UUID of version 4.
pub fn uuid() -> String {
    let mut bytes: [u8; 16] = random();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    MessageId::from_bytes(bytes).to_string()
}
