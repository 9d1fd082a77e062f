//! Crates marked pure touch nothing but their arguments.
//!
//! Only `src/` counts: a build script or a benchmark is no part of what others link.
//! Tests are free, since they do not ship.

mod imports;

use super::Finding;
use super::crate_table::CrateTable;
use super::manifest::{Member, Workspace};
use super::rust_text::{RustText, find_word, is_identifier};
use super::tree::{TextFile, Tree, numbered_lines};

use imports::take_imports;

/// Parts of the standard library that reach the world outside.
const FORBIDDEN_PATHS: [&str; 10] = [
    "std::env",
    "std::fs",
    "std::io::stderr",
    "std::io::stdin",
    "std::io::stdout",
    "std::net",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];
const FORBIDDEN_MACROS: [&str; 4] = ["eprint!", "eprintln!", "print!", "println!"];
const FORBIDDEN_CRATES: [&str; 3] = ["getrandom", "rand", "tokio"];
const FORBIDDEN_DEPENDENCIES: [&str; 6] = ["axum", "getrandom", "rand", "reqwest", "rusqlite", "tokio"];

const HINT: &str =
    "time, randomness and I/O come in as arguments; plain types are also in core, as core::net";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let table = CrateTable::read(tree);
    let workspace = Workspace::read(tree);
    let is_pure = |member: &Member| table.row(&member.folder).is_some_and(|row| row.pure);
    let mut findings = Vec::new();
    for member in workspace.members.iter().filter(|member| is_pure(member)) {
        findings.extend(impure_dependencies(&workspace, member, is_pure));
        let sources = format!("{}/src/", member.folder);
        for file in tree.rust_files() {
            if file.path.strip_prefix(&sources).is_some_and(|path| !is_test_file(path)) {
                findings.extend(impure_code(file));
            }
        }
    }
    findings
}

fn impure_dependencies(
    workspace: &Workspace,
    member: &Member,
    is_pure: impl Fn(&Member) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for dependency in member.hard_dependencies() {
        let package = workspace.package_behind(dependency);
        let ours = workspace.member_behind(dependency);
        if FORBIDDEN_DEPENDENCIES.contains(&package) || ours.is_some_and(|ours| !is_pure(ours)) {
            let what =
                format!("the pure crate `{}` depends on `{package}`, which is not pure", member.folder);
            let hint = "take what it gives as an argument, or make it a dev-dependency";
            findings.push(Finding::new(&member.manifest_path(), dependency.line, what, hint));
        }
    }
    findings
}

fn impure_code(file: &TextFile) -> Vec<Finding> {
    let code = RustText::split(&file.text).code_without_tests();
    let (imports, rest) = take_imports(&code);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for import in &imports {
        found.extend(forbidden_import(&import.path).map(|name| (import.line, name)));
    }
    for (line, text) in numbered_lines(&rest) {
        found.extend(forbidden_names(text).map(|name| (line, name)));
    }
    found.sort_unstable();
    found.dedup();
    let describe = |(line, name)| Finding::new(&file.path, line, format!("a pure crate uses {name}"), HINT);
    found.into_iter().map(describe).collect()
}

/// The forbidden thing that an import brings in, by name or by a star.
fn forbidden_import(path: &str) -> Option<&'static str> {
    let is_inside = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let by_star = path.strip_suffix("::*");
    let parent = |name: &'static str| name.rsplit_once("::").map(|(parent, _)| parent);
    FORBIDDEN_PATHS
        .into_iter()
        .find(|name| is_inside(path, name) || (by_star.is_some() && by_star == parent(name)))
        .or_else(|| FORBIDDEN_CRATES.into_iter().find(|name| is_inside(path, name)))
}

/// The forbidden things that a line of code names outright.
fn forbidden_names(line: &str) -> impl Iterator<Item = &'static str> {
    let paths =
        FORBIDDEN_PATHS.into_iter().filter(|path| find_word(line, last_two_parts(path)).next().is_some());
    let macros = FORBIDDEN_MACROS.into_iter().filter(|name| find_word(line, name).next().is_some());
    let crates = FORBIDDEN_CRATES.into_iter().filter(|name| {
        let is_followed = |start: usize| line[start + name.len()..].starts_with("::");
        find_word(line, name).any(|start| is_followed(start) && !is_qualified(&line[..start]))
    });
    paths.chain(macros).chain(crates)
}

/// Whether the path goes on from what stands before it, as in `crate::` or `<T>::`.
fn is_qualified(before: &str) -> bool {
    let head = before.strip_suffix("::");
    head.is_some_and(|head| head.ends_with(|character| is_identifier(character) || character == '>'))
}

/// After `use std::time` the code says `time::Instant`, so two parts must do.
fn last_two_parts(path: &str) -> &str {
    let separator = path.rmatch_indices("::").nth(1);
    separator.map_or(path, |(index, _)| &path[index + 2..])
}

/// Whether a path below `src/` is a file of tests: `tests.rs`, or anything in a folder `tests`.
fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}
