//! Queries about gates, the policy and the shared state.

use std::ops::Bound;

use message::{MessageId, Seq};
use smol_str::SmolStr;

use super::agents::{AgentDetails, FindAgent};
use super::tasks::TaskDetails;
use super::{At, Query};
use crate::{
    AgentKey, AllotmentView, Ask, Broker, Changed, Entity, GateView, Micros, Operation, Outcome, Resource,
    Time,
};

/// Something that waits or waited for a human.
#[derive(Clone, Debug)]
pub struct GateDetails {
    /// By which it is judged.
    pub gate: MessageId,
    /// Who asks.
    pub asker: AgentKey,
    /// The name of who asks.
    pub asker_name: SmolStr,
    /// The task that it is about.
    pub task: Option<SmolStr>,
    /// The message that waits for it.
    pub guards: Option<MessageId>,
    /// Since when it waits.
    pub since: Time,
    /// Until when it waits.
    pub until: Time,
    /// Why a human is asked.
    pub why: Box<str>,
    /// How it was judged, if it was.
    pub judged: Option<JudgedDetails>,
}

/// How a gate was judged.
#[derive(Clone, Debug)]
pub struct JudgedDetails {
    /// By whom.
    pub by: SmolStr,
    /// Whether it was approved.
    pub approved: bool,
    /// When.
    pub at: Time,
    /// Why.
    pub reason: Box<str>,
}

/// Gates that wait, the oldest first.
#[derive(Clone, Copy, Debug)]
pub struct OpenGates {
    /// Behind which gate the page begins.
    pub after: Option<MessageId>,
    /// How many are returned at most.
    pub max: usize,
}

query!(OpenGates -> Vec<GateDetails>, "open-gates", |this, state, _at| {
    state.open_gates(this.after).take(this.max).map(|gate| gate_details(state, &gate)).collect()
});

/// Gates that were judged and are remembered, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct JudgedGates;

query!(JudgedGates -> Vec<GateDetails>, "judged-gates", |_this, state, _at| {
    state.judged_gates().map(|gate| gate_details(state, &gate)).collect()
});

/// How a gate was judged, while that is remembered.
#[derive(Clone, Copy, Debug)]
pub struct FindJudgedGate {
    /// The gate.
    pub gate: MessageId,
}

query!(FindJudgedGate -> Option<GateDetails>, "judged-gate", |this, state, _at| {
    state.judged_gates().find(|view| view.gate == this.gate).map(|view| gate_details(state, &view))
});

fn gate_details(state: &Broker, view: &GateView<'_>) -> GateDetails {
    GateDetails {
        gate: view.gate,
        asker: view.asker,
        asker_name: SmolStr::new(state.called(view.asker)),
        task: view.task.map(SmolStr::new),
        guards: view.guards,
        since: view.since,
        until: view.until,
        why: view.why.into(),
        judged: view.judged.map(|judged| JudgedDetails {
            by: SmolStr::new(state.called(judged.by)),
            approved: judged.approved,
            at: judged.at,
            reason: judged.reason.into(),
        }),
    }
}

/// The policy in force, and what was spent under it.
#[derive(Clone, Debug)]
pub struct PolicyDetails {
    /// How often it was set.
    pub version: u32,
    /// The document, or nothing if there is none.
    pub document: Box<[u8]>,
    /// What everything has cost.
    pub spent: Micros,
    /// What is set aside for what is not over.
    pub reserved: Micros,
    /// When anything about work changed last.
    pub work_updated: Time,
}

/// The policy in force.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInForce;

query!(PolicyInForce -> PolicyDetails, "policy", |_this, state, _at| policy_details(state));

fn policy_details(state: &Broker) -> PolicyDetails {
    let policy = state.policy();
    PolicyDetails {
        version: policy.version,
        document: policy.document.into(),
        spent: policy.spent,
        reserved: policy.reserved,
        work_updated: state.work_updated(),
    }
}

/// What the policy said of a piece of work.
#[derive(Clone, Debug)]
pub struct PolicyDecision {
    /// When.
    pub at: Time,
    /// Of which task.
    pub task: SmolStr,
    /// Of whose work.
    pub agent: Option<SmolStr>,
    /// What was asked.
    pub ask: Ask,
    /// What came of it.
    pub outcome: Outcome,
}

/// The last decisions of the policy that are remembered, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct RecentDecisions {
    /// How many are returned at most.
    pub max: usize,
}

query!(RecentDecisions -> Vec<PolicyDecision>, "policy-decisions", |this, state, _at| {
    state.policy_decisions().take(this.max).collect()
});

