//! Worlds: who may be there, what they talk about, and limits small enough to be reached.

use broker::{Limits, Retention, Retries, Settings};
use message::{Address, AgentName};

use crate::random::Dice;

/// The tasks that messages are about.
pub(crate) const TASKS: [&str; 4] = ["build", "review", "ship", "test"];

/// What agents may be able to do.
pub(crate) const CAPABILITIES: [&str; 2] = ["rust", "prose"];

/// The conversations to which messages belong.
pub(crate) const THREADS: [&str; 3] = ["t-one", "t-two", "t-three"];

/// The collections of records: of messages, and of others.
pub(crate) const COLLECTIONS: [&str; 2] = ["x.message", "x.notes"];

/// The records that agents may keep, by collection and key.
pub(crate) const RECORDS: [(&str, &str); 4] =
    [("x.message", "a"), ("x.message", "b"), ("x.notes", "a"), ("x.notes", "b")];

/// How many of the groups are roles; they come first.
pub(crate) const ROLES: u64 = 2;

/// Roles, topics and channels.
const GROUPS: [&str; 6] =
    ["roles.developer", "roles.any", "#deploys", "#news", "channel:team-a", "channel:team-b"];

/// The largest body where segments are to be filled. A turn with many of them, and a look at 16 living ones, still
/// fit into one batch.
pub(crate) const BULK_BODY_BYTES_MAX: u64 = 1_200;

const NAMES: [&str; 8] = ["ann", "bob", "cid", "dan", "eve", "fay", "gus", "hal"];

/// What a seed starts from.
#[derive(Clone, Debug)]
pub(crate) struct World {
    /// The seed that decided it.
    pub(crate) seed: u64,
    pub(crate) focus: Focus,
    /// Agents that may exist.
    pub(crate) names: Vec<AgentName>,
    /// Roles, topics and channels that may exist.
    pub(crate) groups: Vec<Address>,
    /// What the broker is told.
    pub(crate) settings: Settings,
    /// What the broker is told to remember.
    pub(crate) retention: Retention,
    /// How many appends may be in flight to a log that answers late; nothing where the log is the embedded one.
    pub(crate) in_flight_max: Option<usize>,
}

/// What a seed does more of than chance alone would: some faults show only after several rare steps in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    /// Everything a little.
    Mixed,
    /// Large bodies, snapshots, trims, crashes and disk faults: segments are filled, recycled and recovered.
    Storage,
    /// Tasks with budgets, under a policy that limits what one agent may cost.
    Budgets,
    /// Most agents register late, and messages are held for them.
    Arrivals,
}

impl Focus {
    /// Draws the focus of a seed, from a stream of its own: the other draws of a seed do not depend on it.
    fn new(seed: u64) -> Self {
        match Dice::new(seed, 4).weighted(&[34, 36, 17, 13]) {
            0 => Focus::Mixed,
            1 => Focus::Storage,
            2 => Focus::Budgets,
            _ => Focus::Arrivals,
        }
    }
}

impl World {
    /// Makes the world of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let focus = Focus::new(seed);
        let mut dice = Dice::new(seed, 1);
        // Few agents claim often enough to reach a limit.
        let agents_max = if focus == Focus::Budgets { 3 } else { NAMES.len() as u64 };
        let count = dice.range(2, agents_max) as usize;
        World {
            seed,
            focus,
            names: NAMES[..count].iter().map(|name| parsed(name)).collect(),
            groups: GROUPS.iter().map(|group| parsed(group)).collect(),
            settings: settings(&mut dice, focus),
            retention: retention(&mut dice),
            in_flight_max: in_flight_max(seed),
        }
    }

    /// Returns the other name by which an agent may be known.
    pub(crate) fn alias(&self, agent: usize) -> String {
        format!("did:web:{}.example.com", self.names[agent])
    }
}

/// Reads a name that is written in this crate.
pub(crate) fn parsed<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("names in the simulation are well formed")
}

fn settings(dice: &mut Dice, focus: Focus) -> Settings {
    let roomy = dice.percent(70) || matches!(focus, Focus::Storage | Focus::Budgets);
    let body_bytes_max = if focus == Focus::Storage { BULK_BODY_BYTES_MAX } else { 300 };
    Settings {
        limits: Limits { body_bytes_max, ..limits(dice, roomy) },
        retries: Retries {
            base_ms: dice.pick(&[200, 1_000]),
            multiplier: dice.pick(&[1.5, 2.0, 3.0]),
            pause_ms_max: dice.pick(&[3_000, 10_000]),
            retries_max: dice.pick(&[2, 4]),
            retries: dice.pick(&[1, 2, 3]),
            jitter: dice.percent(25),
        },
        turns_warn: 3,
        turns_park: dice.pick(&[None, None, Some(5)]),
    }
}

fn limits(dice: &mut Dice, roomy: bool) -> Limits {
    let sized = |tight: u64, wide: u64| if roomy { wide } else { tight };
    Limits {
        agents_max: sized(5, 20),
        groups_max: sized(4, 20),
        memberships_max: sized(2, 10),
        sessions_max: sized(2, 8),
        aliases_max: 2,
        recipients_max: 4,
        fallbacks_max: 3,
        hops_max: 2,
        body_bytes_max: 300,
        queue_max: sized(6, 60),
        queue_bytes_max: sized(600, 20_000),
        messages_max: sized(25, 400),
        bytes_max: sized(2_500, 100_000),
        held_max: sized(2, 20),
        held_ms_max: 60_000,
        lease_ms_min: 1_000,
        lease_ms_max: 60_000,
        text_bytes_max: 40,
        take_max: dice.pick(&[3, 10]),
        records_max: sized(8, 16),
        tasks_max: sized(4, 60),
    }
}

/// Draws the log of a seed, from a stream of its own: the other draws of a seed do not depend on it.
fn in_flight_max(seed: u64) -> Option<usize> {
    let mut dice = Dice::new(seed, 5);
    dice.percent(40).then(|| dice.range(1, 4) as usize)
}

fn retention(dice: &mut Dice) -> Retention {
    let forgetful = dice.percent(30);
    Retention {
        known_per_sender_max: if forgetful { 8 } else { 10_000 },
        known_max: 100_000,
        known_ms: if forgetful { 40_000 } else { 24 * 60 * 60 * 1_000 },
        content_ms: 10_000,
        settled_max: 10_000,
        dead_max: 10_000,
    }
}
