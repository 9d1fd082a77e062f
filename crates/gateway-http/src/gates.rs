//! Gates: what waits for a human's yes or no.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::query::work::{FindJudgedGate, GateDetails, JudgedGates, OpenGates};
use broker::{AgentKey, Command};
use gateway::{Answer, At, Body, Caller, Code, Problem, Query};
use message::MessageId;

/// Gates that are copied out in one query.
const PAGE_MAX: usize = 500;

/// Lists what waits; with `all` also what was judged.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let all = Query(query.as_deref()).flag("all")?;
    let (mut gates, mut after) = (Vec::new(), None);
    loop {
        let page = caller.hub.query(OpenGates { after, max: PAGE_MAX }).await?;
        after = page.last().map(|last| last.gate);
        let is_last = page.len() < PAGE_MAX;
        gates.extend(page);
        if is_last {
            break;
        }
    }
    if all {
        gates.extend(caller.hub.query(JudgedGates).await?);
    }
    let own = gates.iter().filter(|gate| caller.principal.acts_as(gate.asker));
    Ok(Answer::new().list("gates", own.map(written)).respond(StatusCode::OK))
}

/// Says yes or no.
pub(crate) async fn judge(
    caller: Caller,
    At((id, verdict)): At<(String, String)>,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    caller.principal.must_be_operator()?;
    let approved = match verdict.as_str() {
        "approve" => true,
        "reject" => false,
        _ => return Err(Problem::not_found("a gate is judged by approve or reject")),
    };
    let reason = gateway::fields(&body)?.text("reason")?.unwrap_or_default().to_owned();
    let unknown = || Problem::new(Code::UnknownGate, "no such gate waits");
    let gate: MessageId = id.parse().map_err(|_| unknown())?;
    let judging = Command::JudgeGate { gate, by: AgentKey::HUMAN, approved, reason: reason.into() };
    caller.hub.execute(judging).await?;
    let judged = caller.hub.query(FindJudgedGate { gate }).await?.ok_or_else(unknown)?;
    Ok(gateway::json_text(StatusCode::OK, written(&judged)))
}

fn written(gate: &GateDetails) -> String {
    let answer = Answer::new()
        .text("id", &gate.gate.to_string())
        .text("asker", &gate.asker_name)
        .maybe("task", gate.task.as_deref())
        .maybe("guards", gate.guards.map(|id| id.to_string()).as_deref())
        .text("since", &gate.since.timestamp().to_string())
        .text("until", &gate.until.timestamp().to_string())
        .text("why", &gate.why);
    match &gate.judged {
        None => answer.end(),
        Some(judged) => answer
            .text("judged_by", &judged.by)
            .flag("approved", judged.approved)
            .text("judged", &judged.at.timestamp().to_string())
            .maybe("reason", Some(&*judged.reason).filter(|reason| !reason.is_empty()))
            .end(),
    }
}
