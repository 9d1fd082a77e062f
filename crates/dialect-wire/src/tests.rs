//! Tests of the dialect `wire`: the vectors, what is read and written, cards and prompts, and properties of all.

mod cards;
mod prompts;
mod properties;
mod reading;
mod runner;
mod schemas;
mod vectors;
mod writing;

use dialect::{Dialect, Names, Verdict};
use json::{Limits, Object, Value};
use message::Message;

use crate::Wire;

fn parse(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap().into_owned()
}

/// A document of `vectors/wire`, by its path without the ending.
fn vector(path: &str) -> Value<'static> {
    let file = testkit::root().join("vectors/wire").join(format!("{path}.json"));
    parse(&testkit::read(&file))
}

fn object(value: &Value<'static>) -> Object<'static> {
    value.as_object().unwrap().clone()
}

/// Findings, each as `/pointer code source`.
fn shown(findings: &json::Findings) -> Vec<String> {
    let show =
        |finding: &json::Finding| format!("{} {} {}", finding.path, finding.code, finding.source.name());
    findings.kept().iter().map(show).collect()
}

fn found(verdict: &Verdict) -> testkit::Findings {
    testkit::Findings { errors: shown(&verdict.errors), warnings: shown(&verdict.warnings) }
}

/// Reads a document that must be readable.
fn decode(document: &Value<'_>) -> Message {
    match Wire.decode(document, &Names::default()) {
        Ok(decoded) => decoded.message,
        Err(errors) => panic!("{document}: {:?}", shown(&errors)),
    }
}

/// Writes a message; what is written must be valid.
fn encode(message: &Message) -> Value<'static> {
    let document = Value::Object(Wire.encode(message, &Names::default()).document);
    let verdict = Wire.validate(&document);
    assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
    document
}

fn message(text: &str) -> Message {
    message::from_value(parse(text)).unwrap().message
}
