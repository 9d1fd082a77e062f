//! The area `lexicon`: records checked against their lexicons, beside the reference implementation.
//!
//! Both sides get the same bytes. The peer is `@atproto/lexicon` on Node.js, kept alive over all rounds so
//! that its compiler has long finished when the first round starts.

pub(crate) mod corpus;
mod ours;
pub(crate) mod peer;
mod report;
pub(crate) mod verdicts;

use anyhow::Context;

use crate::area::{Area, Options, Outcome};
use crate::figures::{self, Pace, Series, Timing};
use crate::machine::Machine;
use crate::progress::progress;
use crate::valgrind;

use corpus::{Case, Corpus};
use ours::Ours;
use peer::Peer;

pub(crate) const AREA: Area = Area {
    name: "lexicon",
    summary: "check agent.comms records against their lexicons, beside @atproto/lexicon",
    measure,
    smoke,
    callgrind,
    work,
};

/// Passes of a smoke run: enough to run every line, too few to mean anything.
const SMOKE_PASSES: u64 = 3;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// Bytes to verdict.
    FromBytes,
    /// Values that are already parsed, to verdict.
    Values,
    /// Bytes to values.
    Parse,
    /// Bytes to the values of `serde_json`, as a yardstick.
    SerdeJson,
}

/// The timings of one measure, by rounds.
pub(crate) struct Rounds {
    pub(crate) measure: Measure,
    pub(crate) ours: Vec<Timing>,
    /// As many as ours, or none where the peer has nothing to compare.
    pub(crate) peer: Vec<Timing>,
}

impl Rounds {
    /// How many times longer the peer takes.
    pub(crate) fn ratio(&self, figure: fn(&Timing) -> f64) -> Series {
        Series::ratio_by(&self.ours, &self.peer, figure)
    }
}

impl Measure {
    pub(crate) const ALL: [Measure; 4] =
        [Measure::FromBytes, Measure::Values, Measure::Parse, Measure::SerdeJson];

    /// The name in JSON and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::FromBytes => "from_bytes",
            Measure::Values => "values",
            Measure::Parse => "parse",
            Measure::SerdeJson => "serde_json",
        }
    }

    /// What it is, for people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Measure::FromBytes => "validate from bytes",
            Measure::Values => "validate parsed values",
            Measure::Parse => "parse only",
            Measure::SerdeJson => "parse only, serde_json",
        }
    }

    /// How many times longer than we the peer should take at least.
    pub(crate) fn aim(self) -> Option<f64> {
        match self {
            Measure::FromBytes => Some(4.0),
            Measure::Values => Some(10.0),
            Measure::Parse | Measure::SerdeJson => None,
        }
    }

    fn has_peer(self) -> bool {
        match self {
            Measure::FromBytes | Measure::Values | Measure::Parse => true,
            Measure::SerdeJson => false,
        }
    }
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let corpus = Corpus::load()?;
    let ours = Ours::new(&corpus.records)?;
    let folder = tempfile::tempdir()?;
    corpus.write(folder.path())?;
    let tools = setup::tools_folder();
    let installed = peer::install(&tools)?;

    let verdicts = {
        // The odd records of this set would spoil what the compiler learns from the others.
        let mut peer = Peer::start(&installed, folder.path())?;
        verdicts::compare(&corpus.cases, &ours, &peer.verdicts()?)?
    };
    let mut peer = Peer::start(&installed, folder.path())?;
    let versions = peer.versions()?;
    let rounds = all_rounds(&ours, &mut peer, options)?;
    let run = report::Run { machine: Machine::look(), versions, corpus: &corpus, options };
    print!("{}", report::render(&run, &rounds, &verdicts));
    Ok(Outcome::from_agreement(verdicts::are_as_listed(&verdicts)))
}

/// Measures the sides in turn; who starts changes from round to round.
fn all_rounds(ours: &Ours<'_>, peer: &mut Peer, options: &Options) -> anyhow::Result<Vec<Rounds>> {
    let pace = Pace::For(options.duration);
    progress("warming up");
    for measure in Measure::ALL {
        ours.run(measure, pace);
        if measure.has_peer() {
            peer.measure(measure, options.duration * 2)?;
        }
    }
    let empty = |measure| Rounds { measure, ours: Vec::new(), peer: Vec::new() };
    let mut all: Vec<Rounds> = Measure::ALL.map(empty).into();
    for round in 1..=options.rounds {
        progress(format_args!("round {round} of {}", options.rounds));
        for rounds in &mut all {
            let measure = rounds.measure;
            let our_turn = || figures::quietest(|| Ok(ours.run(measure, pace)));
            let peer_first = round.is_multiple_of(2);
            if !peer_first {
                rounds.ours.push(our_turn()?);
            }
            if measure.has_peer() {
                rounds.peer.push(figures::quietest(|| peer.measure(measure, options.duration))?);
            }
            if peer_first {
                rounds.ours.push(our_turn()?);
            }
        }
    }
    Ok(all)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let corpus = Corpus::load()?;
    let ours = Ours::new(&corpus.records)?;
    let run = |measure: Measure| (measure, ours.run(measure, Pace::Passes(SMOKE_PASSES)));
    let timings = Measure::ALL.map(run);
    let wrong: Vec<&Case> = corpus.cases.iter().filter(|case| ours.verdict(case).0 != case.ours).collect();
    print!("{}", report::render_smoke(&timings, &corpus, &wrong, options.form));
    Ok(Outcome::from_agreement(wrong.is_empty()))
}

fn callgrind(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let corpus = Corpus::load()?;
    let folder = setup::tools_folder().join("callgrind");
    let mut counts = Vec::new();
    for measure in Measure::ALL {
        progress(format_args!("counting the instructions of {}", measure.name()));
        let count = valgrind::instructions_per_pass(AREA.name, measure.name(), &folder)?;
        counts.push((measure, count / corpus.records.len() as f64));
    }
    print!("{}", report::render_instructions(&counts, options.form));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

/// Loads the records only, so that a profile shows the measure and little else.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    let measure = Measure::ALL.into_iter().find(|measure| measure.name() == what);
    let measure = measure.with_context(|| format!("there is no measure {what:?}"))?;
    let records = corpus::records()?;
    Ours::new(&records)?.run(measure, Pace::Passes(passes));
    Ok(())
}
