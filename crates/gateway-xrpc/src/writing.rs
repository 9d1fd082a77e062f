//! Writing records: create, put, delete, and several at once.

use axum::extract::RawQuery;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use broker::{AgentKey, Swap};
use gateway::repo::{Commit, Committed, Head, Wanted, Write, Written};
use gateway::{Answer, Body, Fields, Query, lexicons};
use json::Value;
use lexicon::{Validation, ValidationStatus};

use crate::refused::Refused;
use crate::repo::{digest, input};
use crate::visitor::{Caller, Repo};

/// Writes of one call at most.
const WRITES_MAX: usize = 200;
/// What the writes of `applyWrites` are called.
const CREATE: &str = "com.atproto.repo.applyWrites#create";
const UPDATE: &str = "com.atproto.repo.applyWrites#update";
const DELETE: &str = "com.atproto.repo.applyWrites#delete";

/// What a request says beside its body.
struct Around<'r> {
    hold: bool,
    trace: Option<&'r str>,
}

/// Stores a new record; if it is a message, sends it.
pub(crate) async fn create(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let beside = (query.as_deref(), &headers);
    set(&caller, beside, body, |fields| Ok(fields.text("rkey")?), |_| Ok(Swap::Nothing)).await
}

/// Stores a record, whether there is one already or not; if it was sent, amends it.
pub(crate) async fn put(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let beside = (query.as_deref(), &headers);
    set(&caller, beside, body, |fields| input(fields, "rkey").map(Some), swap_record).await
}

/// Stores one record; its key and what must be there before are read as the call has them.
async fn set(
    caller: &Caller,
    (query, headers): (Option<&str>, &HeaderMap),
    body: Body,
    key: for<'f> fn(&'f Fields<'_>) -> Result<Option<&'f str>, Refused>,
    swap: fn(&Fields<'_>) -> Result<Swap, Refused>,
) -> Result<Response, Refused> {
    let body = gateway::body(body)?;
    let fields = gateway::fields(&body)?;
    let repo = caller.own(input(&fields, "repo")?)?;
    let around = around(query, headers)?;
    let wanted = Wanted {
        collection: input(&fields, "collection")?,
        key: key(&fields)?,
        record: record(&fields)?,
        validation: validation(&fields)?,
        swap: swap(&fields)?,
        trace: around.trace,
    };
    let write = Write::set(&caller.hub, repo.key, wanted)?;
    let committed = commit(caller, repo, &fields, around.hold, vec![write]).await?;
    Ok(one(&committed).respond(StatusCode::OK))
}

/// Removes a record, if it is there; if it was sent, takes it back.
pub(crate) async fn delete(caller: Caller, body: Body) -> Result<Response, Refused> {
    let body = gateway::body(body)?;
    let fields = gateway::fields(&body)?;
    let repo = caller.own(input(&fields, "repo")?)?;
    let swap = swap_record(&fields)?;
    let write = Write::remove(input(&fields, "collection")?, input(&fields, "rkey")?, swap)?;
    let committed = commit(&caller, repo, &fields, false, vec![write]).await?;
    Ok(head(Answer::new(), committed.head.as_ref()).respond(StatusCode::OK))
}

/// Does several of these at once, or none of them.
pub(crate) async fn apply(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    let body = gateway::body(body)?;
    let fields = gateway::fields(&body)?;
    let repo = caller.own(input(&fields, "repo")?)?;
    let around = around(query.as_deref(), &headers)?;
    let validation = validation(&fields)?;
    let listed = fields.value().get("writes").and_then(Value::as_array);
    let listed = listed.ok_or_else(|| Refused::invalid("Input must have the property \"writes\""))?;
    if listed.len() > WRITES_MAX {
        return Err(Refused::invalid(format!("Too many writes. Max: {WRITES_MAX}")));
    }
    let mut kinds = Vec::with_capacity(listed.len());
    let mut writes = Vec::with_capacity(listed.len());
    for item in listed {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        let required = |name: &str| {
            text(name).ok_or_else(|| Refused::invalid(format!("a write must have the property {name:?}")))
        };
        let kind = text("$type").unwrap_or_default();
        kinds.push(kind);
        let collection = required("collection")?;
        let swap = if kind == CREATE { Swap::Nothing } else { Swap::Something };
        writes.push(match kind {
            CREATE | UPDATE => {
                let key = if kind == CREATE { text("rkey") } else { Some(required("rkey")?) };
                let record = item.get("value").ok_or_else(|| Refused::invalid("a write needs a value"))?;
                let wanted = Wanted { collection, key, record, validation, swap, trace: around.trace };
                Write::set(&caller.hub, repo.key, wanted)?
            }
            DELETE => Write::remove(collection, required("rkey")?, swap)?,
            other => return Err(Refused::invalid(format!("Action not supported: {other}"))),
        });
    }
    let committed = commit(&caller, repo, &fields, around.hold, writes).await?;
    let results = kinds.iter().zip(&committed.written).map(|(kind, written)| {
        let answer = Answer::new().text("$type", &format!("{kind}Result"));
        if *kind == DELETE { answer.end() } else { result(answer, written).end() }
    });
    let answer = head(Answer::new(), committed.head.as_ref()).list("results", results);
    Ok(answer.respond(StatusCode::OK))
}

/// Carries writes out as one commit.
async fn commit(
    caller: &Caller,
    repo: Repo,
    fields: &Fields<'_>,
    hold: bool,
    writes: Vec<Write>,
) -> Result<Committed, Refused> {
    let swap = fields.text("swapCommit")?.map(|text| digest("swapCommit", text)).transpose()?;
    let blobs: Vec<_> = writes.iter().flat_map(Write::blobs).cloned().collect();
    caller.door.blobs.claim(&repo.name, blobs).await?;
    let publishes = repo.key == AgentKey::HUMAN && writes.iter().any(is_lexicon);
    let commit = Commit { repo: repo.key, did: repo.did, swap, hold, writes };
    let committed = commit.execute(&caller.hub).await?;
    if publishes {
        caller.hub.refresh_lexicons().await?;
    }
    Ok(committed)
}

fn is_lexicon(write: &Write) -> bool {
    write.collection() == lexicons::COLLECTION
}

fn around<'r>(query: Option<&str>, headers: &'r HeaderMap) -> Result<Around<'r>, Refused> {
    let trace = gateway::header_text(headers, &gateway::TRACE);
    Ok(Around { hold: Query(query).flag("hold")?, trace })
}

