//! Plain text: no tabs, no trailing blanks, exactly one final newline, no merge markers.
//!
//! All but the markers concern our own sources and documents; test data may look as it must.

use super::Finding;
use super::tree::{TextFile, Tree};

const EXTENSIONS: [&str; 3] = ["rs", "md", "toml"];

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.texts() {
        check_markers(file, &mut findings);
        if EXTENSIONS.iter().any(|extension| file.has_extension(extension)) {
            check_blanks(file, &mut findings);
            check_end(file, &mut findings);
        }
    }
    findings
}

/// The bar of equal signs between the two sides is not looked for: it is also a Markdown heading.
fn check_markers(file: &TextFile, findings: &mut Vec<Finding>) {
    let markers = ["<", "|", ">"].map(|sign| sign.repeat(7));
    for (line, text) in file.lines() {
        let is_marker = |marker: &String| {
            text.strip_prefix(marker.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        if markers.iter().any(is_marker) {
            findings.push(Finding::new(&file.path, line, "a merge marker is left", "finish the merge"));
        }
    }
}

fn check_blanks(file: &TextFile, findings: &mut Vec<Finding>) {
    for (line, text) in file.lines() {
        if text.ends_with(char::is_whitespace) {
            findings.push(Finding::new(&file.path, line, "trailing whitespace", "remove it"));
        }
        if text.trim_end().contains('\t') {
            findings.push(Finding::new(
                &file.path,
                line,
                "a tab",
                "indent with blanks; in a string write \\t",
            ));
        }
    }
}

fn check_end(file: &TextFile, findings: &mut Vec<Finding>) {
    let last = file.text.lines().count().max(1);
    if !file.text.is_empty() && !file.text.ends_with('\n') {
        findings.push(Finding::new(&file.path, last, "no newline at the end of the file", "add one"));
    }
    if file.text.ends_with("\n\n") || file.text == "\n" {
        findings.push(Finding::new(&file.path, last, "empty lines at the end of the file", "remove them"));
    }
}
