//! A made-up workspace: crates with their rows in the table and their manifests.

use super::fixture::fires;
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

pub(super) const TABLE_HEAD: &str =
    "# Map\n\n## Crates\n\n| rank | crate | pure | what lives there |\n|---|---|---|---|\n";

#[derive(Default)]
pub(super) struct Workspace {
    rows: String,
    files: Vec<(String, String)>,
}

impl Workspace {
    /// A crate with its row; `tables` are its dependency tables, from line 5 of the manifest on.
    pub(super) fn with(mut self, rank: &str, folder: &str, pure: &str, tables: &str) -> Self {
        let name = folder.rsplit('/').next().unwrap();
        self.rows.push_str(&format!("| {rank} | `{folder}` | {pure} | things |\n"));
        let manifest = format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{tables}");
        self.file(&format!("{folder}/Cargo.toml"), &manifest)
    }

    pub(super) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.push((path.to_owned(), text.to_owned()));
        self
    }

    /// Asserts that a check finds exactly this.
    pub(super) fn fires(self, check: fn(&Tree) -> Vec<Finding>, expected: &[&str]) {
        // A table in another section is none of ours.
        let map = format!("{TABLE_HEAD}{}\n## Next\n\n| not | a | crate |\n", self.rows);
        let workspace = self.file("ARCHITECTURE.md", &map);
        let files: Vec<(&str, &str)> =
            workspace.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        fires(check, &files, expected);
    }
}
