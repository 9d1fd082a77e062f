//! Timers: what the clock makes due, in two times.
//!
//! Leases, retries, offers and waits live in the bus's own time, which never goes back; expiry in that of the wall.

use std::collections::BTreeSet;

use crate::{EntryKey, MessageKey, Time};

#[derive(Default)]
pub(crate) struct Timers {
    bus: BTreeSet<(Time, Timed)>,
    wall: BTreeSet<(Time, MessageKey)>,
}

/// What a timer of the bus's time is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timed {
    Entry(EntryKey),
    Wait(MessageKey),
}

impl Timers {
    pub(crate) fn set(&mut self, at: Time, timed: Timed) {
        if at != Time::NEVER {
            self.bus.insert((at, timed));
        }
    }

    pub(crate) fn clear(&mut self, at: Time, timed: Timed) {
        if at != Time::NEVER {
            self.bus.remove(&(at, timed));
        }
    }

    pub(crate) fn set_expiry(&mut self, at: Time, message: MessageKey) {
        if at != Time::NEVER {
            self.wall.insert((at, message));
        }
    }

    /// Sets many at once, as they are when a state is restored.
    pub(crate) fn restore_expiries(&mut self, mut expiries: Vec<(Time, MessageKey)>) {
        expiries.retain(|(at, _)| *at != Time::NEVER && *at != crate::due::EXPIRED);
        self.wall = expiries.into_iter().collect();
    }

    pub(crate) fn clear_expiry(&mut self, at: Time, message: MessageKey) {
        if at != Time::NEVER {
            self.wall.remove(&(at, message));
        }
    }

    pub(crate) fn due(&self, now: Time) -> impl Iterator<Item = Timed> + '_ {
        self.bus.iter().take_while(move |(at, _)| *at <= now).map(|(_, timed)| *timed)
    }

    pub(crate) fn expired(&self, wall: Time) -> impl Iterator<Item = MessageKey> + '_ {
        self.wall.iter().take_while(move |(at, _)| *at <= wall).map(|(_, message)| *message)
    }

    /// Returns when something is due next: in the bus's time, and by the wall clock.
    pub(crate) fn next(&self) -> (Option<Time>, Option<Time>) {
        (self.bus.first().map(|(at, _)| *at), self.wall.first().map(|(at, _)| *at))
    }
}
