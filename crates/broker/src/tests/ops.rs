//! Random commands: each is a few numbers, read against the state that is there when its turn comes.

use bytes::Bytes;
use message::{
    Address, AgentName, AgentRef, Backoff, DeliveryId, Dialect, Guarantee, Kind, MessageId, PresenceState,
    Priority, Seq, TaskStatus,
};
use proptest::prelude::*;

use crate::tests::world::{Outcome, World};
use crate::{
    Accept, AgentKey, Blocker, Command, Commit, Delay, Digest, Door, Effect, Entity, EntryKey, Fingerprint,
    HelpAnswer, Holder, Identity, Living, LookFrom, MessageKey, Micros, Nack, Operation, ProfileSwap,
    RecordChange, RecordWrite, Register, Reply, Retention, SessionKey, Sign, StateChange, Swap, Take,
    TaskIntent, Time, WithRecipients,
};

const NAMES: [&str; 5] = ["ann", "bob", "cid", "dan", "eve"];
const ADDRESSES: [&str; 12] = [
    "ann",
    "bob",
    "cid",
    "dan",
    "did:plc:bob",
    "bob#1",
    "cid#2",
    "roles.dev",
    "#news",
    "channel:team",
    "all",
    "human",
];
const TASKS: [Option<&str>; 4] = [None, None, Some("t1"), Some("t2")];
const LIVES_MS: [Option<u64>; 4] = [None, None, Some(3_000), Some(40_000)];

/// A command in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    what: u8,
    one: u8,
    other: u8,
    flags: u16,
}

/// What random commands can refer to.
#[derive(Default)]
pub(crate) struct Seen {
    messages: Vec<MessageId>,
    deliveries: Vec<(AgentKey, DeliveryId)>,
    sent: u64,
}

pub(crate) fn op() -> impl Strategy<Value = Op> {
    any::<(u8, u8, u8, u16)>().prop_map(|(what, one, other, flags)| Op { what, one, other, flags })
}

/// A command about records.
pub(crate) fn record_op() -> impl Strategy<Value = Op> {
    op().prop_map(|op| Op { what: 58, ..op })
}

/// Makes everybody known, and some of them members and connected.
pub(crate) fn open(world: &mut World) {
    for one in 0..4 {
        Op { what: 0, one, other: 0, flags: 0 }.run(world, &mut Seen::default());
    }
    for (one, other) in [(0, 7), (1, 7), (0, 8), (1, 8), (2, 9)] {
        Op { what: 4, one, other, flags: 0 }.run(world, &mut Seen::default());
    }
}

impl Op {
    /// Carries the command out.
    pub(crate) fn run(self, world: &mut World, seen: &mut Seen) {
        match self.what % 64 {
            0..=1 => self.register(world),
            2 => {
                world.run(&Command::Remove { agent: self.agent() });
            }
            3..=4 => {
                world.run(&Command::Join { agent: self.agent(), address: self.address() });
            }
            5 => {
                world.run(&Command::Leave { agent: self.agent(), address: self.address() });
            }
            6 => {
                let state = PresenceState::ALL[usize::from(self.other) % PresenceState::ALL.len()];
                world.run(&Command::SetPresence { agent: self.agent(), state, detail: b"x".to_vec() });
            }
            7..=8 => {
                let door = Door::ALL[usize::from(self.other) % Door::ALL.len()];
                world.run(&Command::OpenSession { agent: self.agent(), door });
            }
            9 => {
                world.run(&Command::CloseSession { session: SessionKey((self.other % 6).into()) });
            }
            10 => {
                let command = if self.has(6) { Command::Restart } else { Command::Wake };
                world.run(&command);
            }
            11..=28 => self.send(world, seen),
            29..=39 => self.take(world, seen),
            40..=52 => self.settle(world, seen),
            53..=57 => self.pass_time(world),
            58..=59 => self.commit(world, seen),
            _ => self.rare(world, seen),
        }
    }

    fn register(self, world: &mut World) {
        let text = NAMES[usize::from(self.one) % NAMES.len()];
        let name: AgentName = text.parse().unwrap();
        let alias = format!("did:plc:{text}");
        let aliases = if self.has(0) { Vec::new() } else { vec![alias.into()] };
        let (dialect, profile) = (Dialect::Bus, b"p".to_vec());
        let swap = match self.flags >> 4 & 3 {
            0 => ProfileSwap::New,
            1 => ProfileSwap::Is(b"p".as_slice().into()),
            _ => ProfileSwap::Anything,
        };
        let joins = if self.has(1) { vec![self.address()] } else { Vec::new() };
        let capabilities = self.has(2).then(|| if self.has(3) { vec!["rust".into()] } else { Vec::new() });
        let register = Register { name, aliases, dialect, profile, swap, joins, capabilities };
        world.run(&Command::Register(Box::new(register)));
    }

