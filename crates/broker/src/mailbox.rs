//! Mailboxes: where entries wait, and in which order they leave.
//!
//! A mailbox has a level for each priority, and each level is first in, first out. Of every eight messages that an
//! agent is handed, one is the oldest that may leave whatever its priority, so nothing starves: a message with k older
//! ones before it leaves among the next 8 (k + 1). A lane counts once, by its first message, on the level of the
//! highest priority that waits in it.

use std::collections::BTreeMap;

use message::Priority;

use crate::{AgentKey, EntryKey, GroupKey, SessionKey};

/// One in so many messages that leave is the oldest.
pub(crate) const OLDEST_EVERY: u32 = 8;

/// Where an entry waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mailbox {
    /// For an agent.
    Agent(AgentKey),
    /// For one connection of an agent.
    Session(SessionKey),
    /// For any member of a role; or, for a topic or channel, for each.
    Group(GroupKey),
    /// For a name that nobody has yet.
    Nobody,
}

/// What waits in one mailbox.
#[derive(Default)]
pub(crate) struct Queue {
    /// What may leave: by level, then by order.
    levels: [BTreeMap<u64, EntryKey>; 4],
    /// Entries that are not handed out, those that may not leave yet included.
    pub(crate) count: u64,
    /// Bytes of their bodies.
    pub(crate) bytes: u64,
}

impl Queue {
    pub(crate) fn offer(&mut self, level: Priority, order: u64, entry: EntryKey) {
        self.levels[level as usize].insert(order, entry);
    }

    pub(crate) fn take_out(&mut self, level: Priority, order: u64) {
        self.levels[level as usize].remove(&order);
    }

    /// Returns the oldest entry that may leave, of each level.
    pub(crate) fn heads(&self) -> impl Iterator<Item = EntryKey> + '_ {
        self.levels.iter().filter_map(|level| level.first_key_value()).map(|(_, entry)| *entry)
    }

    /// Returns everything that may leave, the most urgent first.
    pub(crate) fn ready(&self) -> impl Iterator<Item = EntryKey> + '_ {
        self.levels.iter().rev().flat_map(|level| level.values().copied())
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.levels.iter().any(|level| !level.is_empty())
    }
}

/// Goes through what may leave from several mailboxes, in the order in which it leaves, and changes nothing.
pub(crate) struct Picks<I: Iterator<Item = Pick>> {
    /// What may leave of each mailbox, level by level; the first of each is at hand.
    sources: Vec<Source<I>>,
    picked: u32,
}

/// The order of an entry, and the entry.
type Pick = (u64, EntryKey);

struct Source<I> {
    level: usize,
    head: Option<Pick>,
    rest: I,
}

/// Starts to pick from mailboxes for an agent that was handed so many before.
pub(crate) fn picks<'q>(queues: &[&'q Queue], picked: u32) -> Picks<impl Iterator<Item = Pick> + 'q> {
    let mut sources = Vec::with_capacity(queues.len());
    for queue in queues {
        for (level, waiting) in queue.levels.iter().enumerate().filter(|(_, waiting)| !waiting.is_empty()) {
            let mut rest = waiting.iter().map(|(order, entry)| (*order, *entry));
            sources.push(Source { level, head: rest.next(), rest });
        }
    }
    Picks { sources, picked }
}

impl<I: Iterator<Item = Pick>> Picks<I> {
    /// Returns the next entry. `may_leave` can refuse one, which then counts as not there.
    pub(crate) fn next(&mut self, mut may_leave: impl FnMut(EntryKey) -> bool) -> Option<EntryKey> {
        let is_oldest_turn = (self.picked + 1).is_multiple_of(OLDEST_EVERY);
        loop {
            let heads = self.sources.iter_mut().filter(|source| source.head.is_some());
            let source = if is_oldest_turn {
                heads.min_by_key(|source| source.head)
            } else {
                heads.min_by_key(|source| (std::cmp::Reverse(source.level), source.head))
            }?;
            let (_, entry) = source.head?;
            source.head = source.rest.next();
            if may_leave(entry) {
                self.picked = self.picked.wrapping_add(1);
                return Some(entry);
            }
        }
    }
}
