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

use broker::AgentKey;
use broker::query::tasks::FindTask;

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

/// Returns a task as somebody is shown it, if it is there and, where that matters, somebody has it.
pub async fn shown(
    hub: &Hub,
    principal: &Principal,
    task: &str,
    holder: Option<AgentKey>,
) -> Result<Option<TaskShown>, Problem> {
    let wanted = FindTask { id: task.into(), number: None, readers: principal.agents() };
    let found = hub.query(wanted).await?;
    let found = found.filter(|task| holder.is_none() || task.holder.as_ref().map(|of| of.agent) == holder);
    Ok(found.map(|task| TaskShown::new(task, principal)))
}

/// Says that there is no such task.
pub fn unknown(task: &str) -> Problem {
    Problem::new(Code::UnknownTask, format!("there is no task `{task}`"))
}
