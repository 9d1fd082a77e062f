//! The area `fanout`: one `bus` document to 100 readers of `wire`, with and without the cache of translations.
//!
//! Both sides write the document for every reader through the gateway. Without the cache each reader has it translated
//! anew; with it, each message is translated for its first reader. Every pass is another message.
//!
//! The last section has each message read at intake too, before its one reader gets it: then the translation starts from
//! what was decoded there, or parses and decodes the document again.

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
const COUNTED: [(Work, usize); 5] = [
    (Work::Afresh(1), 1),
    (Work::Kept(1), 1),
    (Work::Kept(READERS), READERS),
    (Work::Through(Decoded::Twice), 1),
    (Work::Through(Decoded::Once), 1),
];

/// What is measured, side by side: each section has two sides, the slower first.
const SIDES: [Side; 6] = [
    Side::new("100 readers", "without the cache", Work::Afresh(READERS), AIM_FAN_OUT),
    Side::new("100 readers", "with the cache", Work::Kept(READERS), &[]),
    Side::new("one reader", "without the cache", Work::Afresh(1), &[]),
    Side::new("one reader", "with the cache", Work::Kept(1), &[]),
    Side::new("received, one reader", "decoded twice", Work::Through(Decoded::Twice), &[]),
    Side::new("received, one reader", "decoded once", Work::Through(Decoded::Once), &[]),
];

struct Side {
    section: &'static str,
    name: &'static str,
    work: Work,
    /// What the ratio of the section should be.
    aims: &'static [Aim],
}

/// For how many readers a document is written, with or without the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    Afresh(usize),
    Kept(usize),
    /// It is received before, and written for one.
    Through(Decoded),
}

/// How often a document is decoded that is received and translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decoded {
    Once,
    Twice,
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

impl Side {
    const fn new(section: &'static str, name: &'static str, work: Work, aims: &'static [Aim]) -> Self {
        Side { section, name, work, aims }
    }
}

impl Work {
    fn name(self) -> String {
        match self {
            Work::Afresh(readers) => format!("afresh-{readers}"),
            Work::Kept(readers) => format!("kept-{readers}"),
            Work::Through(Decoded::Once) => "decoded-once".to_owned(),
            Work::Through(Decoded::Twice) => "decoded-twice".to_owned(),
        }
    }

    fn readers(self) -> usize {
        match self {
            Work::Afresh(readers) | Work::Kept(readers) => readers,
            Work::Through(_) => 1,
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
        let (body, reading) = (black_box(&self.body[..]), self.reading());
        Ok(match work {
            Work::Afresh(_) => gateway::write(self.stored(body), Some(Name::Wire), reading)?,
            Work::Kept(_) => self.cache.write(self.stored(body), Some(Name::Wire), reading)?,
            Work::Through(decoded) => {
                let document = Envelope::open(body).context("no envelope")?.document;
                let mut submission = gateway::receive(document, Some(Name::Bus), reading)?;
                match decoded {
                    Decoded::Once => self.cache.keep_decoded(&mut submission),
                    Decoded::Twice => {}
                }
                let body = &submission.accept.body;
                self.cache.write(self.stored(body), Some(Name::Wire), reading)?
            }
        })
    }

    fn reading(&self) -> Reading<'_> {
        let lexicons = dialect_comms::catalog();
        Reading { names: &self.names, seal: &self.seal, limits: Limits::DOCUMENT, trace: None, lexicons }
    }

    fn stored<'b>(&self, body: &'b [u8]) -> Stored<'b> {
        Stored { body, place: Some(self.place), came: self.came, attempt: 1, instead: None }
    }

    /// Checks that both sides give the same, the first time and every time after it.
    fn check(&mut self) -> anyhow::Result<()> {
        self.place = Seq(self.place.0 + 1);
        let afresh = self.write(Work::Afresh(1))?;
        for _ in 0..3 {
            ensure!(self.write(Work::Kept(1))? == afresh, "the cache gives another document");
        }
        self.place = Seq(self.place.0 + 1);
        ensure!(
            self.write(Work::Through(Decoded::Once))? == afresh,
            "what was decoded gives another document"
        );
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
    let mut timings: Vec<(Work, Vec<Timing>)> = SIDES.iter().map(|side| (side.work, Vec::new())).collect();
    for round in 1..=options.rounds {
        progress(format_args!("round {round} of {}", options.rounds));
        for (work, timings) in &mut timings {
            timings.push(figures::quietest(|| bus.run(*work, pace))?);
        }
    }
    let mut sheet = Sheet::new(vec![format!(
        "{} rounds of {} ms for each side, in turn; medians of processor time a reader",
        options.rounds,
        options.duration.as_millis()
    )]);
    for (sides, timings) in SIDES.chunks(2).zip(timings.chunks(2)) {
        let ([before, now], [(_, slow), (_, fast)]) = (sides, timings) else { continue };
        let ratio = Series::ratio_by(fast, slow, Timing::ns_per_record);
        let ns = |timings: &[Timing]| Series::by(timings, Timing::ns_per_record);
        sheet.add(
            before.section,
            vec![
                Finding::new(format!("{} / {}", before.name, now.name), "", ratio).aiming(before.aims),
                Finding::new(before.name, "ns/reader", ns(slow)),
                Finding::new(now.name, "ns/reader", ns(fast)),
            ],
        );
    }
    sheet.watch(timings.into_iter().flat_map(|(_, timings)| timings));
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
