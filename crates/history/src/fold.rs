//! Events into rows: the part of the broker's fold that receipts and histories are made of.
//!
//! A chunk of events is folded in memory and written once, so a message that is sent, handed out and acknowledged
//! within a chunk costs one row and not three. An event about what is unknown, because the log was trimmed or a
//! salvage left its beginning out, changes nothing and never fails.

mod accept;
mod event;
mod registry;

use std::collections::{BTreeMap, HashMap};

use broker::{EntryKey, Of, SessionKey, Time};
use message::Seq;

use crate::delivery::{Delivery, End, Mailbox, State, Step};
use crate::error::HistoryError;
use crate::letter::{Change, Letter, Who};
use crate::registry::Registry;
use crate::store::{Marks, Place, Store, Tally};

/// The state of the fold between the tables and the last event.
pub(crate) struct Fold {
    pub(crate) registry: Registry,
    pub(crate) letters: HashMap<Seq, Letter>,
    /// Messages that differ from the tables.
    dirty: Vec<Seq>,
    held: BTreeMap<Box<str>, Vec<Place>>,
    addressed: BTreeMap<SessionKey, Vec<Place>>,
    /// Dead letters, the oldest first.
    dead: BTreeMap<i64, Place>,
    dead_max: u64,
    tally: Tally,
    /// The event that is being folded.
    seq: Seq,
    at: Time,
    /// How many deliveries died by it.
    deaths: i64,
}

/// Numbers that one event can give to what it makes.
const PER_EVENT: i64 = 1 << 16;

impl Fold {
    /// Starts from what the tables have.
    pub(crate) fn load(store: &Store, marks: &Marks) -> Result<Self, HistoryError> {
        let mut fold = Fold {
            registry: store.registry()?,
            letters: HashMap::new(),
            dirty: Vec::new(),
            held: BTreeMap::new(),
            addressed: BTreeMap::new(),
            dead: store.dead()?.into_iter().collect(),
            dead_max: marks.dead_max,
            tally: Tally::new(),
            seq: marks.applied,
            at: Time(0),
            deaths: 0,
        };
        for (name, place) in store.held()? {
            fold.held.entry(name).or_default().push(place);
        }
        for (session, place) in store.addressed()? {
            fold.addressed.entry(session).or_default().push(place);
        }
        Ok(fold)
    }

    pub(crate) fn dead_max(&self) -> u64 {
        self.dead_max
    }

    /// Writes what has changed, and forgets what is over or too much.
    pub(crate) fn save(&mut self, store: &Store, letters_max: usize) -> Result<(), HistoryError> {
        store.save_registry(&mut self.registry)?;
        // In the order of the table, in which they lie side by side.
        self.dirty.sort_unstable();
        for seq in self.dirty.drain(..) {
            let Some(letter) = self.letters.get_mut(&seq) else { continue };
            store.save_letter(letter, &mut self.tally)?;
            if !letter.is_open() {
                self.letters.remove(&seq);
            }
        }
        store.save_tally(&mut self.tally)?;
        if self.letters.len() > letters_max {
            // The newest half: what is old and still open may stay so for long.
            let mut seqs: Vec<Seq> = self.letters.keys().copied().collect();
            let nth = (seqs.len() - letters_max / 2).min(seqs.len() - 1);
            let oldest_kept = *seqs.select_nth_unstable(nth).1;
            self.letters.retain(|seq, _| *seq >= oldest_kept);
        }
        Ok(())
    }

    /// Begins an event.
    fn begin(&mut self, seq: Seq, at: Time) {
        (self.seq, self.at, self.deaths) = (seq, at, 0);
    }

