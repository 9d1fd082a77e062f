//! Members inherit lints and versions.

use super::fixture::{fires, is_silent};
use crate::tidy::members;

const INHERITS: &str = r#"[package]
name = "a"
[lints]
workspace = true
[dependencies]
anyhow.workspace = true # why
serde = { workspace = true, features = [
  "derive", # not a key = value
] }
b = { path = "../b" }
[dev-dependencies.tempfile]
workspace = true
"#;

const CHOOSES: &str = r#"[package]
name = "a"
[dependencies]
anyhow = "1"
serde = { version = "1", features = ["workspace = true"] }
[dev-dependencies.tempfile]
version = "3"
"#;

#[test]
fn members_inherit() {
    is_silent(members::check, &[("crates/a/Cargo.toml", INHERITS)]);
    is_silent(members::check, &[("xtask/Cargo.toml", "lints.workspace = true\n")]);
}

#[test]
fn members_choose_neither_lints_nor_versions() {
    fires(
        members::check,
        &[("lib/a/Cargo.toml", CHOOSES)],
        &[
            "lib/a/Cargo.toml:1: the manifest does not inherit the lints",
            "lib/a/Cargo.toml:4: `anyhow` does not take its version from the workspace",
            "lib/a/Cargo.toml:5: `serde` does not take its version from the workspace",
            "lib/a/Cargo.toml:7: `tempfile` does not take its version from the workspace",
        ],
    );
}

#[test]
fn a_package_outside_the_workspace_is_free() {
    is_silent(members::check, &[("fuzz/Cargo.toml", CHOOSES)]);
}
