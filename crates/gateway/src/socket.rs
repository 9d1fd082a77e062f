//! Sockets: what every door does with one, whatever goes over it.
//!
//! A door upgrades a connection and finds out who is there; here it becomes a session of an agent, which ends when the
//! connection does. The times and numbers are the same for all doors, so no peer is treated better than another.

use std::time::Duration;

use broker::{AgentKey, Command, Door, OpenSession, OpenedSession, SessionKey};
use message::DeliveryId;
use node::Wishes;
use tokio::sync::watch;
use tokio::time::Instant;
use websocket::{Frame, Wrong};

use crate::letters::BYTES_MAX;
use crate::websocket::{Frames, Upgrade};
use crate::{Caller, Code, Hub, Named, OpenConnection, Principal, Problem, Token};

/// How long somebody without a token in the head may take to show one.
pub const LOGIN_TIME: Duration = Duration::from_secs(10);
/// How long the registry may take to follow the state.
const REGISTRY_TIME: Duration = Duration::from_secs(1);
/// How often a silent peer is asked for a sign of life.
pub const PING_TIME: Duration = Duration::from_secs(30);
/// After how much silence a peer is cut.
pub const SILENCE_TIME: Duration = Duration::from_secs(90);
/// How long a peer may take to read what is written to it.
pub const WRITE_TIME: Duration = Duration::from_secs(30);
/// Pings that a peer may send within [`PING_TIME`]. Each is answered by itself, whether the peer reads the answers or not,
/// so more of them would fill the memory.
pub const PINGS_MAX: u32 = 1_000;
/// Frames that are handed to the node at a time.
pub const FRAMES_MAX: usize = 64;
/// Pieces of work of one socket that wait to be written at most.
pub const WORK_MAX: usize = 64;
/// Letters that leave the node for a socket at a time.
pub const LETTERS_MAX: u32 = 256;

/// Why a connection is closed, as WebSocket codes.
pub const CLOSE_NORMAL: u16 = 1000;
/// The bus stops.
pub const CLOSE_STOPPING: u16 = 1001;
/// The peer may not be here, or not any more.
pub const CLOSE_POLICY: u16 = 1008;

/// Bytes of a frame at most besides its document.
const FRAME_BYTES: usize = 64 << 10;

/// Why a connection is closed, as its peer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CloseFrame {
    /// The number.
    pub code: u16,
    /// A few words.
    pub reason: &'static str,
}

/// How reading goes on after some frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// There may be more of what has come.
    Here,
    /// The next frame is not all there.
    ToCome,
    /// Nothing more is read, and the peer is told why.
    Over(CloseFrame),
}

