//! Random commands of every kind, from a seed.

use broker::{
    Accept, AgentKey, Command, Delay, Door, EntryKey, Fingerprint, Identity, Living, LookFrom, Nack,
    Register, Reply, Retention, SessionKey, Take, Time,
};
use message::{
    Address, AgentName, AgentRef, Backoff, DeliveryId, Dialect, Envelope, Guarantee, Kind, MessageId,
    PresenceState, Priority,
};

use super::world::{World, note};

const NAMES: [&str; 5] = ["ann", "bob", "cid", "dan", "eve"];
const ADDRESSES: [&str; 14] = [
    "ann",
    "bob",
    "cid",
    "dan",
    "eve",
    "did:plc:bob",
    "did:plc:eve",
    "bob#1",
    "cid#2",
    "roles.dev",
    "#news",
    "channel:team",
    "all",
    "human",
];
/// Words of which texts and searches are made.
pub(super) const WORDS: [&str; 16] = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "Café",
    "cafe\u{301}",
    "STRASSE",
    "straße",
    "東京都",
    "naïve",
    "x-ray",
    "7up",
    "O'Brien",
    "привет",
    "alphabet",
    "be",
];

/// What random commands can refer to.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) messages: Vec<MessageId>,
    deliveries: Vec<(AgentKey, DeliveryId)>,
}

/// Returns limits that random commands meet.
pub(super) fn tight() -> broker::Settings {
    let mut settings = testkit::broker_settings();
    settings.limits.queue_max = 12;
    settings.limits.held_max = 6;
    settings.limits.sessions_max = 3;
    settings.turns_park = Some(2);
    settings
}

/// Carries out so many random commands.
pub(super) fn play(world: &mut World, seen: &mut Seen, count: usize) {
    if world.log_is_empty() {
        for name in &NAMES[..4] {
            register(world, name, Vec::new());
        }
        for (agent, address) in
            [(3, "roles.dev"), (4, "roles.dev"), (3, "#news"), (4, "#news"), (5, "channel:team")]
        {
            world.join(AgentKey(agent), address);
        }
    }
    for _ in 0..count {
        step(world, seen);
    }
}

fn step(world: &mut World, seen: &mut Seen) {
    let agent = AgentKey(u32::try_from(world.random.below(6)).unwrap() + 2);
    let session = SessionKey(u32::try_from(world.random.below(5)).unwrap());
    let address: Address = world.random.pick(&ADDRESSES).parse().unwrap();
    match world.random.below(64) {
        0..=1 => {
            let name = *world.random.pick(&NAMES);
            let alias = format!("did:plc:{name}");
            let aliases = if world.random.one_in(3) { Vec::new() } else { vec![alias.into()] };
            register(world, name, aliases);
        }
        2 if world.random.one_in(2) => drop(world.run(&Command::Remove { agent })),
        2..=3 => drop(world.run(&Command::Join { agent, address })),
        4..=5 => drop(world.run(&Command::Leave { agent, address })),
        6 => {
            let state = *world.random.pick(PresenceState::ALL);
            drop(world.run(&Command::SetPresence { agent, state, detail: b"x".to_vec() }));
        }
        7..=9 => {
            let door = *world.random.pick(&Door::ALL);
            drop(world.run(&Command::OpenSession { agent, door }));
        }
        10 => drop(world.run(&Command::CloseSession { session })),
        11 => {
            let command = if world.random.one_in(2) { Command::Restart } else { Command::Wake };
            drop(world.run(&command));
        }
        12..=28 => send(world, seen, agent),
        29..=40 => take(world, seen, agent, session),
        41..=53 => settle(world, seen),
        54..=58 => pass_time(world),
        _ => rare(world, seen, agent),
    }
}

fn register(world: &mut World, name: &str, aliases: Vec<Box<str>>) {
    let name: AgentName = name.parse().unwrap();
    let dialect = *world.random.pick(Dialect::ALL);
    let register = Register { aliases, dialect, profile: b"p".to_vec(), ..Register::of(name) };
    drop(world.run(&Command::Register(Box::new(register))));
}

/// Makes a text of some words.
pub(super) fn text(world: &mut World) -> String {
    let count = world.random.below(6);
    (0..count).map(|_| *world.random.pick(&WORDS)).collect::<Vec<_>>().join([" ", ", ", " - "][count % 3])
}

