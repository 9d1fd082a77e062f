//! Letters as their recipients get them: the document in the recipient's language, and what is needed to settle it.

use crate::{Answer, Hub, Outgoing, OutgoingError, Problem, Stored};
use broker::query::messages::Inbox;
use broker::{AgentKey, Time, Tried, WaitingView};
use bytes::Bytes;
use dialect::Name;
use message::{Envelope, MessageId, Seq, Timestamp};
use node::{Letter, ReadError};

/// Bytes of documents that are handed out at a time; one document is in any case.
pub const BYTES_MAX: u64 = 16 << 20;

/// Bytes of a body from which on it is not translated on a worker of the runtime: a worker serves others meanwhile.
const LARGE_BYTES: usize = 256 << 10;

/// Writes a letter: the members of a delivery, as JSON. `op` comes first on sockets.
pub async fn delivery(
    hub: &Hub,
    letter: &Letter,
    body: &Bytes,
    to: Name,
    op: Option<&'static str>,
) -> Result<String, Problem> {
    if body.len() > LARGE_BYTES {
        let (letter, body) = (letter.clone(), body.clone());
        let work = move |hub: &Hub| written_delivery(hub, &letter, &body, to, op);
        if let Some(written) = hub.translate_large(work).await {
            return written;
        }
    }
    written_delivery(hub, letter, body, to, op)
}

/// Writes the document of a letter in a language, and nothing around it.
pub async fn document(hub: &Hub, letter: &Letter, body: &Bytes, to: Name) -> Result<String, OutgoingError> {
    if body.len() > LARGE_BYTES {
        let (letter, body) = (letter.clone(), body.clone());
        let work = move |hub: &Hub| document_blocking(hub, &letter, &body, to);
        if let Some(written) = hub.translate_large(work).await {
            return written;
        }
    }
    document_blocking(hub, letter, body, to)
}

/// Writes the document of a letter as [`document`] does, for callers on a thread that may block.
pub fn document_blocking(hub: &Hub, letter: &Letter, body: &[u8], to: Name) -> Result<String, OutgoingError> {
    with_stored(hub, letter, body, |stored| hub.write(stored, Some(to))).map(|outgoing| outgoing.text)
}

/// Writes the document of a message that is shown and handed out to nobody, by its id and its place in the log.
pub async fn view(
    hub: &Hub,
    (id, place): (MessageId, Seq),
    body: &Bytes,
    to: Option<Name>,
) -> Result<Outgoing, Problem> {
    if body.len() > LARGE_BYTES {
        let body = body.clone();
        let work = move |hub: &Hub| outgoing(hub, Stored::now(&body, id).at(place), to);
        if let Some(written) = hub.translate_large(work).await {
            return written;
        }
    }
    outgoing(hub, Stored::now(body, id).at(place), to)
}

fn written_delivery(
    hub: &Hub,
    letter: &Letter,
    body: &[u8],
    to: Name,
    op: Option<&str>,
) -> Result<String, Problem> {
    let delivery = &letter.delivery;
    let outgoing = with_stored(hub, letter, body, |stored| outgoing(hub, stored, Some(to)))?;
    let from = hub.name_of(delivery.from);
    let mut answer = Answer::with_capacity(outgoing.text.len() + 320)
        .maybe("op", op)
        .text("delivery", &delivery.delivery.to_string())
        .text("id", &delivery.id.to_string())
        .number("attempt", delivery.attempt.into())
        .text("lease_until", &delivery.lease_until.timestamp().to_string())
        .text("kind", delivery.kind.name())
        .maybe("from", from.as_ref().map(|name| name.as_str()))
        .text("priority", delivery.priority.name())
        .maybe("trace", Envelope::open(body).and_then(|envelope| envelope.trace))
        .text("dialect", outgoing.dialect.name());
    if !delivery.tried.is_empty() {
        answer = answer.list("tried", delivery.tried.iter().map(tried));
    }
    Ok(answer.raw("document", &outgoing.text).end())
}

