//! The files that the checks look at: all that git tracks, or would track if it were added.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// The names of folders that a walk skips where git cannot tell what is ignored.
const SKIPPED_FOLDERS: [&str; 4] = [".git", ".tools", "node_modules", "target"];

/// A snapshot of the repository.
pub(crate) struct Tree {
    /// Every file, text or not, by its path from the root with `/` between the parts; sorted.
    paths: Vec<String>,
    texts: Vec<TextFile>,
}

/// A file that holds UTF-8 text.
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Tree {
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut tree = Self { paths: Vec::new(), texts: Vec::new() };
        for path in list(root)? {
            let bytes = match fs::read(root.join(&path)) {
                Ok(bytes) => bytes,
                // Git still lists a file that was deleted but not yet staged.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A submodule or a link to a folder.
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => continue,
                Err(error) => return Err(error).with_context(|| format!("reading {path}")),
            };
            tree.paths.push(path.clone());
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                tree.texts.push(TextFile { path, text });
            }
        }
        Ok(tree)
    }

    pub(crate) fn file_count(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().map(String::as_str)
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextFile> {
        self.texts.iter()
    }

    pub(crate) fn rust_files(&self) -> impl Iterator<Item = &TextFile> {
        self.texts().filter(|file| file.has_extension("rs"))
    }

    pub(crate) fn text(&self, path: &str) -> Option<&TextFile> {
        self.texts.iter().find(|file| file.path == path)
    }

    /// Whether the path is a file of the repository or a folder with one in it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let is_below = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        path.is_empty() || self.paths().any(|file| file == path || is_below(file))
    }
}

impl TextFile {
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    /// The lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        numbered_lines(&self.text)
    }
}

/// Lines with their numbers, from 1; a carriage return stays visible.
pub(crate) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split('\n').enumerate().map(|(index, line)| (index + 1, line))
}

fn list(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => {
            let mut paths = Vec::new();
            walk(root, "", &mut paths)?;
            paths
        }
    };
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// What git lists, or nothing where there is no git or no repository, as in an unpacked archive.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let mut git = Command::new("git");
    git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    let listing = String::from_utf8(output.stdout).ok()?;
    Some(listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &str, paths: &mut Vec<String>) -> anyhow::Result<()> {
    let place = root.join(folder);
    let entries = fs::read_dir(&place).with_context(|| format!("listing {}", place.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("listing {}", place.display()))?;
        // A name that is not UTF-8 cannot be one of ours.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().with_context(|| format!("looking at {path}"))?;
        if kind.is_dir() && !is_skipped(folder, &name) {
            walk(root, &path, paths)?;
        } else if kind.is_file() && !name.ends_with(".snap.new") {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_skipped(parent: &str, name: &str) -> bool {
    SKIPPED_FOLDERS.contains(&name)
        || (parent == "fuzz" && matches!(name, "corpus" | "artifacts" | "coverage"))
}
