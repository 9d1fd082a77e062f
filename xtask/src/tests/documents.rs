//! The checks of links, the changelog and the documentation of public crates.

use super::fixture::{fires, is_silent};
use crate::tidy::{documents, links};

const README: &str = r#"[a](docs/a.md#part) ![b](logo.png "Logo") [c](https://example.org/x) [d](#here)
[e](docs) [f](docs/) [g](<docs/a.md>) [mail](mailto:a@example.org) [site](/v1/messages)
`[no](gone.md)` and ``[no](`gone.md)``
<img src="logo.png">

[ref]: docs/a.md
[^1]: A footnote.

~~~md
[no](gone.md)
~~~
"#;

#[test]
fn links_lead_somewhere() {
    is_silent(
        links::check,
        &[
            ("README.md", README),
            ("docs/a.md", "[up](../README.md) [self](a.md) [deep](b/c.md)\n"),
            ("docs/b/c.md", "[root](../../README.md)\n"),
            ("logo.png", "\0"),
            ("crates/x/notes.md", "[unchecked](gone.md)\n"),
        ],
    );
}

#[test]
fn dead_links_are_found() {
    fires(
        links::check,
        &[
            ("README.md", "[a](docs/gone.md)\n\n[ref]: ./gone.md#x\n<a href=\"gone.html\">x</a>\n"),
            ("docs/a.md", "[a `b`](../../elsewhere.md) and [b](b.md)\n"),
        ],
        &[
            "README.md:1: the link `docs/gone.md` leads to docs/gone.md, which does not exist",
            "README.md:3: the link `./gone.md#x` leads to gone.md, which does not exist",
            "README.md:4: the link `gone.html` leads to gone.html, which does not exist",
            "docs/a.md:1: the link `../../elsewhere.md` leads out of the repository",
            "docs/a.md:1: the link `b.md` leads to docs/b.md, which does not exist",
        ],
    );
}

#[test]
fn the_changelog_is_kept() {
    is_silent(documents::check, &[("CHANGELOG.md", "# Changes\n\n## Unreleased\n")]);
    fires(documents::check, &[], &["CHANGELOG.md:1: the changelog is missing"]);
    fires(
        documents::check,
        &[("CHANGELOG.md", "# Changes\n\n## 1.0.0\n")],
        &["CHANGELOG.md:1: there is no heading `## Unreleased`"],
    );
}

#[test]
fn public_crates_demand_documentation() {
    let changelog = ("CHANGELOG.md", "## Unreleased\n");
    let documented = "//! A.\n#![deny(missing_docs)]\n";
    is_silent(
        documents::check,
        &[
            changelog,
            ("lib/a/src/lib.rs", documented),
            ("crates/message/src/lib.rs", documented),
            ("crates/log/src/lib.rs", "//! B.\n"),
            ("lib/a/src/b/src/lib.rs", "//! B.\n"),
        ],
    );
    fires(
        documents::check,
        &[
            changelog,
            ("crates/client/src/lib.rs", "//! A.\n"),
            ("crates/dialect/src/lib.rs", "//! A.\n"),
            ("crates/message/src/lib.rs", "//! A.\n// #![deny(missing_docs)]\n"),
            ("lib/a/src/lib.rs", "//! A.\n"),
        ],
        &[
            "crates/client/src/lib.rs:1: the crate does not demand documentation",
            "crates/dialect/src/lib.rs:1: the crate does not demand documentation",
            "crates/message/src/lib.rs:1: the crate does not demand documentation",
            "lib/a/src/lib.rs:1: the crate does not demand documentation",
        ],
    );
}
