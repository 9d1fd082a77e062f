//! The table of crates, and who may depend on whom.

use super::fixture::fires;
use super::workspace::{TABLE_HEAD, Workspace};
use crate::tidy::ranks;

#[test]
fn lower_ranks_are_allowed() {
    Workspace::default()
        .with("0", "lib/json", "yes", "[dependencies]\nanyhow = \"1\"\n")
        .with("0", "lib/lexicon", "yes", "[dependencies]\njson.workspace = true\n")
        .with(
            "1",
            "crates/message",
            "yes",
            "[dependencies]\njson = { workspace = true, features = [\n\"a\",\n] }\n",
        )
        .with("2", "crates/broker", "yes", "[dependencies.message]\nworkspace = true\n")
        .with("3", "crates/convoke", "", "[build-dependencies]\nbroker.workspace = true\n")
        .fires(ranks::check, &[]);
}

#[test]
fn dev_dependencies_and_tools_are_free() {
    Workspace::default()
        .with("0", "lib/json", "", "[dev-dependencies]\ntestkit.workspace = true\n")
        .with("1", "crates/message", "", "[dev-dependencies]\nconvoke.workspace = true\n")
        .with("7", "crates/convoke", "", "")
        .with("–", "crates/testkit", "", "[dependencies]\nconvoke.workspace = true\n")
        .with("–", "xtask", "", "[dependencies]\ntestkit.workspace = true\n")
        .fires(ranks::check, &[]);
}

#[test]
fn the_table_lists_what_is_on_disk() {
    let rows = format!("{TABLE_HEAD}| 0 | `lib/gone` | yes | nothing any more |\n");
    fires(
        ranks::check,
        &[
            ("ARCHITECTURE.md", &rows),
            ("crates/new/Cargo.toml", "[package]\nname = \"new\"\n"),
            ("crates/new/tests/inner/Cargo.toml", "[package]\nname = \"inner\"\n"),
        ],
        &[
            "crates/new/Cargo.toml:1: `crates/new` has no row in the table of ARCHITECTURE.md",
            "ARCHITECTURE.md:7: `lib/gone` is listed but has no manifest",
        ],
    );
}

#[test]
fn the_table_must_be_readable() {
    let rows = [
        TABLE_HEAD,
        "| 0 | lib/json | yes | no backticks |\n",
        "| low | `lib/a` | | no rank |\n",
        "| 1 | `lib/b` | maybe | no purity |\n",
        "| 1 | `lib/c` |\n",
        "| 0 | `lib/d` | yes | fine, with a | bar |\n",
        "| 0 | `lib/d` | yes | twice |\n",
    ];
    fires(
        ranks::check,
        &[("ARCHITECTURE.md", &rows.concat()), ("lib/d/Cargo.toml", "[package]\nname = \"d\"\n")],
        &[
            "ARCHITECTURE.md:7: the row cannot be read",
            "ARCHITECTURE.md:8: the row cannot be read",
            "ARCHITECTURE.md:9: the row cannot be read",
            "ARCHITECTURE.md:10: the row does not have four cells",
            "ARCHITECTURE.md:12: `lib/d` is listed twice",
        ],
    );
    let no_table = "# Map\n";
    fires(
        ranks::check,
        &[("ARCHITECTURE.md", no_table)],
        &["ARCHITECTURE.md:1: there is no heading `## Crates`"],
    );
    fires(ranks::check, &[], &["ARCHITECTURE.md:1: the document is missing"]);
}

#[test]
fn equal_and_higher_ranks_are_refused() {
    Workspace::default()
        .with("1", "crates/a", "", "[dependencies]\nb.workspace = true\n")
        .with("1", "crates/b", "", "[target.'cfg(unix)'.dependencies]\nc = { path = \"../c\" }\n")
        .with("2", "crates/c", "", "")
        .fires(
            ranks::check,
            &[
                "crates/a/Cargo.toml:6: `crates/a` of rank 1 depends on `crates/b` of rank 1",
                "crates/b/Cargo.toml:6: `crates/b` of rank 1 depends on `crates/c` of rank 2",
            ],
        );
}

#[test]
fn only_libraries_share_rank_zero() {
    Workspace::default()
        .with("0", "lib/json", "", "")
        .with("0", "crates/message", "", "[dependencies]\njson.workspace = true\n")
        .with("1", "lib/a", "", "[dependencies]\nb.workspace = true\n")
        .with("1", "lib/b", "", "")
        .fires(
            ranks::check,
            &[
                "crates/message/Cargo.toml:6: `crates/message` of rank 0 depends on `lib/json` of rank 0",
                "lib/a/Cargo.toml:6: `lib/a` of rank 1 depends on `lib/b` of rank 1",
            ],
        );
}

#[test]
fn libraries_know_nothing_of_the_bus() {
    Workspace::default()
        .with("3", "lib/json", "", "[build-dependencies]\nmessage.workspace = true\n")
        .with("0", "crates/message", "", "")
        .fires(
            ranks::check,
            &["lib/json/Cargo.toml:6: `lib/json` depends on `crates/message`, which is outside lib/"],
        );
}

#[test]
fn nothing_ships_with_a_tool() {
    Workspace::default()
        .with("1", "crates/a", "", "[dependencies]\ntestkit.workspace = true\n")
        .with("–", "crates/testkit", "", "")
        .fires(ranks::check, &["crates/a/Cargo.toml:6: `crates/a` depends on the tool `crates/testkit`"]);
}

#[test]
fn a_rename_hides_nothing() {
    let tables = "[dependencies]\nalias.workspace = true\nother = { path = \"../b\", package = \"b\" }\n";
    Workspace::default()
        .with("1", "crates/a", "", tables)
        .with("2", "crates/b", "", "")
        .file("Cargo.toml", "[workspace.dependencies]\nalias = { package = \"b\", path = \"crates/b\" }\n")
        .fires(
            ranks::check,
            &[
                "crates/a/Cargo.toml:6: `crates/a` of rank 1 depends on `crates/b` of rank 2",
                "crates/a/Cargo.toml:7: `crates/a` of rank 1 depends on `crates/b` of rank 2",
            ],
        );
}
