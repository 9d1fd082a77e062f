//! Sending one message, and waiting for the reply where the message wishes it.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use dialect::Name;
use gateway::waiting::{self, Ended, Reply};
use gateway::{Answer, Asking, Body, Caller, Code, Problem, Query, Submission};
use message::{Stage, Warning};

use crate::refusal;

/// Takes a message in. With `?compat=legacy` a refusal looks as it did in the origin, which answered 200 always.
pub(crate) async fn send(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let is_legacy = Query(query.as_deref()).get("compat")?.as_deref() == Some("legacy");
    match take_in(&caller, &headers, body).await {
        Err(problem) if is_legacy && refusal::is_of_message(problem.code) => {
            Ok(refusal::shape_legacy(&problem))
        }
        answered => answered,
    }
}

async fn take_in(caller: &Caller, headers: &HeaderMap, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let asking = Asking { trace: gateway::header_text(headers, &gateway::TRACE), ..Asking::default() };
    let submission = Submission::read(&caller.hub, &caller.principal, &body, Some(Name::Bus), asking)?;
    if submission.is_for_the_bus() {
        // Nobody relies on a sign of life, so nothing waits until it is durable.
        submission.into_note().into_iter().for_each(|sign| caller.hub.node().note(sign));
        return Ok(Answer::new().flag("success", true).respond(StatusCode::OK));
    }
    let (waits, warnings) = (submission.waits(), submission.warnings);
    let (receipted, awaited) = caller.hub.accept(submission.accept).await?;
    let mut answer = Answer::new().flag("success", true).text("id", &receipted.id.to_string());
    if receipted.duplicate {
        answer = answer.flag("duplicate", true);
    }
    let warnings: Vec<Warning> = warnings.into_iter().chain(receipted.warnings()).collect();
    if !warnings.is_empty() {
        answer = answer.list("warnings", warnings.iter().map(Warning::to_json));
    }
    match (awaited, receipted.answer) {
        (Some(awaited), _) => match waiting::outcome(&caller.hub, Name::Bus, awaited).await? {
            Ended::Reply(reply, settle) => Ok(settle.respond(with_reply(answer, &reply).end())),
            Ended::Nothing(stage) => Err(nothing(stage)),
        },
        (None, Some(reply)) => {
            let reply = waiting::read(&caller.hub, reply, Name::Bus).await?;
            Ok(with_reply(answer, &reply).respond(StatusCode::OK))
        }
        // Nobody can answer, or the time in which an answer counted is over.
        (None, None) if waits => Err(nothing(Stage::Stored)),
        (None, None) => Ok(answer.respond(StatusCode::OK)),
    }
}

fn with_reply(answer: Answer, reply: &Reply) -> Answer {
    answer.raw("reply", &reply.outgoing.text)
}

/// Says why no reply came; a message whose time is over has timed out too.
fn nothing(stage: Stage) -> Problem {
    match stage {
        Stage::Dead | Stage::Withdrawn | Stage::Unconfirmed => {
            Problem::new(Code::Undeliverable, format!("the message ended as {stage}, and nobody answered"))
        }
        Stage::Expired
        | Stage::Accepted
        | Stage::Stored
        | Stage::Dispatched
        | Stage::Surfaced
        | Stage::Acknowledged
        | Stage::Answered => Problem::new(Code::NoReply, "timeout"),
    }
}
