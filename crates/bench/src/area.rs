//! What an area of measurement is, what it is asked for and how it ends.

use std::time::Duration;

use serde_json::json;

/// One area: something that we and a peer both do.
pub(crate) struct Area {
    pub(crate) name: &'static str,
    /// One line for the list of areas.
    pub(crate) summary: &'static str,
    /// Measures both sides and compares them.
    pub(crate) measure: fn(&Options) -> anyhow::Result<Outcome>,
    /// Runs our side for an instant, so that the benchmark cannot rot.
    pub(crate) smoke: fn(&Options) -> anyhow::Result<Outcome>,
    /// Counts the instructions of our side.
    pub(crate) callgrind: fn(&Options) -> anyhow::Result<Outcome>,
    /// Does one of our measures that many times, and nothing else; this is what a profiler looks at.
    pub(crate) work: fn(&str, u64) -> anyhow::Result<()>,
}

/// What the caller asks of an area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// How often each side is measured.
    pub(crate) rounds: usize,
    /// How long each measure takes in each round.
    pub(crate) duration: Duration,
    pub(crate) form: Form,
    /// The one measure that is asked for, by its name; an area that has no names for them measures everything.
    pub(crate) only: Option<String>,
    pub(crate) length: Length,
}

/// How thorough a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Full,
    /// As short as the figures still mean something.
    Quick,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables for people.
    Text,
    /// JSON, one value a line.
    Json,
}

/// Whether everybody agrees about the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Agreed,
    Disagreed,
}

impl Area {
    /// The area as a line of the list.
    pub(crate) fn line(&self, form: Form) -> String {
        match form {
            Form::Text => format!("{:<10} {}", self.name, self.summary),
            Form::Json => json!({ "area": self.name, "summary": self.summary }).to_string(),
        }
    }
}

impl Outcome {
    pub(crate) fn from_agreement(agreed: bool) -> Self {
        if agreed { Outcome::Agreed } else { Outcome::Disagreed }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Outcome::from_agreement(self == Outcome::Agreed && other == Outcome::Agreed)
    }
}
