//! Tests of the dialect `comms`.

mod drift;
mod encoding;
mod hostile;
mod ids;
mod lexicons;
mod properties;
mod readings;
mod vectors;

use dialect::{Decoded, Dialect, Names};
use json::{Findings, Limits, Object, Value};
use message::Message;

use crate::Comms;

fn value(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap_or_else(|error| panic!("{text}: {error}")).into_owned()
}

fn object(text: &str) -> Object<'static> {
    value(text).as_object().unwrap().clone()
}

fn message(value: &Value<'_>) -> Message {
    message::from_value(value.clone()).unwrap_or_else(|errors| panic!("{value}: {errors:?}")).message
}

fn decoded(document: &Value<'_>, names: &Names) -> Decoded {
    Comms.decode(document, names).unwrap_or_else(|errors| panic!("{document}: {:?}", errors.kept()))
}

fn shown(findings: &Findings) -> Vec<String> {
    let show =
        |finding: &json::Finding| format!("{} {} {}", finding.path, finding.code, finding.source.name());
    findings.kept().iter().map(show).collect()
}

/// Agents of whom everything is known.
fn registry() -> Names {
    let text = r#"[
        {"slug":"ann","did":"did:plc:ann","handle":"ann.example.com","uri":"codex://ann","framework":"codex"},
        {"slug":"bob","did":"did:web:bob.example.com"},
        {"slug":"net","did":"did:cf:abc@network"}
    ]"#;
    Names::from_value(&value(text)).unwrap()
}
