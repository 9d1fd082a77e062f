//! The policy: what work may cost, and what a human is asked about.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::query::work::{PolicyDecision, PolicyDetails, PolicyInForce, RecentDecisions};
use broker::{AgentKey, Entity, Operation, Outcome, Policy, Refusal, StateChange, Verdict};
use gateway::{Answer, Body, Caller, Code, Problem, Query};
use json::{Limits, Value};

/// Decisions that a trial tells of at most.
const LAST_MAX: u64 = 1_000;

/// Shows the policy in force, and what was spent under it.
pub(crate) async fn show(caller: Caller) -> Result<Response, Problem> {
    let policy = caller.hub.query(PolicyInForce).await?;
    Ok(gateway::json_text(StatusCode::OK, written(&policy)))
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
        return attempt(&caller, &policy, usize::try_from(last).unwrap_or(0)).await;
    }
    let change = StateChange {
        by: AgentKey::HUMAN,
        operation: Operation::Create,
        entity: Entity::Policy,
        id: "policy".into(),
        changes: document,
        version: None,
    };
    let change = caller.hub.execute(change).await?;
    Ok(gateway::changed(change).respond(StatusCode::OK))
}

/// Says which of the last decisions another policy would have made differently.
async fn attempt(caller: &Caller, policy: &Policy, last: usize) -> Result<Response, Problem> {
    let decisions = caller.hub.query(RecentDecisions { max: last }).await?;
    let changed = decisions.iter().filter_map(|decision| difference(policy, decision));
    let answer = Answer::new().flag("valid", true).number("decisions", decisions.len() as u64);
    Ok(answer.list("changed", changed).respond(StatusCode::OK))
}

/// Writes a decision that another policy would have made differently.
fn difference(policy: &Policy, decision: &PolicyDecision) -> Option<String> {
    let (would_be, why) = match policy.judge(&decision.ask) {
        Verdict::Go { .. } => (Outcome::Go, String::new()),
        Verdict::Gate { why, .. } => (Outcome::Gate, why),
        Verdict::Refuse { why } => (Outcome::Refuse, why),
    };
    let answer = Answer::new()
        .text("at", &decision.at.timestamp().to_string())
        .text("task", &decision.task)
        .maybe("agent", decision.agent.as_deref())
        .text("was", decision.outcome.name())
        .text("would_be", would_be.name())
        .text("why", &why);
    (would_be != decision.outcome).then(|| answer.end())
}

fn written(policy: &PolicyDetails) -> String {
    let document = std::str::from_utf8(&policy.document).ok().filter(|document| !document.is_empty());
    Answer::new()
        .raw("policy", document.unwrap_or("null"))
        .number("version", policy.version.into())
        .raw("spent_usd", &policy.spent.to_string())
        .raw("reserved_usd", &policy.reserved.to_string())
        .end()
}