/// What an agent may use of something.
#[derive(Clone, Debug)]
pub struct AllotmentDetails {
    /// What it is called.
    pub id: Box<str>,
    /// How often it changed.
    pub version: u32,
    /// The name of the agent.
    pub agent: SmolStr,
    /// What may be used.
    pub resource: Resource,
    /// How much is set aside.
    pub allocated: u64,
    /// How much was used.
    pub consumed: u64,
    /// How much there may be.
    pub limit: u64,
    /// When it ends.
    pub expires: Option<Time>,
}

/// What agents may use, in the order of the names.
#[derive(Clone, Debug)]
pub struct Allotments {
    /// Behind which name the page begins.
    pub after: Option<Box<str>>,
    /// How many are returned at most.
    pub max: usize,
}

query!(Allotments -> Vec<AllotmentDetails>, "allotments", |this, state, _at| {
    let from = this.after.map_or(Bound::Unbounded, Bound::Excluded);
    let allotments = state.allotments_from(from).take(this.max);
    allotments.map(|allotment| allotment_details(state, &allotment)).collect()
});

fn allotment_details(state: &Broker, view: &AllotmentView<'_>) -> AllotmentDetails {
    AllotmentDetails {
        id: view.id.into(),
        version: view.version,
        agent: SmolStr::new(state.called(view.agent)),
        resource: view.resource,
        allocated: view.allocated,
        consumed: view.consumed,
        limit: view.limit,
        expires: view.expires,
    }
}

/// The last event that changed the shared state, as far as that is remembered.
#[derive(Clone, Copy, Debug)]
pub struct StateVersion;

query!(StateVersion -> Seq, "state-version", |_this, state, _at| state.work.recent.last());

/// An entity of the shared state as it is now.
#[derive(Clone, Debug)]
pub enum EntityDetails {
    /// A task.
    Task(Box<TaskDetails>),
    /// An agent.
    Agent(Box<AgentDetails>),
    /// What an agent may use.
    Resource(AllotmentDetails),
    /// The policy.
    Policy(PolicyDetails),
}

/// A change of the shared state, and what it changed as it is now; nothing if that is gone.
#[derive(Clone, Debug)]
pub struct StateChanged {
    /// The change.
    pub changed: Changed,
    /// What it changed.
    pub now: Option<EntityDetails>,
}

/// Changes of the shared state, and up to which event they are told.
#[derive(Clone, Debug)]
pub struct StateChangesFound {
    /// The changes, the oldest first; nothing where they are not remembered any more.
    pub changes: Option<Vec<StateChanged>>,
    /// Up to which event.
    pub upto: Seq,
}

/// Changes of the shared state behind an event.
#[derive(Clone, Copy, Debug)]
pub struct StateChanges {
    /// The event.
    pub after: Seq,
    /// How many changes are returned at most.
    pub max: usize,
}

query!(StateChanges -> StateChangesFound, "state-changes", |this, state, at| changes(this, state, at));

fn changes(page: StateChanges, state: &Broker, at: At) -> StateChangesFound {
    let Some(behind) = state.changes_behind(page.after) else {
        return StateChangesFound { changes: None, upto: state.last() };
    };
    let found: Vec<StateChanged> = behind
        .take(page.max)
        .map(|changed| StateChanged { changed: changed.clone(), now: entity(state, changed, at) })
        .collect();
    let upto = match found.last() {
        Some(last) if found.len() >= page.max => last.changed.seq,
        Some(_) | None => state.last(),
    };
    StateChangesFound { changes: Some(found), upto }
}

fn entity(state: &Broker, changed: &Changed, at: At) -> Option<EntityDetails> {
    if changed.operation == Operation::Delete {
        return None;
    }
    match changed.entity {
        Entity::Task => {
            let task = state.look_at_task(&changed.id)?;
            Some(EntityDetails::Task(Box::new(state.task_details(&task, &[]))))
        }
        Entity::Agent => {
            let agent = state.agent(&changed.id)?;
            Some(EntityDetails::Agent(Box::new(FindAgent { agent }.run(state, at)?)))
        }
        Entity::Resource => {
            let found = state.allotments_from(Bound::Included(changed.id.clone())).next();
            let found = found.filter(|allotment| *allotment.id == *changed.id)?;
            Some(EntityDetails::Resource(allotment_details(state, &found)))
        }
        Entity::Policy => Some(EntityDetails::Policy(policy_details(state))),
    }
}
