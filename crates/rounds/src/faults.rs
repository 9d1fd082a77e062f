//! Faults: each is a part with a name, which does something to a bus of its own and says what it did and saw.
//!
//! A part fails with an error. It asserts behaviour, never how long something took; how long it took is only told.

mod broken;
mod clocks;
mod disk;
mod files;
mod floods;
mod folder;
mod guests;
mod priorities;
mod readers;
mod replies;
mod retries;
mod scene;
mod settings;
mod sockets;
mod stops;
mod trims;

use std::path::PathBuf;

use crate::{Cast, Plan, run};

/// What a part is given.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The program.
    pub binary: PathBuf,
    /// From which everything that is left to chance follows.
    pub seed: u64,
    /// How much is done.
    pub size: Size,
}

/// How much is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Enough for a gate: seconds.
    Short,
    /// Enough for a night: minutes.
    Long,
}

/// How a part ended that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saw {
    /// What was done and seen.
    This(String),
    /// Why nothing could be done here.
    Skipped(String),
}

/// Something that is done to a bus.
pub struct Part {
    /// By which it is called.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Does it.
    pub run: fn(&Stage) -> anyhow::Result<Saw>,
}

/// Every part, the quick ones first.
pub const PARTS: &[Part] = &[
    Part { name: "hostile", summary: "hostile bodies, heads and frames at every call", run: hostile },
    Part { name: "folder", summary: "a second server on one folder; a copy of it", run: folder::run },
    Part { name: "settings", summary: "settings that do not exist", run: settings::run },
    Part { name: "guests", summary: "spoofed senders, replays, revoked tokens, odd paths", run: guests::run },
    Part { name: "origins", summary: "Host and Origin, at every door", run: guests::origins },
    Part { name: "leases", summary: "leases that end, late acks, the last attempt", run: retries::leases },
    Part { name: "poison", summary: "poison, expiry waiting and while down, oversize", run: retries::poison },
    Part { name: "fallbacks", summary: "fallbacks, loops of them, nobody left", run: retries::fallbacks },
    Part {
        name: "replies",
        summary: "no reply, a late one, two of them, the same id twice",
        run: replies::run,
    },
    Part {
        name: "priorities",
        summary: "a flood of low with some critical, and the reverse",
        run: priorities::run,
    },
    Part { name: "python", summary: "a session by httpx and websockets", run: crate::python::session },
    Part { name: "wire", summary: "a small platform of Agent Wire", run: crate::python::wire },
    Part { name: "bus-python", summary: "a bus client by httpx and websockets", run: crate::python::bus },
    Part { name: "bus-node", summary: "a bus client by fetch and ws", run: crate::typescript::bus },
    Part { name: "coord-python", summary: "two coord agents", run: crate::python::coord },
    Part { name: "repo-python", summary: "records, pages and blobs by atproto", run: crate::python::repo },
    Part {
        name: "pds",
        summary: "191 calls by @atproto/api, beside what a real PDS answered",
        run: crate::atproto::beside_a_pds,
    },
    Part { name: "follow", summary: "@atproto/api writes, ws follows", run: crate::atproto::following },
    Part {
        name: "openapi",
        summary: "requests that schemathesis makes up from the OpenAPI document",
        run: crate::python::schemathesis,
    },
    Part { name: "kills", summary: "killed under load, at any instant", run: kills },
    Part { name: "doors", summary: "killed under load, with clients at every door", run: doors },
    Part { name: "trims", summary: "a log that is kept short, killed under load", run: trims::run },
    Part { name: "files", summary: "files come and go in two channel roots, killed", run: files::run },
    Part { name: "full", summary: "a full disk", run: disk::full },
    Part { name: "slow-disk", summary: "a disk that takes its time", run: disk::slow },
    Part { name: "broken-disk", summary: "a disk that fails, at every kind of call", run: broken::run },
    Part { name: "pause", summary: "the process sleeps", run: stops::pause },
    Part { name: "clock", summary: "the wall clock jumps, by an hour and by a year", run: clocks::run },
    Part { name: "readers", summary: "one reader that does not read beside fast ones", run: readers::run },
    Part { name: "crowd", summary: "a topic of a hundred, half of which do not read", run: readers::crowd },
    Part { name: "large", summary: "many large documents, looked at at once", run: readers::large },
    Part {
        name: "flood",
        summary: "idle connections, slow heads, connect and close",
        run: floods::connections,
    },
    Part {
        name: "descriptors",
        summary: "more connections than files may be open",
        run: floods::descriptors,
    },
    Part {
        name: "sockets",
        summary: "sockets that vanish, say half, say too much, are a thousand; at every door",
        run: sockets::run,
    },
    Part { name: "herd", summary: "everybody comes back at once", run: floods::herd },
    Part { name: "overload", summary: "more than can be done, for long", run: floods::overload },
];

/// Returns a part.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

impl Size {
    /// Returns one of two numbers.
    fn pick(self, short: usize, long: usize) -> usize {
        match self {
            Size::Short => short,
            Size::Long => long,
        }
    }
}

fn hostile(stage: &Stage) -> anyhow::Result<Saw> {
    crate::hostile::run(stage, stage.size.pick(3, 500))
}

fn kills(stage: &Stage) -> anyhow::Result<Saw> {
    killed(stage, Cast::Native)
}

fn doors(stage: &Stage) -> anyhow::Result<Saw> {
    killed(stage, Cast::Everybody)
}

fn killed(stage: &Stage, cast: Cast) -> anyhow::Result<Saw> {
    let rounds = stage.size.pick(4, 60) as u64;
    let binary = stage.binary.clone();
    let plan = Plan { binary, seed: stage.seed, cast, rounds, letters_max: 150, plant: None };
    let summary = run(&plan)?;
    let first: Vec<String> = summary.violations.iter().take(20).map(ToString::to_string).collect();
    anyhow::ensure!(first.is_empty(), "{summary}\n{}", first.join("\n"));
    let refusals: Vec<&str> = summary.refusals.iter().take(5).map(String::as_str).collect();
    anyhow::ensure!(refusals.is_empty(), "{summary}; refused:\n{}", refusals.join("\n"));
    for agent in cast.recipients() {
        anyhow::ensure!(summary.reached.contains(*agent), "nothing came to {agent}: {summary}");
    }
    Ok(Saw::This(summary.to_string()))
}
