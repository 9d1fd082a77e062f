//! Messages as records: one line of the vectors each.

use dialect::Dialect;
use json::Value;

use super::{message, registry, shown, value};
use crate::Comms;

#[test]
fn messages_are_written_as_the_records_beside_them() {
    let path = testkit::root().join("vectors/comms/records.jsonl");
    let (text, names) = (testkit::read(&path), registry());
    let mut found = String::new();
    for line in text.lines() {
        let mut case = value(line);
        let encoded = Comms.encode(&message(case.get("message").unwrap()), &names);
        let document = Value::Object(encoded.document);
        let verdict = Comms.validate(&document);
        assert!(verdict.is_valid(), "{document}: {:?}", shown(&verdict.errors));
        let invented = encoded.invented.into_iter().map(Value::from).collect();
        let object = case.as_object_mut().unwrap();
        object.insert("document", document);
        object.insert("invented", Value::Array(invented));
        found.push_str(&format!("{case}\n"));
    }
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    for (found, expected) in found.lines().zip(testkit::read(&path).lines()) {
        assert_eq!(found, expected);
    }
    assert!(found.lines().count() >= message::Kind::ALL.len());
}
