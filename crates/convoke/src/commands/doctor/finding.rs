//! What was found, how bad it is, and what helps.

use std::fmt;

use json::{Object, Value};

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// As it should be.
    Good,
    /// It works, and somebody should know.
    Odd,
    /// It must be mended.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug)]
pub(super) struct Finding {
    check: &'static str,
    pub(super) verdict: Verdict,
    what: String,
    mend: Option<String>,
}

impl Finding {
    pub(super) fn good(check: &'static str, what: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Good, what: what.into(), mend: None }
    }

    pub(super) fn odd(check: &'static str, what: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Odd, what: what.into(), mend: None }
    }

    pub(super) fn bad(check: &'static str, what: impl Into<String>) -> Self {
        Finding { check, verdict: Verdict::Bad, what: what.into(), mend: None }
    }

    /// Says what helps.
    pub(super) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = Some(mend.into());
        self
    }

    pub(super) fn to_value(&self) -> Value<'_> {
        let mut members: Object<'_> = [
            ("check", Value::from(self.check)),
            ("verdict", Value::from(self.verdict.name())),
            ("what", Value::from(self.what.as_str())),
        ]
        .into_iter()
        .collect();
        if let Some(mend) = &self.mend {
            members.insert("mend", Value::from(mend.as_str()));
        }
        Value::Object(members)
    }
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::Good => "good",
            Verdict::Odd => "odd",
            Verdict::Bad => "bad",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<4}  {:<8}  {}", self.verdict.name(), self.check, self.what)?;
        match &self.mend {
            Some(mend) => writeln!(f, "{:<4}  {:<8}  to mend it: {mend}", "", ""),
            None => Ok(()),
        }
    }
}
