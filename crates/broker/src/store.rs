//! How entries move: the few steps of which every event is made.
//!
//! Each step keeps what follows from the entries true: what may leave, the lanes, the timers, the counts. Nothing
//! else changes an entry's state.

use message::{MessageId, Priority};

use crate::broker::Broker;
use crate::context::message_of;
use crate::effect::{Effect, Effects};
use crate::entry::{End, Entry, Message, NONE, State};
use crate::mailbox::{Mailbox, Queue};
use crate::timers::Timed;
use crate::{EntryKey, MessageKey, Of, Time};

impl Broker {
    pub(crate) fn entry(&self, key: EntryKey) -> Option<&Entry> {
        self.entries.get(key.0)
    }

    pub(crate) fn message(&self, key: MessageKey) -> Option<&Message> {
        self.messages.get(key.0)
    }

    pub(crate) fn message_of(&self, key: EntryKey) -> Option<&Message> {
        self.entry(key).and_then(|entry| self.message(entry.message))
    }

    /// Finds a message by its id, while it is remembered.
    pub(crate) fn find(&self, id: MessageId) -> Option<MessageKey> {
        let key = message_of(id);
        self.message(key).filter(|message| message.id == id).map(|_| key)
    }

    pub(crate) fn is_wanted_once(&self, key: MessageKey) -> bool {
        self.message(key).is_some_and(Message::is_wanted_once)
    }

    /// Returns the entries of a message.
    pub(crate) fn entries_of(&self, key: MessageKey) -> impl Iterator<Item = (EntryKey, &Entry)> {
        let mut link = self.message(key).map_or(NONE, |message| message.first);
        std::iter::from_fn(move || {
            let entry = self.entries.get(link)?;
            let key = EntryKey(link);
            link = entry.sibling;
            Some((key, entry))
        })
    }

    /// Returns how an event names an entry.
    pub(crate) fn of(&self, entry: EntryKey) -> Option<Of> {
        self.message_of(entry).map(|message| Of { entry, seq: message.seq })
    }

    pub(crate) fn insert_message(&mut self, key: MessageKey, message: Message) -> Result<(), Message> {
        let (expires, bytes) = (message.expires, message.bytes);
        self.messages.put(key.0, message)?;
        self.timers.set_expiry(expires, key);
        self.open_messages += 1;
        self.open_bytes += u64::from(bytes);
        Ok(())
    }

    /// Adds an entry to its message, in a new place behind all others unless it brings one.
    pub(crate) fn insert_entry(
        &mut self,
        key: EntryKey,
        mut entry: Entry,
        effects: &mut Effects,
    ) -> Result<(), Entry> {
        let message_key = entry.message;
        let state = entry.state;
        if entry.order == 0 {
            entry.order = self.next_order();
        }
        // It is put in as over, and then moved to where it is, so that one step does all the counting.
        entry.state = State::Done(End::Shared);
        let Some(message) = self.messages.get_mut(message_key.0) else { return Err(entry) };
        entry.sibling = message.first;
        self.entries.put(key.0, entry)?;
        if let Some(message) = self.messages.get_mut(message_key.0) {
            message.first = key.0;
        }
        self.advance(key, state, self.offer_end(message_key, state), effects);
        Ok(())
    }

    /// Moves an entry to another state, with the time at which that state ends.
    pub(crate) fn advance(&mut self, key: EntryKey, state: State, until: Time, effects: &mut Effects) {
        let Some(entry) = self.entries.get_mut(key.0) else { return };
        let before = std::mem::replace(&mut entry.state, state);
        let ended = std::mem::replace(&mut entry.until, until);
        let (message_key, mailbox, order) = (entry.message, entry.mailbox, entry.order);
        self.timers.clear(ended, Timed::Entry(key));
        self.timers.set(until, Timed::Entry(key));
        self.count_handed_out(before, state);
        if before.is_out() && !state.is_out() {
            self.unbind(key);
        }
        if before.is_queued() != state.is_queued() {
            self.count(mailbox, message_key, state.is_queued());
        }
        if matches!(before, State::Dead(_)) {
            self.dead.remove(&order);
            self.requeue(key);
        }
        if before.is_open() != state.is_open() {
            self.count_open(message_key, state.is_open());
        }
        self.place(key, before, state, effects);
        if matches!(state, State::Dead(_)) {
            self.requeue(key);
        }
        self.index(key, state);
        if !state.is_open() {
            self.settle_if_over(message_key);
        }
    }

