//! Publishing and consuming at once for a long time, and what the history makes of it.
//!
//! The history follows the log behind its back. Sustained is what a bus can take without it falling behind; a burst
//! is what it can take when it may.

use std::cell::Cell;
use std::time::Duration;

use anyhow::Context;
use futures_util::future::try_join_all;
use serde_json::Value;

use super::Bench;
use super::clock::now;
use super::document::{Recipients, Worth};
use super::drive::{Goal, Lines, Progress};
use super::http;
use super::server::{Kind, Server};
use super::side::{Side, Taking};
use crate::findings::Finding;
use crate::progress::progress;

pub(crate) const SUSTAINED: &str = "sustained";
pub(crate) const BURST: &str = "burst";

const CONNECTIONS: usize = 4;
const WINDOW: u64 = 64;
/// How often the bus is asked how far its history has come.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Events that the history may be behind while everybody goes on publishing; with more, they wait.
const LAG_MAX: u64 = 20_000;
/// How long the history may take to catch up after a burst.
const CATCH_UP_MAX: Duration = Duration::from_secs(300);

/// Whether publishers wait for the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brake {
    KeepUp,
    None,
}

/// What a long run came to.
struct Outcome {
    published: u64,
    settled: u64,
    seconds: f64,
    /// How far the history was behind at the end, and at most, in events.
    lag: u64,
    lag_max: u64,
    caught_up_seconds: f64,
}

/// As fast as the history follows.
pub(crate) fn sustained(bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
    let outcome = run(bench, SUSTAINED, bench.sustained, Brake::KeepUp)?;
    Ok(outcome.findings())
}

/// As fast as the bus can.
pub(crate) fn burst(bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
    let outcome = run(bench, BURST, bench.burst, Brake::None)?;
    Ok(outcome.findings())
}

impl Outcome {
    fn findings(&self) -> Vec<Finding> {
        let rate = |count: u64| count as f64 / self.seconds;
        vec![
            Finding::single("published", "messages/s", rate(self.published)),
            Finding::single("taken and acknowledged", "messages/s", rate(self.settled)),
            Finding::single("for", "s", self.seconds),
            Finding::single("history behind at the end", "events", self.lag as f64),
            Finding::single("history behind at most", "events", self.lag_max as f64),
            Finding::single("history caught up after", "s", self.caught_up_seconds),
        ]
    }
}

fn run(bench: &mut Bench<'_>, name: &str, duration: Duration, brake: Brake) -> anyhow::Result<Outcome> {
    let mut server = bench.start(Kind::Ours)?;
    server.prepare()?;
    let lines = Lines::new()?;
    let data = (Worth::AtLeastOnce, Recipients::First(CONNECTIONS));
    let mut publishers = Side::Ours.open(&lines, &server, CONNECTIONS, 0, data)?;
    let mut takers = Vec::new();
    for place in 0..CONNECTIONS {
        takers.push(Taking::Ours.open(&lines, &server, place)?);
    }
    bench.quiet.wait();
    progress(format_args!("{name}, {} s", duration.as_secs()));
    let (taken, lag_max, braked) = (Progress::new(u64::MAX), Cell::new(0), Cell::new(false));
    let start = now();
    let goal = Goal::Until(start + duration);
    let published = lines.block_on(async {
        let publishing =
            try_join_all(publishers.iter_mut().map(|line| line.publish_braked(WINDOW, goal, &braked)));
        let consuming = try_join_all(takers.iter_mut().map(|line| line.consume(&taken)));
        let watching = async {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                let lag = lag(&server)?;
                lag_max.set(lag_max.get().max(lag));
                braked.set(brake == Brake::KeepUp && lag > LAG_MAX);
            }
        };
        tokio::select! {
            counts = publishing => counts.map(|counts| counts.into_iter().sum::<u64>()),
            ended = consuming => ended.map(|_| 0),
            ended = watching => ended,
        }
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let settled = taken.settled();
    let lag_at_end = lag(&server)?;
    let caught_up_seconds = catch_up(&server)?;
    let lag_max = lag_max.get().max(lag_at_end);
    Ok(Outcome { published, settled, seconds, lag: lag_at_end, lag_max, caught_up_seconds })
}

/// Asks the bus how many events its history is behind.
fn lag(server: &Server) -> anyhow::Result<u64> {
    let (_, answer) = http::ask(server.address, "GET", "/v1/bus", &server.operator, "")?;
    let lag = answer.pointer("/history/lag").and_then(Value::as_u64);
    lag.with_context(|| format!("the bus does not say how far its history is behind: {answer}"))
}

fn catch_up(server: &Server) -> anyhow::Result<f64> {
    let start = now();
    while lag(server)? > 0 && start.elapsed() < CATCH_UP_MAX {
        super::clock::pause(LOOK_EVERY);
    }
    Ok(start.elapsed().as_secs_f64())
}
