//! Tests on real folders, with real processes.

mod following;
mod hostile;
mod posting;
mod presences;
mod writers;

use message::Timestamp;

use crate::{Draft, Root};

fn root() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::create(folder.path().join("collab")).unwrap();
    (folder, root)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn noon() -> Timestamp {
    at("2026-01-11T12:00:00.123Z")
}

fn said(text: &str) -> Draft {
    Draft::new("claude", "codex", text)
}
