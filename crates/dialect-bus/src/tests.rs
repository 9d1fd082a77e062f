//! Tests of the dialect.

mod decoding;
mod encoding;
mod properties;
mod routing;
mod schemas;
mod vectors;

use dialect::{Dialect, Names};
use json::{Findings, Limits, Object, Value};
use message::Message;

use crate::Bus;

/// The agents of the specification's examples.
const REGISTRY: &str = r#"[
    {"slug": "orchestrator", "uri": "claude-code://orchestrator", "framework": "claude-code"},
    {"slug": "code-reviewer", "uri": "opencode://code-reviewer", "framework": "opencode"},
    {"slug": "fullstack-reviewer", "uri": "codex://fullstack-reviewer", "framework": "codex"}
]"#;

fn parse(text: &str) -> Value<'_> {
    json::parse_str(text, Limits::DOCUMENT).unwrap()
}

fn names() -> Names {
    Names::from_value(&parse(REGISTRY)).unwrap()
}

/// A good vector by its name.
fn good(name: &str) -> String {
    testkit::read(&testkit::root().join("vectors/bus/good").join(format!("{name}.json")))
}

/// A good vector with some places set and some taken out.
fn edited(name: &str, set: &[(&str, &str)], remove: &[&str]) -> Object<'static> {
    let mut document = parse(&good(name)).into_owned().as_object().unwrap().clone();
    for (pointer, value) in set {
        dialect::put(&mut document, pointer, parse(value).into_owned());
    }
    for pointer in remove {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let part = parent
            .split('/')
            .skip(1)
            .fold(&mut document, |object, step| object.get_mut(step).and_then(Value::as_object_mut).unwrap());
        part.remove(key).unwrap();
    }
    document
}

fn message(text: &str) -> Message {
    message::from_value(parse(text)).unwrap().message
}

fn shown(findings: &Findings) -> Vec<String> {
    let show =
        |finding: &json::Finding| format!("{} {} {}", finding.path, finding.code, finding.source.name());
    findings.kept().iter().map(show).collect()
}

fn decoded(document: &Object<'static>) -> (Message, Vec<String>) {
    let decoded = Bus.decode(&Value::Object(document.clone()), &Names::default()).unwrap();
    (decoded.message, shown(&decoded.warnings))
}
