//! The area `peers`: the real binary beside NATS JetStream and Redis, over the network of this machine.
//!
//! All sides carry the same documents of 1 KiB, are driven by the same loop on one thread, and write to the same disk.
//! Ours checks tokens and documents, knows repeats and gives receipts; the peers do not look into what they carry.

pub(crate) mod bare;
pub(crate) mod clock;
mod consume;
pub(crate) mod document;
mod drive;
mod echo;
pub(crate) mod frames;
pub(crate) mod http;
mod idle;
pub(crate) mod input;
mod instructions;
mod latency;
pub(crate) mod nats;
pub(crate) mod redis;
pub(crate) mod server;
mod side;
pub(crate) mod socket;
pub(crate) mod speech;
mod sustained;
mod throughput;
pub(crate) mod tools;

use std::time::Duration;

use anyhow::{Context, ensure};

use crate::area::{Area, Length, Options, Outcome};
use crate::args::UsageError;
use crate::figures::Pace;
use crate::findings::{Finding, Sheet};
use crate::progress::progress;
use crate::scratch::{Scratch, load_average};

use clock::Quiet;
use document::{Recipients, Worth};
use drive::Lines;
use server::{Kind, Server};
use side::Side;
use tools::Tools;

pub(crate) const AREA: Area = Area {
    name: "peers",
    summary: "publish, consume and wait beside NATS JetStream and Redis, each its real server",
    measure,
    smoke,
    callgrind: instructions::count,
    work,
};

/// What everything is measured with.
pub(crate) struct Bench<'b> {
    tools: &'b Tools,
    scratch: &'b Scratch,
    quiet: Quiet,
    /// Whether what is missing is installed.
    installs: bool,
    /// How many servers were started.
    started: usize,
    rounds: usize,
    pace: Pace,
    warm_up: Pace,
    /// Documents that wait for each consumer.
    waiting: u64,
    /// Documents whose way is timed.
    latencies: usize,
    sustained: Duration,
    burst: Duration,
}

