//! `cargo xtask tidy`: the rules of this repository that no compiler checks.
//!
//! Each check is one file below `tidy/`: it reads a [`Tree`] and returns what it found.
//! All findings are reported at once, so that one run is enough to fix them.

pub(crate) mod crate_table;
pub(crate) mod documents;
pub(crate) mod files;

pub(crate) mod links;
pub(crate) mod machine_paths;
pub(crate) mod manifest;
pub(crate) mod markdown;
pub(crate) mod members;
pub(crate) mod purity;
pub(crate) mod ranks;
pub(crate) mod rust_text;
pub(crate) mod tree;
pub(crate) mod whitespace;
pub(crate) mod words;

use std::fmt;

use crate::command::{Command, Outcome, unknown_argument};
use crate::shell;

use tree::Tree;

pub(crate) const COMMAND: Command =
    Command { name: "tidy", summary: "check the rules of the repository", help: HELP, run };

const HELP: &str = "\
usage: cargo xtask tidy

Checks what the compiler does not, and reports everything that it finds:
  crates        ARCHITECTURE.md lists the crates on disk; each depends on lower ranks only
  purity        crates marked pure use no files, network, clock, threads or randomness
  manifests     members inherit the lints and take versions from the workspace
  files         module docs first, at most 800 lines, no mod.rs
  words         no leftovers: notes to fix, ignored tests, debug prints
  whitespace    no tabs, no trailing blanks, one final newline, no merge markers
  machines      no paths of somebody's machine
  documents     links lead somewhere, the changelog is kept, public crates demand docs

A file over 800 lines may be listed in tidy-allow.txt as `path lines`; the figure may only shrink.

examples:
  cargo xtask tidy
";

/// Every check, in the order of the help text.
const CHECKS: [fn(&Tree) -> Vec<Finding>; 9] = [
    ranks::check,
    purity::check,
    members::check,
    files::check,
    words::check,
    whitespace::check,
    machine_paths::check,
    links::check,
    documents::check,
];

/// Something that breaks a rule, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    what: String,
    hint: String,
}

impl Finding {
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}\n  hint: {}", self.path, self.line, self.what, self.hint)
    }
}

/// Checks the repository that this program was built from and prints what it finds.
pub(crate) fn check_repository() -> anyhow::Result<Outcome> {
    let tree = Tree::read(shell::root())?;
    let findings = check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} files, {} findings", tree.file_count(), findings.len());
    Ok(Outcome::from_success(findings.is_empty()))
}

/// Runs every check and sorts what they found by place.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(tree)).collect();
    findings.sort();
    findings.dedup();
    findings
}

fn run(args: &[String]) -> anyhow::Result<Outcome> {
    match args.first() {
        Some(arg) => Err(unknown_argument("tidy", arg).into()),
        None => check_repository(),
    }
}
