//! Lexicons: what records and the content of messages are checked against.

use std::collections::BTreeMap;

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Swap};
use gateway::lexicons::{COLLECTION, is_ours};
use gateway::repo::{Commit, Wanted, Write};
use gateway::{Answer, Body, Caller, Code, Problem, Query};
use lexicon::{Document, Validation};

/// Lists the lexicons that are known, the operator's and those that came with the bus.
pub(crate) async fn list(caller: Caller, RawQuery(query): RawQuery) -> Result<Response, Problem> {
    let wants_documents = Query(query.as_deref()).flag("documents")?;
    let texts = if wants_documents { caller.hub.lexicon_texts().await? } else { BTreeMap::new() };
    let catalog = caller.hub.lexicons();
    let lexicons = catalog.documents().iter().map(|document| shown(&catalog, document, &texts));
    Ok(Answer::new().list("lexicons", lexicons).respond(StatusCode::OK))
}

/// Adds a lexicon, or puts one in the place of that of the same name if that breaks nobody.
pub(crate) async fn put(caller: Caller, RawQuery(query): RawQuery, body: Body) -> Result<Response, Problem> {
    caller.principal.must_be_operator()?;
    let body = gateway::body(body)?;
    let fields = gateway::fields(&body)?;
    let id = fields.text("id")?.ok_or_else(|| Problem::new(Code::Invalid, "a lexicon has an `id`"))?;
    let force = Query(query.as_deref()).flag("force")?;
    let wanted = Wanted {
        collection: COLLECTION,
        key: Some(id),
        record: fields.value(),
        validation: if force { Validation::Skip } else { Validation::Optimistic },
        swap: Swap::Anything,
        trace: None,
    };
    let write = Write::set(&caller.hub, AgentKey::HUMAN, wanted)?;
    let operator = caller.hub.name_of(AgentKey::HUMAN);
    let operator = operator.ok_or_else(|| Problem::new(Code::Internal, "the operator has no name"))?;
    let (did, _) = caller.hub.called(&operator);
    let commit = Commit { repo: AgentKey::HUMAN, did, swap: None, hold: false, writes: vec![write] };
    let committed = commit.execute(&caller.hub).await?;
    caller.hub.refresh_lexicons().await?;
    let catalog = caller.hub.lexicons();
    let unresolved = catalog.unresolved().into_iter().map(ToString::to_string);
    let answer = Answer::new().text("id", id).flag("changed", committed.head.is_some());
    let answer = answer.maybe("uri", committed.written.first().map(|written| written.uri.as_str()));
    Ok(answer.texts("unresolved", unresolved).respond(StatusCode::OK))
}

fn shown(catalog: &lexicon::Catalog, document: &Document, texts: &BTreeMap<String, String>) -> String {
    let id = document.id.as_str();
    let source = if is_ours(id) { "convoke" } else { "operator" };
    let answer = Answer::new().text("id", id).text("source", source).flag("record", catalog.has_record(id));
    let answer = answer.maybe("description", document.description.as_deref());
    match texts.get(id) {
        Some(text) => answer.raw("document", text).end(),
        None => answer.end(),
    }
}