/// What a peer said that its door must look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spoken<'f> {
    /// A text, whatever kind of frame it came in.
    Text(&'f str),
    /// Bytes that are no text.
    NotText,
    /// The answer to a ping.
    Pong(&'f [u8]),
}

/// What is left to do when a chunk of frames was read.
#[derive(Debug)]
pub struct Chunk {
    /// The pings that are to be answered, by their payloads.
    pub pings: Vec<Vec<u8>>,
    /// How reading goes on.
    pub next: Next,
}

/// The pings of a peer, counted.
#[derive(Debug)]
pub struct Pings {
    since: Instant,
    count: u32,
}

/// Somebody who was let in.
#[derive(Clone, Debug)]
pub struct Login {
    /// Who it is.
    pub principal: Principal,
    /// By which token.
    pub token: Option<Token>,
    /// As which agent.
    pub agent: Named,
}

/// Who is at the other end of a socket.
pub struct Peer {
    /// Who was let in.
    pub login: Login,
    /// The session of the agent.
    pub session: Session,
    /// Its number among the agent's sessions.
    pub number: u32,
    _connection: OpenConnection,
}

/// A session that ends with this, whatever ended the connection.
pub struct Session {
    hub: Hub,
    /// Its key.
    pub key: SessionKey,
}

impl Next {
    /// Says goodbye to a peer that has said so.
    pub fn goodbye() -> Self {
        Next::Over(close(CLOSE_NORMAL, ""))
    }
}

impl Pings {
    /// Begins to count.
    #[expect(clippy::new_without_default, reason = "a count begins at a time, not by default")]
    pub fn new() -> Self {
        Pings { since: Instant::now(), count: 0 }
    }

    /// Counts one, and tells whether it is more than a peer may send.
    pub fn is_one_too_many(&mut self) -> bool {
        let now = Instant::now();
        if now.duration_since(self.since) > PING_TIME {
            *self = Pings { since: now, count: 0 };
        }
        self.count += 1;
        self.count > PINGS_MAX
    }
}

impl Login {
    /// Lets somebody in as an agent, by a token or without one.
    pub fn new(hub: &Hub, name: &str, token: Option<Token>) -> Result<Self, Problem> {
        let principal = hub.principal(token.as_ref())?;
        let caller = Caller { hub: hub.clone(), principal, token: token.clone() };
        let agent = caller.own(name)?;
        Ok(Login { principal: caller.principal, token, agent })
    }

    /// Waits, when a stream of messages has ended, until it is known why; tells whether that is because it is not let in
    /// any more, and not because the bus stops. The registry is read a moment after an agent is gone.
    pub async fn is_shut_out(&self, hub: &Hub, changes: &mut watch::Receiver<u64>) -> bool {
        let shut_out = async {
            while self.is_good(hub) {
                if hub.node().is_stopped() || changes.changed().await.is_err() {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(REGISTRY_TIME, shut_out).await.unwrap_or(false)
    }

    /// Tells whether it would be let in again: its token is good and its agent is there.
    pub fn is_good(&self, hub: &Hub) -> bool {
        let is_same = hub.principal(self.token.as_ref()).is_ok_and(|now| now == self.principal);
        is_same && hub.is_there(self.agent.key)
    }
}

impl Peer {
    /// Notes that an agent is connected.
    pub async fn open(hub: &Hub, login: Login) -> Result<Self, Problem> {
        let connection = hub.count_connection(&login.principal)?;
        let agent = login.agent.key;
        let OpenedSession { session, number } =
            hub.execute(OpenSession { agent, door: Door::Socket }).await?;
        let session = Session { hub: hub.clone(), key: session };
        Ok(Peer { login, session, number, _connection: connection })
    }

    /// Returns how letters are wanted over this connection.
    pub fn wishes(&self, lease_ms: u64, by: &str) -> Wishes {
        Wishes {
            agent: self.login.agent.key,
            session: Some(self.session.key),
            max: LETTERS_MAX,
            bytes_max: BYTES_MAX,
            lease_ms,
            by: by.into(),
        }
    }
}

impl Session {
    /// Sees to it that a session ends with this.
    pub fn new(hub: Hub, key: SessionKey) -> Self {
        Session { hub, key }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let session = self.key;
        // A session that the node ended itself is gone already.
        self.hub.node().note(Command::CloseSession { session });
    }
}

/// Sets what frames of a socket may have at most.
pub fn limited(hub: &Hub, upgrade: Upgrade) -> Upgrade {
    upgrade.of_bytes(hub.limits().body_bytes_max + FRAME_BYTES)
}

/// Reads what has come, a chunk of frames at most, and gives each that its door must look at to `each`.
pub fn take_chunk(frames: &mut Frames, count: &mut Pings, mut each: impl FnMut(Spoken<'_>)) -> Chunk {
    let mut pings = Vec::new();
    let mut next = Next::Here;
    for _ in 0..FRAMES_MAX {
        next = match frames.take() {
            Ok(Some(frame)) => match frame {
                Frame::Text(text) => {
                    each(Spoken::Text(text));
                    continue;
                }
                Frame::Binary(bytes) => {
                    each(std::str::from_utf8(bytes).map_or(Spoken::NotText, Spoken::Text));
                    continue;
                }
                Frame::Pong(payload) => {
                    each(Spoken::Pong(payload));
                    continue;
                }
                Frame::Ping(payload) if !count.is_one_too_many() => {
                    pings.push(payload.to_vec());
                    continue;
                }
                Frame::Ping(_) => Next::Over(too_many_pings()),
                Frame::Close(_) => Next::goodbye(),
            },
            Ok(None) => Next::ToCome,
            Err(error) => Next::Over(wrong(error)),
        };
        break;
    }
    Chunk { pings, next }
}

/// Says that deliveries were never written.
pub fn give_back(hub: &Hub, deliveries: Vec<(AgentKey, DeliveryId)>) {
    for (agent, delivery) in deliveries {
        // It may have ended meanwhile; then there is nothing to return.
        hub.node().note(Command::Return { agent, delivery });
    }
}

/// Waits until the bus stops.
pub async fn stops(stopping: &mut watch::Receiver<bool>) {
    // A hub that is gone has stopped.
    drop(stopping.wait_for(|stops| *stops).await.map(|_| ()));
}

/// Says that a peer sends too many pings.
pub fn too_many_pings() -> CloseFrame {
    close(CLOSE_POLICY, "too many pings")
}

/// Says what was wrong with a frame.
pub fn wrong(wrong: Wrong) -> CloseFrame {
    let reason = match wrong {
        Wrong::TooLarge { .. } => Code::TooLarge.name(),
        Wrong::NotText => "a text frame is UTF-8",
        Wrong::NotMasked
        | Wrong::Reserved
        | Wrong::Opcode(_)
        | Wrong::Control
        | Wrong::Pieces
        | Wrong::Close => "not a frame",
    };
    close(wrong.close_code(), reason)
}

/// Says why a connection is closed.
pub fn close(code: u16, reason: &'static str) -> CloseFrame {
    CloseFrame { code, reason }
}
