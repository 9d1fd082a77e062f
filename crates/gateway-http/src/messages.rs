//! Messages: sending one, and what can be asked or done about one afterwards.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use broker::query::messages::{FindMessage, ReceiptOf};
use broker::{AgentKey, Command, MessageView};
use gateway::{Asking, Body, Code, Principal, Problem, Query, Stored, Submission};
use history::Receipted;
use message::{MessageId, Receipt};

use gateway::Answer;
use gateway::letters;
use gateway::{At, Caller};

pub(crate) const DIALECT: HeaderName = HeaderName::from_static("convoke-dialect");

/// Takes a document in.
pub(crate) async fn send(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let query = Query(query.as_deref());
    let asking = gateway::asking(query, &headers)?;
    let dialect = dialect(query, &headers)?;
    let submission = Submission::read(&caller.hub, &caller.principal, &body, dialect, asking)?;
    if query.flag("dry_run")? {
        return Ok(Answer::new().flag("valid", true).respond(StatusCode::OK));
    }
    gateway::post(&caller, submission).await
}

/// Returns the document itself.
pub(crate) async fn document(
    caller: Caller,
    At(id): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let wanted = Query(query.as_deref()).dialect()?;
    let found = find(&caller, &id).await?.view;
    let body = letters::body(&caller.hub, found.body).await?;
    let stored = Stored::now(&body, found.id);
    let outgoing = caller.hub.reading(|reading| gateway::write(stored, wanted, reading))?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (DIALECT, outgoing.dialect.name())];
    Ok((headers, outgoing.text).into_response())
}

/// Shows what became of a message, to whoever sent or got it and to the operator.
pub(crate) async fn receipt(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    let receipt = current_receipt(&caller, &id).await?;
    Ok(gateway::json_text(StatusCode::OK, receipt.to_json()))
}

/// Takes a message back.
pub(crate) async fn retract(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    let found = find(&caller, &id).await?.view;
    let by = author(&caller.principal, &found)?;
    let message = found.id;
    caller.hub.execute(Command::Retract { message, by }).await?;
    receipt(caller, At(id)).await
}

/// Puts another document in the place of a message's own.
pub(crate) async fn amend(
    caller: Caller,
    At(id): At<String>,
    RawQuery(query): RawQuery,
    body: Body,
) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let found = find(&caller, &id).await?.view;
    let by = author(&caller.principal, &found)?;
    let stored = letters::body(&caller.hub, found.body).await?;
    let envelope = message::Envelope::open(&stored);
    let envelope = envelope.ok_or_else(|| Problem::new(Code::Stored, "the message cannot be read"))?;
    let before = envelope.dialect;
    let dialect = Query(query.as_deref()).dialect()?.unwrap_or(before);
    if dialect != before {
        let detail = format!("the message is written in {before}: amend it in the same dialect");
        return Err(Problem::bad_request(detail));
    }
    let mut submission =
        Submission::read(&caller.hub, &caller.principal, &body, Some(dialect), Asking::default())?;
    if let Some(to) = envelope.addresses() {
        submission.pass_to(to);
    }
    if submission.accept.from != found.from {
        return Err(Problem::new(Code::NotYours, "the document says that somebody else sent it"));
    }
    let message = found.id;
    caller.hub.execute(Command::Amend { message, by, body: submission.accept.body }).await?;
    receipt(caller, At(id)).await
}

/// Lets a parked conversation go on.
pub(crate) async fn resume(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let message = find(&caller, &id).await?.view.id;
    caller.hub.execute(Command::Resume { message }).await?;
    receipt(caller, At(id)).await
}

/// Returns the receipt of a message as it is now.
pub(crate) async fn current_receipt(caller: &Caller, id: &str) -> Result<Receipt, Problem> {
    let Found { view, past } = find(caller, id).await?;
    let id = view.id;
    let (row, recipients) = match past {
        Some(Receipted { row, recipients }) => (Some(row), recipients),
        None => {
            let recipients = caller.hub.query(ReceiptOf { message: id }).await?;
            (None, recipients.unwrap_or_default())
        }
    };
    let node = caller.hub.node();
    let record = node.record(view.accepted).await;
    let body = node.body(view.body).await;
    let receipt = if letters::is_gone(&record) || letters::is_gone(&body) {
        let row = match row {
            Some(row) => Some(row),
            None => caller.hub.ask(move |history| history.message(id)).await?,
        };
        row.and_then(|row| gateway::past_receipt(&row, recipients))
    } else {
        let (record, body) = (record.map_err(letters::unreadable)?, body.map_err(letters::unreadable)?);
        caller.hub.reading(|reading| gateway::stored_receipt(&view, &record, &body, recipients, reading))
    };
    receipt.ok_or_else(|| Problem::new(Code::Stored, "the message cannot be read"))
}

/// A message that the caller may know of.
pub(crate) struct Found {
    pub(crate) view: MessageView,
    /// What became of it, where only the history knows.
    past: Option<Receipted>,
}

/// Finds a message that the caller may know of; for everybody else it is not there.
pub(crate) async fn find(caller: &Caller, id: &str) -> Result<Found, Problem> {
    let unknown = || Problem::new(Code::UnknownMessage, "there is no such message here");
    let id: MessageId = id.parse().map_err(|_| unknown())?;
    let view = caller.hub.query(FindMessage { message: id }).await?;
    let is_party = |view: &MessageView| {
        view.is_post
            || caller.principal.acts_as(view.from)
            || view.agents.iter().any(|agent| caller.principal.acts_as(*agent))
    };
    let found = match view {
        Some(view) => Some(Found { view, past: None }),
        None => find_past(caller, id).await?,
    };
    found.filter(|found| is_party(&found.view)).ok_or_else(unknown)
}

/// Finds a message that the state has forgotten.
async fn find_past(caller: &Caller, id: MessageId) -> Result<Option<Found>, Problem> {
    // What was just forgotten may not have come there yet.
    let caught_up = caller.hub.catch_up().await;
    let Some(past) = caller.hub.ask(move |history| history.receipt(id)).await? else {
        return caught_up.map(|()| None);
    };
    let key = |name: &str| caller.hub.find(name).map(|(_, key, _)| key);
    let agents = past.recipients.iter().filter_map(|recipient| key(&recipient.agent.to_string()));
    let view = MessageView {
        id,
        accepted: past.row.seq,
        body: past.row.body,
        // Nobody acts as somebody who is gone.
        from: key(&past.row.from).unwrap_or(AgentKey(u32::MAX)),
        kind: past.row.kind,
        priority: past.row.priority,
        guarantee: past.row.guarantee,
        agents: agents.collect(),
        is_post: past.row.has_public_target,
    };
    Ok(Some(Found { view, past: Some(past) }))
}

/// Returns as whom a message is changed: its sender, or the operator.
fn author(principal: &Principal, view: &MessageView) -> Result<AgentKey, Problem> {
    match principal {
        Principal::Operator | Principal::Anybody => Ok(AgentKey::HUMAN),
        Principal::Agent(_) => {
            principal.must_be(view.from)?;
            Ok(view.from)
        }
    }
}

/// Returns the dialect that a request names, in its query or its header; `convoke` when it names none.
pub(crate) fn dialect(query: Query<'_>, headers: &HeaderMap) -> Result<Option<dialect::Name>, Problem> {
    let in_header = gateway::header_text(headers, &DIALECT).map(gateway::dialect_of).transpose()?;
    match query.get("dialect")? {
        None => Ok(in_header.unwrap_or(Some(dialect::Name::Convoke))),
        Some(name) => gateway::dialect_of(&name),
    }
}
