//! Lanes: the order within a task.
//!
//! A lane is one mailbox and one task. Its entries are linked in the order of their entry; only the first may leave,
//! and the next one only when the first is settled. An entry without a task has no lane.

use hashbrown::HashTable;
use message::Priority;

use crate::entry::NONE;
use crate::mailbox::Mailbox;
use crate::slab::Slab;

#[derive(Default)]
pub(crate) struct Lanes {
    lanes: Slab<Lane>,
    by_task: HashTable<u32>,
}

pub(crate) struct Lane {
    mailbox: Mailbox,
    task: u64,
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// How many of each priority are in it and not handed out.
    waiting: [u32; 4],
    /// Where its first entry stands among what may leave, if it does.
    pub(crate) offered: Option<(Priority, u64)>,
}

impl Lanes {
    pub(crate) fn get(&self, lane: u32) -> Option<&Lane> {
        self.lanes.get(lane)
    }

    pub(crate) fn get_mut(&mut self, lane: u32) -> Option<&mut Lane> {
        self.lanes.get_mut(lane)
    }

    /// Returns the lane of a mailbox and a task, made if there is none.
    pub(crate) fn enter(&mut self, mailbox: Mailbox, task: u64) -> u32 {
        let hash = hash(mailbox, task);
        let is_it = |lanes: &Slab<Lane>, lane: u32| {
            lanes.get(lane).is_some_and(|lane| lane.mailbox == mailbox && lane.task == task)
        };
        if let Some(lane) = self.by_task.find(hash, |lane| is_it(&self.lanes, *lane)) {
            return *lane;
        }
        let place = self.lanes.vacant().next().unwrap_or(NONE);
        let lane = Lane { mailbox, task, first: NONE, last: NONE, waiting: [0; 4], offered: None };
        let put = self.lanes.put(place, lane);
        debug_assert!(put.is_ok(), "a vacant place is free");
        let lanes = &self.lanes;
        self.by_task.insert_unique(hash, place, |lane| {
            lanes.get(*lane).map_or(0, |lane| self::hash(lane.mailbox, lane.task))
        });
        place
    }

    /// Removes a lane in which nothing is left.
    pub(crate) fn leave(&mut self, place: u32) {
        let Some(lane) = self.lanes.get(place).filter(|lane| lane.first == NONE) else { return };
        let hash = hash(lane.mailbox, lane.task);
        if let Ok(found) = self.by_task.find_entry(hash, |lane| *lane == place) {
            found.remove();
        }
        self.lanes.remove(place);
    }
}

impl Lane {
    pub(crate) fn mailbox(&self) -> Mailbox {
        self.mailbox
    }

    pub(crate) fn note(&mut self, priority: Priority) {
        self.waiting[priority as usize] += 1;
    }

    pub(crate) fn forget(&mut self, priority: Priority) {
        let count = &mut self.waiting[priority as usize];
        *count = count.saturating_sub(1);
    }

    /// Returns the highest priority that waits.
    pub(crate) fn level(&self) -> Option<Priority> {
        Priority::ALL.iter().rev().find(|priority| self.waiting[**priority as usize] > 0).copied()
    }
}

fn hash(mailbox: Mailbox, task: u64) -> u64 {
    let number = match mailbox {
        Mailbox::Agent(agent) => u64::from(agent.0),
        Mailbox::Session(session) => 1 << 32 | u64::from(session.0),
        Mailbox::Group(group) => 2 << 32 | u64::from(group.0),
        Mailbox::Nobody => 3 << 32,
    };
    // The task is evenly spread already; the mailbox is spread over all bits by an odd number.
    task ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
