//! Tasks at the doors: how they are shown, and how a call becomes the message by which one moves.
//!
//! Nothing here moves a task by itself: whatever somebody does with one is a message that is accepted like any other.

mod claim;
mod deed;
mod list;
mod shown;

pub use claim::{Claim, Claimed, loses_claim};
pub use deed::{Deed, Done};
pub use list::{List, Page};
pub use shown::{TaskShown, may_read, outcome};

use broker::{AgentKey, Broker};
use message::Address;

use crate::{Code, Hub, Principal, Problem};

/// Returns as whom somebody acts: as itself, or as whom it names and may speak for.
pub fn acting(hub: &Hub, principal: &Principal, named: Option<&str>) -> Result<AgentKey, Problem> {
    let Some(name) = named else { return Ok(principal.speaker()) };
    match hub.key_of(name) {
        Some(agent) if principal.may_send_as(agent) => Ok(agent),
        Some(_) | None => {
            Err(Problem::new(Code::NotYours, format!("this token does not speak for `{name}`")))
        }
    }
}

/// Returns where an agent is told something; the human, where it is gone or part of the bus.
pub fn told(broker: &Broker, agent: AgentKey) -> Address {
    let is_there = broker.look_at(agent).is_some() && !agent.is_machinery();
    let name = if is_there { broker.called(agent) } else { broker.called(AgentKey::HUMAN) };
    name.parse().unwrap_or(Address::All)
}

/// Says that there is no such task.
pub fn unknown(task: &str) -> Problem {
    Problem::new(Code::UnknownTask, format!("there is no task `{task}`"))
}
