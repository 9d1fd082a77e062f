//! The socket: sending, receiving and settling over one connection, with credit.
//!
//! One task reads: it takes every frame that has come, reads and checks the documents, and hands all of it to the node
//! as one piece of work. Another writes: receipts as they become durable, letters as they come, and it is the only one
//! that touches the sink. What a piece of work gives back has a place in the writer's queue before it is begun, so the
//! thread that makes things durable never waits for a slow reader; the reader of frames does.

mod frame;
mod reader;
mod writer;

use std::time::Duration;

use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use broker::{Command, Door, Reply, SessionKey};
use dialect::Name;
use futures_util::StreamExt;
use gateway::{Code, Hub, OpenConnection, Principal, Problem, Query, Token};
use node::Wishes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::inbox::BYTES_MAX;
use gateway::Answer;
use gateway::{At, Caller, Named};

use frame::Frame;
use reader::Reader;
use writer::{Out, Writer};

/// Bytes of a frame at most besides its document.
const FRAME_BYTES: usize = 64 << 10;
/// Bytes that are read at a time; the library clears as many for every read.
const READ_BYTES: usize = 16 << 10;
/// How long somebody without a token in the head may take to show one.
const LOGIN_TIME: Duration = Duration::from_secs(10);
/// How often a silent peer is asked for a sign of life, and after how much silence it is cut.
const PING_TIME: Duration = Duration::from_secs(30);
const SILENCE_TIME: Duration = Duration::from_secs(90);
/// How long a peer may take to read what is written to it.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// Pieces of work of one socket that wait to be written at most.
const WORK_MAX: usize = 64;
/// Letters that leave the node for a socket at a time.
const LETTERS_MAX: u32 = 256;

/// Why a connection is closed, as WebSocket codes.
const CLOSE_STOPPING: u16 = 1001;
const CLOSE_POLICY: u16 = 1008;

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
}

/// Who is at the other end.
struct Peer {
    _connection: OpenConnection,
    principal: Principal,
    token: Option<Token>,
    agent: Named,
    session: SessionKey,
    number: u32,
}

/// Opens a socket. A token in the head is checked before; without one the first frame must show it.
pub(crate) async fn open(
    State(hub): State<Hub>,
    At(name): At<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let query = Query(query.as_deref());
    let receipts = match query.get("receipts")?.as_deref() {
        None | Some("full") => Receipts::Full,
        Some("brief") => Receipts::Brief,
        Some(other) => {
            return Err(Problem::bad_request(format!("receipts are full or brief, not {other:?}")));
        }
    };
    let lease_ms = query.duration_ms("lease")?.unwrap_or(hub.limits().lease_ms);
    let wanted = Wanted { name, dialect: query.dialect()?, lease_ms, receipts };
    let token = gateway::token(&headers);
    let is_known = headers.contains_key(axum::http::header::AUTHORIZATION) || hub.is_open();
    let login = if is_known { Some(log_in(&hub, &wanted, token)?) } else { None };
    let bytes_max = hub.limits().body_bytes_max + FRAME_BYTES;
    let upgrade = upgrade.map_err(|error| Problem::new(Code::NotAnUpgrade, error.to_string()))?;
    let upgrade = upgrade.max_message_size(bytes_max).max_frame_size(bytes_max).read_buffer_size(READ_BYTES);
    Ok(upgrade.on_upgrade(async move |socket| serve(hub, wanted, login, socket).await))
}

type Login = (Principal, Option<Token>, Named);

fn log_in(hub: &Hub, wanted: &Wanted, token: Option<Token>) -> Result<Login, Problem> {
    let principal = hub.principal(token.as_ref())?;
    let caller = Caller { hub: hub.clone(), principal };
    let agent = caller.own(&wanted.name)?;
    Ok((caller.principal, token, agent))
}

