//! What a check found: errors that refuse, warnings that only tell.

use json::{Findings, Path};

/// Findings kept of each sort; more are counted but not kept, so that hostile data cannot fill the memory.
pub const FINDINGS_MAX: usize = 1_000;

/// The outcome of a check.
#[derive(Clone, Debug)]
pub struct Report {
    /// What makes the document invalid.
    pub errors: Findings,
    /// What is allowed but should be known.
    pub warnings: Findings,
}

impl Report {
    /// Makes a report without findings.
    pub fn new() -> Self {
        Report { errors: Findings::new(FINDINGS_MAX), warnings: Findings::new(FINDINGS_MAX) }
    }

    /// Tells whether there are no errors.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    pub(crate) fn error(&mut self, path: &Path<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.errors.schema(path, code, message);
    }

    pub(crate) fn warn(&mut self, path: &Path<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.warnings.schema(path, code, message);
    }
}

impl Default for Report {
    fn default() -> Self {
        Report::new()
    }
}
