//! The lexicons that we ship against the specification, and our words against the lexicons.

use std::collections::BTreeSet;

use dialect::Dialect;
use json::Value;

use super::{object, value};
use crate::{Comms, Record, catalog, words};

#[test]
fn every_record_has_its_lexicon() {
    for record in Record::ALL {
        assert!(catalog().has_record(record.name()), "{}", record.name());
        assert_eq!(Record::from_name(record.name()), Some(record));
    }
    assert_eq!(catalog().documents().len(), Record::ALL.len());
    assert!(catalog().unresolved().is_empty());
}

#[test]
fn the_lexicons_say_what_the_specification_says() {
    let Some(folder) = testkit::shared("specs") else { return };
    let text = testkit::read(&folder.join("1-comms-lexicons.md"));
    let mut seen = 0;
    for block in text.split("```json\n").skip(1) {
        let stated = value(block.split("```").next().unwrap());
        let name = stated.get("id").and_then(Value::as_str).unwrap();
        let ours = value(definitions::find(name).unwrap().text);
        assert_eq!(without_prose(&ours), without_prose(&stated), "{name}");
        seen += 1;
    }
    assert_eq!(seen, Record::ALL.len());
}

/// Descriptions are our own words.
fn without_prose(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(without_prose).collect()),
        Value::Object(object) => {
            let members =
                object.iter().filter(|(key, value)| *key != "description" || value.as_str().is_none());
            Value::Object(members.map(|(key, value)| (key.to_owned(), without_prose(value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone().into_owned(),
    }
}

#[test]
fn our_words_are_those_of_the_lexicons() {
    let stated = |record: &str, pointer: &str| -> BTreeSet<String> {
        let lexicon = value(definitions::find(record).unwrap().text);
        let words = lexicon.pointer(pointer).and_then(Value::as_array).unwrap();
        words.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let ours = |words: &[&str]| -> BTreeSet<String> { words.iter().map(|word| (*word).to_owned()).collect() };
    let kind = "/defs/content/properties/kind/enum";
    let properties = "/defs/main/record/properties";
    assert_eq!(stated("agent.comms.message", kind), ours(words::CONTENT_KINDS));
    assert_eq!(stated("agent.comms.broadcast", kind), ours(words::CONTENT_KINDS));
    assert_eq!(
        stated("agent.comms.broadcast", &format!("{properties}/severity/enum")),
        ours(words::SEVERITIES)
    );
    assert_eq!(stated("agent.comms.response", &format!("{properties}/status/enum")), ours(words::STATUSES));
}

#[test]
fn records_are_told_from_other_documents() {
    let ours = [
        r#"{"$type":"agent.comms.message"}"#,
        r#"{"$type":"agent.comms.task"}"#,
        r#"{"$type":"agent.comms.message#main"}"#,
        r#"{"sender":"did:plc:x","createdAt":1}"#,
        r#"{"from":"did:plc:x","to":"did:plc:y","createdAt":"now"}"#,
    ];
    let others = [
        "{}",
        r#"{"$type":"app.bsky.feed.post","sender":"did:plc:x","createdAt":""}"#,
        r#"{"$type":5}"#,
        r#"{"sender":"ann","createdAt":""}"#,
        r#"{"wire":"1.0","type":"brief","payload":{}}"#,
        r#"{"message_id":"m","sender":{"agent_id":"x"}}"#,
        r#"{"kind":"note","from":"did:plc:x","to":["bob"],"created":"2026-11-15T10:00:00Z"}"#,
    ];
    for text in ours {
        assert!(Comms.recognizes(&object(text)), "{text}");
    }
    for text in others {
        assert!(!Comms.recognizes(&object(text)), "{text}");
    }
}
