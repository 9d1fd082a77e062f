//! Every member inherits the lints of the workspace and the versions of what it depends on.

use super::Finding;
use super::manifest::Workspace;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in Workspace::read(tree).members {
        let path = member.manifest_path();
        if !member.manifest.inherits_lints {
            let hint = "add a section [lints] with workspace = true";
            findings.push(Finding::new(&path, 1, "the manifest does not inherit the lints", hint));
        }
        for dependency in &member.manifest.dependencies {
            // A path leads to a crate of ours, which has no version to inherit.
            if !dependency.from_workspace && !dependency.by_path {
                let name = &dependency.name;
                let what = format!("`{name}` does not take its version from the workspace");
                let hint =
                    format!("write {name}.workspace = true here and the version into the root manifest");
                findings.push(Finding::new(&path, dependency.line, what, hint));
            }
        }
    }
    findings
}
