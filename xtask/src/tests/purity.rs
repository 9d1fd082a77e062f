//! What a pure crate may say, name and depend on.

use super::workspace::Workspace;
use crate::tidy::purity;

const PURE_CODE: &str = r#"//! Never calls std::fs or println!.
use std::time::Duration;
use std::{fmt, io::{self, Read}};
use crate::rand::Seeded;
fn f(my_time: u8) -> &'static str { /* tokio::spawn */ "std::net and rand::random" }
fn g(operand: crate::rand::Seeded) -> impl Fn() + use<'_> { '"' } // std::env
"#;

const IMPURE_CODE: &str = r#"//! Reaches out.
use std::{collections::BTreeMap, fs::{self, File}, time::{Duration, Instant}};
use std::time::*;
fn f() {
    let now = time::SystemTime::now();
    io::stdout();
    println!("{}", std::env::args().count());
    tokio::spawn(g()); ::rand::random(); std::thread::spawn(h);
}
use getrandom as entropy;
"#;

const TEST_CODE: &str = r#"//! Reaches out in tests.
#[cfg(test)]
mod tests;
#[cfg(test)]
#[allow(unused)]
mod inner {
    use std::fs;
    fn f() { if 1 < 2 { println!() } }
}
#[cfg(test)]
use std::{env, process};
#[cfg(all(test, unix))]
fn g<A, B>(x: [u8; 2]) -> u8 { std::fs::f() }
struct S {
    #[cfg(test)]
    opened: std::time::Instant,
    closed: std::time::Instant,
}
#[cfg(not(test))]
use std::net;
"#;

/// Asserts what the check says of one file of a crate without dependencies.
fn check_file(pure: &str, path: &str, code: &str, expected: &[&str]) {
    let expected: Vec<String> =
        expected.iter().map(|found| format!("crates/broker/{path}:{found}")).collect();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    Workspace::default()
        .with("2", "crates/broker", pure, "")
        .file(&format!("crates/broker/{path}"), code)
        .fires(purity::check, &expected);
}

#[test]
fn pure_code_may_compute_and_talk_about_the_world() {
    check_file("yes", "src/lib.rs", PURE_CODE, &[]);
}

#[test]
fn pure_code_may_not_reach_out() {
    check_file(
        "yes",
        "src/lib.rs",
        IMPURE_CODE,
        &[
            "2: a pure crate uses std::fs",
            "2: a pure crate uses std::time::Instant",
            "3: a pure crate uses std::time::Instant",
            "5: a pure crate uses std::time::SystemTime",
            "6: a pure crate uses std::io::stdout",
            "7: a pure crate uses println!",
            "7: a pure crate uses std::env",
            "8: a pure crate uses rand",
            "8: a pure crate uses std::thread",
            "8: a pure crate uses tokio",
            "10: a pure crate uses getrandom",
        ],
    );
}

#[test]
fn other_crates_are_free() {
    check_file("", "src/lib.rs", IMPURE_CODE, &[]);
}

#[test]
fn test_code_is_free() {
    let expected = ["17: a pure crate uses std::time::Instant", "20: a pure crate uses std::net"];
    check_file("yes", "src/lane.rs", TEST_CODE, &expected);
    check_file("yes", "src/helpers.rs", "//! Helpers.\n#![cfg(test)]\nuse std::fs;\n", &[]);
    for path in
        ["src/tests.rs", "src/tests/a.rs", "src/lane/tests.rs", "tests/it.rs", "benches/b.rs", "build.rs"]
    {
        check_file("yes", path, IMPURE_CODE, &[]);
    }
}

#[test]
fn pure_crates_depend_on_pure_crates() {
    let tables = [
        "[dependencies]\n",
        "json.workspace = true\n",
        "serde.workspace = true\n",
        "log.workspace = true\n",
        "rand = { workspace = true }\n",
        "[dev-dependencies]\n",
        "tokio.workspace = true\n",
    ];
    Workspace::default()
        .with("0", "lib/json", "yes", "")
        .with("1", "crates/log", "", "[dependencies]\ntokio.workspace = true\n")
        .with("2", "crates/broker", "yes", &tables.concat())
        .fires(
            purity::check,
            &[
                "crates/broker/Cargo.toml:8: the pure crate `crates/broker` depends on `log`, which is not pure",
                "crates/broker/Cargo.toml:9: the pure crate `crates/broker` depends on `rand`, which is not pure",
            ],
        );
}
