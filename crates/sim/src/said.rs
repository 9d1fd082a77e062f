//! What somebody says about work, and changes of the shared state; both own what they carry.

use broker::{AgentKey, Blocker, Entity, HelpAnswer, Micros, Operation, StateChange, TaskIntent, Time};
use json::Object;
use message::{Address, PresenceState, Severity, TaskStatus};

use crate::rules::Rules;

/// What a message says about work, money in millionths of a dollar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) dependencies: Vec<&'static str>,
    pub(crate) capabilities: Vec<&'static str>,
    pub(crate) deadline: Option<Time>,
    pub(crate) budget: Option<u64>,
    pub(crate) tokens_max: Option<u64>,
    pub(crate) quality: Option<u32>,
    pub(crate) risk: Option<u32>,
    pub(crate) cost: Option<u64>,
    pub(crate) tokens: Option<u64>,
    pub(crate) status: Option<TaskStatus>,
    pub(crate) lease_ms: Option<u64>,
    pub(crate) blocker: Option<Blocker>,
    pub(crate) routes: Vec<Address>,
    pub(crate) accepts: Option<bool>,
    pub(crate) urgency: Option<Severity>,
    pub(crate) answer: Option<HelpAnswer>,
}

impl Said {
    /// Lends it as the broker wants it.
    pub(crate) fn intent(&self) -> TaskIntent {
        TaskIntent {
            dependencies: self.dependencies.iter().map(|name| (*name).into()).collect(),
            capabilities: self.capabilities.iter().map(|name| (*name).into()).collect(),
            deadline: self.deadline,
            budget: self.budget.map(Micros),
            tokens_max: self.tokens_max,
            quality: self.quality,
            risk: self.risk,
            cost: self.cost.map(Micros),
            tokens: self.tokens,
            status: self.status,
            lease_ms: self.lease_ms,
            blocker: self.blocker,
            routes: self.routes.clone(),
            accepts: self.accepts,
            urgency: self.urgency,
            answer: self.answer,
            ..TaskIntent::default()
        }
    }
}

/// A change of the shared state that somebody asks for.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub(crate) by: AgentKey,
    pub(crate) operation: Operation,
    pub(crate) entity: Entity,
    pub(crate) id: String,
    pub(crate) what: Changing,
    pub(crate) version: Option<u32>,
}

/// What it changes.
#[derive(Clone, Debug)]
pub(crate) enum Changing {
    /// Nothing that means anything to the bus.
    Note,
    /// How far a task is, in the words of the state.
    Status(&'static str),
    /// Who is to do a task.
    Assign(String),
    /// A task that is made.
    Task {
        dependencies: Vec<&'static str>,
        budget: Option<u64>,
        assigned: Option<String>,
    },
    /// How an agent is.
    Presence(PresenceState),
    Rules(Rules),
    /// What an agent may use: of money or tokens, and how much.
    Allotment {
        agent: String,
        is_money: bool,
        limit: u64,
    },
}

impl Changed {
    /// Returns it as the broker wants it.
    pub(crate) fn change(&self) -> StateChange {
        StateChange {
            by: self.by,
            operation: self.operation,
            entity: self.entity,
            id: self.id.as_str().into(),
            changes: self.changes(),
            version: self.version,
        }
    }

    fn changes(&self) -> Object<'static> {
        let document = self.document();
        let changes = json::parse(document.as_bytes(), json::Limits::DOCUMENT);
        let changes = changes.expect("the document of a change is JSON").into_owned();
        changes.as_object().cloned().expect("the document of a change is an object")
    }

    /// Writes what changes as a document.
    fn document(&self) -> String {
        match &self.what {
            Changing::Note => r#"{"note":"x"}"#.to_owned(),
            Changing::Status(status) => format!(r#"{{"status":"{status}"}}"#),
            Changing::Assign(agent) => format!(r#"{{"assigned_agent":"{agent}"}}"#),
            Changing::Task { dependencies, budget, assigned } => {
                let names: Vec<String> = dependencies.iter().map(|name| format!("\"{name}\"")).collect();
                let budget = budget.map(|micros| {
                    let (whole, part) = (micros / 1_000_000, micros % 1_000_000);
                    format!(r#","constraints":{{"budget_usd":{whole}.{part:06}}}"#)
                });
                let assigned = assigned.as_ref().map(|name| format!(r#","assigned_agent":"{name}""#));
                let (budget, assigned) = (budget.unwrap_or_default(), assigned.unwrap_or_default());
                format!(r#"{{"context":{{"dependencies":[{}]}}{budget}{assigned}}}"#, names.join(","))
            }
            Changing::Presence(state) => format!(r#"{{"state":"{}"}}"#, state.name().to_ascii_uppercase()),
            Changing::Rules(rules) => rules.to_json(),
            Changing::Allotment { agent, is_money, limit } => {
                let (kind, part) = if *is_money { ("budget", 1_000_000) } else { ("tokens", 1) };
                let (whole, rest) = (limit / part, limit % part);
                format!(r#"{{"agent_id":"{agent}","resource_type":"{kind}","limit":{whole}.{rest:06}}}"#)
            }
        }
    }
}
