//! The language of the scenarios.
//!
//! A command stands at the start of a line, what comes of it below, indented. Messages are called as their senders
//! call them in `send`; times count from the start. `tick` moves both clocks and lets happen what becomes due on the
//! way, each at its time; `pass` moves them and lets nothing happen; `wall` moves only the wall clock; `due` lets
//! happen what is due without moving a clock.
//!
//! | command | |
//! |---|---|
//! | `set NAME=VALUE…`, `tune NAME=VALUE…` | settings, retention |
//! | `agent NAME [ALIAS…] [profile=TEXT] [swap=new\|TEXT] [joins=GROUP…] [can=WHAT…]`, `remove NAME`, `join NAME ADDRESS`, `leave NAME ADDRESS`, `presence NAME STATE` | |
//! | `open NAME DOOR`, `close NAME#N`, `restart`, `wake`, `reload` (the state is written and read again) | |
//! | `send FROM TO[,TO…] LABEL [OPTION…]`, `flood FROM TO LABEL COUNT [OPTION…]` | options: see [`Send`] |
//! | `retract BY LABEL`, `amend BY LABEL BODY`, `resume LABEL`, `endwait LABEL`, `carry LABEL [PLACE]` | |
//! | `take NAME[#N] [max=N] [lease=MS] [bytes=N]` | |
//! | `surface`, `ack`, `return`, `extend … MS`, `nack … [delay=MS\|never] [reason…]`, each with `NAME LABEL[~N]` | |
//! | `process NAME LABEL`, `revive LABEL [TO]`, `drop LABEL [TO]` | |
//! | `write NAME [last=COMMIT] [COLLECTION/[KEY]=TEXT[,OPTION…]…]` | one commit; options: see [`records::write`]; without `KEY` the broker makes one |
//! | `carryrecord NAME COLLECTION/KEY`, `records NAME` | |
//! | `claim NAME KEY [task=TASK] [role=ROLE] [lease=MS]` | the next task, if it names none |
//! | `judge GATE yes\|no [REASON]`, `equip NAME [WHAT…]`, `sign NAME STATE [OPTION…]` | |
//! | `change BY CREATE\|UPDATE\|DELETE ENTITY ID VERSION [JSON]` | |
//! | `task ID`, `tasks`, `gates`, `work NAME`, `policy`, `next NAME`, `number TASK` (which task its number stands for) | |
//! | `receipt LABEL`, `inbox NAME`, `look NAME`, `dead`, `counts`, `carries` | |
//!
//! `LABEL~N` is the N-th time that the agent was handed the message; without it, the last.

mod records;
mod work;

use std::collections::BTreeMap;

use message::{Address, Backoff, DeliveryId, Guarantee, Kind, MessageId, PresenceState, Priority, Seq};

use crate::tests::settings;
use crate::tests::show;
use crate::tests::world::{Outcome, START_MS, World};
use crate::{
    Accept, AgentKey, Command, Delay, Digest, Door, Effect, EntryKey, Fingerprint, Holder, Identity, Nack,
    ProfileSwap, RecordName, Register, Reply, Retention, SessionKey, Take, TaskIntent, Time, WithRecipients,
};

/// Runs a scenario, and remembers what its words stand for.
pub(crate) struct Stage {
    pub(crate) world: World,
    /// Messages by what their senders call them.
    pub(crate) labels: BTreeMap<String, MessageId>,
    /// What was handed to whom, in order.
    deliveries: BTreeMap<(AgentKey, MessageId), Vec<DeliveryId>>,
    /// Commits by the last text that they wrote.
    commits: BTreeMap<String, Digest>,
    retention: Retention,
}