    fn send(self, world: &mut World, seen: &mut Seen) {
        let mut to = vec![self.address()];
        if self.has(0) {
            to.push(ADDRESSES[usize::from(self.one) % ADDRESSES.len()].parse().unwrap());
        }
        let fallback: Vec<AgentRef> =
            if self.has(1) { vec!["cid".parse().unwrap(), "dan".parse().unwrap()] } else { vec![] };
        let answered = seen.pick(self.other).filter(|_| self.has(2)).map(|id| id.to_string());
        seen.sent += u64::from(!self.has_all(&[3, 4]));
        let native_id = seen.sent.to_string();
        let body = format!("body {}", if self.has(5) { 0 } else { seen.sent });
        let lifetime_ms = LIVES_MS[usize::from(self.flags >> 6) % 4];
        let intent = self.intent(world);
        let accept = Accept {
            from: self.agent(),
            to,
            kind: Kind::ALL[usize::from(self.one / 5) % Kind::ALL.len()],
            priority: Priority::ALL[usize::from(self.flags >> 8) % 4],
            guarantee: if self.has(10) { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce },
            identity: if self.has_all(&[2, 5]) {
                Identity::Content
            } else {
                Identity::Native(native_id.into())
            },
            fingerprint: Fingerprint::of(&[body.as_bytes()]),
            task: TASKS[usize::from(self.flags >> 11) % 4].map(Into::into),
            thread: self.has(4).then(|| "chat".into()),
            reply_to: answered.map(Into::into),
            created: None,
            expires: None,
            lifetime_ms,
            timeout_ms: Some(5_000).filter(|_| self.has_all(&[1, 6])),
            retries: Some(u32::from(self.one % 3)).filter(|_| self.has(13)),
            backoff: Backoff::ALL.get(usize::from(self.other % 4)).copied(),
            fallback,
            wait_ms: Some(20_000).filter(|_| self.has(14)),
            live_only: self.has_all(&[7, 9, 13]),
            hold: self.has(15),
            hops: 0,
            body: body.into(),
            intent: Some(Box::new(intent)),
            joins: self.has_all(&[0, 11]).then(|| self.address()),
            sign: self.has_all(&[3, 12]).then(|| Box::new(self.sign(world))),
            update: None,
            with_recipients: if self.has(2) { WithRecipients::Always } else { WithRecipients::IfRepeated },
        };
        let outcome = world.run(&Command::Accept(Box::new(accept)));
        if let Ok(Reply::Accepted(receipted)) = &outcome.reply {
            seen.messages.push(receipted.id);
        }
        seen.note(world, &outcome);
    }

    fn take(self, world: &mut World, seen: &mut Seen) {
        let session = Some(SessionKey((self.other % 4).into())).filter(|_| self.has(0));
        let lease_ms = if self.has(1) { 1_000 } else { 30_000 };
        let max = u32::from(self.other % 5);
        let take = Take { agent: self.agent(), session, max, bytes_max: 60, lease_ms, by: "ops".into() };
        let outcome = world.run(&Command::Take(take));
        if let Ok(Reply::Taken(deliveries)) = outcome.reply {
            seen.deliveries.extend(deliveries.iter().map(|delivery| (self.agent(), delivery.delivery)));
        }
    }

    fn settle(self, world: &mut World, seen: &mut Seen) {
        let nth = seen.deliveries.len().checked_sub(1 + usize::from(self.other) % 8);
        let Some((agent, delivery)) = nth.map(|nth| seen.deliveries[nth]) else { return };
        let delay = match self.flags % 4 {
            0 => Delay::Never,
            1 => Delay::Ms(2_500),
            _ => Delay::Backoff,
        };
        let command = match self.one % 8 {
            0..=2 => Command::Ack { agent, delivery, by: "ops".into() },
            3 | 4 => Command::Nack(Nack { agent, delivery, reason: "no".into(), delay }),
            5 => Command::Return { agent, delivery },
            6 => Command::Extend { agent, delivery, lease_ms: 9_000 },
            _ => Command::Surface { agent, delivery, by: "ops".into() },
        };
        world.run(&command);
    }

    fn pass_time(self, world: &mut World) {
        let ms = [10, 700, 1_000, 6_000, 45_000][usize::from(self.one) % 5];
        world.now += ms;
        world.wall =
            if self.flags.is_multiple_of(32) { world.wall.saturating_sub(ms) } else { world.wall + ms };
        // Not always everything: what is due can lie around while other things happen.
        for due in world.broker.due(Time(world.now), Time(world.wall), usize::from(self.other % 16)) {
            world.run(&Command::Due(due));
        }
    }

