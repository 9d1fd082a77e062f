//! The broker's bytes: events of the log, and snapshots of the state. What is read is written as it was, and looking
//! at a state that was read blows nothing up, whatever the state says.

use broker::{
    Accept, Broker, Command, Context, Effects, Event, Identity, Limits, LookFrom, Random, Register,
};
use broker::{Retries, Settings, Time};
use message::{Dialect, Kind, Seq};

/// How many of each list are looked at.
const LOOKS_MAX: usize = 50;

/// An event: has one form, and fits a state or is refused.
pub(crate) fn event(bytes: &[u8]) {
    let Ok((at, event)) = Event::decode(bytes) else { return };
    let mut written = Vec::new();
    event.encode(at, &mut written);
    assert_eq!(written, bytes, "an event has one form");
    let mut broker = small();
    let next = Seq(broker.last().0 + 1);
    if broker.apply(next, at, &event, &mut Effects::new()).is_ok() {
        look(&broker);
        survives(&broker);
    }
}

/// A snapshot: what is read can be looked at, and written and read again.
pub(crate) fn snapshot(bytes: &[u8]) {
    if let Ok(broker) = Broker::restore(settings(), bytes) {
        look(&broker);
        survives(&broker);
    }
}

fn survives(broker: &Broker) {
    let mut written = Vec::new();
    broker.snapshot(&mut written);
    let again = Broker::restore(settings(), &written).expect("what was written can be read");
    let mut rewritten = Vec::new();
    again.snapshot(&mut rewritten);
    assert_eq!(rewritten, written, "a state has one form");
}

fn look(broker: &Broker) {
    let end = Time(u64::MAX - 1);
    let due = broker.due(end, end, LOOKS_MAX);
    assert!(due.len() <= LOOKS_MAX, "what is due is bounded");
    let (bus, wall) = broker.next_due();
    assert!(
        bus.is_none_or(|at| at <= end) && wall.is_none_or(|at| at <= end),
        "what is never due has no timer"
    );
    for view in broker.agents().take(LOOKS_MAX) {
        let (waiting, _) = broker.inbox(view.agent, Time(0), LOOKS_MAX);
        assert!(waiting.len() <= LOOKS_MAX, "an inbox is shown in part");
        for waiting in waiting {
            assert!(broker.receipt(waiting.id).is_some(), "what waits has a receipt");
        }
    }
    for dead in broker.dead_letters().take(LOOKS_MAX) {
        assert!(broker.receipt(dead.id).is_some(), "a dead letter has a receipt");
    }
    assert!(broker.counts().agents <= u64::from(u32::MAX), "agents have numbers");
    let mut from = Some(LookFrom::START);
    for _ in 0..LOOKS_MAX {
        let Some(here) = from else { break };
        let (bodies, next) = broker.bodies_before(Seq(u64::MAX), here, LOOKS_MAX as u32);
        assert!(bodies.len() <= LOOKS_MAX, "bodies are listed in part");
        from = next;
    }
}

/// Makes a state in which some events fit: two agents, of whom one has a message waiting.
fn small() -> Broker {
    let mut broker = Broker::new(settings());
    for name in ["ann", "bob"] {
        let (name, aliases, profile) = (name.parse().expect("a name"), Vec::new(), Vec::new());
        let register = Register { aliases, dialect: Dialect::Bus, profile, ..Register::of(name) };
        execute(&mut broker, &Command::Register(Box::new(register)));
    }
    let from = broker.agent("ann").expect("it was registered");
    let (to, identity) = (vec!["bob".parse().expect("an address")], Identity::Native("1".into()));
    let accept = Accept {
        task: Some("task".into()),
        lifetime_ms: Some(1_000),
        wait_ms: Some(1_000),
        ..Accept::new(from, to, Kind::Note, identity, b"body"[..].into())
    };
    execute(&mut broker, &Command::Accept(Box::new(accept)));
    broker
}

fn execute(broker: &mut Broker, command: &Command) {
    let mut cx = Context { now: Time(1_000), wall: Time(1_000), random: &mut Fixed };
    let done = broker.execute(&mut cx, command, &mut Effects::new(), &mut |_, _, _| {});
    assert!(done.is_ok(), "the small state can be made");
}

/// No chance at all.
struct Fixed;

impl Random for Fixed {
    fn next(&mut self) -> u64 {
        7
    }
}

fn settings() -> Settings {
    let limits = Limits {
        agents_max: 1_000,
        groups_max: 1_000,
        memberships_max: 100,
        sessions_max: 8,
        aliases_max: 8,
        recipients_max: 16,
        fallbacks_max: 8,
        hops_max: 8,
        body_bytes_max: 10_000,
        queue_max: 1_000,
        queue_bytes_max: 1_000_000,
        messages_max: 10_000,
        bytes_max: 10_000_000,
        held_max: 100,
        held_ms_max: 86_400_000,
        lease_ms_min: 1_000,
        lease_ms_max: 86_400_000,
        text_bytes_max: 200,
        take_max: 100,
        records_max: 100,
        tasks_max: 1_000,
    };
    let retries = Retries {
        base_ms: 1_000,
        multiplier: 2.0,
        pause_ms_max: 30_000,
        retries_max: 10,
        retries: 3,
        jitter: false,
    };
    Settings { limits, retries, turns_warn: 30, turns_park: None }
}
