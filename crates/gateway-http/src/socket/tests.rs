//! Frames: those that are read in one pass mean what looking at them says.

use json::Limits;
use message::skim;

use super::frame::{Frame, Ordinary, What};

const DOCUMENT: &str =
    r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"a\nb","own":[1,{"x":null}]}"#;

/// Tells whether a frame was read in one pass; then looking at it must say the same.
fn agrees(text: &str) -> bool {
    let Some(ordinary) = Ordinary::read(text) else { return false };
    let frame = Frame::read(text).unwrap_or_else(|problem| panic!("{problem:?}: {text}"));
    assert!(!frame.has_wishes(), "{text}");
    assert_eq!(frame.reference(), ordinary.reference, "{text}");
    assert_eq!(frame.dialect().unwrap(), Some(dialect::Name::Convoke), "{text}");
    match ordinary.what {
        What::Send(skimmed) => {
            assert_eq!(frame.op(), "send", "{text}");
            let document = frame.document().unwrap();
            assert_eq!(document, skimmed.written.text, "{text}");
            assert_eq!(Some(skimmed), skim(document, Limits::DOCUMENT), "{text}");
        }
        What::Ack(delivery) => {
            assert_eq!(frame.op(), "ack", "{text}");
            assert_eq!(frame.delivery().unwrap().parse(), Ok(delivery), "{text}");
        }
    }
    true
}

#[test]
fn ordinary_frames_mean_the_same_either_way() {
    for frame in [
        format!(r#"{{"op":"send","ref":"1","document":{DOCUMENT}}}"#),
        format!(r#" {{ "document" : {DOCUMENT} , "ref" : -7.5 , "dialect":"convoke", "op" : "send" }} "#),
        format!(r#"{{"op":"send","ref":"\u00e9\"","document":{}}}"#, DOCUMENT.replace(':', " : ")),
        r#"{"op":"ack","delivery":"0193a5b0-7d3a-7c00-8000-00000000002a"}"#.to_owned(),
        r#"{"ref":"7","op":"ack","delivery":"0193a5b0-7d3a-7c00-8000-00000000002a"}"#.to_owned(),
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
        r#"{"op":"ack"}"#.to_owned(),
        r#"{"op":"ack","delivery":"no delivery"}"#.to_owned(),
        r#"{"op":"nack","delivery":"0193a5b0-7d3a-7c00-8000-00000000002a"}"#.to_owned(),
        r#"{"op":"ack","delivery":"0193a5b0-7d3a-7c00-8000-00000000002a","by":"me"}"#.to_owned(),
        format!(r#"{{"op":"send","delivery":"0193a5b0-7d3a-7c00-8000-00000000002a","document":{DOCUMENT}}}"#),
        r#"{"op":"send","document":{"kind":"note"}}"#.to_owned(),
    ] {
        assert!(Ordinary::read(&frame).is_none(), "{frame}");
    }
}
