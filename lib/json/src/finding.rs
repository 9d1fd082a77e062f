//! Findings: what is wrong, or odd, at a place in a document.

use std::fmt;

use crate::{Object, Path, Value};

/// Something found at a place in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The place, as a JSON Pointer; the empty string is the document itself.
    pub path: String,
    /// A stable code for programs, such as `required` or `enum`.
    pub code: &'static str,
    /// Whether the shape was broken or a rule stated beside it.
    pub source: Source,
    /// A sentence for people.
    pub message: String,
}

/// Where the broken demand is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The schema: types, required fields, bounds, formats.
    Schema,
    /// A rule of the specification that its schema cannot say.
    Rule,
}

/// Findings gathered up to a limit; those beyond it are only counted, so hostile input cannot fill the memory.
#[derive(Clone, Debug)]
pub struct Findings {
    list: Vec<Finding>,
    kept_max: usize,
    beyond: usize,
}

impl Source {
    /// Returns the word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Source::Schema => "schema",
            Source::Rule => "rule",
        }
    }
}

impl Finding {
    /// Returns the finding as a JSON object with `path`, `code`, `source` and `message`.
    pub fn to_value(&self) -> Value<'_> {
        let members: Object<'_> = [
            ("path", Value::from(self.path.as_str())),
            ("code", Value::from(self.code)),
            ("source", Value::from(self.source.name())),
            ("message", Value::from(self.message.as_str())),
        ]
        .into_iter()
        .collect();
        Value::Object(members)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "(document)" } else { &self.path };
        write!(f, "{place}: {} [{}]", self.message, self.code)
    }
}

impl Findings {
    /// Makes an empty list that keeps at most that many findings.
    pub fn new(kept_max: usize) -> Self {
        Findings { list: Vec::new(), kept_max, beyond: 0 }
    }

    /// Adds a schema finding.
    pub fn schema(&mut self, path: &Path<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.push(path, code, Source::Schema, message);
    }

    /// Adds a rule finding.
    pub fn rule(&mut self, path: &Path<'_>, code: &'static str, message: impl FnOnce() -> String) {
        self.push(path, code, Source::Rule, message);
    }

    /// Adds a finding that was made elsewhere.
    pub fn add(&mut self, finding: Finding) {
        if self.list.len() < self.kept_max {
            self.list.push(finding);
        } else {
            self.beyond += 1;
        }
    }

    /// Tells whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty() && self.beyond == 0
    }

    /// Counts everything that was found, kept or not.
    pub fn count(&self) -> usize {
        self.list.len() + self.beyond
    }

    /// Counts what was found beyond the limit and not kept.
    pub fn beyond(&self) -> usize {
        self.beyond
    }

    /// Returns the findings that were kept, in the order of the document's walk.
    pub fn kept(&self) -> &[Finding] {
        &self.list
    }

    /// Hands out the findings that were kept.
    pub fn into_kept(self) -> Vec<Finding> {
        self.list
    }

    fn push(
        &mut self,
        path: &Path<'_>,
        code: &'static str,
        source: Source,
        message: impl FnOnce() -> String,
    ) {
        if self.list.len() >= self.kept_max {
            self.beyond += 1;
            return;
        }
        self.list.push(Finding { path: path.to_string(), code, source, message: message() });
    }
}

/// Shortens what a sender wrote to 64 characters before it goes into a message to people.
pub fn excerpt(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 64;
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