    fn rare(self, world: &mut World, seen: &mut Seen) {
        let message = seen.pick(self.other).unwrap_or(MessageId::from_bytes([1; 16]));
        let by = self.agent();
        let dead = world.broker.dead_letters().next().map(|dead| (dead.id, dead.entry));
        let (of_dead, entry) = dead.unwrap_or((message, EntryKey(self.other.into())));
        let command = match self.one % 15 {
            0 => Command::Retract { message, by },
            1 | 13 => Command::Amend {
                message,
                by: if self.has(1) { AgentKey::HUMAN } else { by },
                body: b"another body"[..].into(),
            },
            2 => Command::Resume { message: world.parked().unwrap_or(message) },
            3 => Command::Process { agent: by, message, by: "ops".into() },
            4 | 5 => Command::RetryDead { message: of_dead, entry },
            6 => Command::DropDead { message: of_dead, entry },
            7 => Command::EndWait { message },
            9 => {
                let gate = world.broker.gates(false).first().map_or(message, |gate| gate.gate);
                Command::JudgeGate { gate, by: AgentKey::HUMAN, approved: self.has(3), reason: "ops".into() }
            }
            10 => return self.change(world),
            11 => Command::Equip {
                agent: by,
                capabilities: if self.has(2) { vec!["rust".into()] } else { Vec::new() },
            },
            12 => Command::Sign { agent: by, sign: Box::new(self.sign(world)) },
            8 => {
                let message = MessageKey(u32::from(self.other) % 16);
                let known = world.broker.message(message);
                let (place, bytes) = known.map_or((Seq(0), 0), |known| (known.body, known.bytes as usize));
                Command::Carry { of: Holder::Message(message), place, body: vec![b'x'; bytes].into() }
            }
            _ => Command::Tune(Retention {
                known_per_sender_max: u64::from(self.flags % 9),
                known_max: u64::from(self.flags % 31),
                known_ms: 60_000,
                content_ms: 5_000,
                settled_max: u64::from(self.flags % 7),
                dead_max: u64::from(self.flags % 5),
            }),
        };
        let retract_of = |by| Command::Retract { message, by };
        let outcome = world.run(&command);
        // Most guess the sender wrong; the operator may do it for anybody.
        if outcome.reply.is_err() && self.one.is_multiple_of(15) {
            world.run(&retract_of(AgentKey::HUMAN));
        }
    }

    /// Says something of an agent, more or less of what there is to say.
    fn sign(self, world: &World) -> Sign {
        Sign {
            state: PresenceState::ALL[usize::from(self.other) % PresenceState::ALL.len()],
            detail: self.has(0).then(|| b"x".to_vec()),
            quality: self.has(1).then(|| u32::from(self.flags)),
            from: self.has(2).then_some(Time(world.wall)),
        }
    }

    /// Says something about work, more or less fitting.
    fn intent(self, world: &World) -> TaskIntent {
        let mut intent = TaskIntent::default();
        if self.has(0) {
            intent.dependencies = vec![if self.has(1) { "t1" } else { "t2" }.into()];
        }
        if self.has(3) {
            intent.capabilities = vec!["rust".into()];
        }
        intent.deadline = Some(Time(world.wall + 3_000)).filter(|_| self.has(4));
        intent.budget = Some(Micros(u64::from(self.one) * 10_000)).filter(|_| self.has(5));
        intent.risk = Some(u32::from(self.other) * 4_000).filter(|_| self.has(6));
        intent.cost = Some(Micros(u64::from(self.other) * 5_000)).filter(|_| self.has(7));
        intent.tokens = Some(u64::from(self.other)).filter(|_| self.has(8));
        intent.status = TaskStatus::ALL.get(usize::from(self.other) % 9).copied();
        intent.lease_ms = Some(2_000).filter(|_| self.has(9));
        intent.blocker = Blocker::ALL.get(usize::from(self.one) % 7).copied();
        intent.accepts = [None, Some(true), Some(false)][usize::from(self.one) % 3];
        intent.answer = HelpAnswer::ALL.get(usize::from(self.other) % 6).copied();
        intent.reason = self.has(11).then(|| "ops".into());
        intent
    }

