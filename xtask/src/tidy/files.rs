//! Source files say first what they are for, and stay short enough to be read.

use super::Finding;
use super::tree::{TextFile, Tree};

const ALLOW_LIST: &str = "tidy-allow.txt";
const LINES_MAX: usize = 800;

/// A long file that is tolerated as long as it does not grow.
struct Allowance {
    path: String,
    lines: usize,
    /// Where in the list it stands.
    line: usize,
}

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let (allowances, mut findings) = read_allowances(tree);
    for file in tree.rust_files() {
        findings.extend(check_opening(file));
        let allowance = allowances.iter().find(|allowance| allowance.path == file.path);
        findings.extend(check_length(file, allowance));
    }
    let is_gone = |allowance: &&Allowance| !tree.rust_files().any(|file| file.path == allowance.path);
    for allowance in allowances.iter().filter(is_gone) {
        let what = format!("{} is no Rust file of the repository", allowance.path);
        findings.push(Finding::new(ALLOW_LIST, allowance.line, what, "remove the line"));
    }
    findings
}

fn check_opening(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !file.text.starts_with("//!") {
        let hint = "say in a sentence what the file is for, before anything else";
        findings.push(Finding::new(&file.path, 1, "the file does not start with //!", hint));
    }
    if file.path.rsplit('/').next() == Some("mod.rs") {
        let hint = "name the module after its folder: foo.rs beside foo/";
        findings.push(Finding::new(&file.path, 1, "modules are not called mod.rs", hint));
    }
    findings
}

fn check_length(file: &TextFile, allowance: Option<&Allowance>) -> Option<Finding> {
    let lines = file.text.lines().count();
    let too_long = |limit: usize| {
        let what = format!("the file has {lines} lines, limit {limit}");
        Some(Finding::new(&file.path, limit + 1, what, "split it where a reader would pause"))
    };
    match allowance {
        None if lines > LINES_MAX => too_long(LINES_MAX),
        None => None,
        Some(allowance) if lines > LINES_MAX && lines > allowance.lines => too_long(allowance.lines),
        Some(allowance) if lines <= LINES_MAX => {
            let what = format!("{} has {lines} lines and needs no allowance", file.path);
            Some(Finding::new(ALLOW_LIST, allowance.line, what, "remove the line"))
        }
        Some(allowance) if lines < allowance.lines => {
            let what = format!("{} has {lines} lines, fewer than it is allowed", file.path);
            Some(Finding::new(ALLOW_LIST, allowance.line, what, format!("write {} {lines}", file.path)))
        }
        Some(_) => None,
    }
}

fn read_allowances(tree: &Tree) -> (Vec<Allowance>, Vec<Finding>) {
    let mut allowances = Vec::new();
    let mut findings = Vec::new();
    let Some(file) = tree.text(ALLOW_LIST) else { return (allowances, findings) };
    for (line, text) in file.lines().filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
        let parsed = text.split_once(' ').and_then(|(path, lines)| Some((path, lines.parse().ok()?)));
        if let Some((path, lines)) = parsed {
            allowances.push(Allowance { path: path.to_owned(), lines, line });
        } else {
            findings.push(Finding::new(ALLOW_LIST, line, "the line cannot be read", "write `path lines`"));
        }
    }
    (allowances, findings)
}
