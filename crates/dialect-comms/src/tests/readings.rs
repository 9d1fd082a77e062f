//! What the good vectors mean, as the messages that are read from them.

use dialect::Names;
use json::{Limits, Value};

use super::decoded;

#[test]
fn good_records_mean_what_is_written_beside_them() {
    let folder = testkit::root().join("vectors/comms");
    let mut names: Vec<String> = std::fs::read_dir(folder.join("good"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut found = String::new();
    for name in names {
        let text = testkit::read(&folder.join(format!("good/{name}.json")));
        let document = json::parse_str(&text, Limits::DOCUMENT).unwrap();
        let read = decoded(&document, &Names::default()).message;
        let line = [("base", Value::from(name)), ("message", read.to_value())];
        found.push_str(&format!("{}\n", Value::Object(line.into_iter().collect())));
    }
    let path = folder.join("messages.jsonl");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    for (found, expected) in found.lines().zip(testkit::read(&path).lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, testkit::read(&path));
}
