//! Tests of the dialect: vectors, the decisions' tables, and properties.

mod addressing;
mod decoding;
mod encoding;
mod file_names;
mod presence;
mod properties;
mod vectors;

use dialect::{Decoded, Dialect, Names};
use json::{Findings, Limits, Value};
use message::Message;

use crate::Channel;

fn value(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap().into_owned()
}

fn good(name: &str) -> Value<'static> {
    value(&testkit::read(&testkit::root().join(format!("vectors/channel/good/{name}.json"))))
}

/// A canonical message from its JSON, with a sender and a recipient where the text has none.
fn message(text: &str) -> Message {
    message::from_value(value(text)).unwrap().message
}

fn decode(document: &Value<'_>) -> Decoded {
    let decoded = Channel.decode(document, &Names::default());
    decoded.unwrap_or_else(|errors| panic!("{document}: {errors:?}"))
}

fn show(findings: &Findings) -> Vec<String> {
    let line =
        |finding: &json::Finding| format!("{} {} {}", finding.path, finding.code, finding.source.name());
    findings.kept().iter().map(line).collect()
}
