//! What users read is kept: the changelog, and the documentation of the public crates.

use super::Finding;
use super::rust_text::RustText;
use super::tree::Tree;

const CHANGELOG: &str = "CHANGELOG.md";
const HEADING: &str = "## Unreleased";

/// Crates outside `lib/` that others program against.
const PUBLIC_CRATES: [&str; 3] =
    ["crates/client/src/lib.rs", "crates/dialect/src/lib.rs", "crates/message/src/lib.rs"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(check_changelog(tree));
    for file in tree.rust_files().filter(|file| is_public_root(&file.path)) {
        if !RustText::split(&file.text).code.contains("#![deny(missing_docs)]") {
            let hint = "add #![deny(missing_docs)]; others program against this crate";
            findings.push(Finding::new(&file.path, 1, "the crate does not demand documentation", hint));
        }
    }
    findings
}

fn check_changelog(tree: &Tree) -> Option<Finding> {
    let Some(file) = tree.text(CHANGELOG) else {
        let hint = format!("start it with a heading `{HEADING}`");
        return Some(Finding::new(CHANGELOG, 1, "the changelog is missing", hint));
    };
    if file.lines().any(|(_, line)| line == HEADING) {
        return None;
    }
    let what = format!("there is no heading `{HEADING}`");
    Some(Finding::new(CHANGELOG, 1, what, "add it above the newest release"))
}

fn is_public_root(path: &str) -> bool {
    let library = path.strip_prefix("lib/").and_then(|path| path.strip_suffix("/src/lib.rs"));
    library.is_some_and(|name| !name.contains('/')) || PUBLIC_CRATES.contains(&path)
}
