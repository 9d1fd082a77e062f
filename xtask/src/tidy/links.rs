//! Relative links in the documents lead to files of the repository.

use super::Finding;
use super::markdown;
use super::tree::Tree;

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let documents = tree.texts().filter(|file| file.has_extension("md") && is_checked(&file.path));
    for file in documents {
        for (line, link) in markdown::links(&file.text) {
            let Some(target) = relative_target(&link) else { continue };
            let what = match resolve(&file.path, target) {
                Some(path) if tree.holds(&path) => continue,
                Some(path) => format!("the link `{link}` leads to {path}, which does not exist"),
                None => format!("the link `{link}` leads out of the repository"),
            };
            findings.push(Finding::new(&file.path, line, what, "correct the path, or add the file"));
        }
    }
    findings
}

/// The documents at the root and those below `docs/`.
fn is_checked(path: &str) -> bool {
    !path.contains('/') || path.starts_with("docs/")
}

/// The file part of a link, unless it leads to the web, to the root of a site or into the page itself.
fn relative_target(link: &str) -> Option<&str> {
    let has_scheme = link.split('/').next().is_some_and(|head| head.contains(':'));
    if has_scheme || link.starts_with('/') {
        return None;
    }
    let end = link.find(['#', '?']).unwrap_or(link.len());
    Some(&link[..end]).filter(|target| !target.is_empty())
}

/// The path from the root, or nothing if it leaves the repository.
fn resolve(document: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
