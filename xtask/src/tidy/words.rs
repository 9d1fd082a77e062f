//! No leftovers of work in progress: marks in comments, ignored tests, debug prints.
//!
//! Comments are searched for marks and code for the rest, so that a string may say either.

use super::Finding;
use super::markdown;
use super::rust_text::{RustText, find_word};
use super::tree::{Tree, numbered_lines};

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.texts() {
        if file.has_extension("rs") {
            let text = RustText::split(&file.text);
            find_marks(&file.path, &text.comments, &mut findings);
            find_leftover_code(&file.path, &text.code, &mut findings);
        } else if file.has_extension("md") {
            find_marks(&file.path, &markdown::prose(&file.text), &mut findings);
        } else if file.has_extension("toml") {
            find_marks(&file.path, &file.text, &mut findings);
        }
    }
    findings
}

fn find_marks(path: &str, text: &str, findings: &mut Vec<Finding>) {
    // Put together here, so that this file does not hold the words that it looks for.
    let fix = ["FIX", "ME"].concat();
    let todo = ["TO", "DO"].concat();
    for (line, text) in numbered_lines(text) {
        if find_word(text, &fix).next().is_some() {
            findings.push(Finding::new(path, line, format!("{fix} is left"), "fix it before it is merged"));
        }
        let is_signed = |start: usize| has_name_and_reason(&text[start + todo.len()..]);
        if find_word(text, &todo).any(|start| !is_signed(start)) {
            let hint = format!("write {todo}(name): reason, or do it");
            findings.push(Finding::new(path, line, format!("{todo} without a name and a reason"), hint));
        }
    }
}

fn find_leftover_code(path: &str, code: &str, findings: &mut Vec<Finding>) {
    for (line, text) in numbered_lines(code) {
        if find_word(text, "dbg!").next().is_some() {
            findings.push(Finding::new(path, line, "a debug print is left", "remove dbg!, or use tracing"));
        }
        if text.trim_start().starts_with("#[") && find_word(text, "ignore").next().is_some() {
            let hint = "assert today's behaviour and say why; slow tests ask for SLOW_TESTS=1";
            findings.push(Finding::new(path, line, "a test is ignored", hint));
        }
    }
}

/// Whether the text goes on as `(name): reason`.
fn has_name_and_reason(text: &str) -> bool {
    let signed = text.strip_prefix('(').and_then(|text| text.split_once("): "));
    signed.is_some_and(|(name, reason)| !name.trim().is_empty() && !reason.trim().is_empty())
}
