//! The journal of a watcher survives what ends it.

use std::io::Write;

use message::Timestamp;

use crate::{Entry, Journal, State, WatchError};

fn now() -> Timestamp {
    "2026-01-11T16:33:15Z".parse().unwrap()
}

fn states(entries: &[Entry]) -> Vec<(&str, &State)> {
    entries.iter().map(|entry| (entry.file.as_str(), &entry.state)).collect()
}

#[test]
fn the_last_word_counts_and_half_a_line_is_none() {
    let root = tempfile::tempdir().unwrap();
    let (mut journal, entries) = Journal::open(root.path(), "codex").unwrap();
    assert!(entries.is_empty());
    let failed = State::Failed("failed: \"no\"\nkey".to_owned());
    journal.pass("a", &["1".to_owned(), "2".to_owned()], now()).unwrap();
    journal.write("a", "3", &State::Started, now()).unwrap();
    journal.write("b", "3", &State::Started, now()).unwrap();
    journal.write("a", "3", &failed, now()).unwrap();
    drop(journal);
    let path = root.path().join(".state/codex.seen");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"not json\n{\"channel\":\"a\",\"file\":\"1\",\"is\":\"answ").unwrap();
    let (mut journal, entries) = Journal::open(root.path(), "codex").unwrap();
    let wanted = [("1", &State::Passed), ("2", &State::Passed), ("3", &failed), ("3", &State::Started)];
    assert_eq!(states(&entries), wanted);
    journal.write("a", "4", &State::Started, now()).unwrap();
    drop(journal);
    assert_eq!(Journal::look(root.path(), "codex").unwrap().0.len(), 5, "half a line spoils none after it");
}

#[test]
fn one_watcher_writes_and_others_see_that_it_does() {
    let root = tempfile::tempdir().unwrap();
    assert!(!Journal::look(root.path(), "codex").unwrap().1);
    let (journal, _) = Journal::open(root.path(), "codex").unwrap();
    assert!(matches!(Journal::open(root.path(), "codex"), Err(WatchError::Busy { .. })));
    assert!(Journal::look(root.path(), "codex").unwrap().1);
    Journal::open(root.path(), "gemini").unwrap();
    drop(journal);
    assert!(!Journal::look(root.path(), "codex").unwrap().1);
    Journal::open(root.path(), "codex").unwrap();
}

#[test]
fn wishes_are_kept_until_they_are_done() {
    let root = tempfile::tempdir().unwrap();
    let (journal, _) = Journal::open(root.path(), "codex").unwrap();
    assert!(journal.wishes().unwrap().is_empty());
    Journal::wish(root.path(), "codex", "a", "1").unwrap();
    let wanted = [("a".to_owned(), "1".to_owned())];
    assert_eq!(journal.wishes().unwrap(), wanted);
    drop(journal);
    let (journal, _) = Journal::open(root.path(), "codex").unwrap();
    assert_eq!(journal.wishes().unwrap(), wanted, "the one who took them ended before they were done");
    journal.wishes_are_done().unwrap();
    assert!(journal.wishes().unwrap().is_empty());
}

#[test]
fn a_journal_does_not_grow_without_end() {
    let root = tempfile::tempdir().unwrap();
    let (mut journal, _) = Journal::open(root.path(), "codex").unwrap();
    let path = root.path().join(".state/codex.seen");
    for nth in 0..200_000 {
        journal.pass("a", &[format!("msg-{}", nth % 10)], now()).unwrap();
        journal.tidy(|entry| entry.file != "msg-3").unwrap();
    }
    assert!(std::fs::metadata(&path).unwrap().len() < 6 << 20);
    journal.write("a", "last", &State::Started, now()).unwrap();
    drop(journal);
    let (entries, _) = Journal::look(root.path(), "codex").unwrap();
    assert_eq!(entries.last().unwrap().file, "last");
    assert!(entries.len() <= 11);
}

#[test]
fn links_in_the_state_folder_are_refused() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join(".state")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", root.path().join(".state/codex.seen")).unwrap();
    assert!(matches!(Journal::open(root.path(), "codex"), Err(WatchError::Journal { .. })));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let root = tempfile::tempdir().unwrap();
    for agent in ["../codex", ".codex", "", "a/b", "a\nb"] {
        assert!(matches!(Journal::open(root.path(), agent), Err(WatchError::Root(_))), "{agent:?}");
        assert!(matches!(Journal::look(root.path(), agent), Err(WatchError::Root(_))), "{agent:?}");
        assert!(matches!(Journal::wish(root.path(), agent, "a", "1"), Err(WatchError::Root(_))), "{agent:?}");
    }
    assert!(std::fs::read_dir(root.path()).unwrap().next().is_none());
}
