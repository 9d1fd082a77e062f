//! Consuming: documents that wait are taken and acknowledged one by one.

use super::Bench;
use super::document::{Recipients, Worth};
use super::drive::Lines;
use super::side::Taking;
use super::throughput::processor_us;
use crate::figures::{Pace, Series};
use crate::findings::{Aim, Finding};
use crate::progress::progress;

pub(crate) const NAME: &str = "T8";
pub(crate) const TITLE: &str = "T8: take and acknowledge each, 4 consumers, a queue that is full";

const CONSUMERS: usize = 4;
/// Unanswered documents on each connection while the queue is filled, whole atomic batches.
const WINDOW: u64 = 256;
const AIMS: &[Aim] = &[Aim::AtLeast(1.3), Aim::AtLeast(3.0)];

pub(crate) fn measure(bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
    let mut rates: [Vec<f64>; Taking::ALL.len()] = Default::default();
    let mut processor: [Vec<f64>; Taking::ALL.len()] = Default::default();
    for round in 0..bench.rounds {
        progress(format_args!("{NAME}, round {} of {}", round + 1, bench.rounds));
        for turn in 0..Taking::ALL.len() {
            let place = (round + turn) % Taking::ALL.len();
            let (rate, us) = turn_of(bench, Taking::ALL[place])?;
            rates[place].push(rate);
            processor[place].extend(us);
        }
    }
    let ours = &rates[0];
    let best = |round: usize, is_compared: fn(Taking) -> bool| {
        let peers = Taking::ALL.iter().zip(&rates).skip(1).filter(|(taking, _)| is_compared(**taking));
        peers.map(|(_, rates)| rates[round]).fold(0.0, f64::max)
    };
    let ratio = |is_compared| {
        Series::of(ours.iter().enumerate().map(|(round, rate)| rate / best(round, is_compared)))
    };
    let mut findings = vec![
        Finding::new("ours / the best of those that acknowledge each", "", ratio(Taking::settles_each))
            .aiming(AIMS),
        Finding::new("ours / the best of all", "", ratio(|_| true)),
    ];
    for (taking, rates) in Taking::ALL.iter().zip(&rates) {
        findings.push(Finding::new(taking.title(), "messages/s", Series::of(rates.iter().copied())));
    }
    for (taking, us) in Taking::ALL.iter().zip(&processor).filter(|(_, us)| !us.is_empty()) {
        let name = format!("{}, processor", taking.title());
        findings.push(Finding::new(name, "us/message", Series::of(us.iter().copied())));
    }
    Ok(findings)
}

/// Fills a fresh server and empties it.
fn turn_of(bench: &mut Bench<'_>, taking: Taking) -> anyhow::Result<(f64, Option<f64>)> {
    let mut server = bench.start(taking.kind())?;
    server.prepare()?;
    let lines = Lines::new()?;
    let data = (Worth::AtLeastOnce, Recipients::First(CONSUMERS));
    let mut fillers = taking.filler().open(&lines, &server, CONSUMERS, 0, data)?;
    let each = bench.waiting.next_multiple_of(WINDOW);
    let filled = lines.publish(&mut fillers, WINDOW, Pace::Passes(each))?;
    drop(fillers);
    let mut takers = Vec::new();
    for place in 0..CONSUMERS {
        takers.push(taking.open(&lines, &server, place)?);
    }
    bench.quiet.wait();
    let before = server.processor_seconds();
    let run = lines.consume(&mut takers, filled.messages)?;
    Ok((run.rate(), processor_us(before, &server, run)))
}
