//! An agent's inbox: looking settles nothing, saying what was processed does.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Command, Refusal, Reply, WaitingView};
use dialect::Name;
use gateway::letters::{self, BYTES_MAX};
use gateway::{Answer, At, Body, Caller, Code, Hub, Named, Problem, Query};
use json::Limits;
use message::{MessageId, Stage};
use node::{CallError, Turn};

const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 1_000;
/// Messages of an inbox that are put in order; what is behind them is counted.
const LOOK_MAX: usize = 10_000;
/// Ids in one request.
const IDS_MAX: usize = 1_000;
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
    let shown = letters::shown(&caller.hub, &page, Name::Wire, BYTES_MAX)?;
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
    let key = agent.key;
    let results = caller.hub.call(move |turn| {
        let each = ids.into_iter().zip(named).map(|(id, message)| {
            let stage = message.map_or(Ok(None), |message| process(turn, key, message))?;
            Ok(result(&id, stage))
        });
        each.collect::<Result<Vec<String>, Problem>>()
    });
    Ok(Answer::new().list("results", results.await?).respond(StatusCode::OK))
}

/// Returns what waits for an agent, in the order of its inbox, and how many more there are.
async fn waiting(hub: &Hub, agent: &Named) -> Result<(Vec<WaitingView>, u64), Problem> {
    let key = agent.key;
    hub.call(move |turn| Ok(turn.broker().unread(key, turn.wall(), LOOK_MAX))).await
}

/// Finds the message of each id: our own, or the wire's.
async fn by_wire_id(hub: &Hub, agent: &Named, ids: &[String]) -> Result<Vec<Option<MessageId>>, Problem> {
    let mut found: Vec<Option<MessageId>> = ids.iter().map(|id| id.parse().ok()).collect();
    if found.iter().all(Option::is_some) {
        return Ok(found);
    }
    let (waiting, _) = waiting(hub, agent).await?;
    for page in waiting.chunks(READ_MAX) {
        for (view, wire) in letters::shown(hub, page, Name::Wire, u64::MAX)? {
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

/// Settles one message; nothing if the agent has nothing to do with it.
fn process(turn: &mut Turn<'_>, agent: AgentKey, message: MessageId) -> Result<Option<Stage>, Problem> {
    match turn.execute(&Command::Process { agent, message, by: BY.into() }) {
        Ok(Reply::Stage(stage)) => Ok(Some(stage)),
        Err(CallError::Refused(Refusal::UnknownMessage)) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(
            Reply::Done
            | Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Accepted(_)
            | Reply::Taken(_)
            | Reply::Lease(_)
            | Reply::Changed(_),
        ) => Err(Problem::new(Code::Internal, "nothing was settled")),
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