/// Does something with a letter as it was stored and with what has become of it since.
fn with_stored<R>(hub: &Hub, letter: &Letter, body: &[u8], work: impl FnOnce(Stored<'_>) -> R) -> R {
    let delivery = &letter.delivery;
    let instead = if delivery.tried.is_empty() { None } else { hub.name_of(letter.agent) };
    let instead = instead.as_ref().map(|name| name.as_str());
    let (place, attempt) = (Some(delivery.body), delivery.attempt);
    work(Stored { body, place, came: came(delivery.id), attempt, instead })
}

/// Shows what waits for an agent in a language, as many as are asked for and fit; and says how many more there are.
pub async fn look(
    hub: &Hub,
    agent: AgentKey,
    to: Name,
    max: usize,
    bytes_max: u64,
) -> Result<(Vec<(WaitingView, Outgoing)>, u64), Problem> {
    let (waiting, more) = hub.query(Inbox { agent, max }).await?;
    let shown = shown(hub, &waiting, to, bytes_max).await?;
    let left_out = (waiting.len() - shown.len()) as u64;
    Ok((shown, more + left_out))
}

/// Writes what waits in a language, as much as so many bytes hold; one document in any case.
pub async fn shown(
    hub: &Hub,
    waiting: &[WaitingView],
    to: Name,
    bytes_max: u64,
) -> Result<Vec<(WaitingView, Outgoing)>, Problem> {
    let places: Vec<Seq> = waiting.iter().map(|view| view.body).collect();
    let mut bytes_left = bytes_max;
    let mut shown = Vec::with_capacity(waiting.len());
    let mut bodies = hub.node().body_reader(places);
    for view in waiting {
        let Some(body) = bodies.next().await else { break };
        let body = body.map_err(unreadable)?;
        let outgoing = self::view(hub, (view.id, view.body), &body, Some(to)).await?;
        let bytes = outgoing.text.len() as u64;
        if !shown.is_empty() && bytes > bytes_left {
            break;
        }
        bytes_left = bytes_left.saturating_sub(bytes);
        shown.push((*view, outgoing));
    }
    Ok(shown)
}

/// Writes who was tried before, and what came of it.
pub fn tried(tried: &Tried) -> String {
    let answer = Answer::new().text("agent", &tried.agent).number("attempts", tried.attempts.into());
    answer.text("reason", &tried.reason).end()
}

/// Writes a document in a language; where it cannot be said in that, in its own.
pub fn outgoing(hub: &Hub, stored: Stored<'_>, to: Option<Name>) -> Result<Outgoing, Problem> {
    hub.write(stored, to).or_else(|_| hub.write(stored, None)).map_err(Problem::from)
}

/// Returns when a message was accepted: its id says it.
pub fn came(id: MessageId) -> Timestamp {
    Time(id.unix_millis().unwrap_or(0)).timestamp()
}

/// Reads a body from the log.
pub async fn body(hub: &Hub, place: Seq) -> Result<Bytes, Problem> {
    hub.node().body(place).await.map_err(unreadable)
}

/// Reads bodies from the log.
pub async fn bodies(hub: &Hub, places: Vec<Seq>) -> Result<Vec<Bytes>, Problem> {
    hub.node().bodies(places).await.map_err(unreadable)
}

/// Says that a document is no longer there, or that the log cannot be read; why, only the server's own log says.
pub fn unreadable(error: ReadError) -> Problem {
    match error {
        ReadError::Trimmed { .. } => {
            Problem::new(crate::Code::Gone, "the message is over, and its document was trimmed with the log")
        }
        ReadError::Missing { .. } => {
            Problem::new(crate::Code::Gone, "the document was lost when a damaged log was salvaged")
        }
        ReadError::Beyond { .. } | ReadError::Damaged(_) | ReadError::Storage(_) => {
            tracing::error!(error = %error, "a stored message cannot be read");
            Problem::new(crate::Code::Stored, "a stored message cannot be read")
        }
    }
}

/// Tells whether the log no longer has what was asked for.
pub fn is_gone<T>(read: &Result<T, ReadError>) -> bool {
    matches!(read, Err(ReadError::Trimmed { .. } | ReadError::Missing { .. }))
}
