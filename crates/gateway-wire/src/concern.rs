//! Whom a claim, a completion or a blocker concerns: whoever briefed the task, and those who follow it.
//!
//! The wire names only the task. Who has it, and whether a claim wins, is for a registry of tasks to say; here such
//! wires are messages like all others.

use broker::AgentKey;
use gateway::{Hub, Problem, Sending};
use history::{Query, Scope};
use message::{Address, Kind, TopicName};

/// Passes a wire that names only its task on to whom it concerns. A wire about a task of which nobody knows goes to the
/// topic of that task, as it says.
pub(crate) async fn pass_on(hub: &Hub, sending: &mut Sending) -> Result<(), Problem> {
    let message = &sending.incoming.message;
    let Some(task) = message.task.as_ref().map(|task| task.as_str().to_owned()) else { return Ok(()) };
    let topic = task.parse().ok().map(|topic: TopicName| Address::Topic(topic));
    let names_nobody = match sending.incoming.to() {
        [Address::Role(_)] => message.kind == Kind::TaskClaim,
        [to @ Address::Topic(_)] => topic.as_ref() == Some(to),
        _ => false,
    };
    if !names_nobody {
        return Ok(());
    }
    let briefed = briefed(hub, task, sending.from).await?;
    let Some(topic) = topic else {
        briefed.map(|address| sending.incoming.pass_to(vec![address]));
        return Ok(());
    };
    let name = topic.to_string();
    let is_followed = hub.call(move |turn| Ok(turn.broker().group(&name).is_some())).await?;
    let follows = (is_followed || briefed.is_none()).then_some(topic);
    sending.incoming.pass_to(briefed.into_iter().chain(follows).collect());
    Ok(())
}

/// Finds who briefed a task last, if it is an agent that is there and not the one who speaks.
async fn briefed(hub: &Hub, task: String, from: AgentKey) -> Result<Option<Address>, Problem> {
    let asked = Query {
        task: Some(task),
        kind: Some(Kind::TaskRequest),
        fresh: hub.node().durable(),
        ..Query::new(Scope::Everything, 1)
    };
    let page = hub.ask(move |history| history.find(&asked)).await?;
    let name = page.rows.last().map(|row| row.from.as_str());
    let found = name.and_then(|name| hub.find(name));
    let agent = found.filter(|(_, key, _)| *key != from && !key.is_machinery());
    Ok(agent.map(|(name, _, _)| Address::from(name)))
}
