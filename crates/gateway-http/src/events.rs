//! Everything that happens, as it becomes durable: server-sent events that can be resumed.
//!
//! A stream reads the log by a place, behind the history, which knows the names. Nothing is settled by reading it.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::RawQuery;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use gateway::{Hub, OpenConnection, Principal, Problem, Query, Token};
use history::{Happened, Happening, Name, Watch};
use message::Seq;
use tokio::sync::watch;
use tokio::time::timeout;

use gateway::Answer;
use gateway::Caller;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Events in one piece.
const EVENTS_MAX: usize = 256;
/// How long a stream is silent before it says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Somebody who follows.
struct Follower {
    hub: Hub,
    principal: Principal,
    token: Option<Token>,
    filter: Watch,
    after: Seq,
    applied: watch::Receiver<Seq>,
    changes: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
    /// What is told first.
    first: Option<String>,
    _connection: OpenConnection,
}

/// Streams what happens, from now on or from a place on.
pub(crate) async fn stream(
    caller: Caller,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let resumed = gateway::header_text(&headers, &LAST_EVENT_ID).and_then(|id| id.parse().ok());
    let asked = resumed.or(query.number("after")?).map(Seq);
    let filter = Watch {
        agent: query.get("agent")?.map(|agent| caller.agent(&agent)).transpose()?.map(|agent| agent.key),
        thread: query.get("thread")?.map(|thread| thread.into_owned()),
        task: query.get("task")?.map(|task| task.into_owned()),
    };
    let token = gateway::shown(&caller.hub, &headers, query)?.token;
    let connection = caller.hub.count_connection(&caller.principal)?;
    let (after, first) = begin(&caller.hub, asked);
    let follower = Follower {
        applied: caller.hub.history().watch(),
        changes: caller.hub.registry_changes(),
        stopping: caller.hub.stopping(),
        hub: caller.hub,
        principal: caller.principal,
        token,
        filter,
        after,
        first: Some(first),
        _connection: connection,
    };
    let pieces = futures_util::stream::unfold(follower, |mut follower| async move {
        let piece = follower.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(piece)), follower))
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    Ok((head, Body::from_stream(pieces)).into_response())
}

/// Decides from where on is told, and says first what is there and what is missing.
fn begin(hub: &Hub, asked: Option<Seq>) -> (Seq, String) {
    let (durable, since) = (hub.node().durable(), hub.history().position().since);
    let mut first = String::from("retry: 1000\n");
    first.push_str(&format!("event: hello\ndata: {}\n\n", Answer::new().number("seq", durable.0).end()));
    match asked {
        None => (durable, first),
        // The place is not of this log: it was restored, or is another one.
        Some(after) if after > durable => {
            first.push_str(&gap(Seq(durable.0 + 1), after));
            (durable, first)
        }
        Some(after) if after.0 + 1 < since.0 => {
            first.push_str(&gap(Seq(after.0 + 1), Seq(since.0 - 1)));
            (Seq(since.0 - 1), first)
        }
        Some(after) => (after, first),
    }
}

impl Follower {
    /// Waits for the next piece; nothing when the stream ends.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            self.applied.mark_unchanged();
            let (after, scope, filter) = (self.after, self.principal.scope(), self.filter.clone());
            let found = self.hub.ask(move |history| history.happenings(after, EVENTS_MAX, &scope, &filter));
            let found = found.await.ok()?;
            let has_moved = found.upto > self.after;
            self.after = found.upto.max(self.after);
            if !found.list.is_empty() {
                return Some(self.texts(&found.list).await);
            }
            if has_moved {
                continue;
            }
            tokio::select! {
                moved = timeout(KEEP_ALIVE, self.applied.changed()) => match moved {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return None,
                    Err(_) => return Some(String::from(": keep-alive\n\n")),
                },
                _ = self.stopping.changed() => return None,
                _ = self.changes.changed() => {
                    if !self.hub.principal(self.token.as_ref()).is_ok_and(|now| now == self.principal) {
                        return None;
                    }
                }
            }
        }
    }

    async fn texts(&self, happenings: &[Happening]) -> String {
        let (mut texts, mut places) = (String::new(), Vec::new());
        for happening in happenings {
            if let Happening::Happened(happened) = happening {
                places.extend(shown_body(happened));
            }
        }
        let mut bodies = self.hub.node().body_reader(places);
        for happening in happenings {
            match happening {
                Happening::Gap { first, last } => texts += &gap(*first, *last),
                Happening::Happened(happened) => {
                    let body = match shown_body(happened) {
                        // What the log no longer has is empty.
                        Some(_) => bodies.next().await.and_then(Result::ok).unwrap_or_default(),
                        None => Bytes::new(),
                    };
                    let (seq, name) = (happened.seq, happened.name.as_str());
                    let data = self.data(happened, &body);
                    texts += &format!("id: {seq}\nevent: {name}\ndata: {data}\n\n");
                }
            }
        }
        texts
    }

    fn data(&self, happened: &Happened, body: &[u8]) -> String {
        let mut answer = Answer::with_capacity(384)
            .number("seq", happened.seq.0)
            .text("at", &happened.at.to_string())
            .text("event", happened.name.as_str());
        if let Some(row) = &happened.row {
            answer = answer
                .text("id", &row.id.to_string())
                .text("kind", row.kind.name())
                .text("from", &row.from)
                .texts("to", row.to.iter().map(ToString::to_string))
                .maybe("thread", row.thread.as_deref())
                .maybe("task", row.task.as_deref())
                .text("priority", row.priority.name());
            if shown_body(happened).is_some() {
                let said = self.hub.reading(|reading| gateway::said(body, reading));
                let head = said.as_deref().map(gateway::head);
                answer = answer.text("dialect", row.dialect.name()).maybe("text", head.as_deref());
            }
        }
        answer
            .maybe("agent", happened.agent.as_deref())
            .maybe("address", happened.address.as_deref())
            .maybe("state", happened.presence.map(message::PresenceState::name))
            .maybe("by", happened.by.as_deref())
            .maybe("reason", happened.reason.as_deref())
            .maybe("next", happened.next)
            .maybe("next_agent", happened.next_agent.as_deref())
            .end()
    }
}

/// Returns where the body lies whose beginning an event shows.
fn shown_body(happened: &Happened) -> Option<Seq> {
    let shows = matches!(happened.name, Name::Accepted | Name::Amended);
    happened.row.as_ref().filter(|_| shows).map(|row| row.body)
}

/// Says that events are missing. It has no id, so that whoever resumes does so behind the last event that it has.
fn gap(first: Seq, last: Seq) -> String {
    let data = Answer::new().number("first", first.0).number("last", last.0).end();
    format!("event: gap\ndata: {data}\n\n")
}
