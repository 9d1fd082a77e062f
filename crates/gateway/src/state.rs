//! The shared state of the coordination protocols: all of it, one change of it, and what changes from then on.
//!
//! It is a view: tasks, agents, allotments and the policy are the broker's, and every change goes through it.

mod agent;
mod change;
mod follow;
mod task;
mod whole;

use agent::agent_status;
pub use agent::is_offline;
pub(crate) use change::change_of;
pub use change::read_change;
pub use follow::{Follower, Told};
pub use task::native_status;
use task::task_state;
pub use whole::shared_state;

use broker::query::work::{AllotmentDetails, EntityDetails, PolicyDetails};
use broker::{Micros, Resource};
use json::{Limits, Object, Value};

use crate::Answer;

/// What stands where nothing is limited and the specification demands a figure.
const NO_LIMIT: &str = r#"{"version":"","enabled_chains":[],"risk_thresholds":{"low":0.25,"high":0.6},"budget_limits":{"per_task":1000000000000,"per_agent":1000000000000,"total":1000000000000},"circuit_breaker_config":{"error_threshold":4294967295,"timeout_ms":1000000000000,"reset_timeout_ms":0}}"#;

/// Writes the policy as a `PolicyState`: what it does not say is not limited.
fn policy_state(policy: &PolicyDetails) -> String {
    let mut all = object_of(NO_LIMIT.as_bytes());
    let said = object_of(&policy.document);
    for (key, value) in said.iter() {
        match (all.get_mut(key).and_then(Value::as_object_mut), value.as_object()) {
            (Some(usual), Some(said)) => {
                said.iter().for_each(|(key, value)| drop(usual.insert(key.to_owned(), value.clone())));
            }
            _ => drop(all.insert(key.to_owned(), value.clone())),
        }
    }
    Value::Object(all).to_json()
}

/// Writes an allotment as a `ResourceAllocation`.
fn allocation(allotment: &AllotmentDetails) -> String {
    let figure = |amount: u64| match allotment.resource {
        Resource::Budget => Micros(amount).to_string(),
        Resource::Tokens | Resource::Cpu | Resource::Memory => amount.to_string(),
    };
    let expires = allotment.expires.map(|at| at.timestamp().to_string());
    Answer::with_capacity(192)
        .text("agent_id", &allotment.agent)
        .text("resource_type", allotment.resource.name())
        .raw("allocated", &figure(allotment.allocated))
        .raw("consumed", &figure(allotment.consumed))
        .raw("limit", &figure(allotment.limit))
        .maybe("expires_at", expires.as_deref())
        .end()
}

/// Writes an entity of the shared state as it is now.
fn entity(entity: &EntityDetails) -> String {
    match entity {
        EntityDetails::Task(task) => task_state(task, None),
        EntityDetails::Agent(agent) => agent_status(agent),
        EntityDetails::Resource(allotment) => allocation(allotment),
        EntityDetails::Policy(policy) => policy_state(policy),
    }
}

/// Reads a JSON object that was stored; what cannot be read is empty.
fn object_of(bytes: &[u8]) -> Object<'static> {
    let value = json::parse(bytes, Limits::DOCUMENT).ok();
    value.and_then(|value| value.as_object().cloned().map(Object::into_owned)).unwrap_or_default()
}
