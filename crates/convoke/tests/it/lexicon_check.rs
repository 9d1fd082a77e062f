//! `convoke lexicon check`.

use crate::session::Session;

const OLD: &str = r##"{ "lexicon": 1, "id": "com.example.note", "defs": {
  "main": { "type": "record", "key": "tid", "record": { "type": "object", "required": ["text"], "properties": {
    "text": { "type": "string", "maxLength": 100 },
    "mood": { "type": "string", "enum": ["good", "bad"] },
    "place": { "type": "ref", "ref": "#place" } } } },
  "place": { "type": "object", "properties": { "name": { "type": "string" } } } } }"##;

const BROKEN: &str = r##"{ "lexicon": 1, "id": "com.example.note", "defs": {
  "main": { "type": "record", "key": "any", "record": { "type": "object", "required": ["body", "by"], "properties": {
    "body": { "type": "string", "maxLength": 100 },
    "by": { "type": "string", "format": "did" },
    "mood": { "type": "string", "enum": ["good", "bad", "ugly"] },
    "tags": { "type": "array", "items": { "type": "string" } },
    "place": { "type": "ref", "ref": "#place" } } } },
  "place": { "type": "object", "properties": { "name": { "type": "integer" } } } } }"##;

fn session() -> Session {
    Session::new()
        .file("old.json", OLD)
        .file("broken.json", BROKEN)
        .file(
            "safe.json",
            OLD.replace("\"maxLength\": 100", "\"maxLength\": 200, \"description\": \"words\""),
        )
        .file("not-json.json", "{")
        .file(
            "not-a-lexicon.json",
            r#"{"lexicon":1,"id":"note","defs":{"main":{"type":"record","record":{}}}}"#,
        )
}

#[test]
fn changes_are_told_one_a_line() {
    let commands = [
        "lexicon check old.json broken.json",
        "lexicon check old.json broken.json --json",
        "lexicon check old.json safe.json",
        "lexicon check old.json old.json",
        "lexicon check old.json old.json --json",
        "lexicon check agent.comms.message agent.comms.request",
    ];
    insta::assert_snapshot!(session().transcript(&commands));
}

#[test]
fn what_cannot_be_compared_is_refused_with_a_hint() {
    let commands = [
        "lexicon check old.json missing.json",
        "lexicon check old.json not-json.json",
        "lexicon check not-a-lexicon.json old.json",
    ];
    insta::assert_snapshot!(session().transcript(&commands));
}

#[test]
fn folders_are_compared_by_id() {
    let other = |id: &str| OLD.replace("com.example.note", id);
    let session = Session::new()
        .file("before/a.json", OLD)
        .file("before/deep/b.json", other("com.example.gone"))
        .file("before/readme.txt", "not a lexicon")
        .file("after/renamed.json", OLD)
        .file("after/c.json", other("com.example.fresh"))
        .file("twice/a.json", OLD)
        .file("twice/b.json", OLD)
        .file("empty/readme.txt", "nothing");
    let commands = [
        "lexicon check before after",
        "lexicon check twice after",
        "lexicon check empty after",
        "lexicon check old.json .",
    ];
    insta::assert_snapshot!(session.transcript(&commands));
}
