//! The canonical message: what is accepted is written again and reads as the same message, and what is skimmed is read
//! without a word and means the same.

use json::Limits;

pub(crate) fn run(bytes: &[u8]) {
    skim(bytes);
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

fn skim(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(skimmed) = message::skim(text, Limits::DOCUMENT) else { return };
    let decoded = message::decode(bytes, Limits::DOCUMENT);
    let decoded = decoded.expect("what was skimmed can be read");
    assert!(decoded.warnings.is_empty(), "what was skimmed has nothing odd about it");
    assert_eq!(skimmed.schema, decoded.message.schema.as_deref(), "the schema is the same");
    let mut message = decoded.message;
    message.let_content_go();
    assert_eq!(*skimmed.message, message, "skimming and reading agree");
    let (written, compact) = (skimmed.written, json::compact(text));
    assert_eq!(json::compact(written.text), compact, "nothing but blanks stand around it");
    assert_eq!(written.is_compact, written.text == compact, "it is known whether there are blanks");
}