/// What `send` says beyond sender, recipients and label.
struct Send {
    accept: Accept,
    intent: TaskIntent,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let world = World::new(settings::roomy());
        let retention = Retention::USUAL;
        let (labels, deliveries) = (BTreeMap::new(), BTreeMap::new());
        Stage { world, labels, deliveries, commits: BTreeMap::new(), retention }
    }

    /// Carries out one line and says what came of it.
    pub(crate) fn line(&mut self, line: &str) -> Vec<String> {
        let mut words = line.split_whitespace();
        let verb = words.next().expect("a line has a command");
        let words: Vec<&str> = words.collect();
        match verb {
            "set" => {
                for (name, value) in words.iter().map(|word| option(word)) {
                    settings::set(&mut self.world.broker.settings, name, value);
                }
                Vec::new()
            }
            "tune" => {
                for (name, value) in words.iter().map(|word| option(word)) {
                    settings::tune(&mut self.retention, name, value);
                }
                self.run(&Command::Tune(self.retention))
            }
            "tick" => self.tick(number(words[0])),
            "wall" => {
                let by: i64 = words[0].parse().expect("`wall` moves by milliseconds");
                self.world.wall = self.world.wall.saturating_add_signed(by);
                Vec::new()
            }
            "pass" => {
                self.move_to(self.world.now + number(words[0]));
                Vec::new()
            }
            "due" => self.due(),
            "reload" => {
                self.world.reload();
                Vec::new()
            }
            "receipt" | "inbox" | "unread" | "look" | "dead" | "counts" | "carries" | "records" => {
                self.look(verb, &words)
            }
            "task" | "tasks" | "gates" | "work" | "policy" | "next" | "number" => {
                work::look(self, verb, &words)
            }
            "send" => self.send(&words),
            "flood" => self.flood(&words),
            "take" => self.take(&words),
            "write" => records::write(self, &words),
            _ => self.command(verb, &words),
        }
    }

    fn command(&mut self, verb: &str, words: &[&str]) -> Vec<String> {
        match verb {
            "agent" => self.register(words),
            "remove" => self.run(&Command::Remove { agent: self.agent(words[0]) }),
            "join" => self.run(&Command::Join { agent: self.agent(words[0]), address: address(words[1]) }),
            "leave" => self.run(&Command::Leave { agent: self.agent(words[0]), address: address(words[1]) }),
            "presence" => {
                let state = PresenceState::from_name(words[1]).expect("a presence");
                self.run(&Command::SetPresence { agent: self.agent(words[0]), state, detail: Vec::new() })
            }
            "open" => {
                let door = Door::ALL.into_iter().find(|door| format!("{door:?}").to_lowercase() == words[1]);
                let agent = self.agent(words[0]);
                self.run(&Command::OpenSession { agent, door: door.expect("a door") })
            }
            "close" => self.run(&Command::CloseSession { session: self.session(words[0]) }),
            "restart" => self.run(&Command::Restart),
            "wake" => self.run(&Command::Wake),
            "retract" => {
                let (by, message) = (self.agent(words[0]), self.message(words[1]));
                self.run(&Command::Retract { message, by })
            }
            "amend" => {
                let (by, message) = (self.agent(words[0]), self.message(words[1]));
                self.run(&Command::Amend { message, by, body: words[2].to_owned().into() })
            }
            "resume" => self.run(&Command::Resume { message: self.message(words[0]) }),
            "endwait" => self.run(&Command::EndWait { message: self.message(words[0]) }),
            "carry" => {
                let message = self.world.broker.find(self.message(words[0])).expect("it is remembered");
                let known = self.world.broker.message(message).expect("it is remembered");
                let place = words.get(1).map_or(known.body, |place| Seq(place.parse().expect("a place")));
                let body = vec![b'x'; known.bytes as usize].into();
                self.run(&Command::Carry { of: Holder::Message(message), place, body })
            }
            "carryrecord" => {
                let (repo, (collection, key)) = (self.agent(words[0]), named(words[1]));
                let found = self.world.broker.records.repos.get(&repo);
                let found = found.and_then(|found| found.get(collection, key));
                let (known, bytes) = found.map_or((Seq(0), 0), |it| (it.body, it.bytes));
                let place = words.get(2).map_or(known, |place| Seq(place.parse().expect("a place")));
                let body = vec![b'x'; bytes as usize].into();
                let of = RecordName { repo, collection: collection.into(), key: key.into() };
                self.run(&Command::Carry { of: Holder::Record(of), place, body })
            }
            "process" => {
                let (agent, message) = (self.agent(words[0]), self.message(words[1]));
                self.run(&Command::Process { agent, message, by: "test".into() })
            }
            "judge" | "equip" | "sign" | "claim" | "change" => work::command(self, verb, words),
            "revive" => {
                let (message, entry) = self.dead(words);
                self.run(&Command::RetryDead { message, entry })
            }
            "drop" => {
                let (message, entry) = self.dead(words);
                self.run(&Command::DropDead { message, entry })
            }
            _ => self.settle(verb, words),
        }
    }

    fn settle(&mut self, verb: &str, words: &[&str]) -> Vec<String> {
        let agent = self.agent(words[0]);
        let delivery = self.delivery(agent, words[1]);
        match verb {
            "surface" => self.run(&Command::Surface { agent, delivery, by: "test".into() }),
            "ack" => self.run(&Command::Ack { agent, delivery, by: "test".into() }),
            "return" => self.run(&Command::Return { agent, delivery }),
            "extend" => self.run(&Command::Extend { agent, delivery, lease_ms: number(words[2]) }),
            "nack" => {
                let mut delay = Delay::Backoff;
                let mut reason = Vec::new();
                for word in &words[2..] {
                    match word.strip_prefix("delay=") {
                        Some("never") => delay = Delay::Never,
                        Some(ms) => delay = Delay::Ms(number(ms)),
                        None => reason.push(*word),
                    }
                }
                self.run(&Command::Nack(Nack { agent, delivery, reason: reason.join(" ").into(), delay }))
            }
            _ => panic!("no command is called `{verb}`"),
        }
    }

    fn register(&mut self, words: &[&str]) -> Vec<String> {
        let mut register = Register::of(words[0].parse().expect("a name"));
        for word in &words[1..] {
            match word.split_once('=') {
                Some(("profile", text)) => register.profile = text.into(),
                Some(("swap", "new")) => register.swap = ProfileSwap::New,
                Some(("swap", text)) => register.swap = ProfileSwap::Is(text.as_bytes().into()),
                Some(("joins", group)) => register.joins.push(address(group)),
                Some(("can", what)) => {
                    register.capabilities.get_or_insert_default().push(what.into());
                }
                Some(_) | None => register.aliases.push((*word).into()),
            }
        }
        self.run(&Command::Register(Box::new(register)))
    }

    fn send(&mut self, words: &[&str]) -> Vec<String> {
        let mut send = Send::new(self.agent(words[0]), words[1], words[2]);
        for word in &words[3..] {
            let (name, value) = option(word);
            if name == "re" {
                let known = self.labels.get(value).map(MessageId::to_string);
                send.accept.reply_to = Some(known.unwrap_or_else(|| value.to_owned()).into());
            } else {
                send.option(name, value, self.world.wall);
            }
        }
        let Send { mut accept, intent } = send;
        accept.intent = Some(Box::new(intent));
        accept.fingerprint = Fingerprint::of(&[&accept.body]);
        let outcome = self.world.run(&Command::Accept(Box::new(accept)));
        if let Ok(Reply::Accepted(receipted)) = &outcome.reply
            && !receipted.duplicate
        {
            assert!(
                self.labels.insert(words[2].to_owned(), receipted.id).is_none(),
                "`{}` is used",
                words[2]
            );
        }
        self.told(outcome)
    }

    /// Sends so many messages, called `LABEL-1` and so on, and tells what came of the last.
    fn flood(&mut self, words: &[&str]) -> Vec<String> {
        let mut told = Vec::new();
        for nth in 1..=number(words[3]) {
            let label = format!("{}-{nth}", words[2]);
            let words: Vec<&str> =
                [words[0], words[1], &label].into_iter().chain(words[4..].iter().copied()).collect();
            told = self.send(&words);
        }
        told
    }

    fn take(&mut self, words: &[&str]) -> Vec<String> {
        let (agent, session) = match words[0].split_once('#') {
            Some((name, _)) => (self.agent(name), Some(self.session(words[0]))),
            None => (self.agent(words[0]), None),
        };
        let mut take =
            Take { agent, session, max: 100, bytes_max: u64::MAX, lease_ms: 60_000, by: "test".into() };
        for (name, value) in words[1..].iter().map(|word| option(word)) {
            match name {
                "max" => take.max = number(value) as u32,
                "lease" => take.lease_ms = number(value),
                "bytes" => take.bytes_max = number(value),
                _ => panic!("`take` has no option `{name}`"),
            }
        }
        let outcome = self.world.run(&Command::Take(take));
        if let Ok(Reply::Taken(deliveries)) = &outcome.reply {
            for delivery in deliveries {
                self.deliveries.entry((agent, delivery.id)).or_default().push(delivery.delivery);
            }
        }
        self.told(outcome)
    }

    /// Moves both clocks; what becomes due happens at its time.
    fn tick(&mut self, ms: u64) -> Vec<String> {
        let end = self.world.now + ms;
        let mut told = self.due();
        loop {
            let (bus, wall) = self.world.broker.next_due();
            let by_wall = wall.map(|wall| self.world.now + wall.0.saturating_sub(self.world.wall));
            let next = bus.map(|bus| bus.0).into_iter().chain(by_wall).min();
            let Some(next) = next.filter(|next| *next <= end && *next > self.world.now) else { break };
            self.move_to(next);
            told.extend(self.due());
        }
        self.move_to(end);
        told.extend(self.due());
        told
    }

    fn move_to(&mut self, now: u64) {
        self.world.wall += now - self.world.now;
        self.world.now = now;
    }

    fn due(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        for round in 0.. {
            assert!(round < 1_000, "what is due never ends");
            let due = self.world.broker.due(Time(self.world.now), Time(self.world.wall), 3);
            if due.is_empty() {
                break;
            }
            for due in due {
                let outcome = self.world.run(&Command::Due(due));
                assert_eq!(outcome.reply, Ok(Reply::Done), "what is due is not refused");
                told.extend(self.told(outcome));
            }
        }
        let at = self.world.now - START_MS;
        told.iter().filter(|line| *line != "done").map(|line| format!("{at}: {line}")).collect()
    }

    fn look(&self, verb: &str, words: &[&str]) -> Vec<String> {
        match verb {
            "receipt" => show::receipt(self, self.message(words[0])),
            "unread" => show::unread(self, self.agent(words[0])),
            "inbox" => show::inbox(self, self.agent(words[0])),
            "look" => show::agent(self, words[0]),
            "dead" => show::dead(self),
            "counts" => show::counts(&self.world.broker),
            "records" => show::records(self, words[0]),
            _ => show::carries(self),
        }
    }

    pub(crate) fn run(&mut self, command: &Command) -> Vec<String> {
        let outcome = self.world.run(command);
        self.told(outcome)
    }

    fn told(&mut self, outcome: Outcome) -> Vec<String> {
        for effect in &outcome.effects {
            if let Effect::Answered { message, reply, delivery } = effect {
                let key = self.world.broker.find(*message).and_then(|key| self.world.broker.message(key));
                let asker = key.expect("what is answered is remembered").from;
                self.deliveries.entry((asker, *reply)).or_default().push(*delivery);
            }
        }
        show::outcome(self, &outcome)
    }

    pub(crate) fn agent(&self, name: &str) -> AgentKey {
        // Also one that is gone, and one that never was: the broker has to cope.
        self.world.broker.agents.find(name).unwrap_or(AgentKey(99))
    }

    fn session(&self, text: &str) -> SessionKey {
        let (name, wanted) = text.split_once('#').expect("a connection is `NAME#N`");
        let agent = self.agent(name);
        let is_it = |(_, session): &(u32, &crate::session::Session)| {
            session.agent == agent && session.number == number(wanted) as u32
        };
        self.world.broker.sessions.iter().find(is_it).map_or(SessionKey(99), |(key, _)| SessionKey(key))
    }

    pub(crate) fn message(&self, label: &str) -> MessageId {
        self.labels.get(label).copied().unwrap_or(MessageId::from_bytes([7; 16]))
    }

    fn delivery(&self, agent: AgentKey, text: &str) -> DeliveryId {
        let (label, nth) = text.split_once('~').unwrap_or((text, "0"));
        // Somebody else's delivery is found too, to see that it is refused.
        let message = self.message(label);
        let mine = self.deliveries.get(&(agent, message));
        let other = || self.deliveries.iter().find(|((_, id), _)| *id == message).map(|(_, all)| all);
        let all = mine.or_else(other).unwrap_or_else(|| panic!("`{label}` was handed to nobody"));
        match number(nth) {
            0 => *all.last().expect("it was handed out"),
            nth => all[nth as usize - 1],
        }
    }

    fn dead(&self, words: &[&str]) -> (MessageId, EntryKey) {
        let id = self.message(words[0]);
        let is_it =
            |dead: &crate::DeadView<'_>| dead.id == id && words.get(1).is_none_or(|to| dead.to == *to);
        let found = self.world.broker.dead_letters().find(is_it);
        (id, found.map_or(EntryKey(u32::MAX), |dead| dead.entry))
    }
}

