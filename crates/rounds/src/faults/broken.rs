//! A disk that fails: one call to the system about the data folder returns an error.
//!
//! Whatever call it is, the server ends by itself and says why on stderr, or it goes on. In both cases nobody waits for
//! ever, everything that was acknowledged is there afterwards, and another server can start on the folder.

mod starting;

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustix::process::Signal;

use super::scene::note;
use super::{Saw, Size, Stage};
use crate::checker::check;
use crate::clock;
use crate::load::{Cast, Length, World};
use crate::run::{Load, quick, under_load};
use crate::server::{Launch, Server, tells_of_panic};
use crate::strace::{Fault, Strace};

/// How long a server may take to end, or to go on, after its disk has failed. Its own grace is much shorter.
const LIMIT: Duration = Duration::from_secs(30);
/// How long all letters together may take, on a machine that is busy with other things.
const LOAD_LIMIT: Duration = Duration::from_secs(120);
/// Its own grace.
const GRACE: &str = "1s";
/// How often one looks at a server.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Who tries whether the bus works; takes no part in the load.
const PROBE: &str = "probe";
/// Words of which one stands in what the server says about a disk that failed, in small letters.
const REASONS: [&str; 2] = ["input/output error", "disk i/o error"];
/// What the server says when it ends because its grace is over.
const LATE: &str = "did not stop within";

/// Calls of one kind, and for which of them a failure is tried in the long form.
struct Calls {
    names: &'static str,
    nth_max: usize,
    length: Length,
}

/// What a server asks of the system about its data folder. Only long letters make it begin and give up files.
///
/// It also calls `write` on a few small files when it starts; but threads are woken by `write` too, and those calls
/// must not fail.
const CALLS: [Calls; 7] = [
    Calls { names: "fdatasync,fsync", nth_max: 20, length: Length::Mixed },
    Calls { names: "pwrite64", nth_max: 10, length: Length::Mixed },
    Calls { names: "openat", nth_max: 8, length: Length::Long },
    Calls { names: "?rename,renameat,?renameat2", nth_max: 4, length: Length::Long },
    Calls { names: "?unlink,unlinkat", nth_max: 4, length: Length::Long },
    Calls { names: "ftruncate,fallocate", nth_max: 2, length: Length::Long },
    // Only while it starts.
    Calls { names: "?mkdir,mkdirat,?link,linkat", nth_max: 0, length: Length::Mixed },
];

/// How busy the bus is when its disk fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bus {
    /// One message at a time.
    Quiet,
    /// Several senders, and recipients over HTTP and sockets.
    Busy,
}

/// A failure while the server runs.
struct Case {
    fault: Fault,
    length: Length,
    bus: Bus,
}

/// What came of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The server said why and ended.
    Ended,
    /// The server said why and ended, but only because its time to stop was over: something in it hung.
    EndedLate,
    /// The server went on.
    WentOn,
    /// No call about the data folder was failed.
    NotReached,
}

/// What came of all of them.
#[derive(Default)]
struct Tally {
    ended: usize,
    late: Vec<String>,
    went_on: usize,
    not_reached: Vec<String>,
    failures: Vec<String>,
}

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let strace = match Strace::find() {
        Ok(strace) => strace,
        Err(error) => return Ok(Saw::Skipped(format!("{error:#}"))),
    };
    let mut tally = Tally::default();
    for case in cases(stage.size) {
        tally.add(&case.to_string(), case.run(stage, &strace));
    }
    starting::run(stage, &strace, &mut tally)?;
    tally.told()
}

/// Returns what is tried while the server runs.
fn cases(size: Size) -> Vec<Case> {
    let case = |calls: &Calls, nth, bus| {
        let (fault, length) = (Fault { calls: calls.names, nth }, calls.length);
        Case { fault, length, bus }
    };
    match size {
        Size::Long => CALLS
            .iter()
            .flat_map(|calls| (1..=calls.nth_max).map(move |nth| (calls, nth)))
            .flat_map(|(calls, nth)| [case(calls, nth, Bus::Quiet), case(calls, nth, Bus::Busy)])
            .collect(),
        Size::Short => {
            let [syncs, writes, opens, renames, ..] = &CALLS;
            vec![
                case(syncs, 1, Bus::Quiet),
                case(syncs, 3, Bus::Quiet),
                case(syncs, 2, Bus::Busy),
                case(writes, 2, Bus::Quiet),
                case(writes, 5, Bus::Busy),
                case(opens, 1, Bus::Quiet),
                case(renames, 1, Bus::Busy),
            ]
        }
    }
}

impl Case {
    fn run(&self, stage: &Stage, strace: &Strace) -> anyhow::Result<Outcome> {
        let folder = tempfile::tempdir().context("making a folder")?;
        let launch = settings(Launch::new(&stage.binary, folder.path()));
        let cast = match self.bus {
            Bus::Quiet => Cast::OneSender,
            Bus::Busy => Cast::Native,
        };
        // Each of the threads that may make the call makes it as often as it takes.
        let letters_max = match self.length {
            Length::Mixed => 150,
            Length::Long => 40,
        };
        let load = Load { seed: stage.seed, cast, letters_max, length: self.length };
        let (record, outcome) = under_load(&launch, load, |world, server| {
            let outcome = self.fail_disk(strace, &launch, world, server)?;
            let next = launch.start().context("starting again on the folder")?;
            Ok((next, outcome))
        })?;
        let violations: Vec<String> = check(&record).iter().take(10).map(ToString::to_string).collect();
        ensure!(violations.is_empty(), "{}", violations.join("\n"));
        Ok(outcome)
    }

