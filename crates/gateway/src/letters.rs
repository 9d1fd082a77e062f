//! Letters as their recipients get them: the document in the recipient's language, and what is needed to settle it.

use crate::{Answer, Hub, Outgoing, Problem, Stored};
use broker::{Time, Tried};
use dialect::Name;
use message::{Envelope, MessageId, Seq, Timestamp};
use node::{Letter, ReadError};

/// Writes a letter: the members of a delivery, as JSON. `op` comes first on sockets.
pub fn delivery(
    hub: &Hub,
    letter: &Letter,
    body: &[u8],
    to: Name,
    op: Option<&str>,
) -> Result<String, Problem> {
    let delivery = &letter.delivery;
    let instead = if delivery.tried.is_empty() { None } else { hub.name_of(letter.agent) };
    let stored = Stored {
        body,
        came: came(delivery.id),
        attempt: delivery.attempt,
        instead: instead.as_ref().map(|name| name.as_str()),
    };
    let outgoing = outgoing(hub, stored, Some(to))?;
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

/// Writes who was tried before, and what came of it.
pub fn tried(tried: &Tried) -> String {
    let answer = Answer::new().text("agent", &tried.agent).number("attempts", tried.attempts.into());
    answer.text("reason", &tried.reason).end()
}

/// Writes a document in a language; where it cannot be said in that, in its own.
pub fn outgoing(hub: &Hub, stored: Stored<'_>, to: Option<Name>) -> Result<Outgoing, Problem> {
    hub.reading(|reading| {
        let written = crate::write(stored, to, reading);
        written.or_else(|_| crate::write(stored, None, reading)).map_err(Problem::from)
    })
}

/// Returns when a message was accepted: its id says it.
pub fn came(id: MessageId) -> Timestamp {
    Time(id.unix_millis().unwrap_or(0)).timestamp()
}

/// Reads bodies from the log.
pub fn bodies(hub: &Hub, places: &[Seq]) -> Result<Vec<Vec<u8>>, Problem> {
    hub.node().bodies(places).map_err(unreadable)
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