    /// Changes the shared state, more or less fitting.
    fn change(self, world: &mut World) {
        let text = match self.other % 5 {
            0 => r#"{"status":"completed"}"#,
            1 => r#"{"status":"in_progress","note":"x"}"#,
            2 => {
                r#"{"budget_limits":{"per_agent":1.5,"total":4},"circuit_breaker_config":{"error_threshold":2,"timeout_ms":4000,"reset_timeout_ms":3000},"x_convoke":{"over_budget":"gate","claim_ms":2000,"gate_ms":4000,"park_after":3}}"#
            }
            3 => r#"{"agent_id":"ann","resource_type":"tokens","limit":200,"expires_at":null}"#,
            _ => r#"{"assigned_agent":"bob","state":"BUSY"}"#,
        };
        let value = json::parse(text.as_bytes(), json::Limits::DOCUMENT).unwrap();
        let entity = Entity::ALL[usize::from(self.one / 16) % 4];
        let id = match entity {
            Entity::Task => ["t1", "t2", "t3"][usize::from(self.other) % 3],
            Entity::Agent => NAMES[usize::from(self.other) % NAMES.len()],
            Entity::Resource => ["a", "b"][usize::from(self.other) % 2],
            Entity::Policy => "policy",
        };
        let current = world.broker.version_of(entity, id);
        world.run(&Command::ChangeState(Box::new(StateChange {
            by: if self.has(2) { AgentKey::HUMAN } else { self.agent() },
            operation: Operation::ALL[usize::from(self.flags % 7 % 3)],
            entity,
            id: id.into(),
            changes: value.as_object().unwrap().clone(),
            version: Some((current + 1).saturating_sub(u32::from(self.has_all(&[4, 5]))))
                .filter(|_| self.has(6)),
        })));
    }

    /// Writes, removes and carries records of few names, so that they meet.
    fn commit(self, world: &mut World, seen: &mut Seen) {
        let repo = AgentKey(3 + u32::from(self.other.is_multiple_of(8)));
        let keys = ["a", "b"];
        let key = |nth: u16| keys[usize::from(self.flags >> nth) % keys.len()];
        let collection = ["x.notes", "x.other"][usize::from(self.has_all(&[14, 15]))];
        if self.has(0)
            && let (mut found, _) =
                world.broker.bodies_before(Seq(u64::MAX), LookFrom::Records(None), u32::from(self.one % 9))
            && let Some(Living { of, place, bytes }) = found.pop()
        {
            let body = vec![b'x'; usize::try_from(bytes).unwrap()].into();
            world.run(&Command::Carry { of, place, body });
            return;
        }
        let cid = Digest([self.one; 32]);
        let document: Bytes = format!("document {}", self.one).into();
        let blobs = if self.has(8) { vec![Digest([1; 32]), Digest([2; 32])] } else { Vec::new() };
        let submit = self.has(6).then(|| {
            let body = if self.has(13) { b"another document"[..].into() } else { document.clone() };
            let accept = Accept::new(repo, vec![self.address()], Kind::Note, Identity::Content, body);
            Box::new(Accept { live_only: self.has_all(&[1, 2]), hold: self.has(11), ..accept })
        });
        let set = RecordChange::Set { cid, document, submit, blobs };
        let swaps = [Swap::Anything, Swap::Anything, Swap::Nothing, Swap::Something, Swap::Is(Some(cid))];
        let write = |nth: u16, change| RecordWrite {
            collection: collection.into(),
            key: Some(key(nth).into()).filter(|_| !self.has_all(&[2, nth])),
            swap: swaps[usize::from(self.flags >> 9) % swaps.len()],
            change,
        };
        let other = if self.has(4) { RecordChange::Remove } else { set.clone() };
        let mut writes = vec![write(3, other), write(5, set)];
        writes.truncate(if self.has(7) { 2 } else { 1 });
        let last = world.broker.repo(repo).map_or(Digest([9; 32]), |repo| repo.commit);
        let swap = self.has_all(&[0, 5]).then_some(last);
        let commit = Commit { repo, did: "did:web:a.example".into(), swap, writes };
        let outcome = world.run(&Command::Commit(Box::new(commit)));
        if let Ok(Reply::Committed(committed)) = outcome.reply {
            let records = committed.keys.iter().filter_map(|key| world.broker.record(repo, collection, key));
            seen.messages.extend(records.filter_map(|record| record.message));
        }
    }

    fn agent(self) -> AgentKey {
        AgentKey(u32::from(self.one) % 6 + 2 - u32::from(self.one == 255) * 2)
    }

    fn address(self) -> Address {
        ADDRESSES[usize::from(self.other) % ADDRESSES.len()].parse().unwrap()
    }

    fn has(self, bit: u16) -> bool {
        self.flags >> bit & 1 == 1
    }

    fn has_all(self, bits: &[u16]) -> bool {
        bits.iter().all(|bit| self.has(*bit))
    }
}

impl Seen {
    fn pick(&self, number: u8) -> Option<MessageId> {
        self.messages.len().checked_sub(1 + usize::from(number) % 12).map(|nth| self.messages[nth])
    }

    fn note(&mut self, world: &World, outcome: &Outcome) {
        for effect in &outcome.effects {
            if let Effect::Answered { message, delivery, .. } = effect
                && let Some(asked) = world.broker.find(*message).and_then(|key| world.broker.message(key))
            {
                self.deliveries.push((asked.from, *delivery));
            }
        }
    }
}
