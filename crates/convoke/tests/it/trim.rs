//! A log that was trimmed, from the command line: trimming it, exporting it, checking it, and the history beside it.

use std::fs;

use crate::server::Place;

const SMALL: &str = "[limits]\nmessage_bytes = \"1MiB\"\n[log]\nsegment_bytes = \"4MiB\"\nrecord_bytes = \"2MiB\"\nkeep = \"300d\"\n";
/// Messages of which some fill a segment.
const MESSAGES: usize = 12;

/// Runs a command that must succeed.
fn yes(place: &Place, words: &str) -> String {
    let (code, told) = place.run(words);
    assert_eq!(code, 0, "{words}: {told}");
    told
}

/// Sends messages that are settled, and one that waits.
fn fill(place: &Place) {
    yes(place, "agent add ann");
    yes(place, "agent add bob");
    yes(place, "send --from ann --to human Hello");
    for number in 0..MESSAGES {
        let text = "fill ".repeat(180_000);
        let note =
            format!(r#"{{"kind":"note","from":"ann","to":["bob"],"native_id":"n{number}","text":"{text}"}}"#);
        place.write("note.json", &note);
        yes(place, "send --from ann --dialect convoke --file note.json --json");
        let taken = yes(place, "inbox --from bob --take --json");
        let delivery = taken.split("\"delivery\":\"").nth(1).and_then(|rest| rest.split('"').next());
        yes(place, &format!("ack {} --from bob", delivery.unwrap()));
    }
}

#[test]
fn a_trimmed_log_tells_what_it_no_longer_has() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let server = place.start("--config small.toml");
    fill(&place);
    // The history reads behind the log; it is asked until it has.
    while yes(&place, "log trim --keep 0s --dry-run").contains("hint:") {}
    let trimmed = yes(&place, "log trim --keep 0s");
    assert!(trimmed.starts_with("given up: "), "{trimmed}");
    assert!(trimmed.contains("1 documents carried forward"), "{trimmed}");
    let nothing = yes(&place, "log trim --keep 0s");
    assert!(nothing.starts_with("given up: 0 segments"), "{nothing}");
    let told = yes(&place, "doctor");
    assert!(told.contains("only the history still knows"), "{told}");

    let exported = yes(&place, "export");
    let gone = exported.matches("\"gone\":true").count();
    assert!(gone > 0 && gone < MESSAGES, "{gone}");
    assert!(exported.contains(&format!("{gone} of them without their documents")));
    let lines: Vec<&str> = exported.lines().filter(|line| line.starts_with('{')).collect();
    let other = Place::new();
    other.write("bus.jsonl", &lines.join("\n"));
    let _server = other.start("");
    let imported = yes(&other, "import bus.jsonl");
    assert!(imported.contains(&format!("left out {gone}, refused 0")), "{imported}");

    assert_eq!(server.stop(), 0);
    let verified = yes(&place, "log verify");
    assert!(verified.contains("\ntrimmed    1 to "), "{verified}");
    let told = yes(&place, "doctor --config small.toml");
    assert!(told.contains("alone knows what was up to record"), "{told}");
}

#[test]
fn a_history_that_knows_more_than_the_log_is_given_up_only_if_told_to() {
    let place = Place::new();
    place.write("small.toml", SMALL);
    let server = place.start("--config small.toml");
    fill(&place);
    while yes(&place, "log trim --keep 0s --dry-run").contains("hint:") {}
    yes(&place, "log trim --keep 0s");
    assert_eq!(server.stop(), 0);
    let file = place.data().join("history.db");
    fs::write(&file, "this is no database, and what it held is gone for good").unwrap();
    let (code, refused) = place.run("up --listen 127.0.0.1:0");
    assert_eq!(code, 2, "{refused}");
    assert!(refused.contains("only it knows what happened before record"), "{refused}");
    assert!(refused.contains("--lossy-history"), "{refused}");
    let server = place.start("--lossy-history");
    assert!(place.data().join("history.db.damaged").is_file(), "it is set aside and not deleted");
    let inbox = yes(&place, "inbox --from human --json");
    assert!(inbox.contains("Hello"), "{inbox}");
    assert_eq!(server.stop(), 0);
}
