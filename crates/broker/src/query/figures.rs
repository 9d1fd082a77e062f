//! Queries for figures.

use message::{Dialect, Reachability, TaskStatus};

use crate::{AgentKey, Counts, Micros, Time};

/// Sums over the whole bus. Each is kept as events are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// What the state holds.
    pub counts: Counts,
    /// How many tasks there are of each status, in the order of the statuses.
    pub tasks: [u64; TaskStatus::ALL.len()],
    /// Gates that wait.
    pub gates: u64,
    /// Agents that are given no work.
    pub breakers: u64,
    /// What work has cost.
    pub spent: Micros,
    /// What is set aside for work that is not over.
    pub reserved: Micros,
}

/// Asks for the sums.
#[derive(Clone, Copy, Debug)]
pub struct AllFigures;

query!(AllFigures -> Figures, "figures", |_this, state, _at| {
    let policy = state.policy();
    Figures {
        counts: state.counts(),
        tasks: state.task_counts(),
        gates: state.work.gates.len() as u64,
        breakers: state.open_breakers(),
        spent: policy.spent,
        reserved: policy.reserved,
    }
});

/// What waits for an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentFigures {
    /// The language that it speaks.
    pub dialect: Dialect,
    /// How it can be reached.
    pub reachability: Reachability,
    /// How many messages wait for it.
    pub waiting: u64,
    /// For how long the oldest message waits that it could be handed now, in milliseconds.
    pub age_ms: u64,
}

/// Figures of agents in the order of their numbers, and after which of them the next page begins.
#[derive(Clone, Copy, Debug)]
pub struct AgentFiguresPage {
    /// After which agent the page begins.
    pub after: Option<AgentKey>,
    /// How many numbers are looked at.
    pub max: usize,
}

query!(AgentFiguresPage -> (Vec<AgentFigures>, Option<AgentKey>), "agent-figures", |this, state, at| {
    state.page_of_agents(this.after, this.max, |view| AgentFigures {
        dialect: view.dialect,
        reachability: view.reachability,
        waiting: view.waiting,
        age_ms: state.waits_since(view.agent).map_or(0, |since: Time| at.now.ms_since(since)),
    })
});