    /// Puts an entry that was restored where its state says, counting it as `advance` would have.
    pub(crate) fn put_back(&mut self, key: EntryKey, state: State, is_linked: bool, effects: &mut Effects) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let (mailbox, message) = (entry.mailbox, entry.message);
        self.count_handed_out(State::Held, state);
        if state.is_queued() {
            self.count(mailbox, message, true);
        }
        if is_linked && state.is_out() {
            self.link(key, mailbox);
        }
        self.place(key, State::Held, state, effects);
        self.index(key, state);
    }

    /// Gives an entry another mailbox, at its tail.
    pub(crate) fn rehome(&mut self, key: EntryKey, mailbox: Mailbox, effects: &mut Effects) {
        let order = self.next_order();
        let Some(entry) = self.entries.get(key.0) else { return };
        let (state, until, message) = (entry.state, entry.until, entry.message);
        let (was_linked, order_before) = (entry.lane != NONE, entry.order);
        if state.is_queued() {
            self.count(entry.mailbox, message, false);
        }
        self.withdraw(key, state, effects);
        if let Mailbox::Session(session) =
            self.entries.get(key.0).map_or(Mailbox::Nobody, |entry| entry.mailbox)
            && let Some(session) = self.sessions.get_mut(session.0)
        {
            session.addressed.remove(&key);
        }
        if let Some(entry) = self.entries.get_mut(key.0) {
            entry.mailbox = mailbox;
            entry.order = order;
            // As if it had not been anywhere; `advance` then counts it where it is now.
            entry.state = State::Held;
        }
        self.count_handed_out(state, State::Held);
        if matches!(state, State::Dead(_)) {
            self.dead.remove(&order_before);
        }
        // What is handed out goes on to hold its lane.
        if was_linked && state.is_out() {
            self.link(key, mailbox);
        }
        self.advance(key, state, until, effects);
    }

    /// Gives an entry the last place.
    pub(crate) fn requeue(&mut self, key: EntryKey) {
        let order = self.next_order();
        if let Some(entry) = self.entries.get_mut(key.0) {
            entry.order = order;
        }
    }

    pub(crate) fn set_until(&mut self, key: EntryKey, until: Time) {
        let Some(entry) = self.entries.get_mut(key.0) else { return };
        let before = std::mem::replace(&mut entry.until, until);
        self.timers.clear(before, Timed::Entry(key));
        self.timers.set(until, Timed::Entry(key));
    }

    /// Notes that the connection over which an entry was handed out is gone.
    pub(crate) fn stray(&mut self, key: EntryKey) {
        self.unbind(key);
        if let Some(entry) = self.entries.get_mut(key.0) {
            let before = std::mem::replace(&mut entry.state, State::Stray);
            self.strays.insert(key);
            self.count_handed_out(before, State::Stray);
        }
    }

    /// Returns when an entry that waits has been offered long enough.
    pub(crate) fn offer_end(&self, message: MessageKey, state: State) -> Time {
        let extra = self.message(message).and_then(|message| message.extra.as_deref());
        match extra {
            Some(extra) if state == State::Waiting && extra.timeout_ms > 0 => {
                extra.offered.plus_ms(extra.timeout_ms)
            }
            Some(_) | None => Time::NEVER,
        }
    }

    pub(crate) fn queue(&self, mailbox: Mailbox) -> Option<&Queue> {
        match mailbox {
            Mailbox::Agent(agent) => self.agents.get(agent).map(|agent| &agent.queue),
            Mailbox::Session(session) => self.sessions.get(session.0).map(|session| &session.queue),
            Mailbox::Group(group) => self.groups.get(group).map(|group| &group.queue),
            Mailbox::Nobody => None,
        }
    }

    fn queue_mut(&mut self, mailbox: Mailbox) -> Option<&mut Queue> {
        match mailbox {
            Mailbox::Agent(agent) => self.agents.get_mut(agent).map(|agent| &mut agent.queue),
            Mailbox::Session(session) => self.sessions.get_mut(session.0).map(|session| &mut session.queue),
            Mailbox::Group(group) => self.groups.get_mut(group).map(|group| &mut group.queue),
            Mailbox::Nobody => None,
        }
    }

    pub(crate) fn next_order(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    pub(crate) fn count(&mut self, mailbox: Mailbox, message: MessageKey, is_queued: bool) {
        let bytes = self.message(message).map_or(0, |message| u64::from(message.bytes));
        let Some(queue) = self.queue_mut(mailbox) else { return };
        if is_queued {
            queue.count += 1;
            queue.bytes += bytes;
        } else {
            queue.count = queue.count.saturating_sub(1);
            queue.bytes = queue.bytes.saturating_sub(bytes);
        }
    }

    fn count_handed_out(&mut self, before: State, after: State) {
        match (before == State::Flight, after == State::Flight) {
            (false, true) => self.handed_out += 1,
            (true, false) => self.handed_out = self.handed_out.saturating_sub(1),
            (true, true) | (false, false) => {}
        }
    }

    pub(crate) fn count_open(&mut self, message: MessageKey, is_open: bool) {
        let Some(message) = self.messages.get_mut(message.0) else { return };
        message.open = if is_open { message.open + 1 } else { message.open.saturating_sub(1) };
    }

    /// Ends the tie between an entry and the connection over which it was handed out.
    fn unbind(&mut self, key: EntryKey) {
        self.strays.remove(&key);
        let session = self.entries.get_mut(key.0).and_then(|entry| entry.ladder.as_mut()?.session.take());
        if let Some(session) = session.and_then(|session| self.sessions.get_mut(session.0)) {
            session.out.remove(&key);
        }
    }

    /// Keeps the indexes that follow from an entry's state alone.
    fn index(&mut self, key: EntryKey, state: State) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let (mailbox, order) = (entry.mailbox, entry.order);
        if matches!(state, State::Dead(_)) {
            self.dead.insert(order, key);
        }
        if state == State::Parked {
            self.parked.insert(key);
        } else {
            self.parked.remove(&key);
        }
        if let Mailbox::Agent(agent) = mailbox {
            if state.is_queued() && self.agents.get(agent).is_some_and(|agent| agent.is_gone) {
                self.orphans.insert(key);
            } else {
                self.orphans.remove(&key);
            }
        }
        if let Mailbox::Session(session) = mailbox
            && let Some(session) = self.sessions.get_mut(session.0)
        {
            if state.is_open() {
                session.addressed.insert(key);
            } else {
                // The number of a connection is given to another one when it is gone.
                session.addressed.remove(&key);
                let agent = session.agent;
                if let Some(entry) = self.entries.get_mut(key.0) {
                    entry.mailbox = Mailbox::Agent(agent);
                }
            }
        }
    }

    /// Keeps lanes and what may leave in step with an entry's state.
    fn place(&mut self, key: EntryKey, before: State, state: State, effects: &mut Effects) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let has_task =
            self.message(entry.message).is_some_and(|message| message.task != 0) && !self.overtakes();
        let (mailbox, lane) = (entry.mailbox, entry.lane);
        if !has_task {
            match (before == State::Waiting, state == State::Waiting) {
                (false, true) => self.offer(key, effects),
                (true, false) => self.unoffer(key),
                (true, true) | (false, false) => {}
            }
            return;
        }
        let is_in = state.is_queued() || state.is_out();
        // A reply that was written straight to whoever waits for it was never in a lane.
        let joins = lane == NONE && state.is_queued();
        if joins {
            self.link(key, mailbox);
        }
        let lane = self.entries.get(key.0).map_or(NONE, |entry| entry.lane);
        if lane == NONE {
            return;
        }
        let priority = self.message_of(key).map_or(Priority::Low, |message| message.priority);
        let was_waiting = before.is_queued() && !joins;
        if let Some(lane) = self.lanes.get_mut(lane) {
            match (was_waiting, state.is_queued()) {
                (false, true) => lane.note(priority),
                (true, false) => lane.forget(priority),
                (true, true) | (false, false) => {}
            }
        }
        if !is_in {
            self.unlink(key);
        }
        self.refresh(lane, effects);
        self.lanes.leave(lane);
    }

    fn overtakes(&self) -> bool {
        #[cfg(feature = "plants")]
        return self.has_plant(crate::plant::Plant::LaneOvertakes);
        #[cfg(not(feature = "plants"))]
        false
    }

    /// Returns the level on which an entry without a lane waits.
    fn level_of(&self, key: EntryKey) -> Priority {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::IgnorePriority) {
            return Priority::Low;
        }
        self.message_of(key).map_or(Priority::Low, |message| message.priority)
    }

    /// Takes an entry out of everything that `place` put it in.
    fn withdraw(&mut self, key: EntryKey, state: State, effects: &mut Effects) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let lane = entry.lane;
        if lane == NONE {
            if state == State::Waiting {
                self.unoffer(key);
            }
            return;
        }
        let priority = self.message_of(key).map_or(Priority::Low, |message| message.priority);
        if state.is_queued()
            && let Some(lane) = self.lanes.get_mut(lane)
        {
            lane.forget(priority);
        }
        self.unlink(key);
        self.refresh(lane, effects);
        self.lanes.leave(lane);
    }

    fn offer(&mut self, key: EntryKey, effects: &mut Effects) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let (mailbox, order) = (entry.mailbox, entry.order);
        let priority = self.level_of(key);
        if let Some(queue) = self.queue_mut(mailbox) {
            queue.offer(priority, order, key);
            effects.push(Effect::Ready(mailbox));
        }
    }

    fn unoffer(&mut self, key: EntryKey) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let (mailbox, order) = (entry.mailbox, entry.order);
        let priority = self.level_of(key);
        if let Some(queue) = self.queue_mut(mailbox) {
            queue.take_out(priority, order);
        }
    }

    /// Offers the first entry of a lane at the lane's level, or withdraws the offer.
    fn refresh(&mut self, place: u32, effects: &mut Effects) {
        let Some(lane) = self.lanes.get(place) else { return };
        let first = EntryKey(lane.first);
        let offered = lane.offered;
        let Some((mailbox, wanted)) = self.lane_offer(lane) else { return };
        if offered == wanted {
            return;
        }
        if let Some(queue) = self.queue_mut(mailbox) {
            if let Some((level, order)) = offered {
                queue.take_out(level, order);
            }
            if let Some((level, order)) = wanted {
                queue.offer(level, order, first);
                effects.push(Effect::Ready(mailbox));
            }
        }
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.offered = wanted;
        }
    }

    fn lane_offer(&self, lane: &crate::lane::Lane) -> Option<(Mailbox, Option<(Priority, u64)>)> {
        let Some(first) = self.entries.get(lane.first) else {
            return Some((lane.mailbox(), None));
        };
        let wanted =
            if first.state == State::Waiting { lane.level().map(|level| (level, first.order)) } else { None };
        Some((lane.mailbox(), wanted))
    }

    /// Puts an entry into its lane, by its order, but never before what is handed out.
    fn link(&mut self, key: EntryKey, mailbox: Mailbox) {
        let Some(entry) = self.entries.get(key.0) else { return };
        let order = entry.order;
        let task = self.message(entry.message).map_or(0, |message| message.task);
        let place = self.lanes.enter(mailbox, task);
        let mut before = self.lanes.get(place).map_or(NONE, |lane| lane.last);
        while let Some(other) = self.entries.get(before) {
            let is_behind = other.order > order && !other.state.is_out();
            if !is_behind {
                break;
            }
            before = other.lane_before;
        }
        let after = match self.entries.get_mut(before) {
            Some(other) => std::mem::replace(&mut other.lane_after, key.0),
            None => self.lanes.get(place).map_or(NONE, |lane| lane.first),
        };
        if let Some(other) = self.entries.get_mut(after) {
            other.lane_before = key.0;
        }
        if let Some(entry) = self.entries.get_mut(key.0) {
            (entry.lane, entry.lane_before, entry.lane_after) = (place, before, after);
        }
        if let Some(lane) = self.lanes.get_mut(place) {
            if before == NONE {
                lane.first = key.0;
            }
            if after == NONE {
                lane.last = key.0;
            }
        }
    }

    fn unlink(&mut self, key: EntryKey) {
        let Some(entry) = self.entries.get_mut(key.0) else { return };
        let (place, before, after) = (entry.lane, entry.lane_before, entry.lane_after);
        (entry.lane, entry.lane_before, entry.lane_after) = (NONE, NONE, NONE);
        if let Some(other) = self.entries.get_mut(before) {
            other.lane_after = after;
        }
        if let Some(other) = self.entries.get_mut(after) {
            other.lane_before = before;
        }
        if let Some(lane) = self.lanes.get_mut(place) {
            if before == NONE {
                lane.first = after;
            }
            if after == NONE {
                lane.last = before;
            }
        }
    }

    /// Lets a message go when every entry of it is over; it is remembered for a while.
    pub(crate) fn settle_if_over(&mut self, key: MessageKey) {
        let Some(message) = self.messages.get(key.0).filter(|message| message.open == 0) else { return };
        let (expires, bytes) = (message.expires, u64::from(message.bytes));
        self.timers.clear_expiry(expires, key);
        self.open_messages = self.open_messages.saturating_sub(1);
        self.open_bytes = self.open_bytes.saturating_sub(bytes);
        self.settled.push_back(key);
        self.forget_settled();
    }

    pub(crate) fn forget_settled(&mut self) {
        while self.settled.len() as u64 > self.retention.settled_max {
            let Some(key) = self.settled.pop_front() else { return };
            self.purge(key);
        }
    }

    pub(crate) fn purge(&mut self, key: MessageKey) {
        let Some(message) = self.messages.remove(key.0) else { return };
        let mut link = message.first;
        while let Some(entry) = self.entries.remove(link) {
            link = entry.sibling;
            self.count_handed_out(entry.state, State::Done(End::Shared));
        }
    }
}
