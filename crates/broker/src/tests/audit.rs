//! The audit: recomputes from agents, messages and entries everything that is kept beside them, and compares.

mod groups;
mod lanes;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use lanes::offers;

use message::{MessageId, TaskStatus, task_number};

use crate::Broker;
use crate::entry::{Entry, Message, State};
use crate::mailbox::Mailbox;
use crate::query::dead_letters::{DeadOf, DeadPage};
use crate::timers::Timed;
use crate::{AgentKey, At, Breaker, EntryKey, MessageKey, Query, SessionKey, Time};

const LAST: Time = Time(u64::MAX - 1);

/// What the rest follows from, gathered once.
struct Facts<'b> {
    broker: &'b Broker,
    messages: Vec<(MessageKey, &'b Message)>,
    entries: Vec<(EntryKey, &'b Entry)>,
}

/// Panics if something that is kept does not follow from the entries.
pub(crate) fn check(broker: &Broker) {
    let messages = broker.messages.iter().map(|(key, message)| (MessageKey(key), message)).collect();
    let entries = broker.entries.iter().map(|(key, entry)| (EntryKey(key), entry)).collect();
    let facts = Facts { broker, messages, entries };
    self::messages(&facts);
    totals(&facts);
    timers(&facts);
    indexes(&facts);
    sessions(&facts);
    registry(broker);
    records(broker);
    work(broker);
    dead_letters(broker);
    groups::check(&facts);
    lanes::check(&facts);
}

impl<'b> Facts<'b> {
    fn entries(&self) -> impl Iterator<Item = (EntryKey, &'b Entry)> {
        self.entries.iter().copied()
    }

    fn messages(&self) -> impl Iterator<Item = (MessageKey, &'b Message)> {
        self.messages.iter().copied()
    }
}

fn messages(facts: &Facts<'_>) {
    let broker = facts.broker;
    let mut linked = BTreeSet::new();
    for (key, message) in facts.messages() {
        assert_eq!(broker.find(message.id), Some(key), "a message is found by its id");
        let mut open = 0;
        for (entry_key, entry) in broker.entries_of(key) {
            assert_eq!(entry.message, key, "an entry knows its message");
            assert!(linked.insert(entry_key), "an entry is linked once");
            open += u32::from(entry.state.is_open());
        }
        let waits = message.extra.as_ref().is_some_and(|extra| extra.wait_until.is_some());
        assert_eq!(message.open, open + u32::from(waits), "message {key}: what is open");
    }
    for (key, message) in broker.messages.iter() {
        assert_eq!(broker.find(message.id).map(|found| found.0), Some(key), "an id finds its message");
    }
    let all: BTreeSet<EntryKey> = facts.entries().map(|(key, _)| key).collect();
    assert_eq!(linked, all, "every entry belongs to a message");
}

/// Records are counted, no collection is empty, blobs are those of the records, and no two writes share a tick.
fn records(broker: &Broker) {
    let mut ticks = BTreeSet::new();
    let mut count = 0;
    for repo in broker.records.repos.values() {
        let mut blobs: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for (collection, records) in &repo.collections {
            assert!(!records.is_empty(), "{collection} is kept for nothing");
            for (key, record) in records {
                count += 1;
                assert!(ticks.insert(record.tick), "two writes at tick {}", record.tick);
                assert!(
                    record.tick <= broker.records.tick && record.body <= broker.last(),
                    "{key} is to come"
                );
                for blob in &record.blobs {
                    blobs.entry(*blob).or_default().insert((collection.clone(), key.clone()));
                }
            }
        }
        assert_eq!(repo.blobs, blobs, "which records refer to blobs");
    }
    assert_eq!(broker.records.count, count, "how many records there are");
}

fn totals(facts: &Facts<'_>) {
    let broker = facts.broker;
    let open = facts.messages().filter(|(_, message)| message.open > 0);
    let (count, bytes) =
        open.fold((0, 0), |(count, bytes), (_, message)| (count + 1, bytes + u64::from(message.bytes)));
    assert_eq!((broker.open_messages, broker.open_bytes), (count, bytes), "open messages and their bytes");
    let over: BTreeSet<MessageKey> =
        facts.messages().filter(|(_, message)| message.open == 0).map(|(key, _)| key).collect();
    let settled: BTreeSet<MessageKey> = broker.settled.iter().copied().collect();
    assert_eq!(settled, over, "what is over is remembered as such");
    assert_eq!(settled.len(), broker.settled.len(), "and once");
    assert!(broker.settled.len() as u64 <= broker.retention.settled_max, "no more than is to be remembered");
    assert!(broker.dead.len() as u64 <= broker.retention.dead_max, "no more dead letters than are kept");
    let handed_out = facts.entries().filter(|(_, entry)| entry.state == State::Flight).count() as u64;
    assert_eq!(broker.counts().handed_out, handed_out, "what is handed out");
}

/// Pages of dead letters are all of them, and those of one message are found without the others.
fn dead_letters(broker: &Broker) {
    let at = At { now: Time(0), wall: Time(0) };
    let all: Vec<(EntryKey, MessageId)> = broker.dead_letters().map(|dead| (dead.entry, dead.id)).collect();
    let (mut paged, mut after) = (Vec::new(), None);
    loop {
        let page = DeadPage { after, look_max: 2, max: 1, from: None };
        let (found, next) = page.run(broker, at);
        assert!(found.len() <= 1, "no more than were asked for");
        paged.extend(found.iter().map(|dead| (dead.entry, dead.id)));
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(paged, all, "dead letters page by page");
    for (_, id) in &all {
        let of_message: BTreeSet<_> =
            DeadOf { message: *id }.run(broker, at).into_iter().map(|dead| dead.entry).collect();
        let expected = all.iter().filter(|(_, of)| of == id).map(|(entry, _)| *entry).collect();
        assert_eq!(of_message, expected, "dead letters of {id}");
    }
}

/// Tasks are counted by status and found by number, their gates are known, and so is who is given no work.
fn work(broker: &Broker) {
    let gates = broker.gates(false);
    let mut counts = [0; TaskStatus::ALL.len()];
    for task in broker.tasks(0) {
        counts[task.status as usize] += 1;
        let found = broker.task_by_number(task_number(task.id)).map(|task| task.id.to_owned());
        assert_eq!(found.as_deref(), Some(task.id), "a task is found by its number");
        let gate = gates.iter().find(|gate| gate.task == Some(task.id)).map(|gate| gate.gate);
        assert_eq!(broker.gate_of(task.key), gate, "the gate of {}", task.id);
    }
    assert_eq!(broker.task_counts(), counts, "tasks by status");
    let is_open = |breaker: Breaker| matches!(breaker, Breaker::Open { .. } | Breaker::Probing { .. });
    let agents = broker.agents().filter(|agent| is_open(broker.agent_work(agent.agent).breaker));
    assert_eq!(broker.open_breakers(), agents.count() as u64, "agents that are given no work");
}

fn timers(facts: &Facts<'_>) {
    let broker = facts.broker;
    let waits = facts.messages().filter_map(|(key, message)| {
        let until = message.extra.as_ref()?.wait_until?;
        Some((until, Timed::Wait(key)))
    });
    let of_entries = facts
        .entries()
        .filter(|(_, entry)| entry.state.is_open())
        .map(|(key, entry)| (entry.until, Timed::Entry(key)));
    let mut expected: Vec<_> = waits.chain(of_entries).filter(|(until, _)| *until != Time::NEVER).collect();
    expected.sort_unstable();
    let expected: Vec<Timed> = expected.into_iter().map(|(_, timed)| timed).collect();
    let found: Vec<Timed> = broker.timers.due(LAST).collect();
    assert_eq!(found, expected, "timers of the bus's time");
    let may_expire = |state: State| match state {
        State::Waiting | State::Pausing | State::Held | State::Parked | State::Post => true,
        State::Flight | State::Stray | State::Dead(_) | State::Done(_) => false,
    };
    let expiring: BTreeSet<MessageKey> = broker.timers.expired(LAST).collect();
    for (key, message) in facts.messages().filter(|(_, message)| message.expires != Time::NEVER) {
        let waits = broker.entries_of(key).any(|(_, entry)| may_expire(entry.state));
        assert!(!waits || expiring.contains(&key), "message {key} waits and nothing will end it");
        assert!(message.open > 0 || !expiring.contains(&key), "message {key} is over and expires");
    }
    assert!(expiring.iter().all(|key| broker.message(*key).is_some()), "what expires is there");
}

fn indexes(facts: &Facts<'_>) {
    let broker = facts.broker;
    let dead = facts.entries().filter(|(_, entry)| matches!(entry.state, State::Dead(_)));
    let dead: BTreeMap<u64, EntryKey> = dead.map(|(key, entry)| (entry.order, key)).collect();
    assert_eq!(broker.dead, dead, "dead letters");
    let waits = facts.messages().filter_map(|(key, message)| {
        message.extra.as_ref()?.wait_until?;
        Some((message.from, key))
    });
    assert_eq!(broker.waits, waits.collect(), "who waits for a reply");
    let in_state = |state: State| -> BTreeSet<EntryKey> {
        facts.entries().filter(|(_, entry)| entry.state == state).map(|(key, _)| key).collect()
    };
    assert_eq!(broker.strays, in_state(State::Stray), "strays");
    let held: Vec<EntryKey> = broker.held.values().flatten().copied().collect();
    assert_eq!(held.iter().copied().collect::<BTreeSet<_>>(), in_state(State::Held), "held");
    assert_eq!(held.len(), in_state(State::Held).len(), "each held once");
    assert!(broker.held.values().all(|entries| !entries.is_empty()), "no empty hold");
    let is_gone = |agent: AgentKey| broker.agents.get(agent).is_some_and(|agent| agent.is_gone);
    let orphans = facts.entries().filter(|(_, entry)| {
        entry.state.is_queued() && matches!(entry.mailbox, Mailbox::Agent(agent) if is_gone(agent))
    });
    assert_eq!(broker.orphans, orphans.map(|(key, _)| key).collect(), "orphans");
}

fn sessions(facts: &Facts<'_>) {
    let broker = facts.broker;
    for (key, session) in broker.sessions.iter() {
        let key = SessionKey(key);
        let agent = broker.agents.get(session.agent).expect("a connection has an agent");
        assert!(agent.sessions.contains(&key), "an agent knows its connection");
        let out = facts.entries().filter(|(_, entry)| {
            entry.state == State::Flight
                && entry.ladder.as_ref().is_some_and(|ladder| ladder.session == Some(key))
        });
        assert_eq!(session.out, out.map(|(key, _)| key).collect(), "what is out over connection {key}");
        let addressed = facts
            .entries()
            .filter(|(_, entry)| entry.mailbox == Mailbox::Session(key) && entry.state.is_open());
        assert_eq!(
            session.addressed,
            addressed.map(|(key, _)| key).collect(),
            "what is for connection {key}"
        );
    }
    let known: usize = broker.agents.iter().map(|(_, agent)| agent.sessions.len()).sum();
    assert_eq!(known, broker.sessions.len(), "no agent knows a connection that is gone");
    for (key, entry) in facts.entries() {
        if let (Mailbox::Session(session), true) = (entry.mailbox, entry.state.is_open()) {
            assert!(
                broker.sessions.get(session.0).is_some(),
                "entry {key} waits for a connection that is there"
            );
        }
    }
}

fn registry(broker: &Broker) {
    let mut present = 0;
    for (key, agent) in broker.agents.iter() {
        present += u64::from(!agent.is_gone);
        assert_eq!(broker.agents.find(&agent.name), Some(key), "an agent is found by its name");
        for alias in &agent.aliases {
            assert_eq!(broker.agents.find(alias), Some(key), "and by its aliases");
        }
        assert!(!agent.is_gone || agent.groups.is_empty(), "who is gone is in no group");
        assert!(!agent.is_gone || agent.sessions.is_empty(), "who is gone is not connected");
    }
    assert_eq!(broker.agents.present, present, "how many agents there are");
}
