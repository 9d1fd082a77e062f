//! `convoke export`: everything as JSON Lines, one message in memory at a time.
//!
//! The first line says what it is; then come the agents and the operator's lexicons, then the messages in the order in which they came, each as
//! its sender wrote it, with its receipt. Tokens are not part of it: the bus does not know them either.

use client::{Agent, Client, ClientError, HistoryEntry, HistoryQuery};
use json::{Limits, Object, Value};

use crate::cli::remote::RemoteArgs;
use crate::failure::{Answer, Failure};
use crate::output::Output;
use crate::remote::Remote;

/// What the first line says.
pub(crate) const FORMAT: &str = "convoke.export";
pub(crate) const VERSION: i64 = 1;
/// What changes by itself, or is a secret's name, is not exported.
const LEFT_OUT: [&str; 4] = ["reachability", "waiting", "presence", "tokens"];
const PAGE: u64 = 500;
/// By which a bus says that it no longer keeps a document.
const GONE: &str = "gone";

pub(crate) async fn run(args: &RemoteArgs) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let client = &remote.client;
    let failure = |error: ClientError| remote.failure(&error);
    let mut output = Output::new();
    let head = [("type", Value::from(FORMAT)), ("version", Value::from(VERSION))];
    output.line(Value::Object(head.into_iter().collect()))?;
    let agents = client.agents().await.map_err(failure)?;
    for agent in &agents {
        output.line(agent_line(agent))?;
    }
    for lexicon in client.lexicon_documents().await.map_err(failure)? {
        if let Some(document) = lexicon.document {
            let line = [("type", Value::from("lexicon")), ("document", document)];
            output.line(Value::Object(line.into_iter().collect()))?;
        }
    }
    let mut query = HistoryQuery::default();
    (query.after, query.limit) = (Some(0), Some(PAGE));
    let (mut count, mut gone) = (0_u64, 0_u64);
    loop {
        let page = client.history(&query).await.map_err(failure)?;
        for entry in &page.messages {
            let line = message_line(client, entry).await.map_err(failure)?;
            gone += u64::from(line.get("gone").is_some());
            output.line(line)?;
            count += 1;
        }
        match page.next {
            Some(next) if query.after.is_none_or(|after| next > after) => query.after = Some(next),
            Some(_) | None => break,
        }
    }
    output.flush()?;
    eprintln!("exported {} agents and {count} messages", agents.len());
    if gone > 0 {
        eprintln!("{gone} of them without their documents, which were trimmed with the log");
    }
    Ok(Answer::Yes)
}

fn agent_line(agent: &Agent) -> Value<'static> {
    let mut members: Object<'static> = [("type", Value::from("agent"))].into_iter().collect();
    let known = agent.json.as_object().cloned().unwrap_or_default();
    for (key, value) in known {
        if !LEFT_OUT.contains(&key.as_ref()) {
            members.insert(key, value);
        }
    }
    Value::Object(members)
}

async fn message_line(client: &Client, entry: &HistoryEntry) -> Result<Value<'static>, ClientError> {
    let document = match client.document(entry.id, None).await {
        Ok(document) => Some(document),
        Err(error) if error.problem().is_some_and(|problem| problem.code == GONE) => None,
        Err(error) => return Err(error),
    };
    let receipt = client.receipt(entry.id).await?;
    let dialect = document.as_ref().and_then(|document| document.dialect).or(entry.dialect);
    let mut members: Object<'static> = [
        ("type", Value::from("message")),
        ("seq", Value::from(entry.seq)),
        ("id", Value::from(entry.id.to_string())),
        ("at", Value::from(entry.at.clone().unwrap_or_default())),
        ("from", Value::from(entry.from.clone().unwrap_or_default())),
        ("dialect", dialect.map_or(Value::Null, |dialect| Value::from(dialect.name()))),
    ]
    .into_iter()
    .collect();
    // The very bytes come back: as a value where writing it gives them again, else as a text.
    match document {
        Some(document) => match json::parse_str(&document.text, Limits::DOCUMENT) {
            Ok(value) if value.to_json() == document.text => members.insert("document", value.into_owned()),
            Ok(_) | Err(_) => members.insert("text", document.text),
        },
        // What is over and was trimmed: its receipt is all that there is.
        None => members.insert("gone", true),
    };
    members.insert("receipt", receipt.to_value());
    Ok(Value::Object(members))
}
