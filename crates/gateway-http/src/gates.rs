//! Gates: what waits for a human's yes or no.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Broker, Command, GateView};
use gateway::{Answer, At, Body, Caller, Code, Problem, Query};
use message::MessageId;

/// Lists what waits; with `all` also what was judged.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let all = Query(query.as_deref()).flag("all")?;
    let principal = caller.principal;
    let gates = caller.hub.call(move |turn| {
        let broker = turn.broker();
        let gates = broker.gates(all);
        let own = gates.iter().filter(|gate| principal.acts_as(gate.asker));
        Ok(own.map(|gate| written(broker, gate)).collect::<Vec<_>>())
    });
    Ok(Answer::new().list("gates", gates.await?).respond(StatusCode::OK))
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
    let judged = caller.hub.call(move |turn| {
        turn.execute(&Command::JudgeGate { gate, by: AgentKey::HUMAN, approved, reason: reason.into() })?;
        let broker = turn.broker();
        let gates = broker.gates(true);
        let judged = gates.iter().find(|view| view.gate == gate && view.judged.is_some());
        Ok(judged.map(|view| written(broker, view)))
    });
    Ok(gateway::json_text(StatusCode::OK, judged.await?.ok_or_else(unknown)?))
}

fn written(broker: &Broker, gate: &GateView<'_>) -> String {
    let answer = Answer::new()
        .text("id", &gate.gate.to_string())
        .text("asker", broker.called(gate.asker))
        .maybe("task", gate.task)
        .maybe("guards", gate.guards.map(|id| id.to_string()).as_deref())
        .text("since", &gate.since.timestamp().to_string())
        .text("until", &gate.until.timestamp().to_string())
        .text("why", gate.why);
    match &gate.judged {
        None => answer.end(),
        Some(judged) => answer
            .text("judged_by", broker.called(judged.by))
            .flag("approved", judged.approved)
            .text("judged", &judged.at.timestamp().to_string())
            .maybe("reason", Some(judged.reason).filter(|reason| !reason.is_empty()))
            .end(),
    }
}
