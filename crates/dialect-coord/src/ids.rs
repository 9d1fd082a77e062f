//! Ids that are made from others: the same every time, so that a message translated twice is one message.

mod sha1;

use std::fmt::Write;

/// The UUIDv5 of `urn:agent-bridge` in the name space of URLs, under which all ids are made.
const NAMESPACE: [u8; 16] =
    [0xab, 0x8f, 0xbe, 0x38, 0x92, 0x00, 0x52, 0x48, 0xac, 0x6e, 0x4c, 0x93, 0x01, 0xcf, 0x9a, 0x31];

/// Returns an id as a UUID: itself where it is one, else one made from it.
pub(crate) fn as_uuid(id: &str) -> String {
    if dialect::is_uuid(id) { id.to_owned() } else { uuid5(NAMESPACE, id) }
}

/// Makes the UUID of version 5 of a name (RFC 9562, section 5.5).
fn uuid5(namespace: [u8; 16], name: &str) -> String {
    let digest = sha1::digest(&[&namespace[..], name.as_bytes()].concat());
    let mut text = String::with_capacity(36);
    for (at, byte) in digest.iter().take(16).enumerate() {
        let byte = match at {
            6 => 0x50 | (byte & 0x0f),
            8 => 0x80 | (byte & 0x3f),
            _ => *byte,
        };
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{NAMESPACE, as_uuid, sha1, uuid5};

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_are_those_of_the_standard() {
        let cases = [
            (String::new(), "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc".to_owned(), "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".to_owned(),
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            ("a".repeat(1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ];
        for (text, digest) in cases {
            assert_eq!(hex(&sha1::digest(text.as_bytes())), digest, "{} bytes", text.len());
        }
    }

    #[test]
    fn ids_are_uuids_of_version_5() {
        let urls =
            [0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];
        assert_eq!(uuid5(urls, "urn:agent-bridge"), "ab8fbe38-9200-5248-ac6e-4c9301cf9a31");
        assert_eq!(hex(&NAMESPACE), "ab8fbe3892005248ac6e4c9301cf9a31");
        assert_eq!(as_uuid("msg_1719000000000_abcd123"), "0401a97a-6737-5019-b557-805efe2dbb73");
        assert_eq!(as_uuid("3D5A56F0-400B-4FBB-A89A-56F74F97F8AF"), "3D5A56F0-400B-4FBB-A89A-56F74F97F8AF");
    }
}