    /// Returns a message, from memory or from the tables.
    fn letter<'f>(
        letters: &'f mut HashMap<Seq, Letter>,
        store: &Store,
        seq: Seq,
    ) -> Result<Option<&'f mut Letter>, HistoryError> {
        use std::collections::hash_map::Entry;
        match letters.entry(seq) {
            Entry::Occupied(entry) => Ok(Some(entry.into_mut())),
            Entry::Vacant(entry) => Ok(store.letter(seq)?.map(|letter| entry.insert(letter))),
        }
    }

    /// Changes a message itself.
    fn change_letter(
        &mut self,
        store: &Store,
        seq: Seq,
        change: impl FnOnce(&mut Letter),
    ) -> Result<(), HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(()) };
        change(letter);
        if letter.touch(Change::Message) {
            self.dirty.push(seq);
        }
        Ok(())
    }

    /// Changes one delivery and keeps what follows from its state.
    fn change(
        &mut self,
        store: &Store,
        (seq, entry): Place,
        change: impl FnOnce(&mut Delivery),
    ) -> Result<(), HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(()) };
        let Some(delivery) = letter.deliveries.iter_mut().find(|delivery| delivery.entry == entry) else {
            return Ok(());
        };
        let (before, was_held) = (delivery.recipient(), delivery.state == State::Held);
        change(delivery);
        delivery.is_dirty = true;
        let is_dead = matches!(delivery.state, State::Dead(_));
        let dies = is_dead && delivery.died.is_none();
        if let Some(died) = delivery.died.filter(|_| !is_dead) {
            self.dead.remove(&died);
            delivery.died = None;
        }
        if dies {
            let died = place_in(self.seq, self.deaths);
            self.deaths += 1;
            delivery.died = Some(died);
            self.dead.insert(died, (seq, entry));
        }
        if was_held
            && delivery.state != State::Held
            && let Mailbox::Name(name) = &delivery.mailbox
        {
            self.held
                .get_mut(name)
                .into_iter()
                .for_each(|places| places.retain(|place| *place != (seq, entry)));
        }
        let after = delivery.recipient();
        if let Some(agent) = after.filter(|_| after != before) {
            letter.involve(Who::Agent(agent));
        }
        if letter.touch(Change::Deliveries) {
            self.dirty.push(seq);
        }
        if dies { self.forget_dead(store) } else { Ok(()) }
    }

    /// Adds a delivery to a message.
    fn add(&mut self, store: &Store, seq: Seq, delivery: Delivery) -> Result<(), HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(()) };
        if let Some(agent) = delivery.recipient() {
            letter.involve(Who::Agent(agent));
        }
        letter.deliveries.push(delivery);
        if letter.touch(Change::Deliveries) {
            self.dirty.push(seq);
        }
        Ok(())
    }

    /// Ends a delivery for which nothing more can be done; if the bus had promised to try, it is a dead letter.
    fn give_up(&mut self, store: &Store, place: Place, end: End, by: &str) -> Result<(), HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, place.0)? else { return Ok(()) };
        let is_wanted_once = letter.guarantee == message::Guarantee::AtMostOnce;
        let step = Step::new(self.at, by);
        self.change(store, place, |delivery| {
            delivery.ladder.ended = Some(step);
            delivery.state = if is_wanted_once { State::Done(end) } else { State::Dead(end) };
        })
    }

    /// Lets the oldest dead letters go where the broker does, because from then on nothing changes them.
    fn forget_dead(&mut self, store: &Store) -> Result<(), HistoryError> {
        while self.dead.len() as u64 > self.dead_max {
            let Some((_, place)) = self.dead.first_key_value() else { break };
            self.drop_dead(store, *place)?;
        }
        Ok(())
    }

    fn drop_dead(&mut self, store: &Store, place: Place) -> Result<(), HistoryError> {
        let known = self.dead.len();
        self.change(store, place, |delivery| {
            if let State::Dead(end) = delivery.state {
                delivery.state = State::Done(end);
            }
        })?;
        if self.dead.len() == known {
            // The tables no longer have it; without this the list would never get shorter.
            self.dead.retain(|_, other| *other != place);
        }
        Ok(())
    }

    /// Returns the deliveries of a message that are not handed out and may still be, the newest first.
    fn waiting(&mut self, store: &Store, seq: Seq) -> Result<Vec<EntryKey>, HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(Vec::new()) };
        let from = letter.from;
        let registry = &self.registry;
        // A post that every member has passed is over.
        let is_over = |delivery: &Delivery| match (&delivery.mailbox, delivery.state) {
            (Mailbox::Group(group), State::Post) => {
                !registry.behind(*group, delivery.number).any(|member| member != from)
            }
            _ => false,
        };
        let waiting = letter.deliveries.iter().rev();
        let waiting = waiting.filter(|delivery| delivery.state.may_still_leave() && !is_over(delivery));
        Ok(waiting.map(|delivery| delivery.entry).collect())
    }

    /// Tells whether an agent gets the message of a waiting delivery another way.
    fn has_another_way(
        &mut self,
        store: &Store,
        (seq, entry): Place,
        agent: broker::AgentKey,
    ) -> Result<bool, HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(false) };
        let mut others = letter.deliveries.iter().filter(|delivery| delivery.entry != entry);
        Ok(others.any(|other| other.recipient() == Some(agent) && other.state.is_a_way()))
    }

    fn state(&mut self, store: &Store, (seq, entry): Place) -> Result<Option<State>, HistoryError> {
        let Some(letter) = Fold::letter(&mut self.letters, store, seq)? else { return Ok(None) };
        let found = letter.deliveries.iter().find(|delivery| delivery.entry == entry);
        Ok(found.map(|delivery| delivery.state))
    }
}

/// Returns how the fold names what an event is about.
fn place_of(of: Of) -> Place {
    (of.seq, of.entry)
}

/// Returns a number that grows with events and, within one, with the things that it makes.
fn place_in(seq: Seq, nth: i64) -> i64 {
    let seq = i64::try_from(seq.0).unwrap_or(i64::MAX);
    seq.saturating_mul(PER_EVENT).saturating_add(nth.min(PER_EVENT - 1))
}