fn record<'f>(fields: &'f Fields<'_>) -> Result<&'f Value<'f>, Refused> {
    let record = fields.value().get("record");
    record.ok_or_else(|| Refused::invalid("Input must have the property \"record\""))
}

fn validation(fields: &Fields<'_>) -> Result<Validation, Refused> {
    Ok(match fields.flag("validate")? {
        None => Validation::Optimistic,
        Some(true) => Validation::Required,
        Some(false) => Validation::Skip,
    })
}

/// Reads which record must be there before; `null` says that none must.
fn swap_record(fields: &Fields<'_>) -> Result<Swap, Refused> {
    match fields.value().get("swapRecord") {
        None => Ok(Swap::Anything),
        Some(Value::Null) => Ok(Swap::Is(None)),
        Some(value) => {
            let text = value.as_str().ok_or_else(|| Refused::invalid("Input/swapRecord must be a string"))?;
            Ok(Swap::Is(Some(digest("swapRecord", text)?)))
        }
    }
}

/// Says what became of the one record of a commit.
fn one(committed: &Committed) -> Answer {
    let Some(written) = committed.written.first() else { return Answer::new() };
    let answer = Answer::new().text("uri", &written.uri);
    let answer = answer.maybe("cid", written.cid.as_ref().map(|cid| cid.as_str()));
    head(answer, committed.head.as_ref())
        .maybe("validationStatus", written.status.map(ValidationStatus::name))
}

fn result(answer: Answer, written: &Written) -> Answer {
    let answer = answer.text("uri", &written.uri);
    let answer = answer.maybe("cid", written.cid.as_ref().map(|cid| cid.as_str()));
    answer.maybe("validationStatus", written.status.map(ValidationStatus::name))
}

fn head(answer: Answer, head: Option<&Head>) -> Answer {
    let Some(Head { cid, rev }) = head else { return answer };
    answer.raw("commit", &Answer::new().text("cid", cid.as_str()).text("rev", rev.as_str()).end())
}
