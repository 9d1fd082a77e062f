//! Frames: those that are read in one pass mean what looking at them says.

use json::Limits;
use message::skim;

use super::frame::{Frame, Ordinary};

const DOCUMENT: &str =
    r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"a\nb","own":[1,{"x":null}]}"#;

/// Tells whether a frame was read in one pass; then looking at it must say the same.
fn agrees(text: &str) -> bool {
    let Some(ordinary) = Ordinary::read(text) else { return false };
    let frame = Frame::read(text).unwrap_or_else(|problem| panic!("{problem:?}: {text}"));
    assert_eq!((frame.op(), frame.has_wishes()), ("send", false), "{text}");
    assert_eq!(frame.reference(), ordinary.reference, "{text}");
    assert_eq!(frame.dialect().unwrap(), Some(dialect::Name::Convoke), "{text}");
    let document = frame.document().unwrap();
    assert_eq!(document, ordinary.document.written.text, "{text}");
    assert_eq!(Some(ordinary.document), skim(document, Limits::DOCUMENT), "{text}");
    true
}

#[test]
fn ordinary_frames_mean_the_same_either_way() {
    for frame in [
        format!(r#"{{"op":"send","ref":"1","document":{DOCUMENT}}}"#),
        format!(r#" {{ "document" : {DOCUMENT} , "ref" : -7.5 , "dialect":"convoke", "op" : "send" }} "#),
        format!(r#"{{"op":"send","ref":"\u00e9\"","document":{}}}"#, DOCUMENT.replace(':', " : ")),
    ] {
        assert!(agrees(&frame), "{frame}");
        for at in 0..frame.len() {
            let mut bytes = frame.as_bytes().to_vec();
            bytes.remove(at);
            agrees(&String::from_utf8(bytes).unwrap());
            for byte in *b"\"\\{}[],: 0x" {
                let mut bytes = frame.as_bytes().to_vec();
                bytes[at] = byte;
                agrees(&String::from_utf8(bytes).unwrap());
            }
        }
    }
}

#[test]
fn other_frames_are_looked_at() {
    let long = "x".repeat(300);
    for frame in [
        format!(r#"{{"op":"ack","ref":"1","document":{DOCUMENT}}}"#),
        format!(r#"{{"op":"send","dialect":"bus","document":{DOCUMENT}}}"#),
        format!(r#"{{"op":"send","wait":"5s","document":{DOCUMENT}}}"#),
        format!(r#"{{"op":"send","ref":null,"document":{DOCUMENT}}}"#),
        format!(r#"{{"op":"send","ref":"{long}","document":{DOCUMENT}}}"#),
        format!(r#"{{"op":"send","op":"send","document":{DOCUMENT}}}"#),
        r#"{"op":"send"}"#.to_owned(),
        r#"{"op":"send","document":{"kind":"note"}}"#.to_owned(),
    ] {
        assert!(Ordinary::read(&frame).is_none(), "{frame}");
    }
}
