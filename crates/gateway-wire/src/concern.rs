//! Whom a claim, a completion or a blocker concerns: whoever asked for the task, whoever has it, and those who follow it.
//!
//! The wire names only the task; the registry of tasks knows the rest.

use broker::{AgentKey, Broker, TaskView};
use gateway::{Hub, Problem, Sending};
use message::{Address, Kind, TaskId, TopicName};

/// Digits at the end of an id that stands in; those that a ledger gives out are shorter.
const STAND_IN_DIGITS: usize = 15;

/// Passes a wire that names only its task on to whom it concerns. A wire about a task of which nobody knows goes to the
/// topic of that task, as it says.
pub(crate) async fn pass_on(hub: &Hub, sending: &mut Sending) -> Result<(), Problem> {
    let message = &sending.incoming.message;
    let Some(named) = message.task.as_ref().map(|task| task.as_str().to_owned()) else { return Ok(()) };
    let topic = named.parse().ok().map(|topic: TopicName| Address::Topic(topic));
    let names_nobody = match sending.incoming.to() {
        [Address::Role(_)] => message.kind == Kind::TaskClaim,
        [to @ Address::Topic(_)] => topic.as_ref() == Some(to),
        _ => false,
    };
    let (from, followed) = (sending.from, topic.as_ref().map(Address::to_string));
    let found = hub.call(move |turn| {
        let broker = turn.broker();
        let is_followed = followed.is_some_and(|name| broker.group(&name).is_some());
        let task = find(broker, &named);
        let known = task.map(|task| (task.id.to_owned(), parties(broker, &task, from)));
        Ok((known, is_followed))
    });
    let (known, is_followed) = found.await?;
    let mut to = Vec::new();
    if let Some((task, parties)) = known {
        // An id that stands in for the task's own is read as that.
        sending.incoming.message.task = task.parse::<TaskId>().ok().or(sending.incoming.message.task.take());
        to = parties;
    }
    if !names_nobody {
        return Ok(());
    }
    if is_followed || to.is_empty() {
        to.extend(topic);
    }
    if !to.is_empty() {
        sending.incoming.pass_to(to);
    }
    Ok(())
}

/// Finds a task by its name, or by the id that stands in for it in wires.
pub(crate) fn find<'b>(broker: &'b Broker, id: &str) -> Option<TaskView<'b>> {
    broker.look_at_task(id).or_else(|| broker.task_by_number(stand_in(id)?))
}

/// Returns the number by which an id stands in for the name of a task.
pub(crate) fn stand_in(id: &str) -> Option<u64> {
    let number = id.strip_prefix("0.0.").filter(|number| number.len() == STAND_IN_DIGITS)?;
    number.parse().ok()
}

/// Returns who asked for a task and who has it, as far as they are there and are not the one who speaks.
fn parties(broker: &Broker, task: &TaskView<'_>, from: AgentKey) -> Vec<Address> {
    let mut parties: Vec<AgentKey> = Vec::new();
    for agent in [Some(task.requester), task.holder].into_iter().flatten() {
        let is_there = broker.look_at(agent).is_some() && !agent.is_machinery();
        if is_there && agent != from && !parties.contains(&agent) {
            parties.push(agent);
        }
    }
    parties.into_iter().filter_map(|agent| broker.called(agent).parse().ok()).collect()
}
