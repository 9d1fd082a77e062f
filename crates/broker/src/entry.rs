//! Messages and their entries: what is held of a message while it is under way, and for a while after.
//!
//! A message has one entry for each way that it goes: an agent, a role's queue, a topic. A member of a topic gets an
//! entry of its own when it takes the message. Millions of them wait at times, so they are kept small: what only
//! few have is boxed.

use std::sync::Arc;

use message::{Backoff, DeliveryId, Guarantee, Kind, MessageId, Priority, Seq, Stage};

use crate::mailbox::Mailbox;
use crate::{AgentKey, EntryKey, MessageKey, SessionKey, Time, Tried};

/// No entry, no lane.
pub(crate) const NONE: u32 = u32::MAX;

/// A message as the state holds it. Its document is in the log.
pub(crate) struct Message {
    pub(crate) id: MessageId,
    /// Where it was accepted.
    pub(crate) seq: Seq,
    /// Where its body lies now.
    pub(crate) body: Seq,
    /// By the wall clock.
    pub(crate) expires: Time,
    /// The hash of its task; 0 if it has none. Two tasks with one hash share a lane, which orders more than needed.
    pub(crate) task: u64,
    pub(crate) extra: Option<Box<Extra>>,
    pub(crate) from: AgentKey,
    pub(crate) bytes: u32,
    /// Its first entry; each entry knows the next.
    pub(crate) first: u32,
    /// Entries that are not over.
    pub(crate) open: u32,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    pub(crate) guarantee: Guarantee,
    pub(crate) backoff: Backoff,
    pub(crate) retries: u8,
    pub(crate) hops: u8,
    pub(crate) life: Life,
    /// Whether it goes several ways, so that somebody might get it twice.
    pub(crate) several: bool,
}

/// How a message lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Until it is settled or expires.
    Usual,
    /// For the instant in which it came: it is only for those who are connected.
    Instant,
    /// Its sender took it back: whoever has it may keep it, nobody gets it any more.
    Withdrawn,
}

/// What only some messages have.
#[derive(Default)]
pub(crate) struct Extra {
    /// Who is next when a recipient does not take it.
    pub(crate) fallback: Vec<AgentKey>,
    /// Who was tried before each entry that stands in for others.
    pub(crate) tried: Vec<(EntryKey, Tried)>,
    /// How long each recipient has to take it; 0 for ever.
    pub(crate) timeout_ms: u64,
    /// When it was offered to the recipient that has it now.
    pub(crate) offered: Time,
    /// Until when its sender waits for a reply; nothing when it does not wait, or no longer.
    pub(crate) wait_until: Option<Time>,
    /// Whether its sender waited and the wait is over without a reply.
    pub(crate) wait_failed: bool,
    /// The first reply.
    pub(crate) answer: Option<MessageId>,
    /// The names for which entries of it are or were held.
    pub(crate) awaited: Vec<(EntryKey, Box<str>)>,
    /// The conversation in which it is parked; 0 if it is not.
    pub(crate) conversation: u64,
}

/// A message on its way to one recipient.
pub(crate) struct Entry {
    pub(crate) message: MessageKey,
    pub(crate) mailbox: Mailbox,
    /// Its place among all entries; a lane and a level are in this order.
    pub(crate) order: u64,
    /// The lease's end, the retry's start or the offer's end, by `state`.
    pub(crate) until: Time,
    pub(crate) ladder: Option<Box<Ladder>>,
    /// The next entry of the same message.
    pub(crate) sibling: u32,
    pub(crate) lane: u32,
    pub(crate) lane_before: u32,
    pub(crate) lane_after: u32,
    /// How often it was handed out; retries are limited so that it counts far enough.
    pub(crate) attempts: u8,
    /// How many of the attempts ended with their connection, which is not the message's fault.
    pub(crate) losses: u8,
    pub(crate) state: State,
}

/// Where an entry is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It may be taken, when its lane lets it.
    Waiting,
    /// It pauses before another try.
    Pausing,
    /// It is handed out.
    Flight,
    /// It is handed out over a connection that is gone, or in a life of the process that is over.
    Stray,
    /// It waits for somebody to register.
    Held,
    /// It waits for a human.
    Parked,
    /// It stands in a topic or channel, from which members take their own.
    Post,
    /// It is a dead letter; the stage says why.
    Dead(End),
    /// It is over.
    Done(End),
}

/// How an entry ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Acknowledged,
    Dead,
    Expired,
    Withdrawn,
    Unconfirmed,
    /// It moved to somebody else.
    Moved,
    /// Every member of the topic has its own entry.
    Shared,
}

