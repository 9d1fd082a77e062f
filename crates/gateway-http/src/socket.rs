//! The socket: sending, receiving and settling over one connection, with credit.
//!
//! One task reads: it takes every frame that has come, reads and checks the documents, and hands all of it to the node
//! as one piece of work. Another writes: receipts as they become durable, letters as they come, and it is the only one
//! that touches the sink. What a piece of work gives back has a place in the writer's queue before it is begun, so the
//! thread that makes things durable never waits for a slow reader; the reader of frames does.

mod frame;
mod outcome;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dialect::Name;
use gateway::socket::{CLOSE_POLICY, LOGIN_TIME, Login, Peer, WORK_MAX, close, limited};
use gateway::websocket::{Frames, Heard, Sink, Upgrade, WebSocket};
use gateway::{Answer, At, Hub, Problem, Query, command_channel};
use tokio::sync::mpsc;
use tokio::time::timeout;

use frame::Frame;
use reader::Reader;
use writer::{Out, Writer};

/// What a socket was opened with.
struct Wanted {
    name: String,
    dialect: Option<Name>,
    lease_ms: u64,
    receipts: Receipts,
}

/// How much a receipt says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Receipts {
    Full,
    Brief,
    /// As brief, and one for all messages that became durable together.
    Together,
}

/// Opens a socket. A token in the head is checked before; without one the first frame must show it.
pub(crate) async fn open(
    State(hub): State<Hub>,
    At(name): At<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<Upgrade, Problem>,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let receipts = match query.get("receipts")?.as_deref() {
        None | Some("full") => Receipts::Full,
        Some("brief") => Receipts::Brief,
        Some("together") => Receipts::Together,
        Some(other) => {
            let detail = format!("receipts are full, brief or together, not {other:?}");
            return Err(Problem::bad_request(detail));
        }
    };
    let lease_ms = query.duration_ms("lease")?.unwrap_or(hub.limits().lease_ms);
    let wanted = Wanted { name, dialect: query.dialect()?, lease_ms, receipts };
    let shown = gateway::shown(&hub, &headers, query)?;
    let is_known = shown.is_any || hub.is_open();
    let login = if is_known { Some(Login::new(&hub, &wanted.name, shown.token)?) } else { None };
    Ok(limited(&hub, upgrade?).serve(async move |socket| serve(hub, wanted, login, socket).await))
}

async fn serve(hub: Hub, wanted: Wanted, login: Option<Login>, mut socket: WebSocket) {
    let login = match login {
        Some(login) => Ok(login),
        None => first_frame(&hub, &wanted, &mut socket.frames).await,
    };
    let opened = match login {
        Ok(login) => Peer::open(&hub, login).await,
        Err(problem) => Err(problem),
    };
    match opened {
        Ok(peer) => talk(hub, wanted, peer, socket).await,
        Err(problem) => refuse(socket.sink, &problem).await,
    }
}

/// Waits for the frame that shows a token.
async fn first_frame(hub: &Hub, wanted: &Wanted, frames: &mut Frames) -> Result<Login, Problem> {
    let no_token = || Problem::from(gateway::Denied::NoToken);
    let first = timeout(LOGIN_TIME, frames.recv()).await.map_err(|_| no_token())?;
    let Some(Heard::Text(text)) = first else { return Err(no_token()) };
    let token = Frame::read(&text).and_then(|frame| frame.token())?;
    Login::new(hub, &wanted.name, Some(token.ok_or_else(no_token)?))
}

/// Says why, and closes.
async fn refuse(mut sink: Sink, problem: &Problem) {
    sink.text(&frame::error(None, None, problem));
    sink.close(close(CLOSE_POLICY, problem.code.name())).await;
}

async fn talk(hub: Hub, wanted: Wanted, peer: Peer, socket: WebSocket) {
    let wishes = peer.wishes(wanted.lease_ms, "socket");
    let Ok(subscription) = hub.node().subscribe(wishes).await else { return };
    let credit = subscription.credit();
    let WebSocket { frames, sink } = socket;
    let (out, outs) = mpsc::channel(WORK_MAX);
    let name = hub.name_of(peer.login.agent.key);
    let ready = Answer::new().text("op", "ready").maybe("agent", name.as_ref().map(|name| name.as_str()));
    let ready = ready.number("session", peer.number.into()).end();
    let dialect = wanted.dialect.unwrap_or(peer.login.agent.dialect);
    let (command_sender, outcome_receiver) = command_channel(WORK_MAX);
    let writer = Writer::new(hub.clone(), dialect, wanted.receipts, subscription, outcome_receiver, sink);
    let writing = tokio::spawn(writer.run(outs, out.downgrade(), peer.login.clone()));
    // The writer has just begun, so there is room.
    drop(out.send(Out::Text(ready)).await);
    let mut reader = Reader::new(hub, wanted.receipts, peer.login.clone(), credit, command_sender, out);
    reader.run(frames).await;
    drop(reader);
    // What was asked is still answered, if somebody listens.
    drop(writing.await);
    drop(peer);
}