async fn serve(hub: Hub, wanted: Wanted, login: Option<Login>, mut socket: WebSocket) {
    let login = match login {
        Some(login) => Ok(login),
        None => first_frame(&hub, &wanted, &mut socket).await,
    };
    let opened = match login {
        Ok(login) => open_session(&hub, login).await,
        Err(problem) => Err(problem),
    };
    match opened {
        Ok(peer) => talk(hub, wanted, peer, socket).await,
        Err(problem) => refuse(socket, &problem).await,
    }
}

/// Waits for the frame that shows a token.
async fn first_frame(hub: &Hub, wanted: &Wanted, socket: &mut WebSocket) -> Result<Login, Problem> {
    let no_token = || Problem::from(gateway::Denied::NoToken);
    let first = timeout(LOGIN_TIME, socket.recv()).await.map_err(|_| no_token())?;
    let Some(Ok(Message::Text(text))) = first else { return Err(no_token()) };
    let token = Frame::read(&text).and_then(|frame| frame.token())?;
    log_in(hub, wanted, Some(token.ok_or_else(no_token)?))
}

async fn open_session(hub: &Hub, (principal, token, agent): Login) -> Result<Peer, Problem> {
    let connection = hub.count_connection(&principal)?;
    let key = agent.key;
    let opened =
        hub.call(move |turn| Ok(turn.execute(&Command::OpenSession { agent: key, door: Door::Socket })?));
    match opened.await? {
        Reply::Session { session, number } => {
            Ok(Peer { _connection: connection, principal, token, agent, session, number })
        }
        Reply::Done
        | Reply::Agent(_)
        | Reply::Accepted(_)
        | Reply::Taken(_)
        | Reply::Stage(_)
        | Reply::Lease(_) => Err(Problem::new(Code::Internal, "no connection was opened")),
    }
}

/// Says why, and closes.
async fn refuse(mut socket: WebSocket, problem: &Problem) {
    let error = frame::error(None, None, problem);
    let close = CloseFrame { code: CLOSE_POLICY, reason: problem.code.name().into() };
    // Whoever is refused may be gone already.
    drop(timeout(WRITE_TIME, socket.send(Message::Text(error.into()))).await);
    drop(timeout(WRITE_TIME, socket.send(Message::Close(Some(close)))).await);
}

/// Ends the session of a connection, whatever ended the connection.
struct Session {
    hub: Hub,
    session: SessionKey,
}

impl Drop for Session {
    fn drop(&mut self) {
        let session = self.session;
        // A session that the node ended itself is gone already.
        self.hub.node().note(move |turn| drop(turn.execute(&Command::CloseSession { session })));
    }
}

async fn talk(hub: Hub, wanted: Wanted, peer: Peer, socket: WebSocket) {
    let session = Session { hub: hub.clone(), session: peer.session };
    let wishes = Wishes {
        agent: peer.agent.key,
        session: Some(peer.session),
        max: LETTERS_MAX,
        bytes_max: BYTES_MAX,
        lease_ms: wanted.lease_ms,
        by: "socket".into(),
    };
    let Ok(subscription) = hub.node().subscribe(wishes).await else { return };
    let credit = subscription.credit();
    let (sink, frames) = socket.split();
    let (out, outs) = mpsc::channel(WORK_MAX);
    let name = hub.name_of(peer.agent.key);
    let ready = Answer::new().text("op", "ready").maybe("agent", name.as_ref().map(|name| name.as_str()));
    let ready = ready.number("session", peer.number.into()).end();
    let dialect = wanted.dialect.unwrap_or(peer.agent.dialect);
    let writer = Writer::new(hub.clone(), dialect, wanted.receipts, subscription, sink);
    let login = (peer.principal.clone(), peer.token.clone());
    let writing = tokio::spawn(writer.run(outs, out.downgrade(), login));
    // The writer has just begun, so there is room.
    drop(out.send(Out::Text(ready)).await);
    let mut reader = Reader::new(hub, wanted.receipts, peer, credit, out);
    reader.run(frames).await;
    drop(reader);
    // What was asked is still answered, if somebody listens.
    drop(writing.await);
    drop(session);
}
