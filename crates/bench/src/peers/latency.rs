//! How long a document takes from its sender to its recipient, durable on the way, when little goes on.
//!
//! The sender follows the clock and not the answers, so that a slow moment is seen by everybody who comes in it.

use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::Bench;
use super::clock::{now, pause};
use super::document::{Documents, Language, Recipients, Worth, number_in};
use super::input::Input;
use super::server::Server;
use super::side::{Role, Side, Taking};
use super::speech::Publish;
use crate::figures::Series;
use crate::findings::{Aim, Finding};
use crate::log::quantile;
use crate::progress::progress;

pub(crate) const NAME: &str = "T7";
pub(crate) const TITLE: &str = "T7: from the sender to the recipient, 500 a second";

const EVERY: Duration = Duration::from_millis(2);
/// The first ones find everything cold.
const WARM_UP: usize = 50;
const SIDES: [(Side, Taking); 3] =
    [(Side::Ours, Taking::Ours), (Side::Nats, Taking::Nats), (Side::Redis, Taking::RedisSingle)];

const TO_NATS: &[Aim] = &[Aim::AtMost(0.85)];
const TO_REDIS: &[Aim] = &[Aim::AtMost(1.2), Aim::AtMost(1.0)];
const P99_MS: &[Aim] = &[Aim::AtMost(4.0), Aim::AtMost(1.5)];

/// When a document arrived.
type Arrival = (u64, Instant);

pub(crate) fn measure(bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
    let mut halves: [Vec<f64>; SIDES.len()] = Default::default();
    let mut tails: [Vec<f64>; SIDES.len()] = Default::default();
    for round in 0..bench.rounds {
        progress(format_args!("{NAME}, round {} of {}", round + 1, bench.rounds));
        for turn in 0..SIDES.len() {
            let place = (round + turn) % SIDES.len();
            let (side, taking) = SIDES[place];
            let mut server = bench.start(side.kind())?;
            server.prepare()?;
            bench.quiet.wait();
            let mut latencies = watch(&server, side, taking, bench.latencies)?;
            latencies.sort_by(f64::total_cmp);
            halves[place].push(quantile(&latencies, 0.5));
            tails[place].push(quantile(&latencies, 0.99));
        }
    }
    let [ours, nats, redis] = &halves;
    let ratio = |peer: &[f64]| Series::of(ours.iter().zip(peer).map(|(ours, peer)| ours / peer));
    let series = |figures: &[f64]| Series::of(figures.iter().copied());
    let mut findings = vec![
        Finding::new("half within, ours / JetStream, synced", "", ratio(nats)).aiming(TO_NATS),
        Finding::new("half within, ours / Redis, synced", "", ratio(redis)).aiming(TO_REDIS),
        Finding::new("ours, 99 % within", "ms", series(&tails[0])).aiming(P99_MS),
    ];
    for (place, (side, _)) in SIDES.iter().enumerate() {
        findings.push(Finding::new(format!("{}, half within", side.title()), "ms", series(&halves[place])));
    }
    for (place, (side, _)) in SIDES.iter().enumerate().skip(1) {
        findings.push(Finding::new(format!("{}, 99 % within", side.title()), "ms", series(&tails[place])));
    }
    Ok(findings)
}

/// Sends so many documents, and returns how many milliseconds each took.
fn watch(server: &Server, side: Side, taking: Taking, count: usize) -> anyhow::Result<Vec<f64>> {
    let total = count + WARM_UP;
    let (ready, is_ready) = sync_channel(1);
    thread::scope(|scope| {
        let taker = scope.spawn(move || take(server, taking, total, &ready));
        // A recipient that failed says why when it is joined.
        let sent = match is_ready.recv() {
            Ok(()) => send(server, side, total),
            Err(_) => Ok(Vec::new()),
        };
        let arrivals = taker.join().map_err(|_| anyhow!("the recipient panicked"))??;
        Ok(latencies(&sent?, &arrivals))
    })
}

fn latencies(sent: &[Instant], arrivals: &[Arrival]) -> Vec<f64> {
    let late = arrivals.iter().filter(|(number, _)| *number >= WARM_UP as u64);
    let times = late.filter_map(|(number, at)| Some((sent.get(usize::try_from(*number).ok()?)?, at)));
    times.map(|(sent, at)| at.saturating_duration_since(*sent).as_secs_f64() * 1e3).collect()
}

/// Takes and acknowledges until all have come.
fn take(
    server: &Server,
    taking: Taking,
    total: usize,
    ready: &SyncSender<()>,
) -> anyhow::Result<Vec<Arrival>> {
    let (mut stream, mut input) = open(server, Role::Consumer(taking))?;
    let (mut consumer, mut out) = (taking.consumer(0), Vec::new());
    consumer.begin(&mut out);
    stream.write_all(&out)?;
    out.clear();
    ready.send(()).context("nobody sends")?;
    let (mut settled, mut arrivals) = (0, Vec::with_capacity(total));
    while settled < total as u64 {
        input.fill_blocking(&mut stream).context("waiting for a document")?;
        let at = now();
        settled += consumer.receive(&mut input, &mut out, &mut |document| {
            if let Some(number) = number_in(document) {
                arrivals.push((number, at));
            }
        })?;
        stream.write_all(&out)?;
        out.clear();
    }
    Ok(arrivals)
}

/// Sends by the clock, and returns when each was sent.
fn send(server: &Server, side: Side, total: usize) -> anyhow::Result<Vec<Instant>> {
    let (mut stream, mut input) = open(server, Role::Publisher(side))?;
    let mut documents = Documents::new(0, 0, Language::Native(Worth::AtLeastOnce), Recipients::First(1));
    let mut answers = side.publisher(server, 0, 0);
    let mut publisher: Box<dyn Publish> = side.publisher(server, 0, 0);
    let mut listening = stream.try_clone()?;
    thread::scope(|scope| {
        let listener = scope.spawn(move || -> anyhow::Result<()> {
            let mut answered = 0;
            while answered < total as u64 {
                input.fill_blocking(&mut listening).context("waiting for a receipt")?;
                answered += answers.answers(&mut input, &mut Vec::new())?;
            }
            Ok(())
        });
        let (mut sent, mut out) = (Vec::with_capacity(total), Vec::new());
        let start = now();
        for place in 0..total {
            publisher.publish(documents.next(), &mut out);
            let due = start + EVERY * place as u32;
            pause(due.saturating_duration_since(now()));
            sent.push(now());
            stream.write_all(&out)?;
            out.clear();
        }
        listener.join().map_err(|_| anyhow!("the listener panicked"))??;
        Ok(sent)
    })
}

fn open(server: &Server, role: Role) -> anyhow::Result<(TcpStream, Input)> {
    let mut stream = TcpStream::connect(server.address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    stream.write_all(&role.greeting(server, 0))?;
    let mut input = Input::default();
    while !role.is_open(&mut input)? {
        input.fill_blocking(&mut stream)?;
    }
    Ok((stream, input))
}
