//! The policy: what work may cost, and what a human is asked about.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::StateChange;
use broker::{AgentKey, Broker, Change, Command, Difference, Entity, Operation, Policy, Refusal, Reply};
use gateway::{Answer, Body, Caller, Code, Problem, Query};
use json::{Limits, Object, Value};

/// Decisions that a trial tells of at most.
const LAST_MAX: u64 = 1_000;

/// Shows the policy in force, and what was spent under it.
pub(crate) async fn show(caller: Caller) -> Result<Response, Problem> {
    let shown = caller.hub.call(|turn| Ok(written(turn.broker()))).await?;
    Ok(gateway::json_text(StatusCode::OK, shown))
}

/// Puts another policy in its place, or only says what that would change.
pub(crate) async fn put(caller: Caller, RawQuery(query): RawQuery, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    caller.principal.must_be_operator()?;
    let query = Query(query.as_deref());
    let last = query.number("last")?.unwrap_or(LAST_MAX).min(LAST_MAX);
    let document = json::parse(&body, Limits::DOCUMENT);
    let document = document.map_err(|error| Problem::new(Code::NotJson, format!("not JSON: {error}")))?;
    let Value::Object(document) = document.into_owned() else {
        return Err(Problem::new(Code::NotJson, "a policy is a JSON object"));
    };
    let policy = Policy::read(&Value::Object(document.clone()));
    let policy = policy.map_err(|findings| Problem::from(Refusal::BadPolicy { findings }))?;
    if query.flag("dry_run")? {
        return attempt(&caller, policy, usize::try_from(last).unwrap_or(0)).await;
    }
    let change = caller.hub.call(move |turn| set(turn, document)).await?;
    Ok(gateway::changed(change).respond(StatusCode::OK))
}

fn set(turn: &mut node::Turn<'_>, document: Object<'static>) -> Result<Change, Problem> {
    let change = StateChange {
        by: AgentKey::HUMAN,
        operation: Operation::Create,
        entity: Entity::Policy,
        id: "policy".into(),
        changes: document,
        version: None,
    };
    match turn.execute(&Command::ChangeState(Box::new(change)))? {
        Reply::Changed(change) => Ok(change),
        Reply::Done
        | Reply::Agent(_)
        | Reply::Session { .. }
        | Reply::Accepted(_)
        | Reply::Taken(_)
        | Reply::Stage(_)
        | Reply::Lease(_) => Err(Problem::new(Code::Internal, "nothing was changed")),
    }
}

/// Says which of the last decisions another policy would have made differently.
async fn attempt(caller: &Caller, policy: Policy, last: usize) -> Result<Response, Problem> {
    let tried = caller.hub.call(move |turn| {
        let broker = turn.broker();
        let (differences, count) = broker.try_policy_on(&policy, last);
        let changed: Vec<String> = differences.iter().map(|difference| told(broker, difference)).collect();
        Ok((changed, count))
    });
    let (changed, count) = tried.await?;
    let answer = Answer::new().flag("valid", true).number("decisions", count as u64);
    Ok(answer.list("changed", changed).respond(StatusCode::OK))
}

fn told(broker: &Broker, difference: &Difference<'_>) -> String {
    Answer::new()
        .text("at", &difference.at.timestamp().to_string())
        .text("task", difference.task)
        .maybe("agent", difference.agent.map(|agent| broker.called(agent)))
        .text("was", difference.was.name())
        .text("would_be", difference.would_be.name())
        .text("why", &difference.why)
        .end()
}

fn written(broker: &Broker) -> String {
    let policy = broker.policy();
    let document = std::str::from_utf8(policy.document).ok().filter(|document| !document.is_empty());
    Answer::new()
        .raw("policy", document.unwrap_or("null"))
        .number("version", policy.version.into())
        .raw("spent_usd", &policy.spent.to_string())
        .raw("reserved_usd", &policy.reserved.to_string())
        .end()
}