/// Makes the body of a message with some texts in it, here and there.
pub(super) fn body(world: &mut World) -> Vec<u8> {
    let (one, other, hidden) = (text(world), text(world), text(world));
    let quoted = |text: &str| json::Value::string(text.to_owned()).to_string();
    let document = match world.random.below(4) {
        0 => format!("{one} {other}"),
        1 => format!(r#"{{"text":{},"list":[{},7,null]}}"#, quoted(&one), quoted(&other)),
        2 => format!(r#"{{"metadata":{{"x_origin":{}}},"text":{}}}"#, quoted(&hidden), quoted(&one)),
        _ => format!(r#"{{"body":{{"text":{}}},"origin":{{"document":{}}}}}"#, quoted(&one), quoted(&hidden)),
    };
    Envelope::seal(*world.random.pick(Dialect::ALL), None, document.as_bytes())
}

fn send(world: &mut World, seen: &mut Seen, from: AgentKey) {
    let mut to: Vec<Address> = vec![world.random.pick(&ADDRESSES).parse().unwrap()];
    if world.random.one_in(2) {
        to.push(world.random.pick(&ADDRESSES).parse().unwrap());
    }
    let fallback: Vec<AgentRef> =
        if world.random.one_in(2) { vec!["cid".parse().unwrap(), "dan".parse().unwrap()] } else { vec![] };
    let answered = seen.pick(world).filter(|_| world.random.one_in(2)).map(|id| id.to_string());
    world.sent += u64::from(!world.random.one_in(5));
    let native_id = world.sent.to_string();
    let body = body(world);
    let random = &mut world.random;
    let accept = Accept {
        from,
        to,
        kind: *random.pick(Kind::ALL),
        priority: *random.pick(Priority::ALL),
        guarantee: *random.pick(Guarantee::ALL),
        identity: if random.one_in(5) { Identity::Content } else { Identity::Native(native_id.into()) },
        fingerprint: Fingerprint::of(&[&body]),
        task: random.pick(&[None, None, Some("t1"), Some("t2")]).map(Into::into),
        thread: random.pick(&[None, Some("chat"), Some("talk")]).map(Into::into),
        reply_to: answered.map(Into::into),
        lifetime_ms: *random.pick(&[None, None, Some(3_000), Some(40_000)]),
        timeout_ms: *random.pick(&[None, None, Some(5_000)]),
        retries: *random.pick(&[None, Some(0), Some(1)]),
        backoff: *random.pick(&[None, Some(Backoff::Linear)]),
        fallback,
        wait_ms: *random.pick(&[None, None, Some(20_000)]),
        live_only: random.one_in(12),
        hold: random.one_in(2),
        body: body.into(),
        ..note("")
    };
    if let Ok(Reply::Accepted(receipted)) = world.run(&Command::Accept(Box::new(accept)))
        && !receipted.duplicate
    {
        seen.messages.push(receipted.id);
    }
}

fn take(world: &mut World, seen: &mut Seen, agent: AgentKey, session: SessionKey) {
    let session = Some(session).filter(|_| world.random.one_in(2));
    let lease_ms = if world.random.one_in(2) { 1_000 } else { 30_000 };
    let max = u32::try_from(world.random.below(6)).unwrap();
    let take = Take { agent, session, max, bytes_max: 4_000, lease_ms, by: "ops".into() };
    if let Ok(Reply::Taken(deliveries)) = world.run(&Command::Take(take)) {
        seen.deliveries.extend(deliveries.iter().map(|delivery| (agent, delivery.delivery)));
    }
}

fn settle(world: &mut World, seen: &Seen) {
    let nth = seen.deliveries.len().checked_sub(1 + world.random.below(8));
    let Some((agent, delivery)) = nth.map(|nth| seen.deliveries[nth]) else { return };
    let delay = *world.random.pick(&[Delay::Never, Delay::Ms(2_500), Delay::Backoff, Delay::Backoff]);
    let command = match world.random.below(8) {
        0..=2 => Command::Ack { agent, delivery, by: "ops".into() },
        3 | 4 => Command::Nack(Nack { agent, delivery, reason: "no".into(), delay }),
        5 => Command::Return { agent, delivery },
        6 => Command::Extend { agent, delivery, lease_ms: 9_000 },
        _ => Command::Surface { agent, delivery, by: "model".into() },
    };
    drop(world.run(&command));
}

fn pass_time(world: &mut World) {
    let ms = *world.random.pick(&[10, 700, 1_000, 6_000, 45_000]);
    world.now += ms;
    world.wall = if world.random.one_in(32) { world.wall.saturating_sub(ms) } else { world.wall + ms };
    let limit = world.random.below(16);
    for due in world.broker.due(Time(world.now), Time(world.wall), limit) {
        drop(world.run(&Command::Due(due)));
    }
}

fn rare(world: &mut World, seen: &mut Seen, agent: AgentKey) {
    let message = seen.pick(world).unwrap_or(MessageId::from_bytes([1; 16]));
    let dead: Vec<_> = world.broker.dead_letters().map(|dead| (dead.id, dead.entry)).collect();
    let (of_dead, entry) = if dead.is_empty() { (message, EntryKey(0)) } else { *world.random.pick(&dead) };
    let (mut carried, _) = world.broker.bodies_before(world.log_last(), LookFrom::START, 1_000);
    carried.truncate(4);
    match world.random.below(12) {
        0..=1 => drop(world.run(&Command::Retract { message, by: AgentKey::HUMAN })),
        2 => {
            let body = body(world);
            drop(world.run(&Command::Amend { message, by: AgentKey::HUMAN, body: body.into() }));
        }
        3 => {
            for message in seen.messages.iter().rev().take(12) {
                drop(world.run(&Command::Resume { message: *message }));
            }
        }
        4..=5 => drop(world.run(&Command::Process { agent, message, by: "ops".into() })),
        6..=8 => drop(world.run(&Command::RetryDead { message: of_dead, entry })),
        9 => drop(world.run(&Command::DropDead { message: of_dead, entry })),
        10 => {
            for living in carried {
                carry(world, living);
            }
        }
        _ => {
            let retention = Retention {
                known_per_sender_max: 9,
                known_max: 31,
                known_ms: 60_000,
                content_ms: 5_000,
                settled_max: 20 + world.random.below(60) as u64,
                dead_max: world.random.below(6) as u64,
            };
            drop(world.run(&Command::Tune(retention)));
        }
    }
}

fn carry(world: &mut World, Living { of, place, .. }: Living) {
    let body = world.body(place);
    world.run(&Command::Carry { of, place, body: body.into() }).unwrap();
}

impl Seen {
    fn pick(&self, world: &mut World) -> Option<MessageId> {
        self.messages.len().checked_sub(1 + world.random.below(12)).map(|nth| self.messages[nth])
    }
}
