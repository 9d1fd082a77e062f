//! A broker with clocks, chance and a log, that checks itself after each command.

use message::{MessageId, Seq};

use crate::entry::State;
use crate::tests::audit;
use crate::{
    AgentKey, Broker, Command, Commit, Context, Effect, Effects, Event, Living, LookFrom, Random,
    RecordChange, RecordWrite, Refusal, Reply, Settings, Time,
};

/// The code of the event by which posts become a member's own.
const ABSORBED: u8 = 12;

/// When every test starts.
pub(crate) const START_MS: u64 = 1_700_000_000_000;

pub(crate) struct World {
    pub(crate) broker: Broker,
    /// The bus's own time.
    pub(crate) now: u64,
    /// The wall clock.
    pub(crate) wall: u64,
    pub(crate) random: Seeded,
    /// Every event, as bytes of the log.
    pub(crate) log: Vec<Vec<u8>>,
}

/// What a command led to.
pub(crate) struct Outcome {
    pub(crate) reply: Result<Reply, Refusal>,
    pub(crate) effects: Effects,
    /// Where its events start in the log.
    pub(crate) from: usize,
}

/// Chance that is the same each time.
#[derive(Clone)]
pub(crate) struct Seeded(pub(crate) u64);

impl Random for Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// Returns every body that must be carried before the log could be trimmed up to a place.
pub(crate) fn living(broker: &Broker, before: Seq) -> Vec<Living> {
    let (mut all, mut from) = (Vec::new(), Some(LookFrom::START));
    while let Some(here) = from {
        let (bodies, next) = broker.bodies_before(before, here, 1_000);
        all.extend(bodies);
        from = next;
    }
    all
}

impl World {
    pub(crate) fn new(settings: Settings) -> Self {
        let broker = Broker::new(settings);
        World { broker, now: START_MS, wall: START_MS, random: Seeded(1), log: Vec::new() }
    }

    /// Carries a command out and checks what must hold for all commands.
    pub(crate) fn run(&mut self, command: &Command) -> Outcome {
        self.check_decide(command);
        let from = self.log.len();
        let offered = audit::offers(&self.broker);
        let mut effects = Effects::new();
        let mut cx = Context { now: Time(self.now), wall: Time(self.wall), random: &mut self.random };
        let log = &mut self.log;
        let mut expected = self.broker.last().0;
        let first = Seq(expected + 1);
        let reply = self.broker.execute(&mut cx, command, &mut effects, &mut |seq, at, event| {
            expected += 1;
            assert_eq!(seq.0, expected, "events have consecutive numbers");
            log.push(check_event(at, event));
        });
        audit::check(&self.broker);
        // Posts may have become the agent's own before what it asked for was refused; that shows nowhere.
        let changes = self.log[from..].iter().filter(|bytes| bytes[0] != ABSORBED).count();
        // What a message says of its sender is noted though the message is refused.
        let says_more = matches!(command, Command::Accept(it) if it.sign.is_some() || it.joins.is_some());
        // What a commit has sent before one of its messages is refused is taken back.
        let sends = matches!(command, Command::Commit(commit) if sends_several(commit));
        let leaves_nothing = if sends { open_from(&self.broker, first) == 0 } else { changes == 0 };
        assert!(
            reply.is_ok() || says_more || leaves_nothing,
            "a refusal changes nothing, but {command:?} did"
        );
        for (mailbox, entry) in audit::offers(&self.broker).difference(&offered) {
            let is_told = effects.contains(&Effect::Ready(*mailbox));
            assert!(is_told, "entry {entry} may leave {mailbox:?} and nobody is told, by {command:?}");
        }
        Outcome { reply, effects, from }
    }

    /// Puts the state that is written and read again in the place of this one, after comparing them.
    pub(crate) fn reload(&mut self) {
        let bytes = snapshot(&self.broker);
        let restored = Broker::restore(self.broker.settings.clone(), &bytes).expect("a snapshot can be read");
        assert!(snapshot(&restored) == bytes, "a restored state has the same bytes");
        audit::check(&restored);
        assert_eq!(
            everything_due(&restored),
            everything_due(&self.broker),
            "a restored state has the same due"
        );
        assert_eq!(
            audit::offers(&restored),
            audit::offers(&self.broker),
            "a restored state lets the same leave"
        );
        assert_eq!(restored.next_due(), self.broker.next_due(), "a restored state is due at the same time");
        #[cfg(feature = "plants")]
        let restored = {
            let mut restored = restored;
            restored.plant(self.broker.plant);
            restored
        };
        self.broker = restored;
    }

    /// Makes the state again from the log.
    pub(crate) fn replay(&self, start: Option<(usize, &[u8])>) -> Broker {
        let (from, mut broker) = match start {
            Some((from, bytes)) => {
                (from, Broker::restore(self.broker.settings.clone(), bytes).expect("a snapshot can be read"))
            }
            None => (0, Broker::new(self.broker.settings.clone())),
        };
        for (number, bytes) in self.log.iter().enumerate().skip(from) {
            let (at, event) = Event::decode(bytes).expect("what was written can be read");
            let seq = message::Seq(number as u64 + 1);
            broker.apply(seq, at, &event, &mut Effects::new()).expect("what was applied once fits again");
        }
        broker
    }

    /// Finds a message that waits for a human.
    pub(crate) fn parked(&self) -> Option<MessageId> {
        let mut entries = self.broker.entries.iter();
        let (_, parked) = entries.find(|(_, entry)| entry.state == State::Parked)?;
        self.broker.message(parked.message).map(|message| message.id)
    }

    fn check_decide(&self, command: &Command) {
        let before = snapshot(&self.broker);
        let mut random = self.random.clone();
        let now = Time(self.now.max(self.broker.time().0));
        let mut cx = Context { now, wall: Time(self.wall), random: &mut random };
        let first = self.broker.decide(&mut cx, command).map(|decision| decision.events);
        let mut random = self.random.clone();
        let mut cx = Context { now, wall: Time(self.wall), random: &mut random };
        let second = self.broker.decide(&mut cx, command).map(|decision| decision.events);
        assert_eq!(first, second, "the same state decides the same");
        assert!(snapshot(&self.broker) == before, "deciding changes nothing");
    }
}

fn sends_several(commit: &Commit) -> bool {
    let sends = |write: &&RecordWrite| matches!(&write.change, RecordChange::Set { submit: Some(_), .. });
    commit.writes.iter().filter(sends).count() > 1
}

/// Counts what agents have sent since an event and is not over.
fn open_from(broker: &Broker, first: Seq) -> usize {
    let messages = broker.messages.iter().map(|(_, message)| message);
    let sent = messages.filter(|message| message.seq >= first && message.from != AgentKey::SYSTEM);
    sent.filter(|message| message.open > 0).count()
}

pub(crate) fn snapshot(broker: &Broker) -> Vec<u8> {
    let mut bytes = Vec::new();
    broker.snapshot(&mut bytes);
    bytes
}

fn everything_due(broker: &Broker) -> Vec<String> {
    let end = Time(u64::MAX - 1);
    broker.due(end, end, usize::MAX).iter().map(|due| format!("{due:?}")).collect()
}

fn check_event(at: Time, event: &Event<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    event.encode(at, &mut bytes);
    let (read_at, read) = Event::decode(&bytes).expect("what was written can be read");
    assert_eq!((read_at, &read), (at, event), "an event survives its bytes");
    let mut again = Vec::new();
    read.encode(read_at, &mut again);
    assert_eq!(again, bytes, "an event has one form");
    bytes
}
