//! The crates on disk are those in the table, and each depends on lower ranks only.

use super::Finding;
use super::crate_table::{CrateTable, DOCUMENT, Rank, Row};
use super::manifest::{Member, Workspace};
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut table = CrateTable::read(tree);
    let workspace = Workspace::read(tree);
    let mut findings = std::mem::take(&mut table.findings);
    findings.extend(missing_rows(&table, &workspace));
    findings.extend(missing_crates(&table, &workspace));
    for member in &workspace.members {
        findings.extend(wrong_dependencies(&table, &workspace, member));
    }
    findings
}

fn missing_rows(table: &CrateTable, workspace: &Workspace) -> Vec<Finding> {
    let unlisted = workspace.members.iter().filter(|member| table.row(&member.folder).is_none());
    unlisted
        .map(|member| {
            let what = format!("`{}` has no row in the table of {DOCUMENT}", member.folder);
            Finding::new(&member.manifest_path(), 1, what, "add it there with its rank and its purpose")
        })
        .collect()
}

fn missing_crates(table: &CrateTable, workspace: &Workspace) -> Vec<Finding> {
    let is_on_disk = |row: &Row| workspace.members.iter().any(|member| member.folder == row.folder);
    let gone = table.rows.iter().filter(|row| !is_on_disk(row));
    gone.map(|row| {
        let what = format!("`{}` is listed but has no manifest", row.folder);
        Finding::new(DOCUMENT, row.line, what, "the table shows what exists today; remove the row")
    })
    .collect()
}

fn wrong_dependencies(table: &CrateTable, workspace: &Workspace, member: &Member) -> Vec<Finding> {
    let Some(from) = table.row(&member.folder) else { return Vec::new() };
    let mut findings = Vec::new();
    for dependency in member.hard_dependencies() {
        let target = workspace.member_behind(dependency).and_then(|target| table.row(&target.folder));
        if let Some(to) = target
            && let Some((what, hint)) = objection(from, to)
        {
            findings.push(Finding::new(&member.manifest_path(), dependency.line, what, hint));
        }
    }
    findings
}

/// Why the one crate may not depend on the other.
fn objection(from: &Row, to: &Row) -> Option<(String, &'static str)> {
    if from.is_library() && !to.is_library() {
        let what = format!("`{}` depends on `{}`, which is outside lib/", from.folder, to.folder);
        return Some((what, "a crate of lib/ knows nothing of the bus; pass what it needs as an argument"));
    }
    let (from_rank, to_rank) = match (from.rank, to.rank) {
        (Rank::Tool, _) => return None,
        (Rank::Level(_), Rank::Tool) => {
            let what = format!("`{}` depends on the tool `{}`", from.folder, to.folder);
            return Some((what, "tools serve development; make it a dev-dependency"));
        }
        (Rank::Level(from_rank), Rank::Level(to_rank)) => (from_rank, to_rank),
    };
    let are_basic_libraries = from.is_library() && to.is_library() && from_rank == 0 && to_rank == 0;
    if to_rank < from_rank || are_basic_libraries {
        return None;
    }
    let what = format!("`{}` of rank {from_rank} depends on `{}` of rank {to_rank}", from.folder, to.folder);
    Some((what, "a crate depends on lower ranks only; move the shared part down"))
}
