//! The work that the bus is given: who writes to whom, and what.

use anyhow::Context as _;
use broker::{Accept, AgentKey, Fingerprint, Identity, Limits, Random, Retries, Settings, Time};
use bytes::Bytes;
use message::{Address, AgentName, Kind, Priority};

/// The size of a body.
pub(crate) const BODY_BYTES: usize = 1024;
/// Different bodies; what they say does not matter to the broker.
const BODIES: usize = 64;
/// How long a message is wanted at least: a day.
const LIFETIME_MS: u64 = 86_400_000;
const PRIORITIES: [Priority; 8] = [
    Priority::Normal,
    Priority::High,
    Priority::Normal,
    Priority::Low,
    Priority::Normal,
    Priority::Critical,
    Priority::Normal,
    Priority::Low,
];

/// The tasks to which messages belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tasks {
    /// No message has one.
    None,
    /// Every message has one of so many.
    Of(u64),
    /// Every other message has one of so many.
    Half(u64),
    /// Every message has one of its own.
    Distinct,
}

/// Who there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// Those who send; nobody writes to them, so that no conversation goes round in circles.
    pub(crate) senders: u32,
    pub(crate) recipients: u32,
}

/// Messages, one after the other.
pub(crate) struct Load {
    pub(crate) crowd: Crowd,
    tasks: Tasks,
    /// The name of each agent, and the same as an address; senders first.
    names: Vec<(AgentName, [Address; 1])>,
    bodies: Vec<(Bytes, Fingerprint)>,
    /// How many messages there were.
    count: u64,
    native_id: String,
    task: String,
}

/// Chance that is the same in every run.
pub(crate) struct Dice(u64);

/// What a server would be set to, with room for everything that is measured.
pub(crate) fn settings() -> Settings {
    Settings {
        limits: Limits {
            agents_max: 200_000,
            groups_max: 10_000,
            memberships_max: 100,
            sessions_max: 100,
            aliases_max: 10,
            recipients_max: 100,
            fallbacks_max: 10,
            hops_max: 10,
            body_bytes_max: 1 << 20,
            queue_max: 2_000_000,
            queue_bytes_max: 4 << 30,
            messages_max: 4_000_000,
            bytes_max: 8 << 30,
            held_max: 10_000,
            held_ms_max: LIFETIME_MS,
            lease_ms_min: 1_000,
            lease_ms_max: 3_600_000,
            text_bytes_max: 200,
            take_max: 256,
            records_max: 1_000_000,
            tasks_max: 2_000_000,
        },
        retries: Retries {
            base_ms: 1_000,
            multiplier: 2.0,
            pause_ms_max: 300_000,
            retries_max: 10,
            retries: 3,
            jitter: true,
        },
        turns_warn: 50,
        turns_park: None,
    }
}

impl Load {
    pub(crate) fn new(crowd: Crowd, tasks: Tasks) -> anyhow::Result<Self> {
        let name = |number: u32| {
            let text = format!("agent-{number}");
            let name: AgentName = text.parse().with_context(|| format!("the name {text}"))?;
            let address: Address = text.parse().with_context(|| format!("the address {text}"))?;
            anyhow::Ok((name, [address]))
        };
        let mut dice = Dice::new();
        let body = |_| {
            let body: Vec<u8> = (0..BODY_BYTES / 8).flat_map(|_| dice.next().to_le_bytes()).collect();
            let fingerprint = Fingerprint::of(&[&body]);
            (Bytes::from(body), fingerprint)
        };
        Ok(Load {
            crowd,
            tasks,
            names: (0..crowd.senders + crowd.recipients).map(name).collect::<anyhow::Result<_>>()?,
            bodies: (0..BODIES).map(body).collect(),
            count: 0,
            native_id: String::new(),
            task: String::new(),
        })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &AgentName> {
        self.names.iter().map(|(name, _)| name)
    }

    /// Makes the next message. Agents have these keys; the message goes to that one of them.
    pub(crate) fn next(&mut self, agents: &[AgentKey], to: usize, wall: Time) -> Box<Accept> {
        let number = self.count;
        self.count += 1;
        self.native_id.clear();
        push_number(&mut self.native_id, "message-of-the-benchmark-", number);
        let task = match self.tasks {
            Tasks::None => None,
            Tasks::Of(count) => Some(number % count),
            Tasks::Half(count) => number.is_multiple_of(2).then_some(number / 2 % count),
            Tasks::Distinct => Some(number),
        };
        if let Some(task) = task {
            self.task.clear();
            push_number(&mut self.task, "task-", task);
        }
        let (body, fingerprint) = &self.bodies[number as usize % BODIES];
        let from = agents[number as usize % self.crowd.senders as usize];
        let identity = Identity::Native(self.native_id.as_str().into());
        Box::new(Accept {
            priority: PRIORITIES[number as usize % PRIORITIES.len()],
            fingerprint: *fingerprint,
            task: task.map(|_| self.task.as_str().into()),
            created: Some(wall),
            // No two of them end together, as in life.
            lifetime_ms: Some(LIFETIME_MS + number % 10_007),
            ..Accept::new(from, self.names[to].1.to_vec(), Kind::Note, identity, body.clone())
        })
    }
}

impl Dice {
    pub(crate) fn new() -> Self {
        Dice(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random for Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Writes a number behind a word, without the machinery of `format!`: this runs for every message.
fn push_number(text: &mut String, word: &str, number: u64) {
    text.push_str(word);
    let mut unit = 10_000_000;
    while unit > 0 {
        let digit = (number / unit % 10) as u8;
        text.push(char::from(b'0' + digit));
        unit /= 10;
    }
}