/// A measure that can be asked for alone.
pub(crate) struct Part {
    pub(crate) name: &'static str,
    title: &'static str,
    measure: fn(&mut Bench<'_>) -> anyhow::Result<Vec<Finding>>,
}

/// Every measure, in the order in which they run.
pub(crate) const PARTS: [Part; 13] = [
    throughput_part::<0>(),
    throughput_part::<1>(),
    throughput_part::<2>(),
    throughput_part::<3>(),
    throughput_part::<4>(),
    Part { name: latency::NAME, title: latency::TITLE, measure: latency::measure },
    Part { name: consume::NAME, title: consume::TITLE, measure: consume::measure },
    throughput_part::<5>(),
    Part { name: idle::NAME, title: idle::TITLE, measure: idle::measure },
    Part {
        name: sustained::SUSTAINED,
        title: "sustained: publish and consume as fast as the history follows",
        measure: sustained::sustained,
    },
    Part {
        name: sustained::BURST,
        title: "burst: publish and consume as fast as the bus can",
        measure: sustained::burst,
    },
    throughput_part::<6>(),
    throughput_part::<7>(),
];

const fn throughput_part<const PLACE: usize>() -> Part {
    let metric = &throughput::METRICS[PLACE];
    Part {
        name: metric.name,
        title: metric.title,
        measure: |bench| throughput::METRICS[PLACE].measure(bench),
    }
}

fn measure(options: &Options) -> anyhow::Result<Outcome> {
    let parts = asked(options.only.as_deref())?;
    let tools = Tools::find()?;
    let scratch = Scratch::on_disk()?;
    let mut bench = Bench {
        tools: &tools,
        scratch: &scratch,
        quiet: Quiet::gate(),
        installs: true,
        started: 0,
        rounds: options.rounds,
        pace: Pace::For(options.duration),
        warm_up: Pace::For(Duration::from_millis(300)),
        waiting: 25_000,
        latencies: 2_000,
        sustained: Duration::from_secs(60),
        burst: Duration::from_secs(10),
    };
    if options.length == Length::Quick {
        bench = bench.quick();
    }
    let sheet = bench.find(&parts)?;
    print!("{}", sheet.render(&AREA, options));
    Ok(Outcome::Agreed)
}

fn smoke(options: &Options) -> anyhow::Result<Outcome> {
    let parts = asked(options.only.as_deref())?;
    let tools = match Tools::find_installed() {
        Ok(tools) => tools,
        Err(missing) => {
            progress(format_args!("skipped: {missing} is not there, so the peers are not compared"));
            return Ok(Outcome::Agreed);
        }
    };
    let scratch = Scratch::make()?;
    let mut bench = Bench {
        tools: &tools,
        scratch: &scratch,
        quiet: Quiet::open(),
        installs: false,
        started: 0,
        rounds: 1,
        pace: Pace::Passes(1),
        warm_up: Pace::Passes(1),
        waiting: 256,
        latencies: 10,
        sustained: Duration::from_millis(300),
        burst: Duration::from_millis(300),
    };
    print!("{}", bench.find(&parts)?.render_smoke(&AREA, options.form));
    Ok(Outcome::Agreed)
}

/// Publishes on one side only, for a profiler: `ours-4x64` has 4 connections with 64 documents in flight on each.
fn work(what: &str, passes: u64) -> anyhow::Result<()> {
    if instructions::work(what, passes)? {
        return Ok(());
    }
    let wrong = || format!("there is no work {what:?}: say SIDE-CONNECTIONSxWINDOW, such as ours-4x64");
    let (name, shape) = what.rsplit_once('-').with_context(wrong)?;
    let (connections, window) = shape.split_once('x').with_context(wrong)?;
    let (connections, window) = (connections.parse()?, window.parse()?);
    let side = Side::ALL.into_iter().find(|side| side.name() == name).with_context(wrong)?;
    ensure!((1..=document::AGENTS).contains(&connections) && window > 0, wrong());
    let (tools, scratch) = (Tools::find()?, Scratch::make()?);
    let mut server = Server::start(side.kind(), &tools, scratch.folder("server")?)?;
    server.prepare()?;
    let lines = Lines::new()?;
    let data = (Worth::AtLeastOnce, Recipients::All);
    let mut publishers = side.open(&lines, &server, connections, 0, data)?;
    let run = lines.publish(&mut publishers, window, Pace::Passes(passes))?;
    println!("{:.0} messages/s on side {}", run.rate(), side.name());
    Ok(())
}

/// The measures that were asked for.
fn asked(only: Option<&str>) -> Result<Vec<&'static Part>, UsageError> {
    let Some(name) = only else { return Ok(PARTS.iter().collect()) };
    let found: Vec<&Part> = PARTS.iter().filter(|part| part.name.eq_ignore_ascii_case(name)).collect();
    if found.is_empty() {
        let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(UsageError::new(format!(
            "there is no measure `{name}`\nhint: the measures are {}",
            names.join(", ")
        )));
    }
    Ok(found)
}

impl Bench<'_> {
    /// The same in seconds; the figures are worth less.
    fn quick(self) -> Self {
        Bench {
            rounds: 1,
            pace: Pace::For(Duration::from_millis(500)),
            waiting: 2_500,
            latencies: 200,
            sustained: Duration::from_secs(3),
            burst: Duration::from_secs(1),
            ..self
        }
    }

    fn find(&mut self, parts: &[&Part]) -> anyhow::Result<Sheet> {
        let mut sheet = Sheet::new(vec![
            self.tools.versions(),
            format!("{} rounds in turn, medians of wall time; {}", self.rounds, self.scratch.file_system),
            "clients of our own for all sides, on one thread, over loopback; documents of 1 KiB".to_owned(),
            "the first aim must be reached, the second would be better".to_owned(),
        ]);
        let load_before = load_average();
        for part in parts {
            progress(part.title);
            sheet.add(part.title, (part.measure)(self)?);
        }
        sheet.note(self.quiet.sentence());
        if let (Some(before), Some(after)) = (load_before, load_average()) {
            sheet.note(format!("load of the machine {before} before and {after} after"));
        }
        Ok(sheet)
    }

    /// Starts a server in a folder of its own.
    fn start(&mut self, kind: Kind) -> anyhow::Result<Server> {
        self.started += 1;
        let folder = self.scratch.folder(&format!("server-{}", self.started))?;
        Server::start(kind, self.tools, folder)
    }
}