/// What became of an entry that was handed out at least once.
pub(crate) struct Ladder {
    /// The last handing-out.
    pub(crate) delivery: Option<DeliveryId>,
    /// To whom, or who settled it without.
    pub(crate) agent: Option<AgentKey>,
    pub(crate) session: Option<SessionKey>,
    pub(crate) dispatched: Option<Step>,
    pub(crate) surfaced: Option<Step>,
    /// When and by whom it ended, or why it failed last.
    pub(crate) ended: Option<Step>,
    pub(crate) answered: Option<Step>,
}

/// When something happened, and by whose hand or why.
pub(crate) struct Step {
    pub(crate) at: Time,
    pub(crate) by: Arc<str>,
}

impl State {
    /// Tells whether the entry counts as waiting for its recipient.
    pub(crate) fn is_queued(self) -> bool {
        matches!(self, State::Waiting | State::Pausing | State::Parked)
    }

    /// Tells whether the entry has not been handed out and may still be.
    pub(crate) fn may_still_leave(self) -> bool {
        match self {
            State::Waiting | State::Pausing | State::Held | State::Parked | State::Post => true,
            State::Flight | State::Stray | State::Dead(_) | State::Done(_) => false,
        }
    }

    pub(crate) fn is_out(self) -> bool {
        matches!(self, State::Flight | State::Stray)
    }

    pub(crate) fn is_open(self) -> bool {
        !matches!(self, State::Done(_))
    }
}

impl Entry {
    pub(crate) fn new(message: MessageKey, mailbox: Mailbox, state: State) -> Self {
        Entry {
            message,
            mailbox,
            order: 0,
            until: Time::NEVER,
            ladder: None,
            sibling: NONE,
            lane: NONE,
            lane_before: NONE,
            lane_after: NONE,
            attempts: 0,
            losses: 0,
            state,
        }
    }

    /// Returns how many attempts count.
    pub(crate) fn tries(&self) -> u8 {
        self.attempts.saturating_sub(self.losses)
    }

    /// Returns the ladder, which the first step makes.
    pub(crate) fn climb(&mut self) -> &mut Ladder {
        self.ladder.get_or_insert_with(|| Box::new(Ladder::new()))
    }

    /// Returns how far the entry has come.
    pub(crate) fn stage(&self) -> Stage {
        let ladder = self.ladder.as_deref();
        match self.state {
            State::Dead(end) | State::Done(end) => match end {
                End::Acknowledged if ladder.is_some_and(|ladder| ladder.answered.is_some()) => {
                    Stage::Answered
                }
                End::Acknowledged | End::Shared => Stage::Acknowledged,
                End::Dead | End::Moved => Stage::Dead,
                End::Expired => Stage::Expired,
                End::Withdrawn => Stage::Withdrawn,
                End::Unconfirmed => Stage::Unconfirmed,
            },
            State::Flight | State::Stray if ladder.is_some_and(|ladder| ladder.surfaced.is_some()) => {
                Stage::Surfaced
            }
            State::Flight | State::Stray => Stage::Dispatched,
            State::Waiting | State::Pausing | State::Held | State::Parked | State::Post => Stage::Stored,
        }
    }
}

impl Ladder {
    pub(crate) fn new() -> Self {
        Ladder {
            delivery: None,
            agent: None,
            session: None,
            dispatched: None,
            surfaced: None,
            ended: None,
            answered: None,
        }
    }
}

impl Life {
    pub(crate) const ALL: [Life; 3] = [Life::Usual, Life::Instant, Life::Withdrawn];
}

impl Message {
    pub(crate) fn is_withdrawn(&self) -> bool {
        self.life == Life::Withdrawn
    }

    /// Tells whether the message may no longer be handed out.
    pub(crate) fn is_over(&self, wall: Time) -> bool {
        match self.life {
            Life::Instant => wall > self.expires,
            Life::Usual | Life::Withdrawn => wall >= self.expires,
        }
    }

    pub(crate) fn is_wanted_once(&self) -> bool {
        self.guarantee == Guarantee::AtMostOnce
    }

    /// Returns who was tried before an entry.
    pub(crate) fn tried(&self, entry: EntryKey) -> impl Iterator<Item = &Tried> {
        let all = self.extra.as_ref().map(|extra| extra.tried.as_slice()).unwrap_or_default();
        all.iter().filter(move |(other, _)| *other == entry).map(|(_, tried)| tried)
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }
}

// A million of them may wait; see `docs/benchmarks.md`.
const _: () = assert!(size_of::<Option<Message>>() == 80 && size_of::<Option<Entry>>() == 56);
