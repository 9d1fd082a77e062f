//! An agent's inbox: looking settles nothing, saying what was processed does.

use std::collections::HashSet;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::query::messages::{SentAs, Unread};
use broker::{AgentKey, Command, Refusal, Reply, Request, Settle, Settled, WaitingView};
use dialect::Name;
use gateway::letters::{self, BYTES_MAX};
use gateway::{Answer, At, Body, Caller, Code, Hub, Named, Problem, Query};
use json::Limits;
use message::{MessageId, Stage};
use node::CallError;

const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 1_000;
/// Messages of an inbox that are put in order; what is behind them is counted.
const LOOK_MAX: usize = 10_000;
/// Ids in one request.
const IDS_MAX: usize = 1_000;
/// Senders and ids that are looked up together in search of a message.
const SENT_MAX: usize = 10_000;
/// Messages that are read at a time in search of an id.
const READ_MAX: usize = 100;
/// By which the receipt says that a message was processed.
const BY: &str = "wire";

/// Shows what waits: by priority, then by time.
pub(crate) async fn look(
    caller: Caller,
    At(name): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let agent = caller.own(&name)?;
    caller.visits(&agent);
    let limit = query.number("limit")?.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
    let limit = usize::try_from(limit).unwrap_or(1);
    let after = query.get("after")?;
    let after = after.map(|id| id.parse::<MessageId>()).transpose();
    let after = after.map_err(|error| Problem::bad_request(format!("`after`: {error}")))?;
    let (waiting, beyond) = waiting(&caller.hub, &agent).await?;
    let start =
        match after {
            None => 0,
            Some(id) => waiting.iter().position(|view| view.id == id).map(|at| at + 1).ok_or_else(|| {
                Problem::bad_request("`after` names a message that waits no more: begin again")
            })?,
        };
    let page: Vec<WaitingView> = waiting.iter().skip(start).take(limit).copied().collect();
    let shown = letters::shown(&caller.hub, &page, Name::Wire, BYTES_MAX).await?;
    let ids = shown.iter().map(|(view, _)| view.id.to_string());
    let more = (waiting.len() - start - shown.len()) as u64 + beyond;
    let answer = Answer::new().texts("ids", ids).number("more", more);
    let wires = shown.into_iter().map(|(_, outgoing)| outgoing.text);
    Ok(answer.list("messages", wires).respond(StatusCode::OK))
}

/// Settles what an agent has processed, and says for each id what came of it.
pub(crate) async fn processed(caller: Caller, At(name): At<String>, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let agent = caller.own(&name)?;
    caller.visits(&agent);
    let fields = gateway::fields(&body)?;
    let ids = fields.texts("ids")?.ok_or_else(|| Problem::bad_request("`ids` is the list of ids"))?;
    if ids.len() > IDS_MAX {
        return Err(Problem::new(Code::TooLarge, format!("at most {IDS_MAX} ids in one request")));
    }
    let ids: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    let named = by_wire_id(&caller.hub, &agent, &ids).await?;
    let agent = agent.key;
    let process = |message: MessageId| Command::Process { agent, message, by: BY.into() };
    let commands = named.iter().flatten().copied().map(process).collect();
    let mut outcomes = caller.hub.node().execute_all(commands).await?.into_iter();
    let results = ids.iter().zip(named).map(|(id, message)| {
        let outcome = message.and_then(|_| outcomes.next());
        let stage = outcome.map_or(Ok(None), |executed| stage(executed.outcome))?;
        Ok(result(id, stage))
    });
    let results = results.collect::<Result<Vec<String>, Problem>>()?;
    Ok(Answer::new().list("results", results).respond(StatusCode::OK))
}

/// Returns what waits for an agent, in the order of its inbox, and how many more there are.
async fn waiting(hub: &Hub, agent: &Named) -> Result<(Vec<WaitingView>, u64), Problem> {
    hub.query(Unread { agent: agent.key, max: LOOK_MAX }).await
}

/// Finds the message of each id: our own, or the wire's.
async fn by_wire_id(hub: &Hub, agent: &Named, ids: &[String]) -> Result<Vec<Option<MessageId>>, Problem> {
    let mut found: Vec<Option<MessageId>> = ids.iter().map(|id| id.parse().ok()).collect();
    if found.iter().all(Option::is_some) {
        return Ok(found);
    }
    let (waiting, _) = waiting(hub, agent).await?;
    // Most wires have the id under which they were sent, and only those are read first.
    let sent = sent_as(hub, &waiting, ids).await?;
    let (likely, others): (Vec<WaitingView>, Vec<WaitingView>) =
        waiting.into_iter().partition(|view| sent.contains(&view.id));
    for page in likely.chunks(READ_MAX).chain(others.chunks(READ_MAX)) {
        if found.iter().all(Option::is_some) {
            break;
        }
        for (view, wire) in letters::shown(hub, page, Name::Wire, u64::MAX).await? {
            let Ok(document) = json::parse_str(&wire.text, Limits::DOCUMENT) else { continue };
            let Some(wire_id) = document.as_object().map(dialect_wire::wire_id) else { continue };
            for (id, found) in ids.iter().zip(&mut found) {
                if found.is_none() && *id == wire_id {
                    *found = Some(view.id);
                }
            }
        }
    }
    Ok(found)
}

/// Returns the messages that those whose messages wait have sent under these ids.
async fn sent_as(hub: &Hub, waiting: &[WaitingView], ids: &[String]) -> Result<HashSet<MessageId>, Problem> {
    let senders: HashSet<AgentKey> = waiting.iter().map(|view| view.from).collect();
    let sent = senders.iter().flat_map(|from| ids.iter().map(|id| (*from, id.as_str().into())));
    let sent: Vec<_> = sent.take(SENT_MAX).collect();
    let mut found = HashSet::new();
    for some in sent.chunks(IDS_MAX) {
        found.extend(hub.query(SentAs { sent: some.to_vec() }).await?.into_iter().flatten());
    }
    Ok(found)
}

/// Returns how far a message has come that was to be settled; nothing if the agent has nothing to do with it.
fn stage(outcome: Result<Reply, CallError>) -> Result<Option<Stage>, Problem> {
    match outcome.map(Settle::answer) {
        Ok(Some(Settled::Stage(stage))) => Ok(Some(stage)),
        Err(CallError::Refused(Refusal::UnknownMessage)) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(Some(Settled::Lease(_) | Settled::Done) | None) => Err(CallError::Unexpected.into()),
    }
}

fn result(id: &str, stage: Option<Stage>) -> String {
    let answer = Answer::new().text("id", id);
    let (outcome, stage) = match stage {
        None => ("unknown", None),
        Some(stage @ (Stage::Acknowledged | Stage::Answered)) => ("processed", Some(stage)),
        // It ended another way before.
        Some(stage) => ("missed", Some(stage)),
    };
    answer.text("outcome", outcome).maybe("stage", stage.map(Stage::name)).end()
}
