//! Connections of agents.
//!
//! An agent may have several at a time; each has a number among them, by which it can be addressed. Leases that were
//! taken over a connection end with it.

use std::collections::BTreeSet;

use message::Reachability;

use crate::accept::apply::TO_WAITER;
use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::Effects;
use crate::entry::{End, Entry, State};
use crate::mailbox::{Mailbox, Queue};
use crate::{AgentKey, Context, EntryKey, Event, Misfit, Refusal, Reply, SessionKey};

/// How long leases last at least after the machine slept or the process started again, in milliseconds.
const GRACE_MS: u64 = 15_000;
/// A gap in time that counts as sleep, in milliseconds.
const GAP_MS: u64 = 30_000;

/// How an agent is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Door {
    /// A socket.
    Socket,
    /// A watcher that wakes it.
    Watcher,
    /// A runner that starts it.
    Runner,
    /// It comes by itself.
    Poll,
}

pub(crate) struct Session {
    pub(crate) agent: AgentKey,
    pub(crate) number: u32,
    pub(crate) door: Door,
    pub(crate) queue: Queue,
    /// What is addressed to it alone and is not over.
    pub(crate) addressed: BTreeSet<EntryKey>,
    /// What was handed out over it and is not settled.
    pub(crate) out: BTreeSet<EntryKey>,
}

impl Session {
    pub(crate) fn new(agent: AgentKey, number: u32, door: Door) -> Self {
        let (addressed, out) = (BTreeSet::new(), BTreeSet::new());
        Session { agent, number, door, queue: Queue::default(), addressed, out }
    }
}

impl Door {
    /// Every door, the most direct first.
    pub const ALL: [Door; 4] = [Door::Socket, Door::Watcher, Door::Runner, Door::Poll];

    pub(crate) fn reachability(self) -> Reachability {
        match self {
            Door::Socket => Reachability::Socket,
            Door::Watcher => Reachability::Watcher,
            Door::Runner => Reachability::Runner,
            Door::Poll => Reachability::Poll,
        }
    }
}

impl Broker {
    pub(crate) fn open_session<'a>(&self, agent: AgentKey, door: Door) -> Decided<'a> {
        let known = self.agent_at(agent)?;
        let count = known.sessions.len() as u64;
        let count_max = self.settings.limits.sessions_max;
        if count >= count_max {
            return Err(Refusal::TooMany { what: "connections of this agent", count, count_max });
        }
        let session = SessionKey(self.sessions.vacant().next().unwrap_or(u32::MAX));
        let number = self.free_number(&known.sessions);
        let event = Event::SessionOpened { session, agent, number, door };
        Ok(Decision { events: vec![event], reply: Reply::Session { session, number } })
    }

    pub(crate) fn close_session<'a>(&self, session: SessionKey) -> Decided<'a> {
        self.sessions.get(session.0).ok_or(Refusal::UnknownSession)?;
        Ok(Decision::done(vec![Event::SessionClosed { session }]))
    }

