//! The checks of files, words, whitespace and machine paths.

use super::fixture::{Fixture, fires, is_silent};
use crate::tidy::{self, files, machine_paths, whitespace, words};

/// A Rust file of exactly so many lines.
fn source(lines: usize) -> String {
    "//! Long.\n".repeat(lines)
}

#[test]
fn files_open_with_their_purpose() {
    is_silent(files::check, &[("a.rs", "//! What it is for.\n"), ("b.md", "# No Rust\n")]);
    fires(
        files::check,
        &[
            ("a.rs", "use b;\n"),
            ("b.rs", "\n//! Late.\n"),
            ("src/c/mod.rs", "//! Old style.\n"),
            ("d.rs", ""),
        ],
        &[
            "a.rs:1: the file does not start with //!",
            "b.rs:1: the file does not start with //!",
            "d.rs:1: the file does not start with //!",
            "src/c/mod.rs:1: modules are not called mod.rs",
        ],
    );
}

#[test]
fn files_stay_short() {
    is_silent(files::check, &[("a.rs", &source(800)), ("b.md", &source(900))]);
    fires(files::check, &[("a.rs", &source(801))], &["a.rs:801: the file has 801 lines, limit 800"]);
}

#[test]
fn an_allowance_fits_exactly() {
    is_silent(files::check, &[("src/a.rs", &source(810)), ("tidy-allow.txt", "# Why.\n\nsrc/a.rs 810\n")]);
    fires(
        files::check,
        &[
            ("grown.rs", &source(811)),
            ("shrunk.rs", &source(805)),
            ("short.rs", &source(800)),
            ("tidy-allow.txt", "grown.rs 810\nshrunk.rs 806\nshort.rs 801\ngone.rs 900\nodd\n"),
        ],
        &[
            "tidy-allow.txt:5: the line cannot be read",
            "grown.rs:811: the file has 811 lines, limit 810",
            "tidy-allow.txt:3: short.rs has 800 lines and needs no allowance",
            "tidy-allow.txt:2: shrunk.rs has 805 lines, fewer than it is allowed",
            "tidy-allow.txt:4: gone.rs is no Rust file of the repository",
        ],
    );
}

#[test]
fn marks_need_a_name_and_a_reason() {
    let todo = ["TO", "DO"].concat();
    let fix = ["FIX", "ME"].concat();
    let signed = format!(
        "//! a\n// {todo}(ann): wait for the parser\nconst A: &str = \"{todo}: {fix}\";\n// {todo}S\n"
    );
    let prose = format!("Never write `{fix}` or ``{todo}``.\n\n```\n{todo}\n```\n");
    is_silent(words::check, &[("a.rs", &signed), ("b.md", &prose), ("c.json", &todo)]);
    let unsigned = format!("// {todo}: later\n/* {todo}(): x */ /* {todo}(ann): */\n//! {fix}\n");
    fires(
        words::check,
        &[
            ("a.rs", &unsigned),
            ("b.md", &format!("{todo} write this\n")),
            ("c.toml", &format!("a = 1 # {fix}\n")),
        ],
        &[
            &format!("a.rs:1: {todo} without a name and a reason"),
            &format!("a.rs:2: {todo} without a name and a reason"),
            &format!("a.rs:3: {fix} is left"),
            &format!("b.md:1: {todo} without a name and a reason"),
            &format!("c.toml:1: {fix} is left"),
        ],
    );
}

#[test]
fn leftover_code_is_found() {
    is_silent(
        words::check,
        &[(
            "a.rs",
            "// dbg!(x) and #[ignore]\nlet s = \"dbg!\"; // #[ignore]\nmy_dbg!(x);\nlet ignore = [1];\n",
        )],
    );
    fires(
        words::check,
        &[("a.rs", "dbg!(x);\n#[ignore]\nfn a() {}\n    #[ignore = \"slow\"]\n#[cfg_attr(unix, ignore)]\n")],
        &[
            "a.rs:1: a debug print is left",
            "a.rs:2: a test is ignored",
            "a.rs:4: a test is ignored",
            "a.rs:5: a test is ignored",
        ],
    );
}

#[test]
fn whitespace_is_plain() {
    is_silent(
        whitespace::check,
        &[("a.rs", "a\n\nb\n"), ("b.md", "Title\n=======\n"), ("empty.md", ""), ("c.json", "\t \n\n")],
    );
    fires(
        whitespace::check,
        &[("a.rs", "a \n\tb\n\n"), ("b.md", "a\r\nb"), ("c.toml", "\n")],
        &[
            "a.rs:1: trailing whitespace",
            "a.rs:2: a tab",
            "a.rs:3: empty lines at the end of the file",
            "b.md:1: trailing whitespace",
            "b.md:2: no newline at the end of the file",
            "c.toml:1: empty lines at the end of the file",
        ],
    );
}

#[test]
fn merges_are_finished() {
    let (ours, theirs) = ("<".repeat(7), ">".repeat(7));
    is_silent(whitespace::check, &[("a.json", &format!(" {ours} x\n{ours}<\n=======\n"))]);
    let text = format!("{ours} HEAD\na\n=======\nb\n{theirs} other\n");
    fires(
        whitespace::check,
        &[("a.json", &text)],
        &["a.json:1: a merge marker is left", "a.json:5: a merge marker is left"],
    );
}

#[test]
fn machines_are_not_named() {
    is_silent(
        machine_paths::check,
        &[("a.md", "docs/root/x, framework/work, {base}/home/, /rooted/, /homes/\n")],
    );
    for folder in ["home", "root", "work", "farm"] {
        let text = format!("fine\nsee (/{folder}/ann)\nfile:///{folder}/x\n");
        let expected = [2, 3].map(|line| format!("a.json:{line}: a path of one machine: /{folder}/…"));
        fires(machine_paths::check, &[("a.json", &text)], &[&expected[0], &expected[1]]);
    }
}

#[test]
fn all_checks_report_at_once_with_hints() {
    let fixture = Fixture::new(&[("b.rs", "//! B.\ndbg!(x); \n"), ("CHANGELOG.md", "# Changes\n")]);
    let found: Vec<String> = tidy::check(&fixture.tree()).iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "ARCHITECTURE.md:1: the document is missing\n  hint: it holds the map of the repository",
            "CHANGELOG.md:1: there is no heading `## Unreleased`\n  hint: add it above the newest release",
            "b.rs:2: a debug print is left\n  hint: remove dbg!, or use tracing",
            "b.rs:2: trailing whitespace\n  hint: remove it",
        ]
    );
}
