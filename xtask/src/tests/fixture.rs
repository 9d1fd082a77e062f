//! A small repository in a temporary folder, removed when the test ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

pub(super) struct Fixture {
    root: PathBuf,
}

impl Fixture {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("xtask-tidy-{}-{count}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn tree(&self) -> Tree {
        Tree::read(&self.root).unwrap()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // A folder left behind in the temporary place is no reason to fail a test.
        fs::remove_dir_all(&self.root).ok();
    }
}

/// What one check finds in a repository of these files, as `path:line: what`.
pub(super) fn findings(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<String> {
    let fixture = Fixture::new(files);
    let found = check(&fixture.tree());
    let first_line = |finding: &Finding| finding.to_string().lines().next().unwrap_or_default().to_owned();
    found.iter().map(first_line).collect()
}

/// Asserts that a check finds exactly this.
pub(super) fn fires(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(findings(check, files), expected, "in {files:#?}");
}

/// Asserts that a check is content.
pub(super) fn is_silent(check: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) {
    fires(check, files, &[]);
}
