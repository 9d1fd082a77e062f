//! Vectors: documents as files, each with its findings beside it.
//!
//! A new case is a new `.json` file. The findings stand in a `.txt` file of the same name as `path code`, one a
//! line: errors for `bad`, warnings for `good`, where no file means none. `UPDATE_VECTORS=1` writes them; read the
//! diff.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use json::Limits;

use super::{parse, show};
use crate::{Decoded, Message, decode};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(name)
}

/// Goes through the documents of a folder and compares their findings with those beside them.
fn check(name: &str, findings: impl Fn(&[u8]) -> Vec<String>) {
    let mut documents: Vec<PathBuf> = Vec::new();
    let mut expectations = BTreeSet::new();
    for entry in std::fs::read_dir(folder(name)).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => documents.push(path),
            Some("txt") => drop(expectations.insert(path)),
            Some(_) | None => panic!("neither a document nor findings: {}", path.display()),
        }
    }
    documents.sort();
    assert!(!documents.is_empty());
    let mut wrong = Vec::new();
    for document in documents {
        let beside = document.with_extension("txt");
        let expected = if expectations.remove(&beside) { testkit::read(&beside) } else { String::new() };
        let found: String =
            findings(&std::fs::read(&document).unwrap()).iter().map(|line| format!("{line}\n")).collect();
        if std::env::var_os("UPDATE_VECTORS").is_some() && !found.is_empty() {
            std::fs::write(&beside, &found).unwrap();
        } else if found != expected {
            wrong.push(format!("{}\nexpected:\n{expected}found:\n{found}", document.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(expectations.is_empty(), "findings without a document: {expectations:?}");
}

fn good(bytes: &[u8]) -> Decoded {
    decode(bytes, Limits::DOCUMENT)
        .unwrap_or_else(|findings| panic!("{findings:?}\n{}", String::from_utf8_lossy(bytes)))
}

#[test]
fn good_documents_are_read_and_survive() {
    check("good", |bytes| {
        let decoded = good(bytes);
        let again = good(decoded.message.encode().as_bytes());
        assert_eq!(again.message, decoded.message);
        show(&decoded.warnings)
    });
}

#[test]
fn bad_documents_are_refused_for_every_reason() {
    check("bad", |bytes| match decode(bytes, Limits::DOCUMENT) {
        Ok(decoded) => panic!("accepted: {decoded:?}"),
        Err(findings) => show(&findings),
    });
}

/// This vector is in canonical order and form, so it comes back to the byte.
#[test]
fn every_field_is_written_in_order() {
    let text = testkit::read(&folder("good").join("every-field.json"));
    let document = parse(&text);
    assert_eq!(good(text.as_bytes()).message.encode(), document.to_string());
    let keys: Vec<&str> = document.as_object().unwrap().iter().map(|(key, _)| key).collect();
    assert_eq!(keys[..Message::FIELDS.len()], *Message::FIELDS);
    assert_eq!(keys[Message::FIELDS.len()..], ["x_first", "a_second"]);
}
