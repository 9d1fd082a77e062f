//! What clients did and saw, in the order in which they noted it: all that the checker knows.
//!
//! A note's place in the history is its time. What happened at the server lies somewhere between the note before the
//! request and the note after its answer; the checker concludes nothing from what may have happened the other way
//! round.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A place in the history.
pub type Moment = usize;

/// How often a message may arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// Until somebody acknowledges it.
    AtLeastOnce,
    /// Never a second time.
    AtMostOnce,
}

/// A message that somebody wants to send.
#[derive(Clone, Debug)]
pub struct Letter {
    /// The sender's own id for it.
    pub name: String,
    /// Who sends it.
    pub from: String,
    /// For whom it is.
    pub to: String,
    /// Who gets it when nobody else does.
    pub fallback: Option<String>,
    /// What it is about: such letters arrive in the order of their numbers. A task has one sender.
    pub task: Option<(String, u64)>,
    /// What it asked for.
    pub guarantee: Guarantee,
    /// Whether it may end because its time is over.
    pub may_expire: bool,
    /// Whether somebody waits for it: such a letter is settled by handing it over.
    pub is_awaited: bool,
    /// Whether it is a record in its sender's repo, which somebody follows.
    pub is_record: bool,
}

/// Something that was done or seen.
#[derive(Clone, Debug)]
pub enum Event {
    /// A letter is about to be sent, for the first time or again.
    Sending { name: String },
    /// A receipt came; its id is empty where the door does not tell it.
    Accepted { name: String, id: String },
    /// The bus said no, once and for all.
    Refused { name: String, code: String },
    /// A letter came.
    Delivered(Sighting),
    /// Somebody is about to acknowledge a delivery.
    Acking { delivery: String },
    /// The bus said that it is acknowledged.
    Acked { delivery: String },
    /// Somebody is about to give a delivery back.
    Nacking { delivery: String },
    /// The answer to a question came to whom waited for it.
    Answered { question: String, answer: String },
    /// The bus told a sender that its message died.
    Noticed { agent: String, id: String },
    /// Who follows a repo saw that a letter was written.
    Followed { name: String },
}

/// A letter that came.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// By which it can be acknowledged.
    pub delivery: String,
    /// The bus's id for the message; empty where the door does not tell it.
    pub id: String,
    /// The sender's own id, as the document has it.
    pub name: String,
    /// Who got it.
    pub agent: String,
    /// How it came.
    pub handing: Handing,
    /// When it was asked for.
    pub asked: Moment,
    /// Whether what it says is what was sent.
    pub is_whole: bool,
}

/// How a letter came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handing {
    /// Handed out, with the word that it is the how manieth time.
    Attempt(u64),
    /// Handed out over a door that does not say the how manieth time it is.
    Plain,
    /// Shown, and not handed out.
    Shown,
}

/// What the bus says in the end about a message.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// What became of it with each recipient; nothing when the bus does not know the message.
    pub recipients: Option<Vec<Recipient>>,
    /// Whether it is among the dead letters.
    pub is_dead_letter: bool,
    /// Whether it still waits in an inbox.
    pub waits: bool,
}

/// A line of a receipt.
#[derive(Clone, Debug)]
pub struct Recipient {
    /// Who.
    pub agent: String,
    /// How far it came.
    pub stage: String,
    /// How often it was handed out.
    pub attempts: u64,
    /// The stages that led there, as the receipt has them.
    pub stages: String,
}

/// Everything that was noted.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Letters, by their names.
    pub letters: BTreeMap<String, Letter>,
    /// What happened.
    pub events: Vec<Event>,
    /// What the bus said in the end, by its ids.
    pub endings: BTreeMap<String, Ending>,
}

/// A record that several clients write at once.
#[derive(Debug, Default)]
pub struct History {
    record: Mutex<Record>,
}

impl Record {
    /// Returns the ids that the bus gave, by the letters' names.
    pub fn ids(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for event in &self.events {
            match event {
                Event::Accepted { name, id } | Event::Delivered(Sighting { name, id, .. }) => {
                    let told = (!id.is_empty()).then_some(id.as_str());
                    ids.entry(name).or_default().extend(told);
                }
                Event::Sending { .. }
                | Event::Refused { .. }
                | Event::Acking { .. }
                | Event::Acked { .. }
                | Event::Nacking { .. }
                | Event::Answered { .. }
                | Event::Noticed { .. }
                | Event::Followed { .. } => {}
            }
        }
        ids
    }

    /// Returns what came, with the moments at which it was noted.
    pub fn sightings(&self) -> impl Iterator<Item = (Moment, &Sighting)> {
        self.events.iter().enumerate().filter_map(|(moment, event)| match event {
            Event::Delivered(sighting) => Some((moment, sighting)),
            Event::Sending { .. }
            | Event::Accepted { .. }
            | Event::Refused { .. }
            | Event::Acking { .. }
            | Event::Acked { .. }
            | Event::Nacking { .. }
            | Event::Answered { .. }
            | Event::Noticed { .. }
            | Event::Followed { .. } => None,
        })
    }
}

impl History {
    /// Notes a letter before it is sent for the first time.
    pub fn letter(&self, letter: Letter) {
        self.lock().letters.insert(letter.name.clone(), letter);
    }

    /// Notes what was done or seen.
    pub fn note(&self, event: Event) {
        self.lock().events.push(event);
    }

    /// Returns the present moment.
    pub fn now(&self) -> Moment {
        self.lock().events.len()
    }

    /// Fills in ids that a door did not tell, by the letters' names.
    pub fn learn(&self, ids: &BTreeMap<String, String>) {
        for event in &mut self.lock().events {
            if let Event::Accepted { name, id } = event
                && id.is_empty()
                && let Some(known) = ids.get(name)
            {
                id.clone_from(known);
            }
        }
    }

    /// Returns every id that the bus gave.
    pub fn ids(&self) -> BTreeSet<String> {
        self.lock().ids().into_values().flatten().map(str::to_owned).collect()
    }

    /// Returns everything.
    pub fn into_record(self) -> Record {
        self.record.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
