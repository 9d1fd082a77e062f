//! The tasks: what is done to one document, and the loops that are measured.

use std::hint::black_box;

use anyhow::{Context, ensure};
use dialect::{Name, Names};
use gateway::{Reading, SealKey};
use json::Limits;
use translate::{Carry, Options, Reports, translate};

use super::corpus::{self, DIALECTS};
use crate::figures::{self, Pace, Timing};

/// What is done to which document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The dialect in which the document was written first.
    pub(crate) document: Name,
    pub(crate) work: Work,
}

/// A plan with everything that it needs.
pub(crate) struct Task {
    pub(crate) plan: Plan,
    /// The text that goes in; that of a document on its way back is the translated one.
    pub(crate) input: String,
    names: Names,
}

/// What is done to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Bytes to the values of `serde_json`: the yardstick.
    SerdeJson,
    /// Bytes to values.
    Parse,
    /// Bytes to a verdict.
    Validate,
    /// Bytes to what the broker accepts, as a door reads them.
    Receive,
    /// Text to the text of another dialect.
    Translate { to: Name },
    /// The text of another dialect back to the document that it was made of.
    Restore { from: Name },
}

impl Work {
    /// The name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Work::SerdeJson => "serde_json",
            Work::Parse => "parse",
            Work::Validate => "validate",
            Work::Receive => "receive",
            Work::Translate { .. } => "translate",
            Work::Restore { .. } => "restore",
        }
    }

    /// How many times longer than the yardstick it should take at most.
    pub(crate) fn aim(self) -> Option<f64> {
        match self {
            Work::SerdeJson | Work::Parse | Work::Receive => None,
            Work::Validate => Some(3.0),
            Work::Translate { .. } | Work::Restore { .. } => Some(10.0),
        }
    }

    /// The other dialect, where two are concerned.
    pub(crate) fn other(self) -> Option<Name> {
        match self {
            Work::SerdeJson | Work::Parse | Work::Validate | Work::Receive => None,
            Work::Translate { to: other } | Work::Restore { from: other } => Some(other),
        }
    }
}

impl Plan {
    /// Every plan, document by document.
    pub(crate) fn all() -> Vec<Self> {
        let mut plans = Vec::new();
        for document in DIALECTS {
            let others = || DIALECTS.into_iter().filter(move |other| *other != document);
            let alone = [Work::SerdeJson, Work::Parse, Work::Validate, Work::Receive].into_iter();
            let there = others().map(|to| Work::Translate { to });
            let back = others().map(|from| Work::Restore { from });
            plans.extend(alone.chain(there).chain(back).map(|work| Plan { document, work }));
        }
        plans
    }

    /// The name on the command line; a profile is called so too.
    pub(crate) fn name(self) -> String {
        let document = self.document;
        match self.work {
            Work::Translate { to } => format!("{document}-to-{to}"),
            Work::Restore { from } => format!("{document}-back-from-{from}"),
            Work::SerdeJson | Work::Parse | Work::Validate | Work::Receive => {
                format!("{document}-{}", self.work.name())
            }
        }
    }

    /// Finds or makes the input; what is to come back must do so to the byte.
    pub(crate) fn prepare(self) -> anyhow::Result<Task> {
        let Plan { document, work } = self;
        let text = corpus::document(document)?;
        let task = |work, input| Task { plan: Plan { document, work }, input, names: Names::default() };
        match work {
            Work::SerdeJson | Work::Parse | Work::Validate | Work::Receive | Work::Translate { .. } => {
                Ok(task(work, text.to_owned()))
            }
            Work::Restore { from } => {
                let there = task(Work::Translate { to: from }, text.to_owned());
                let back = task(work, there.translated(document, from).with_context(|| self.name())?);
                let restored = back.translated(from, document).with_context(|| self.name())?;
                ensure!(restored == text, "{}: not the text that it was", self.name());
                Ok(back)
            }
        }
    }
}

impl Task {
    /// Does the work again and again.
    pub(crate) fn run(&self, pace: Pace) -> Timing {
        match self.plan.work {
            Work::SerdeJson => self.run_yardstick(pace),
            Work::Parse => figures::run(pace, 1, || {
                black_box(json::parse(self.bytes(), Limits::DOCUMENT).is_ok());
            }),
            Work::Validate => figures::run(pace, 1, || {
                black_box(self.is_valid());
            }),
            Work::Receive => self.run_receive(pace),
            Work::Translate { to } => self.run_translation(self.plan.document, to, pace),
            Work::Restore { from } => self.run_translation(from, self.plan.document, pace),
        }
    }

    /// Lets `serde_json` read the same bytes again and again.
    pub(crate) fn run_yardstick(&self, pace: Pace) -> Timing {
        figures::run(pace, 1, || {
            black_box(serde_json::from_slice::<serde_json::Value>(self.bytes()).is_ok());
        })
    }

    /// The input, of which the compiler may assume nothing.
    fn bytes(&self) -> &[u8] {
        black_box(self.input.as_bytes())
    }

    fn is_valid(&self) -> bool {
        json::parse(self.bytes(), Limits::DOCUMENT)
            .is_ok_and(|value| black_box(translate::dialect(self.plan.document).validate(&value)).is_valid())
    }

    /// Lets a door read the document, as it would from a peer that says which dialect it speaks.
    fn run_receive(&self, pace: Pace) -> Timing {
        let seal = SealKey::new().expect("the system has random numbers");
        let lexicons = dialect_comms::catalog();
        let reading =
            Reading { names: &self.names, seal: &seal, limits: Limits::DOCUMENT, trace: None, lexicons };
        figures::run(pace, 1, || {
            black_box(gateway::receive(self.bytes(), Some(self.plan.document), reading).is_ok());
        })
    }

    fn run_translation(&self, from: Name, to: Name, pace: Pace) -> Timing {
        figures::run(pace, 1, || {
            black_box(translate(black_box(&self.input), from, to, &self.options()).is_ok());
        })
    }

    fn translated(&self, from: Name, to: Name) -> anyhow::Result<String> {
        Ok(translate(&self.input, from, to, &self.options())?.text)
    }

    fn options(&self) -> Options<'_> {
        Options {
            names: &self.names,
            limits: Limits::DOCUMENT,
            carry: Carry::Origin,
            reports: Reports::Unwanted,
            trusts: &|_| true,
            seals: None,
            came: None,
            to: None,
        }
    }
}
