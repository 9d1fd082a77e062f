//! Posting: what stands in a file, what it is called, and that nothing is ever overwritten.

use std::fs;

use dialect::{Dialect, Names};
use dialect_channel::Channel;
use dialect_channel::file_name::FileName;
use json::Value;

use super::{noon, root, said};
use crate::{Draft, Put, Root, RootError};

#[test]
fn a_message_is_as_the_specification_has_it() {
    let (_folder, root) = root();
    let draft = Draft {
        code: Some("let a = 1;".to_owned()),
        in_reply_to: Some("msg-20260111-115959-codex-a1b2".to_owned()),
        ..said("Please review this")
    };
    let posted = root.post("agent-os-paper", &draft, noon()).unwrap();
    assert!(posted.id.starts_with("msg-20260111-120000-claude-"), "{}", posted.id);
    assert_eq!(fs::read_to_string(&posted.path).unwrap(), posted.document);
    assert_eq!(posted.path.file_name().unwrap().to_str().unwrap(), format!("{}.json", posted.id));
    let document = json::parse_str(&posted.document, json::Limits::DOCUMENT).unwrap();
    assert!(Channel.validate(&document).errors.is_empty());
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
    assert_eq!(text("/timestamp"), "2026-01-11T12:00:00.123Z");
    assert_eq!(text("/session_id"), "agent-os-paper");
    assert_eq!(text("/metadata/turn"), "claude");
    let message = Channel.decode(&document, &Names::default()).unwrap().message;
    assert_eq!(message.text.as_deref(), Some("Please review this"));
    assert_eq!(message.reply_to.unwrap().as_str(), "msg-20260111-115959-codex-a1b2");
}

#[test]
fn names_of_a_second_sort_as_they_were_posted() {
    let (_folder, root) = root();
    let ids: Vec<String> =
        (0..300).map(|number| root.post("a", &said(&format!("{number}")), noon()).unwrap().id).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
    assert!(ids.iter().all(|id| FileName::parse(id).unwrap().has_hex4()));
    assert_eq!(root.messages("a").unwrap().len(), 300);
}

#[test]
fn deprecated_ids_are_never_written() {
    let (_folder, root) = root();
    let posted = root.post("a", &Draft::new("claude-1", "codex-1", "hi"), noon()).unwrap();
    assert!(posted.id.contains("-claude-") && !posted.document.contains("claude-1"));
    assert!(!posted.document.contains("codex-1"));
}

#[test]
fn a_name_that_was_fixed_is_written_once() {
    let (_folder, root) = root();
    let id = "msg-20260111-120000-claude-00ff";
    assert_eq!(root.put("a", id, b"{}").unwrap(), Put::Written);
    assert_eq!(root.put("a", id, b"{}").unwrap(), Put::WasThere);
    assert!(matches!(root.put("a", id, b"[]"), Err(RootError::Clash { .. })));
    assert_eq!(root.read("a", id).unwrap().unwrap(), b"{}");
    for bad in ["msg-1", "../msg-20260111-120000-claude-00ff", "msg-20260111-120000-claude-00FF", ""] {
        assert!(matches!(root.put("a", bad, b"{}"), Err(RootError::BadName { .. })), "{bad}");
    }
}

#[test]
fn what_a_dead_writer_left_is_in_nobodys_way() {
    let (_folder, root) = root();
    let id = "msg-20260111-120000-claude-00ff";
    root.post("a", &said("first"), noon()).unwrap();
    fs::write(root.path().join("channels/a").join(format!(".{id}.tmp")), b"{\"ha").unwrap();
    assert_eq!(root.put("a", id, b"{}").unwrap(), Put::Written);
    assert_eq!(root.read("a", id).unwrap().unwrap(), b"{}");
}

#[test]
fn nothing_is_written_outside_the_root() {
    let (folder, root) = root();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.path().join("channels/link")).unwrap();
    assert!(matches!(root.post("link", &said("x"), noon()), Err(RootError::NotAFolder { .. })));
    for bad in ["..", ".", "", "a/b", ".hidden", "a\0b"] {
        assert!(matches!(root.post(bad, &said("x"), noon()), Err(RootError::BadName { .. })), "{bad:?}");
    }
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
    assert!(!root.channels().unwrap().contains(&"link".to_owned()));
    fs::remove_dir_all(root.path().join("channels")).unwrap();
    std::os::unix::fs::symlink(&outside, root.path().join("channels")).unwrap();
    assert!(matches!(Root::open(root.path()), Err(RootError::NotAFolder { .. })));
}

#[test]
fn a_folder_without_channels_is_no_root() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(Root::open(folder.path()), Err(RootError::NotARoot { .. })));
    assert!(matches!(Root::open(folder.path().join("none")), Err(RootError::Storage { .. })));
}

#[test]
fn a_log_grows_and_is_set_aside() {
    let (_folder, root) = root();
    let line = "x".repeat(1 << 20);
    for _ in 0..13 {
        root.log("watcher", &line).unwrap();
    }
    let bytes = |name: &str| fs::metadata(root.path().join("logs").join(name)).unwrap().len();
    assert!(bytes("watcher.log") < 4 << 20 && bytes("watcher.log.1") > 10 << 20);
}

#[test]
fn a_root_that_was_replaced_is_found_again() {
    let (folder, root) = root();
    root.post("a", &said("before"), noon()).unwrap();
    fs::rename(root.path(), folder.path().join("aside")).unwrap();
    assert!(root.refresh().is_err(), "nothing lies there");
    let other = Root::create(root.path()).unwrap();
    other.post("b", &said("after"), noon()).unwrap();
    assert_eq!(root.channels().unwrap(), ["a"], "the old one is still open");
    root.refresh().unwrap();
    assert_eq!(root.channels().unwrap(), ["b"]);
    root.refresh().unwrap();
    root.post("b", &said("once more"), noon()).unwrap();
    assert_eq!(other.messages("b").unwrap().len(), 2);
}