impl Send {
    fn new(from: AgentKey, to: &str, label: &str) -> Self {
        let to = to.split(',').filter(|to| !to.is_empty()).map(address).collect();
        let identity = Identity::Native(label.into());
        let accept = Accept::new(from, to, Kind::Note, identity, label.to_owned().into());
        Send { accept, intent: TaskIntent::default() }
    }

    fn option(&mut self, name: &str, value: &str, wall: u64) {
        let moment = || Time(wall.saturating_add_signed(value.parse().expect("milliseconds from now")));
        let accept = &mut self.accept;
        match name {
            "kind" => accept.kind = Kind::from_name(value).expect("a kind"),
            "pri" => accept.priority = Priority::from_name(value).expect("a priority"),
            "once" => accept.guarantee = Guarantee::AtMostOnce,
            "id" => accept.identity = Identity::Native(value.into()),
            "content" => accept.identity = Identity::Content,
            "task" => accept.task = Some(value.into()),
            "thread" => accept.thread = Some(value.into()),
            "created" => accept.created = Some(moment()),
            "expires" => accept.expires = Some(moment()),
            "life" => accept.lifetime_ms = Some(number(value)),
            "timeout" => accept.timeout_ms = Some(number(value)),
            "retries" => accept.retries = Some(number(value) as u32),
            "backoff" => accept.backoff = Backoff::from_name(value),
            "fallback" => {
                accept.fallback = value.split(',').map(|name| name.parse().expect("an agent")).collect();
            }
            "wait" => accept.wait_ms = Some(number(value)),
            "live" => accept.live_only = true,
            "hold" => accept.hold = true,
            "hops" => accept.hops = number(value) as u8,
            "body" => accept.body = value.to_owned().into(),
            "joins" => accept.joins = Some(address(value)),
            "recipients" => accept.with_recipients = WithRecipients::Always,
            "sign" => {
                let words: Vec<&str> = value.split(',').collect();
                accept.sign = Some(Box::new(work::sign(&words, wall)));
            }
            "update" => {
                let words: Vec<&str> = value.splitn(5, ':').collect();
                let fields = words.get(4).copied().unwrap_or_default();
                accept.update = Some(Box::new(work::change(accept.from, &words, fields)));
            }
            "size" => accept.body = vec![b'x'; number(value) as usize].into(),
            _ => work::option(&mut self.intent, name, value, wall),
        }
    }
}

fn option(word: &str) -> (&str, &str) {
    word.split_once('=').unwrap_or((word, ""))
}

fn named(text: &str) -> (&str, &str) {
    text.split_once('/').expect("a record is `COLLECTION/KEY`")
}

/// Makes what a text is known by.
fn digest(text: &str) -> Digest {
    let mut bytes = [0; 32];
    bytes[..16].copy_from_slice(&Fingerprint::of(&[text.as_bytes()]).0);
    Digest(bytes)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}

fn address(text: &str) -> Address {
    text.parse().unwrap_or_else(|error| panic!("`{text}` is no address: {error}"))
}
