//! The table of crates in `ARCHITECTURE.md`, which other checks hold the code against.

use super::Finding;
use super::tree::{Tree, numbered_lines};

pub(crate) const DOCUMENT: &str = "ARCHITECTURE.md";

const HEADING: &str = "## Crates";
const HINT: &str = "a row reads | rank | `folder` | yes or nothing | what lives there |";

/// One row: a crate and what is promised about it.
pub(crate) struct Row {
    pub(crate) folder: String,
    pub(crate) rank: Rank,
    pub(crate) pure: bool,
    pub(crate) line: usize,
}

/// Where a crate stands; a crate depends on lower ranks only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    Level(u32),
    /// Written `–`: serves the development, never ships.
    Tool,
}

/// The rows, and what is wrong with the table itself.
pub(crate) struct CrateTable {
    pub(crate) rows: Vec<Row>,
    pub(crate) findings: Vec<Finding>,
}

impl CrateTable {
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut table = Self { rows: Vec::new(), findings: Vec::new() };
        let Some(file) = tree.text(DOCUMENT) else {
            table.complain(1, "the document is missing", "it holds the map of the repository");
            return table;
        };
        let lines = numbered_lines(&file.text);
        let mut section = lines.skip_while(|(_, line)| *line != HEADING).peekable();
        if section.peek().is_none() {
            table.complain(1, format!("there is no heading `{HEADING}`"), HINT);
        }
        for (line, text) in section.skip(1).take_while(|(_, line)| !line.starts_with("## ")) {
            if text.starts_with('|') {
                table.add(line, text);
            }
        }
        table
    }

    pub(crate) fn row(&self, folder: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.folder == folder)
    }

    fn add(&mut self, line: usize, text: &str) {
        let cells: Vec<&str> = text.trim_matches('|').splitn(4, '|').map(str::trim).collect();
        let [rank, folder, pure, _] = cells.as_slice() else {
            return self.complain(line, "the row does not have four cells", HINT);
        };
        if *rank == "rank" || rank.starts_with("--") || rank.starts_with(":-") {
            return;
        }
        let folder = folder.strip_prefix('`').and_then(|folder| folder.strip_suffix('`'));
        let (Some(rank), Some(folder), Some(pure)) = (parse_rank(rank), folder, parse_pure(pure)) else {
            return self.complain(line, "the row cannot be read", HINT);
        };
        if self.row(folder).is_some() {
            return self.complain(line, format!("`{folder}` is listed twice"), "remove one row");
        }
        self.rows.push(Row { folder: folder.to_owned(), rank, pure, line });
    }

    fn complain(&mut self, line: usize, what: impl Into<String>, hint: &str) {
        self.findings.push(Finding::new(DOCUMENT, line, what, hint));
    }
}

impl Row {
    pub(crate) fn is_library(&self) -> bool {
        self.folder.starts_with("lib/")
    }
}

fn parse_rank(cell: &str) -> Option<Rank> {
    if cell == "–" { Some(Rank::Tool) } else { cell.parse().ok().map(Rank::Level) }
}

fn parse_pure(cell: &str) -> Option<bool> {
    match cell {
        "yes" => Some(true),
        "" => Some(false),
        _ => None,
    }
}
