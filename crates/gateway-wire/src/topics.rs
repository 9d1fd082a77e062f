//! Topics: what was posted to a role, a topic, a channel or everyone, and what was said about a task, in order.
//!
//! Everybody may read a topic. What a message says is shown to those who may see it: in topics and channels everybody,
//! in roles and tasks whoever has to do with it. The others see that it is there, and the pointer to a brief.

use axum::extract::RawQuery;
use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use dialect::Name;
use gateway::letters::{self, BYTES_MAX};
use gateway::{Answer, At, Caller, Hub, Problem, Query};
use history::{Post, Topic, of_task};
use json::{Limits, Value};
use message::{Address, Dialect, Envelope, Kind, Seq, Timestamp};

const LIMIT_DEFAULT: u64 = 100;
const LIMIT_MAX: u64 = 1_000;
/// What stands before the id of a task that is none of the ledger.
const TASK: &str = "task:";
const ROLE: &str = "roles.";

/// A message of a topic.
pub(crate) struct Entry {
    head: Answer,
    /// What it says, as a wire; null for those who may not see it.
    pub(crate) message: String,
}

/// Messages of a topic, and after which number the next are, if there are any.
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    pub(crate) next: Option<String>,
}

/// Shows the messages of a topic.
pub(crate) async fn read(
    caller: Caller,
    At(topic): At<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let page = page(&caller, &name_of(&topic)?, Query(query.as_deref())).await?;
    let next = page.next.map(|after| format!("/wire/topics/{}/messages?after={after}", quoted(&topic)));
    let links = Answer::new().value("next", &next.map_or(Value::Null, Value::from)).end();
    let shown = page.entries.into_iter().map(|entry| entry.head.raw("message", &entry.message).end());
    let answer = Answer::new().text("topic_id", &topic).list("messages", shown).raw("links", &links);
    Ok(answer.respond(StatusCode::OK))
}

/// Reads a page of a topic: its messages as somebody may see them, and what stands in the query for the next page.
pub(crate) async fn page(caller: &Caller, name: &str, query: Query<'_>) -> Result<Page, Problem> {
    let limit = query.number("limit")?.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
    let after = query.number("after")?.unwrap_or(0);
    let hub = &caller.hub;
    hub.catch_up().await?;
    // One more tells whether there is more.
    let asked_max = usize::try_from(limit).unwrap_or(1) + 1;
    let asked = Topic { name: name.to_owned(), scope: caller.principal.scope(), after, limit: asked_max };
    let mut posts = hub.ask(move |history| history.topic(&asked)).await?;
    let mut has_more = posts.len() == asked_max;
    posts.truncate(asked_max - 1);
    let (mut entries, mut bytes_left, mut last) = (Vec::with_capacity(posts.len()), BYTES_MAX, after);
    let places: Vec<Seq> = posts.iter().map(|post| post.row.body).collect();
    // What the log no longer has is empty.
    let mut bodies = hub.node().body_reader(places);
    for post in &posts {
        let body = bodies.next().await.and_then(Result::ok).unwrap_or_default();
        let entry = entry(hub, name, post, &body).await?;
        let bytes = entry.message.len() as u64;
        if !entries.is_empty() && bytes > bytes_left {
            has_more = true;
            break;
        }
        bytes_left = bytes_left.saturating_sub(bytes);
        last = post.number;
        entries.push(entry);
    }
    Ok(Page { entries, next: has_more.then(|| format!("{last}&limit={limit}")) })
}

/// Returns by which name the history knows a topic: an id of the ledger is a task, a bare word is a topic.
fn name_of(topic: &str) -> Result<String, Problem> {
    let task = topic.strip_prefix(TASK).or_else(|| (dialect_wire::task_id(topic) == topic).then_some(topic));
    if let Some(task) = task {
        return Ok(of_task(task));
    }
    let address = topic.parse().map_err(|error| Problem::bad_request(format!("{topic:?}: {error}")))?;
    match address {
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => Ok(topic.to_owned()),
        Address::Agent(_) if !topic.contains(':') => Ok(format!("#{topic}")),
        Address::Agent(_) | Address::Session { .. } => {
            Err(Problem::bad_request("an agent is no topic: its messages are in its inbox"))
        }
    }
}

async fn entry(hub: &Hub, topic: &str, post: &Post, body: &Bytes) -> Result<Entry, Problem> {
    let row = &post.row;
    // On the topic of a role a brief is its pointer, for everybody: the brief itself is found by its task.
    let is_pointed = topic.starts_with(ROLE) && row.kind == Kind::TaskRequest && row.task.is_some();
    let message = match Envelope::open(body) {
        Some(envelope) if !is_pointed && (post.is_visible || is_posted(&envelope)) => {
            letters::view(hub, (row.id, row.body), body, Some(Name::Wire)).await?.text
        }
        Some(_) | None => pointer(topic, post).unwrap_or_else(|| "null".to_owned()),
    };
    let head = Answer::with_capacity(message.len() + 384)
        .number("sequence_number", post.number)
        .text("consensus_timestamp", &consensus(row.at))
        .text("running_hash", &post.hash.to_string())
        .text("message_sha256", &post.digest.to_string())
        .text("id", &row.id.to_string())
        .text("sender", &row.from);
    Ok(Entry { head, message })
}

/// Tells whether a document is a wire that is posted for everybody.
fn is_posted(envelope: &Envelope<'_>) -> bool {
    let value = json::parse(envelope.document, Limits::DOCUMENT);
    envelope.dialect == Dialect::Wire
        && value.is_ok_and(|value| value.as_object().is_some_and(dialect_wire::is_posted))
}

/// Writes the pointer to work, which is all that a role's topic tells everybody.
fn pointer(topic: &str, post: &Post) -> Option<String> {
    let row = &post.row;
    let task = row.task.as_deref().filter(|_| row.kind == Kind::TaskRequest)?;
    let of_topic = topic.strip_prefix(ROLE).map(str::to_owned);
    let role = of_topic.or_else(|| row.to.iter().find_map(role_of)).unwrap_or_else(|| "any".to_owned());
    Some(available(task, &row.from, &role, row.at))
}

/// Writes that a task is there to be claimed.
pub(crate) fn available(task: &str, sender: &str, role: &str, at: Timestamp) -> String {
    let payload = Answer::new().text("task_id", &dialect_wire::task_id(task)).text("role", role).end();
    let wire = Answer::new().text("wire", "1.0").text("type", "available").text("sender", sender);
    wire.text("ts", &at.to_string()).raw("payload", &payload).end()
}

fn role_of(address: &Address) -> Option<String> {
    match address {
        Address::Role(role) => Some(role.to_string()),
        Address::Agent(_)
        | Address::Session { .. }
        | Address::Topic(_)
        | Address::Channel(_)
        | Address::All => None,
    }
}

/// Writes a time as ledgers do: seconds and nanoseconds.
fn consensus(at: Timestamp) -> String {
    let micros = at.unix_micros();
    format!("{}.{:06}000", micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000))
}

/// Quotes a name for a path.
pub(crate) fn quoted(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b':');
    let quote = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    name.bytes().map(quote).collect()
}
