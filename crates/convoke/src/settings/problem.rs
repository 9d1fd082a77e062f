//! What is wrong with a setting.

use std::fmt;

use crate::failure::Failure;

/// What is wrong, where, and how it is mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    place: String,
    what: String,
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Problem { place: place.into(), what: what.into(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns how it is mended; without a hint of its own, where to read on.
    pub(crate) fn mend(&self) -> &str {
        self.hint.as_deref().unwrap_or("docs/settings.md lists every setting with what it takes")
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let hint = problem.mend().to_owned();
        Failure::wrong_use(problem.to_string()).hint(hint)
    }
}
