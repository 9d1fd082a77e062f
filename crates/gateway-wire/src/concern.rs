//! Whom a claim, a completion or a blocker concerns: whoever asked for the task, whoever has it, and those who follow it.
//!
//! The wire names only the task; the registry of tasks knows the rest.

use broker::query::task_steps::{ConcernLook, Concerned, ConcernedTask};
use gateway::{Hub, Problem, Submission};
use message::{Address, Kind, TopicName};

/// Finds the task that a wire names, by its name or by the id that stands in for it, and reads the one as the other.
pub(crate) async fn look(hub: &Hub, submission: &mut Submission) -> Result<Option<ConcernedTask>, Problem> {
    Ok(ask(hub, submission).await?.task)
}

/// Passes a wire that names only its task on to whom it concerns. A wire about a task of which nobody knows goes to the
/// topic of that task, as it says. Returns the task, if it is known.
pub(crate) async fn pass_on(
    hub: &Hub,
    submission: &mut Submission,
) -> Result<Option<ConcernedTask>, Problem> {
    let topic = topic(submission);
    let names_nobody = match submission.accept.to.as_slice() {
        [Address::Role(_)] => submission.accept.kind == Kind::TaskClaim,
        [to @ Address::Topic(_)] => topic.as_ref() == Some(to),
        _ => false,
    };
    let Concerned { task, is_followed } = ask(hub, submission).await?;
    if !names_nobody || submission.accept.task.is_none() {
        return Ok(task);
    }
    let mut to = task.as_ref().map(|task| task.parties.clone()).unwrap_or_default();
    if is_followed || to.is_empty() {
        to.extend(topic);
    }
    if !to.is_empty() {
        submission.pass_to(to);
    }
    Ok(task)
}

/// Returns the look for the task that a wire names, if it names one.
pub(crate) fn look_of(submission: &Submission) -> Option<ConcernLook> {
    let named = submission.accept.task.as_deref()?;
    let (from, number) = (submission.accept.from, dialect_wire::stand_in_number(named));
    Some(ConcernLook { from, task: named.into(), number, topic: topic(submission) })
}

/// Returns who has the task that is looked for.
pub(crate) async fn holder(hub: &Hub, look: Option<ConcernLook>) -> Result<Option<String>, Problem> {
    let Some(look) = look else { return Ok(None) };
    Ok(hub.query(look).await?.task.and_then(|task| task.holder).map(String::from))
}

async fn ask(hub: &Hub, submission: &mut Submission) -> Result<Concerned, Problem> {
    let Some(look) = look_of(submission) else {
        return Ok(Concerned { task: None, is_followed: false });
    };
    let concerned = hub.query(look).await?;
    if let Some(task) = &concerned.task {
        submission.accept.task = Some(task.id.as_ref().into());
    }
    Ok(concerned)
}

/// Returns the topic of those who follow the task that a wire names.
fn topic(submission: &Submission) -> Option<Address> {
    submission.accept.task.as_deref()?.parse().ok().map(|topic: TopicName| Address::Topic(topic))
}
