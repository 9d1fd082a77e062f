//! The area `fanout`: one `bus` document to 100 readers of `wire`, with and without the cache of translations.
//!
//! Both sides write the document for every reader through the gateway. Without the cache each reader has it translated
//! anew; with it, each message is translated for its first reader. Every pass is another message.

use std::hint::black_box;

use anyhow::{Context, ensure};
use dialect::{Name, Names};
use gateway::{Outgoing, Reading, SealKey, Stored, TranslationCache};
use json::Limits;
use message::{Envelope, Seq, Timestamp};

use crate::area::{Area, Options, Outcome};
use crate::dialects::corpus;
use crate::figures::{self, Pace, Series, Timing};
use crate::findings::{Aim, Finding, Sheet};
use crate::progress::progress;
use crate::valgrind;

pub(crate) const AREA: Area = Area {
    name: "fanout",
    summary: "translate one bus document for 100 readers of wire, with and without the cache",
    measure,
    smoke,
    callgrind,
    work,
};

const READERS: usize = 100;
/// As large as that of a hub, so that entries are also removed.
const CACHE_BYTES: usize = 32 << 20;
const SMOKE_PASSES: u64 = 2;
const AIM_FAN_OUT: &[Aim] = &[Aim::AtLeast(5.0)];
/// The works whose instructions are counted, and how many documents each pass writes.
const COUNTED: [(Work, usize); 3] =
    [(Work::Afresh(1), 1), (Work::Kept(1), 1), (Work::Kept(READERS), READERS)];

/// For how many readers a document is written, with or without the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Afresh(usize),
    Kept(usize),
}

/// A stored document and what it is written with.
struct Bus {
    body: Vec<u8>,
    came: Timestamp,
    names: Names,
    seal: SealKey,
    cache: TranslationCache,
    /// The place of the last message.
    place: Seq,
}

impl Work {
    fn name(self) -> String {
        match self {
            Work::Afresh(readers) => format!("afresh-{readers}"),
            Work::Kept(readers) => format!("kept-{readers}"),
        }
    }

    fn readers(self) -> usize {
        match self {
            Work::Afresh(readers) | Work::Kept(readers) => readers,
        }
    }
}

impl Bus {
    fn new() -> anyhow::Result<Self> {
        let body = Envelope::seal(Name::Bus, None, corpus::document(Name::Bus)?.as_bytes());
        Ok(Bus {
            body,
            came: Timestamp::from_unix_micros(1_790_000_000_000_000)?,
            names: Names::default(),
            seal: SealKey::new()?,
            cache: TranslationCache::new(CACHE_BYTES),
            place: Seq(0),
        })
    }

    /// Writes one more message for some readers, again and again.
    fn run(&mut self, work: Work, pace: Pace) -> anyhow::Result<Timing> {
        figures::try_run(pace, work.readers(), || {
            self.place = Seq(self.place.0 + 1);
            for _ in 0..work.readers() {
                black_box(self.write(work)?);
            }
            Ok(())
        })
    }

    fn write(&self, work: Work) -> anyhow::Result<Outgoing> {
        let lexicons = dialect_comms::catalog();
        let reading =
            Reading { names: &self.names, seal: &self.seal, limits: Limits::DOCUMENT, trace: None, lexicons };
        let body = black_box(&self.body[..]);
        let stored = Stored { body, place: Some(self.place), came: self.came, attempt: 1, instead: None };
        Ok(match work {
            Work::Afresh(_) => gateway::write(stored, Some(Name::Wire), reading)?,
            Work::Kept(_) => self.cache.write(stored, Some(Name::Wire), reading)?,
        })
    }

    /// Checks that both sides give the same, the first time and every time after it.
    fn check(&mut self) -> anyhow::Result<()> {
        self.place = Seq(self.place.0 + 1);
        let afresh = self.write(Work::Afresh(1))?;
        for _ in 0..3 {
            ensure!(self.write(Work::Kept(1))? == afresh, "the cache gives another document");
        }
        Ok(())
    }
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let sheet = find(options, Pace::For(options.duration))?;
    print!("{}", sheet.render(&AREA, options));
    Ok(Outcome::Agreed)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let sheet = find(&Options { rounds: 1, ..options.clone() }, Pace::Passes(SMOKE_PASSES))?;
    print!("{}", sheet.render_smoke(&AREA, options.form));
    Ok(Outcome::Agreed)
}

fn find(options: &Options, pace: Pace) -> anyhow::Result<Sheet> {
    let mut bus = Bus::new()?;
    bus.check()?;
    let works = [Work::Afresh(READERS), Work::Kept(READERS), Work::Afresh(1), Work::Kept(1)];
    let mut timings: [Vec<Timing>; 4] = Default::default();
    for round in 1..=options.rounds {
        progress(format_args!("round {round} of {}", options.rounds));
        for (work, timings) in works.iter().zip(&mut timings) {
            timings.push(figures::quietest(|| bus.run(*work, pace))?);
        }
    }
    let mut sheet = Sheet::new(vec![format!(
        "{} rounds of {} ms for each side, in turn; medians of processor time a reader",
        options.rounds,
        options.duration.as_millis()
    )]);
    let [afresh, kept, afresh_one, kept_one] = &timings;
    let ratio = |kept, afresh| Series::ratio_by(kept, afresh, Timing::ns_per_record);
    let ns = |timings: &[Timing]| Series::by(timings, Timing::ns_per_record);
    sheet.add(
        "100 readers",
        vec![
            Finding::new("without the cache / with it", "", ratio(kept, afresh)).aiming(AIM_FAN_OUT),
            Finding::new("without the cache", "ns/reader", ns(afresh)),
            Finding::new("with the cache", "ns/reader", ns(kept)),
        ],
    );
    sheet.add(
        "one reader",
        vec![
            Finding::new("without the cache / with it", "", ratio(kept_one, afresh_one)),
            Finding::new("without the cache", "ns/reader", ns(afresh_one)),
            Finding::new("with the cache", "ns/reader", ns(kept_one)),
        ],
    );
    sheet.watch(timings.into_iter().flatten());
    Ok(sheet)
}

fn callgrind(options: &Options) -> anyhow::Result<Outcome> {
    if !valgrind::is_installed() {
        progress("skipped: valgrind is not installed, so no instructions are counted");
        return Ok(Outcome::Agreed);
    }
    let folder = setup::tools_folder().join("callgrind");
    let mut findings = Vec::new();
    for (work, readers) in COUNTED {
        let name = work.name();
        progress(format_args!("counting the instructions of {name}"));
        let count = valgrind::instructions_per_pass(AREA.name, &name, &folder)? / readers as f64;
        findings.push(Finding::single(name, "instructions/reader", count));
    }
    let mut sheet = Sheet::new(vec!["callgrind, in which digests are computed without SHA-NI".to_owned()]);
    sheet.add("bus to wire", findings);
    print!("{}", sheet.render(&AREA, options));
    progress(format_args!("the profiles are in {}; see callgrind_annotate", folder.display()));
    Ok(Outcome::Agreed)
}

fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    let found = COUNTED.into_iter().find(|(work, _)| work.name() == what);
    let (work, _) = found.with_context(|| format!("there is no work {what:?}"))?;
    Bus::new()?.run(work, Pace::Passes(passes)).map(drop)
}
