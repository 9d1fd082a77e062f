//! Broker and log together: what was decided is durable before it is answered.
//!
//! While a second thread makes one batch durable, the next is decided; it never has more than one. A delivery is
//! settled only when the batch that handed it out is durable, as a client would do.

use std::path::Path;

use anyhow::{Context, ensure};
use log::{Batch, Log, Seq, SyncError, Syncer};

use super::bus::{Bus, Held, Write};
use super::load::{Crowd, Tasks};
use super::second::Second;
use crate::figures::{self, Pace, Timing};
use crate::ring::{Ring, Scale};

/// How many messages an agent takes at once.
pub(crate) const CREDIT: usize = 16;
pub(crate) const CROWD: Crowd = Crowd { senders: 4, recipients: 64 };
pub(crate) const TASKS: Tasks = Tasks::Half(4_096);

/// What is left to the second thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// Nothing: there is no second thread.
    None,
    /// The sync alone.
    Sync,
    /// Sealing and writing the batch, and the sync.
    Append,
}

/// A bus whose events go to a log.
pub(crate) struct Durable {
    bus: Bus,
    batch: Batch,
    /// Handed out by the batch before the last one, by the last one, and by the one that is being decided.
    held: [Vec<Held>; 3],
    store: Store,
}

/// The log, and who does what with it.
enum Store {
    Alone(Ring),
    Syncing {
        ring: Ring,
        second: Second<(), Result<Seq, SyncError>>,
    },
    /// The log belongs to the second thread, which gives batches back when they are durable.
    Appending {
        second: Second<Batch, anyhow::Result<Batch>>,
    },
}

impl Split {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Split::None => "one thread",
            Split::Sync => "second thread syncs",
            Split::Append => "second thread appends and syncs",
        }
    }
}

impl Durable {
    pub(crate) fn make(folder: &Path, split: Split, scale: Scale) -> anyhow::Result<Self> {
        let mut ring = Ring::open(folder, scale)?;
        let mut batch = Batch::with_capacity(1 << 20);
        let bus = Bus::new(CROWD, TASKS, &mut |_, at, event| batch.push_with(|out| event.encode(at, out)))?;
        ring.append(&mut batch)?;
        ring.sync()?;
        Ok(Durable { bus, batch, held: Default::default(), store: Store::make(ring, split)? })
    }

    /// Accepts, hands out and settles batch after batch; only what is durable counts.
    pub(crate) fn run(&mut self, messages: usize, pace: Pace) -> anyhow::Result<Timing> {
        // The first batch is under way before the time starts and the last one is not awaited in it: as many
        // become durable in that time as are decided.
        self.step(messages)?;
        let timing = figures::try_run(pace, messages, || self.step(messages))?;
        self.store.wait()?;
        Ok(timing)
    }

    fn step(&mut self, messages: usize) -> anyhow::Result<()> {
        self.decide(messages)?;
        self.store.commit(&mut self.batch)?;
        self.held.rotate_left(1);
        Ok(())
    }

    /// Settles what was handed out two batches ago, takes messages in and hands as many out.
    fn decide(&mut self, messages: usize) -> anyhow::Result<()> {
        let Durable { bus, batch, held: [durable, _, new], .. } = self;
        batch.clear();
        let write: Write<'_> = &mut |_, at, event| batch.push_with(|out| event.encode(at, out));
        for held in durable.drain(..) {
            bus.ack(held, write)?;
        }
        let mut left = messages;
        while left > 0 {
            let credit = left.min(CREDIT);
            for _ in 0..credit {
                bus.accept(write)?;
            }
            bus.take(credit as u32, new, write)?;
            bus.pass_turn();
            left -= credit;
        }
        ensure!(new.len() == messages, "{} of {messages} messages were handed out", new.len());
        Ok(())
    }
}

impl Store {
    fn make(mut ring: Ring, split: Split) -> anyhow::Result<Self> {
        Ok(match split {
            Split::None => Store::Alone(ring),
            Split::Sync => {
                let mut syncer = ring.log.syncer();
                Store::Syncing { second: Second::start("sync", move |()| syncer.sync())?, ring }
            }
            Split::Append => {
                let append = move |mut batch: Batch| {
                    ring.append(&mut batch)?;
                    let durable = ring.sync()?;
                    ring.recycle(durable)?;
                    Ok(batch)
                };
                Store::Appending { second: Second::start("append", append)? }
            }
        })
    }

    /// Sees to it that a batch becomes durable; before the next one does, this one is.
    fn commit(&mut self, batch: &mut Batch) -> anyhow::Result<()> {
        match self {
            Store::Alone(ring) => {
                ring.append(batch)?;
                let durable = ring.sync()?;
                ring.recycle(durable)
            }
            Store::Syncing { ring, second } => {
                ring.append(batch)?;
                if let Some(durable) = second.wait()? {
                    ring.recycle(durable?)?;
                }
                second.ask(())
            }
            Store::Appending { second } => {
                let spare = second.wait()?.transpose()?.unwrap_or_default();
                second.ask(std::mem::replace(batch, spare))
            }
        }
    }

    fn wait(&mut self) -> anyhow::Result<()> {
        match self {
            Store::Alone(_) => {}
            Store::Syncing { second, .. } => {
                second.wait()?.transpose().context("the last sync")?;
            }
            Store::Appending { second } => {
                second.wait()?.transpose().context("the last batch")?;
            }
        }
        Ok(())
    }
}
