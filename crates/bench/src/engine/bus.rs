//! The broker, driven as a server drives it: commands in, events out in order.

use anyhow::{Context as _, bail, ensure};
use broker::{AgentKey, Broker, Command, Context, Effects, Event, Register, Reply, Retention, Take, Time};
use message::{DeliveryId, Seq};

use super::load::{Crowd, Dice, Load, Tasks, settings};
use crate::figures::{self, Pace, Timing};

/// Where events go.
pub(crate) type Write<'w> = &'w mut dyn FnMut(Seq, Time, &Event<'_>);

/// When the first message comes: some day in 2026.
const START: Time = Time(1_790_000_000_000);
/// After how many messages a millisecond has passed.
const MESSAGES_A_MS: u64 = 256;
const LEASE_MS: u64 = 30_000;

/// A delivery that was handed out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    agent: AgentKey,
    delivery: DeliveryId,
}

pub(crate) struct Bus {
    pub(crate) broker: Broker,
    load: Load,
    agents: Vec<AgentKey>,
    random: Dice,
    effects: Effects,
    /// How many messages were taken in.
    accepted: u64,
    /// The recipient whose turn it is to get a message and to take.
    turn: usize,
    held: Vec<Held>,
}

impl Bus {
    /// Makes a bus on which everybody is registered.
    pub(crate) fn new(crowd: Crowd, tasks: Tasks, write: Write<'_>) -> anyhow::Result<Self> {
        let load = Load::new(crowd, tasks)?;
        let mut broker = Broker::new(settings());
        let mut random = Dice::new();
        let mut effects = Effects::new();
        let mut agents = Vec::new();
        for name in load.names() {
            let mut context = Context { now: START, wall: START, random: &mut random };
            let profile = b"{}".to_vec();
            let register = Register { profile, ..Register::of(name.clone()) };
            let command = Command::Register(Box::new(register));
            let reply = broker.execute(&mut context, &command, &mut effects, write)?;
            let Reply::Agent(agent) = reply else { bail!("registering gave {reply:?}") };
            agents.push(agent);
        }
        effects.clear();
        let turn = crowd.senders as usize;
        Ok(Bus { broker, load, agents, random, effects, accepted: 0, turn, held: Vec::new() })
    }

    /// Remembers less, so that the state in which nothing grows any more is reached soon.
    pub(crate) fn forget_soon(&mut self) -> anyhow::Result<()> {
        let retention = Retention { known_per_sender_max: 100, settled_max: 1_000, ..Retention::USUAL };
        let mut context = Context { now: START, wall: START, random: &mut self.random };
        let tune = Command::Tune(retention);
        self.broker.execute(&mut context, &tune, &mut self.effects, &mut |_, _, _| {})?;
        Ok(())
    }

    /// Takes a message in for the agent whose turn it is.
    pub(crate) fn accept(&mut self, write: Write<'_>) -> anyhow::Result<()> {
        let now = self.now();
        let accept = self.load.next(&self.agents, self.turn, now);
        let mut context = Context { now, wall: now, random: &mut self.random };
        let command = Command::Accept(accept);
        let reply = self.broker.execute(&mut context, &command, &mut self.effects, write)?;
        self.effects.clear();
        self.accepted += 1;
        let Reply::Accepted(receipt) = reply else { bail!("accepting gave {reply:?}") };
        ensure!(!receipt.duplicate && receipt.cautions.is_empty(), "accepting gave {receipt:?}");
        Ok(())
    }

    /// Hands out what waits for the agent whose turn it is, at most so many.
    pub(crate) fn take(&mut self, max: u32, held: &mut Vec<Held>, write: Write<'_>) -> anyhow::Result<()> {
        let now = self.now();
        let agent = self.agents[self.turn];
        let mut context = Context { now, wall: now, random: &mut self.random };
        let take =
            Take { agent, session: None, max, bytes_max: 1 << 30, lease_ms: LEASE_MS, by: "http".into() };
        let reply = self.broker.execute(&mut context, &Command::Take(take), &mut self.effects, write)?;
        self.effects.clear();
        let Reply::Taken(deliveries) = reply else { bail!("taking gave {reply:?}") };
        held.extend(deliveries.iter().map(|delivery| Held { agent, delivery: delivery.delivery }));
        Ok(())
    }

    /// Settles a delivery.
    pub(crate) fn ack(&mut self, held: Held, write: Write<'_>) -> anyhow::Result<()> {
        let now = self.now();
        let Held { agent, delivery } = held;
        let mut context = Context { now, wall: now, random: &mut self.random };
        let command = Command::Ack { agent, delivery, by: "http".into() };
        self.broker.execute(&mut context, &command, &mut self.effects, write)?;
        self.effects.clear();
        Ok(())
    }

    /// Lets the next agent have its turn.
    pub(crate) fn pass_turn(&mut self) {
        self.turn += 1;
        if self.turn == self.agents.len() {
            self.turn = self.load.crowd.senders as usize;
        }
    }

    /// Takes so many messages in, one for each agent in turn.
    pub(crate) fn fill(&mut self, count: u64, write: Write<'_>) -> anyhow::Result<()> {
        for _ in 0..count {
            self.accept(write)?;
            self.pass_turn();
        }
        Ok(())
    }

    /// Takes so many messages in for one agent, hands out as many at once and settles them.
    pub(crate) fn cycle(&mut self, count: u32, write: Write<'_>) -> anyhow::Result<()> {
        for _ in 0..count {
            self.accept(write)?;
        }
        let mut held = std::mem::take(&mut self.held);
        self.take(count, &mut held, write)?;
        ensure!(held.len() == count as usize, "{} of {count} messages were handed out", held.len());
        for held in held.drain(..) {
            self.ack(held, write)?;
        }
        self.held = held;
        self.pass_turn();
        Ok(())
    }

    /// Times [`Bus::cycle`] without a log.
    pub(crate) fn time_cycles(&mut self, count: u32, pace: Pace) -> anyhow::Result<Timing> {
        figures::try_run(pace, count as usize, || self.cycle(count, &mut |_, _, _| {}))
            .context("accept, take and ack")
    }

    fn now(&self) -> Time {
        START.plus_ms(self.accepted / MESSAGES_A_MS)
    }
}
