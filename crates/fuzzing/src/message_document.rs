//! The canonical message: what is accepted is written again and reads as the same message.

use json::Limits;

pub(crate) fn run(bytes: &[u8]) {
    match message::decode(bytes, Limits::DOCUMENT) {
        Ok(decoded) => {
            let text = decoded.message.encode();
            let limits = Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT };
            let again = message::decode(text.as_bytes(), limits).map(|again| again.message);
            assert_eq!(again, Ok(decoded.message), "what was written reads back");
        }
        Err(findings) => assert!(!findings.is_empty(), "a refusal says why"),
    }
}
