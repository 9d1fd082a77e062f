//! Lanes, what may leave, and the counts of each mailbox.

use std::collections::{BTreeMap, BTreeSet};

use message::Priority;

use super::Facts;
use crate::Broker;
use crate::entry::{Entry, NONE, State};
use crate::mailbox::{Mailbox, OLDEST_EVERY, Queue, picks};
use crate::{EntryKey, SessionKey};

/// What may leave: level, order, entry.
type Offer = (Priority, u64, EntryKey);

pub(super) fn check(facts: &Facts<'_>) {
    let broker = facts.broker;
    let mut offers: BTreeMap<Mailbox, Vec<Offer>> = BTreeMap::new();
    let mut sums: BTreeMap<Mailbox, (u64, u64)> = BTreeMap::new();
    for (key, entry) in facts.entries() {
        let message = broker.message(entry.message).expect("an entry has a message");
        if entry.state.is_queued() {
            let sum = sums.entry(entry.mailbox).or_default();
            *sum = (sum.0 + 1, sum.1 + u64::from(message.bytes));
        }
        if message.task == 0 {
            assert_eq!(entry.lane, NONE, "entry {key} has no task and a lane");
            if entry.state == State::Waiting {
                offers.entry(entry.mailbox).or_default().push((message.priority, entry.order, key));
            }
        } else {
            let is_in = entry.state.is_queued() || entry.state.is_out();
            assert!(entry.lane == NONE || is_in, "entry {key} is over and in a lane");
            assert!(entry.lane != NONE || !entry.state.is_queued(), "entry {key} waits outside its lane");
        }
    }
    lanes(facts, &mut offers);
    let none = (Vec::new(), (0, 0));
    for (mailbox, queue) in queues(broker) {
        let mut offers = offers.remove(&mailbox).unwrap_or(none.0.clone());
        leaving(queue, &mut offers, mailbox);
        let sum = sums.remove(&mailbox).unwrap_or(none.1);
        assert_eq!((queue.count, queue.bytes), sum, "what waits in {mailbox:?}");
    }
    assert!(offers.is_empty(), "what may leave has a mailbox");
}

/// Returns what may leave from each mailbox.
pub(crate) fn offers(broker: &Broker) -> BTreeSet<(Mailbox, EntryKey)> {
    let mut offers = BTreeSet::new();
    for (mailbox, queue) in queues(broker).into_iter().filter(|(_, queue)| queue.is_ready()) {
        let mut picks = picks(&[queue], 0);
        while let Some(entry) = picks.next(|_| true) {
            offers.insert((mailbox, entry));
        }
    }
    offers
}

fn queues(broker: &Broker) -> Vec<(Mailbox, &Queue)> {
    let agents = broker.agents.iter().map(|(key, agent)| (Mailbox::Agent(key), &agent.queue));
    let groups = broker.groups.iter().map(|(key, group)| (Mailbox::Group(key), &group.queue));
    let sessions =
        broker.sessions.iter().map(|(key, session)| (Mailbox::Session(SessionKey(key)), &session.queue));
    agents.chain(groups).chain(sessions).collect()
}

fn lanes(facts: &Facts<'_>, offers: &mut BTreeMap<Mailbox, Vec<Offer>>) {
    let broker = facts.broker;
    let mut members: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, entry) in facts.entries().filter(|(_, entry)| entry.lane != NONE) {
        *members.entry(entry.lane).or_default() += 1;
    }
    for place in 0..broker.entries.len() as u32 + 16 {
        assert!(broker.lanes.get(place).is_none() || members.contains_key(&place), "lane {place} is empty");
    }
    let mut tasks = BTreeMap::new();
    for (place, count) in members {
        let chain = chain(broker, place);
        assert_eq!(chain.len(), count, "lane {place} is complete");
        let (first_key, first) = chain[0];
        let lane = broker.lanes.get(place).expect("an entry's lane is there");
        let task = broker.message(first.message).map(|message| message.task);
        assert!(tasks.insert((first.mailbox, task), place).is_none(), "one lane for a mailbox and a task");
        let level = chain
            .iter()
            .filter(|(_, entry)| entry.state.is_queued())
            .filter_map(|(_, entry)| broker.message(entry.message).map(|message| message.priority))
            .max();
        assert_eq!(lane.level(), level, "the level of lane {place}");
        let offer = level.filter(|_| first.state == State::Waiting).map(|level| (level, first.order));
        assert_eq!(lane.offered, offer, "what lane {place} offers");
        if let Some((level, order)) = offer {
            offers.entry(lane.mailbox()).or_default().push((level, order, first_key));
        }
    }
}

fn chain(broker: &Broker, place: u32) -> Vec<(EntryKey, &Entry)> {
    let lane = broker.lanes.get(place).expect("an entry's lane is there");
    let (mut link, mut before, mut last) = (lane.first, NONE, 0);
    let mut chain = Vec::new();
    while let Some(entry) = broker.entries.get(link) {
        assert_eq!((entry.lane, entry.lane_before, entry.mailbox), (place, before, lane.mailbox()), "a link");
        if entry.state.is_queued() {
            assert!(entry.order > last, "lane {place} is in order");
            last = entry.order;
        }
        chain.push((EntryKey(link), entry));
        (before, link) = (link, entry.lane_after);
    }
    assert_eq!((link, before), (NONE, lane.last), "the end of lane {place}");
    chain
}

/// Compares what leaves, in its order, with the rule: the highest level first, every eighth the oldest.
fn leaving(queue: &Queue, offers: &mut Vec<Offer>, mailbox: Mailbox) {
    let mut picks = picks(&[queue], 0);
    let mut picked = 0;
    while let Some(entry) = picks.next(|_| true) {
        picked += 1;
        let next = if picked % OLDEST_EVERY == 0 {
            offers.iter().min_by_key(|(_, order, _)| *order)
        } else {
            offers.iter().min_by_key(|(level, order, _)| (std::cmp::Reverse(*level), *order))
        };
        assert_eq!(
            next.map(|(_, _, entry)| *entry),
            Some(entry),
            "what leaves {mailbox:?} as number {picked}"
        );
        offers.retain(|(_, _, other)| *other != entry);
    }
    assert!(offers.is_empty(), "{mailbox:?} lets everything leave that may");
}
