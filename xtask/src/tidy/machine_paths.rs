//! No paths of somebody's machine: they mean nothing to others and tell too much.

use super::Finding;
use super::rust_text::is_identifier;
use super::tree::Tree;

/// The folders, without the slashes around them, so that this file does not match itself.
const FOLDERS: [&str; 4] = ["farm", "home", "root", "work"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let patterns = FOLDERS.map(|folder| format!("/{folder}/"));
    let mut findings = Vec::new();
    for file in tree.texts() {
        for (line, text) in file.lines() {
            for pattern in patterns.iter().filter(|pattern| is_absolute(text, pattern)) {
                let what = format!("a path of one machine: {pattern}…");
                let hint = "name it from the root of the repository, or use a made-up path such as /srv/…";
                findings.push(Finding::new(&file.path, line, what, hint));
            }
        }
    }
    findings
}

/// Whether the pattern starts a path; behind a name, as in `docs/root/`, it is only a part of one.
fn is_absolute(text: &str, pattern: &str) -> bool {
    text.match_indices(pattern).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        !before
            .is_some_and(|character| is_identifier(character) || matches!(character, '.' | '-' | '}' | '>'))
    })
}
