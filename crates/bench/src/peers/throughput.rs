//! Publishing: how many documents a second are acknowledged, ours beside the peers'.

use super::Bench;
use super::document::{Recipients, Worth};
use super::drive::{Line, Lines, Run};
use super::server::Server;
use super::server::{Kind, PDS_ACCOUNTS};
use super::side::Side;
use super::speech::Publish;
use crate::figures::{Pace, Series};
use crate::findings::{Aim, Finding};
use crate::progress::progress;

/// Numbers of documents that are set aside whenever connections are opened.
const NUMBERS: u64 = 100_000_000_000;

/// One comparison.
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    connections: usize,
    /// Unanswered documents on each connection.
    window: u64,
    worth: Worth,
    /// The side that is ours.
    ours: Side,
    /// The others, with what is aimed at: the first must be reached, the second would be better.
    others: &'static [(Side, &'static [Aim])],
}

pub(crate) const METRICS: [Metric; 8] = [
    Metric {
        name: "T1",
        title: "T1: publish, 1 connection, 1 in flight",
        connections: 1,
        window: 1,
        worth: Worth::AtLeastOnce,
        ours: Side::Ours,
        others: &[
            (Side::Nats, &[Aim::AtLeast(1.4), Aim::AtLeast(1.7)]),
            (Side::Redis, &[Aim::AtLeast(1.0), Aim::AtLeast(1.3)]),
            (Side::Bare, &[Aim::AtLeast(0.70), Aim::AtLeast(0.85)]),
        ],
    },
    Metric {
        name: "T2",
        title: "T2: publish, 64 connections, 1 in flight on each",
        connections: 64,
        window: 1,
        worth: Worth::AtLeastOnce,
        ours: Side::Ours,
        others: &[
            (Side::Nats, &[Aim::AtLeast(8.0), Aim::AtLeast(13.0)]),
            (Side::Redis, &[Aim::AtLeast(0.7), Aim::AtLeast(1.05)]),
        ],
    },
    Metric {
        name: "T3",
        title: "T3: publish by HTTP, 64 connections kept alive",
        connections: 64,
        window: 1,
        worth: Worth::AtLeastOnce,
        ours: Side::OursHttp,
        others: &[
            (Side::Nats, &[Aim::AtLeast(8.0), Aim::AtLeast(12.0)]),
            (Side::Redis, &[]),
            (Side::OursRefused, &[Aim::AtLeast(0.50), Aim::AtLeast(0.75)]),
        ],
    },
    Metric {
        name: "T4",
        title: "T4: publish, 256 in flight on 4 connections",
        connections: 4,
        window: 64,
        worth: Worth::AtLeastOnce,
        ours: Side::Ours,
        others: &[
            (Side::Nats, &[Aim::AtLeast(30.0), Aim::AtLeast(60.0)]),
            (Side::NatsBatches, &[Aim::AtLeast(3.0), Aim::AtLeast(6.0)]),
            (Side::Redis, &[Aim::AtLeast(1.5), Aim::AtLeast(3.5)]),
            (Side::NatsDefault, &[]),
        ],
    },
    Metric {
        name: "T5",
        title: "T5: publish, 1,024 in flight on 4 connections",
        connections: 4,
        window: 256,
        worth: Worth::AtLeastOnce,
        ours: Side::Ours,
        others: &[
            (Side::Nats, &[Aim::AtLeast(50.0), Aim::AtLeast(100.0)]),
            (Side::NatsBatches, &[]),
            (Side::Redis, &[Aim::AtLeast(1.5), Aim::AtLeast(3.0)]),
            (Side::NatsDefault, &[]),
        ],
    },
    Metric {
        name: "T9",
        title: "T9: publish at most once, 256 in flight on 4 connections",
        connections: 4,
        window: 64,
        worth: Worth::AtMostOnce,
        ours: Side::Ours,
        others: &[(Side::RedisEverysec, &[Aim::AtLeast(1.2), Aim::AtLeast(2.5)]), (Side::NatsDefault, &[])],
    },
    Metric {
        name: "T12",
        title: "T12: createRecord, 16 connections kept alive, beside the reference PDS",
        connections: PDS_ACCOUNTS,
        window: 1,
        worth: Worth::AtLeastOnce,
        ours: Side::OursRecords,
        others: &[(Side::Pds, &[Aim::AtLeast(50.0)])],
    },
    Metric {
        name: "T13",
        title: "T13: frames there and back through the bus door, 64 in flight on 4 connections",
        connections: 4,
        window: 64,
        worth: Worth::AtLeastOnce,
        ours: Side::OursBus,
        others: &[(Side::OursEcho, &[Aim::AtLeast(0.7)])],
    },
];

