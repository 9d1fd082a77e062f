//! Plain sockets: one document a frame, both ways, and nothing around it.
//!
//! Such clients acknowledge nothing. So a ping with a number goes behind what was written, and the pong with that
//! number settles every delivery before it; what a connection did not settle when it ends goes back at once. A peer
//! has at most a window of letters that it has not ponged for, so nothing is handed out that it does not drain.
//!
//! As with the native socket one task reads and hands whole chunks of frames to the node, and another one writes. What
//! is refused is told by a document of the door's own language; what is accepted is told by nothing.

mod ledger;
mod reader;
mod writer;

use std::sync::{Arc, Mutex};

use axum::response::Response;
use dialect::Name;
use json::Shallow;
use message::{AgentName, Timestamp};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::socket::{CLOSE_POLICY, LOGIN_TIME, Login, Peer, WORK_MAX, close, limited};
use crate::websocket::{Frames, Heard, Upgrade, WebSocket};
use crate::{Code, Denied, Hub, Named, Principal, Problem, Shown, Token, command_channel};

use ledger::Ledger;
use reader::Reader;
use writer::Writer;

/// Letters that a peer may have without having ponged for them.
const WINDOW: u32 = 256;

/// How a door talks over plain sockets.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// The language.
    pub dialect: Name,
    /// By which a receipt says that this door handed something over.
    pub by: &'static str,
    /// The member of a document that holds its id.
    pub id_key: &'static str,
    /// Why a connection is closed whose agent is not there.
    pub nobody: &'static str,
    /// Writes the document that tells a peer that its own was refused.
    pub refuse: fn(&Refused<'_>) -> String,
}

/// A document that was refused.
#[derive(Debug)]
pub struct Refused<'a> {
    /// Who sent it.
    pub agent: &'a AgentName,
    /// What its dialects call the sender, where that is a URI.
    pub uri: &'a str,
    /// The id that it has, where one can be read.
    pub about: Option<&'a str>,
    /// Why.
    pub problem: &'a Problem,
    /// When that is said.
    pub at: Timestamp,
}

/// Opens a socket for an agent. A token that is shown is checked before; without one the first frame must be
/// `{"type":"auth","token":"…"}`.
pub fn open(
    hub: Hub,
    manner: Manner,
    name: String,
    shown: Shown,
    upgrade: Upgrade,
) -> Result<Response, Problem> {
    let is_known = shown.is_any || hub.is_open();
    let principal = if is_known { Some(hub.principal(shown.token.as_ref())?) } else { None };
    Ok(limited(&hub, upgrade).serve(async move |mut socket| {
        let known = match principal {
            Some(principal) => Ok((principal, shown.token)),
            None => first_frame(&hub, &mut socket.frames).await,
        };
        let login = known.and_then(|(principal, token)| log_in(&hub, &name, principal, token));
        let peer = match login {
            Ok(login) => Peer::open(&hub, login).await,
            Err(problem) => Err(problem),
        };
        match peer {
            Ok(peer) => talk(hub, manner, peer, socket).await,
            Err(problem) => {
                let is_nobody = problem.code == Code::UnknownAgent;
                let reason = if is_nobody { manner.nobody } else { problem.code.name() };
                socket.sink.close(close(CLOSE_POLICY, reason)).await;
            }
        }
    }))
}

/// Returns the token that a frame shows, if that is what it is for; an empty one for something that is no token.
fn shown_in(text: &str) -> Option<Option<Token>> {
    let mut members = Shallow::of(text).ok()?;
    let (mut is_auth, mut token) = (false, None);
    while let Some((key, value)) = members.next_member().ok()? {
        match key {
            "type" => is_auth = value == "\"auth\"",
            "token" => token = value.trim_matches('"').parse().ok(),
            _ => {}
        }
    }
    is_auth.then_some(token)
}

async fn first_frame(hub: &Hub, frames: &mut Frames) -> Result<(Principal, Option<Token>), Problem> {
    let no_token = || Problem::from(Denied::NoToken);
    let first = timeout(LOGIN_TIME, frames.recv()).await.map_err(|_| no_token())?;
    let Some(Heard::Text(text)) = first else { return Err(no_token()) };
    let token = shown_in(&text).flatten().ok_or_else(no_token)?;
    Ok((hub.principal(Some(&token))?, Some(token)))
}

fn log_in(hub: &Hub, name: &str, principal: Principal, token: Option<Token>) -> Result<Login, Problem> {
    let found = hub.find(name);
    let (_, key, dialect) = found.ok_or_else(|| Problem::nobody(name))?;
    principal.must_be(key)?;
    Ok(Login { principal, token, agent: Named { key, dialect } })
}

async fn talk(hub: Hub, manner: Manner, peer: Peer, socket: WebSocket) {
    let wishes = peer.wishes(hub.limits().lease_ms, manner.by);
    let Ok(subscription) = hub.node().subscribe(wishes).await else { return };
    let credit = subscription.credit();
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let WebSocket { frames, sink } = socket;
    let (out, outs) = mpsc::channel(WORK_MAX);
    let (command_sender, outcome_receiver) = command_channel(WORK_MAX);
    credit.add(WINDOW);
    let (login, shared) = (peer.login.clone(), Arc::clone(&ledger));
    let writer = Writer::new(hub.clone(), manner, login, subscription, shared, outcome_receiver, sink);
    let writing = tokio::spawn(writer.run(outs));
    let mut reader = Reader::new(hub, manner, &peer.login, credit, ledger, command_sender, out);
    reader.run(frames).await;
    drop(reader);
    // What was refused is still told, if somebody listens.
    drop(writing.await);
    drop(peer);
}
