//! What a message says about work, beside what every message says.

use message::{Address, Severity, TaskStatus};

use super::money::Micros;
use super::word::{Blocker, HandoffReason, HelpAnswer};
use crate::Time;

/// What a message says about work. Everything may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskIntent {
    /// What is to be done, in a line.
    pub title: Option<Box<str>>,
    /// Tasks that must be done before.
    pub dependencies: Vec<Box<str>>,
    /// What whoever does it must be able to do.
    pub capabilities: Vec<Box<str>>,
    /// By when it is wanted, by the wall clock.
    pub deadline: Option<Time>,
    /// What it may cost.
    pub budget: Option<Micros>,
    /// How many tokens it may use.
    pub tokens_max: Option<u64>,
    /// How good whoever does it must be, in millionths.
    pub quality: Option<u32>,
    /// How risky it is, in millionths.
    pub risk: Option<u32>,
    /// What it has cost.
    pub cost: Option<Micros>,
    /// How many tokens it has used.
    pub tokens: Option<u64>,
    /// How far it is.
    pub status: Option<TaskStatus>,
    /// For how long it is claimed.
    pub lease_ms: Option<u64>,
    /// Why it cannot go on.
    pub blocker: Option<Blocker>,
    /// Why something is so, in words.
    pub reason: Option<Box<str>>,
    /// To whom its sender would have a blocked task go, the first that is there.
    pub routes: Vec<Address>,
    /// Whether an offer, a gate or a piece of work is accepted.
    pub accepts: Option<bool>,
    /// Why work is handed over.
    pub handoff: Option<HandoffReason>,
    /// How urgent help is.
    pub urgency: Option<Severity>,
    /// How help is answered.
    pub answer: Option<HelpAnswer>,
}

impl TaskIntent {
    /// Nothing beside what every message says.
    pub const NOTHING: &'static TaskIntent = &TaskIntent {
        title: None,
        dependencies: Vec::new(),
        capabilities: Vec::new(),
        deadline: None,
        budget: None,
        tokens_max: None,
        quality: None,
        risk: None,
        cost: None,
        tokens: None,
        status: None,
        lease_ms: None,
        blocker: None,
        reason: None,
        routes: Vec::new(),
        accepts: None,
        handoff: None,
        urgency: None,
        answer: None,
    };
}