/// One side with its connections and what it did.
struct Player {
    side: Side,
    connections: usize,
    /// Unanswered documents on each of them.
    window: u64,
    worth: Worth,
    /// The number of the next connections' first document.
    first: u64,
    lines: Vec<Line<dyn Publish>>,
    rates: Vec<f64>,
    /// Processor time of the server, in microseconds a message.
    processor_us: Vec<f64>,
}

impl Metric {
    pub(crate) fn measure(&self, bench: &mut Bench<'_>) -> anyhow::Result<Vec<Finding>> {
        let sides: Vec<Side> =
            std::iter::once(self.ours).chain(self.others.iter().map(|(side, _)| *side)).collect();
        let wants_pds = sides.iter().any(|side| side.kind() == Kind::Pds);
        if wants_pds && !bench.installs && !setup::pds::is_installed(&setup::tools_folder()) {
            progress(format_args!("skipped: there is no PDS, so {} is not measured", self.name));
            return Ok(Vec::new());
        }
        let mut servers: Vec<Server> = Vec::new();
        for side in &sides {
            if !servers.iter().any(|server| server.kind == side.kind()) {
                let mut server = bench.start(side.kind())?;
                server.prepare()?;
                servers.push(server);
            }
        }
        let lines = Lines::new()?;
        let mut players = Vec::new();
        for (place, side) in sides.iter().enumerate() {
            // Every side numbers its documents apart: two of them may share a server.
            let first = (place as u64 + 1) * 1_000_000_000_000_000;
            let mut player = Player::new(*side, self, first);
            player.open(&lines, of_kind(&servers, side.kind())?)?;
            players.push(player);
        }
        for player in &mut players {
            let pace = player.pace(bench.warm_up);
            lines.publish(&mut player.lines, player.window, pace)?;
        }
        for round in 0..bench.rounds {
            progress(format_args!("{}, round {} of {}", self.name, round + 1, bench.rounds));
            for turn in 0..players.len() {
                // Who starts changes from round to round.
                let place = (round + turn) % players.len();
                let server = of_kind(&servers, players[place].side.kind())?;
                bench.quiet.wait();
                players[place].run(&lines, server, bench.pace)?;
            }
        }
        Ok(self.findings(&players))
    }

    fn findings(&self, players: &[Player]) -> Vec<Finding> {
        let Some((ours, others)) = players.split_first() else { return Vec::new() };
        let mut findings = Vec::new();
        for (player, (side, aims)) in others.iter().zip(self.others) {
            let ratio = Series::of(ours.rates.iter().zip(&player.rates).map(|(ours, peer)| ours / peer));
            let name = format!("{} / {}", self.ours.title(), side.title());
            findings.push(Finding::new(name, "", ratio).aiming(aims));
        }
        for player in players {
            let rate = Series::of(player.rates.iter().copied());
            findings.push(Finding::new(player.side.title(), "messages/s", rate));
        }
        for player in players.iter().filter(|player| !player.processor_us.is_empty()) {
            let figure = Series::of(player.processor_us.iter().copied());
            findings.push(Finding::new(format!("{}, processor", player.side.title()), "us/message", figure));
        }
        findings
    }
}

impl Player {
    fn new(side: Side, metric: &Metric, first: u64) -> Self {
        let (connections, window) = side.shape(metric.connections, metric.window);
        Player {
            side,
            connections,
            window,
            worth: metric.worth,
            first,
            lines: Vec::new(),
            rates: Vec::new(),
            processor_us: Vec::new(),
        }
    }

    fn open(&mut self, lines: &Lines, server: &Server) -> anyhow::Result<()> {
        let data = (self.worth, Recipients::All);
        self.lines = self.side.open(lines, server, self.connections, self.first, data)?;
        self.first += NUMBERS;
        Ok(())
    }

    fn run(&mut self, lines: &Lines, server: &Server, pace: Pace) -> anyhow::Result<()> {
        if self.side.is_closed_when_idle() {
            self.open(lines, server)?;
        }
        let before = server.processor_seconds();
        let pace = self.pace(pace);
        let run = lines.publish(&mut self.lines, self.window, pace)?;
        self.rates.push(run.rate());
        self.processor_us.extend(processor_us(before, server, run));
        Ok(())
    }

    /// A run that is counted and not timed only shows that everything works: what is in flight at once is enough.
    fn pace(&self, pace: Pace) -> Pace {
        match pace {
            Pace::For(_) => pace,
            Pace::Passes(_) => Pace::Passes(self.window),
        }
    }
}

/// What the server's processors did for each message since then, in microseconds.
pub(crate) fn processor_us(before: Option<f64>, server: &Server, run: Run) -> Option<f64> {
    let seconds = server.processor_seconds()? - before?;
    Some(seconds * 1e6 / run.messages.max(1) as f64)
}

fn of_kind(servers: &[Server], kind: Kind) -> anyhow::Result<&Server> {
    let found = servers.iter().find(|server| server.kind == kind);
    found.ok_or_else(|| anyhow::anyhow!("{} was not started", kind.title()))
}