    pub(crate) fn restart<'a>(&self, cx: &Context<'_>) -> Decided<'a> {
        let mut events = vec![Event::Restarted];
        if cx.now.ms_since(self.time) > GAP_MS {
            events.push(Event::Graced { until: cx.now.plus_ms(GRACE_MS) });
        }
        Ok(Decision::done(events))
    }

    pub(crate) fn wake<'a>(&self, cx: &Context<'_>) -> Decided<'a> {
        Ok(Decision::done(vec![Event::Graced { until: cx.now.plus_ms(GRACE_MS) }]))
    }

    pub(crate) fn session_opened(
        &mut self,
        session: SessionKey,
        agent: AgentKey,
        number: u32,
        door: Door,
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        if known.is_gone {
            return Err(Misfit::State { seq, what: "an agent" });
        }
        known.sessions.push(session);
        let others = self.agents.get(agent).map(|agent| agent.sessions.clone()).unwrap_or_default();
        let numbers = others.iter().filter_map(|other| self.sessions.get(other.0)).map(|other| other.number);
        if numbers.into_iter().any(|other| other == number) {
            return Err(Misfit::Taken { seq, what: "the number of a connection" });
        }
        let opened = Session::new(agent, number, door);
        self.sessions.put(session.0, opened).map_err(|_| Misfit::Taken { seq, what: "a connection" })?;
        effects.push(crate::Effect::Ready(Mailbox::Agent(agent)));
        Ok(())
    }

    pub(crate) fn session_closed(&mut self, session: SessionKey, effects: &mut Effects) -> Applied {
        let seq = self.last;
        let closed = self.sessions.get(session.0).ok_or(Misfit::Missing { seq, what: "a connection" })?;
        let agent = closed.agent;
        let out = closed.out.clone();
        let mut addressed: Vec<EntryKey> = closed.addressed.iter().copied().collect();
        addressed.sort_unstable_by_key(|key| self.entry(*key).map(|entry| entry.order));
        for entry in out {
            self.stray(entry);
        }
        // What waited for this connection alone now waits for any of its agent, behind what waits there.
        for entry in addressed {
            let is_queued = self.entry(entry).is_some_and(|entry| entry.state.is_queued());
            if is_queued && self.has_another_way(entry, agent) {
                self.end(entry, End::Moved, "its connection was lost", self.time, effects);
            } else {
                self.rehome(entry, Mailbox::Agent(agent), effects);
            }
        }
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.sessions.retain(|open| *open != session);
        }
        self.sessions.remove(session.0);
        Ok(())
    }

    /// Tells whether an agent gets the message of a waiting entry another way.
    pub(crate) fn has_another_way(&self, key: EntryKey, agent: AgentKey) -> bool {
        let Some(entry) = self.entry(key).filter(|entry| !entry.state.is_out()) else { return false };
        let mut others = self.entries_of(entry.message).filter(|(other, _)| *other != key);
        others.any(|(_, other)| self.holder_of(other) == Some(agent) && is_a_way(other.state))
    }

    pub(crate) fn restarted(&mut self, effects: &mut Effects) -> Applied {
        let sessions: Vec<SessionKey> = self.sessions.iter().map(|(key, _)| SessionKey(key)).collect();
        for session in sessions {
            self.session_closed(session, effects)?;
        }
        // Nobody knows whether what may be handed out only once has arrived; and nobody waits for a reply any more.
        let is_lost = |entry: &Entry| self.is_wanted_once(entry.message) || is_to_waiter(entry);
        let lost: Vec<EntryKey> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.state == State::Flight && is_lost(entry))
            .map(|(key, _)| EntryKey(key))
            .collect();
        for entry in lost {
            self.stray(entry);
        }
        Ok(())
    }

    pub(crate) fn graced(&mut self, until: crate::Time) -> Applied {
        let out: Vec<EntryKey> = self
            .entries
            .iter()
            .filter(|(_, entry)| entry.state == State::Flight && entry.until < until)
            .map(|(key, _)| EntryKey(key))
            .collect();
        for entry in out {
            self.set_until(entry, until);
        }
        self.grace_claims(until);
        Ok(())
    }

    /// Returns the most direct way to an agent.
    pub(crate) fn reachability(&self, agent: AgentKey) -> Reachability {
        let sessions = self.agents.get(agent).map(|agent| agent.sessions.as_slice()).unwrap_or_default();
        let doors =
            sessions.iter().filter_map(|session| self.sessions.get(session.0)).map(|session| session.door);
        doors.min().map_or(Reachability::Nobody, Door::reachability)
    }

    fn free_number(&self, sessions: &[SessionKey]) -> u32 {
        let taken: BTreeSet<u32> = sessions
            .iter()
            .filter_map(|session| self.sessions.get(session.0))
            .map(|session| session.number)
            .collect();
        (1..).find(|number| !taken.contains(number)).unwrap_or(u32::MAX)
    }
}

/// Tells whether an entry in this state has brought its message or still may.
pub(crate) fn is_a_way(state: State) -> bool {
    match state {
        State::Waiting | State::Pausing | State::Flight | State::Stray | State::Parked => true,
        State::Done(end) => matches!(end, End::Acknowledged | End::Unconfirmed),
        State::Held | State::Post | State::Dead(_) => false,
    }
}

/// Tells whether a reply was handed to whoever waits for it, over no connection that the state knows.
fn is_to_waiter(entry: &Entry) -> bool {
    let by = entry.ladder.as_ref().and_then(|ladder| ladder.dispatched.as_ref()).map(|step| &*step.by);
    by == Some(TO_WAITER)
}