    fn fail_disk(
        &self,
        strace: &Strace,
        launch: &Launch,
        world: &World,
        mut server: Server,
    ) -> anyhow::Result<Outcome> {
        let token = server.agent(PROBE)?;
        let said_before = server.log_text().len();
        let mut attached = strace.attach(server.id(), self.fault, &launch.folder)?;
        world.gate.open(server.address());
        let status = wait_for_senders(&mut server, world).and_then(|ended| match ended {
            Some(status) => Ok(status),
            None => end(&mut server, &token),
        });
        let status = status.with_context(|| format!("after {:?}", attached.trace.failed(&launch.data())))?;
        let failed = attached.finish()?.failed(&launch.data());
        let log = server.log_text();
        judge(status, &failed, log.get(said_before..).unwrap_or_default())
            .with_context(|| format!("after {failed:?}"))
    }
}

/// Settings with which much happens to the data folder in a short time.
fn settings(launch: Launch) -> Launch {
    quick(launch).set("LOG_KEEP_BYTES", "8MiB").set("LIMITS_STOP_GRACE", GRACE)
}

/// Waits until everybody who sends was answered or cut off, or the server has ended. Nobody else calls it meanwhile:
/// another call might wake what would sleep for ever.
fn wait_for_senders(server: &mut Server, world: &World) -> anyhow::Result<Option<ExitStatus>> {
    let began = clock::now();
    while began.elapsed() < LOAD_LIMIT {
        let ended = server.ended_within(LOOK_EVERY)?;
        if ended.is_some() || world.has_sent_all() {
            return Ok(ended);
        }
    }
    bail!("after {} s senders wait for answers; the server said: {}", LOAD_LIMIT.as_secs(), server.log_text())
}

/// Waits until a server has ended by itself; one that works is told to stop.
fn end(server: &mut Server, token: &str) -> anyhow::Result<ExitStatus> {
    let began = clock::now();
    let mut why_not = String::new();
    while began.elapsed() < LIMIT {
        if let Some(status) = server.ended_within(LOOK_EVERY)? {
            return Ok(status);
        }
        match try_bus(server, token, &format!("try {}", began.elapsed().as_nanos())) {
            Err(error) => why_not = format!("{error:#}"),
            Ok(()) => {
                server.signal(Signal::TERM)?;
                let ended = server.ended_within(LIMIT)?;
                return ended.context("the server went on, but does not stop when it is told to");
            }
        }
    }
    let log = server.log_text();
    bail!(
        "{} s later the server has neither ended nor does it work: {why_not}; it said: {log}",
        LIMIT.as_secs()
    )
}

/// Sends, takes and acknowledges a message. It says something new each time, or it would be a repeat.
fn try_bus(server: &Server, token: &str, text: &str) -> anyhow::Result<()> {
    let sent = server.call("POST", "/v1/messages", token, &note(PROBE, PROBE, text, ""))?;
    ensure!(sent.status == 201, "sending: {sent}");
    let taken = server.call("POST", &format!("/v1/agents/{PROBE}/inbox/take"), token, r#"{"wait":"5s"}"#)?;
    ensure!(taken.status == 200, "taking: {taken}");
    let value = taken.json().context("no JSON")?;
    let delivery = value.pointer("/deliveries/0/delivery").and_then(json::Value::as_str);
    let delivery = delivery.with_context(|| format!("nothing came: {taken}"))?;
    let acked = server.call("POST", &format!("/v1/deliveries/{delivery}/ack"), token, "")?;
    ensure!(acked.status == 200, "acknowledging: {acked}");
    Ok(())
}

/// Says whether a server ended as it should: with success if it was told to, else with a reason.
fn judge(status: ExitStatus, failed: &[String], said: &str) -> anyhow::Result<Outcome> {
    ensure!(!tells_of_panic(said), "the server panicked: {said}");
    match status.code() {
        Some(0) if failed.is_empty() => Ok(Outcome::NotReached),
        Some(0) => Ok(Outcome::WentOn),
        Some(_) => {
            let small = said.to_lowercase();
            let has_reason = small.contains("error:") && REASONS.iter().any(|reason| small.contains(reason));
            ensure!(has_reason, "the server ended with {status} and did not say why: {said:?}");
            Ok(if said.contains(LATE) { Outcome::EndedLate } else { Outcome::Ended })
        }
        None => bail!("the server did not end by itself ({status}): {said}"),
    }
}

impl Tally {
    fn add(&mut self, case: &str, outcome: anyhow::Result<Outcome>) {
        match outcome {
            Ok(Outcome::Ended) => self.ended += 1,
            Ok(Outcome::EndedLate) => self.late.push(case.to_owned()),
            Ok(Outcome::WentOn) => self.went_on += 1,
            Ok(Outcome::NotReached) => self.not_reached.push(case.to_owned()),
            Err(error) => self.failures.push(format!("{case}: {error:#}")),
        }
    }

    fn told(self) -> anyhow::Result<Saw> {
        let Tally { ended, late, went_on, not_reached, failures } = self;
        let mut told = format!("{ended} times it ended with its reason, {went_on} times it went on");
        for (what, cases) in [("only ended when its grace was over", late), ("was not reached", not_reached)]
        {
            if !cases.is_empty() {
                told.push_str(&format!("; {} times it {what}: {}", cases.len(), cases.join(", ")));
            }
        }
        let count = failures.len();
        ensure!(failures.is_empty(), "{count} failures\n{}\n{told}", failures.join("\n"));
        Ok(Saw::This(told))
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bus = match self.bus {
            Bus::Quiet => "quiet",
            Bus::Busy => "busy",
        };
        write!(f, "{} {} on a {bus} bus", self.fault.calls, self.fault.nth)
    }
}
