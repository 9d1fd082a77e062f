//! WebSockets: the upgrade of a request, and the two halves of what it becomes.
//!
//! Frames are read where their bytes came in and written behind each other, so many of them cost one call of the
//! system. The halves know nothing of what is said; whoever reads answers pings, by way of whoever writes.

use std::future::Future;
use std::io;
use std::time::Duration;

use axum::body::Body;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::timeout;
use websocket::{Frame, Reader, Wrong};

use crate::socket::{CloseFrame, WRITE_TIME};
use crate::{Code, Problem};

/// Bytes that are written at a time; what is put behind them waits.
const WRITE_BYTES: usize = 64 << 10;
/// Bytes of memory that a peer keeps to which little is written.
const QUIET_BYTES: usize = 4 << 10;
/// After how long a peer that says nothing has no more memory than it needs.
const QUIET_TIME: Duration = Duration::from_secs(1);

/// A request to go on as a WebSocket.
pub struct Upgrade {
    accept: String,
    upgrade: OnUpgrade,
    bytes_max: usize,
}

/// A connection that goes on as a WebSocket.
pub struct WebSocket {
    /// What the peer says.
    pub frames: Frames,
    /// What it is told.
    pub sink: Sink,
}

/// The half that is read.
pub struct Frames {
    half: ReadHalf<TokioIo<Upgraded>>,
    reader: Reader,
}

/// The half that is written.
pub struct Sink {
    half: WriteHalf<TokioIo<Upgraded>>,
    out: Vec<u8>,
}

/// A frame of somebody who says little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A text.
    Text(String),
    /// Bytes, which nobody wants.
    Binary,
    /// A ping, to be answered with the same payload.
    Ping(Vec<u8>),
    /// A sign of life.
    Pong,
    /// The peer says nothing more.
    Close,
}

impl<S: Sync> FromRequestParts<S> for Upgrade {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let not = |detail: &str| Problem::new(Code::NotAnUpgrade, detail);
        if parts.method != Method::GET {
            return Err(not("a WebSocket is opened by GET"));
        }
        if !lists(&parts.headers, header::CONNECTION, "upgrade") {
            return Err(not("`Connection` does not say `upgrade`"));
        }
        if !lists(&parts.headers, header::UPGRADE, "websocket") {
            return Err(not("`Upgrade` does not say `websocket`"));
        }
        if parts.headers.get(header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
            return Err(not("`Sec-WebSocket-Version` is not 13"));
        }
        let key = parts.headers.get(header::SEC_WEBSOCKET_KEY);
        let key = key.ok_or_else(|| not("there is no `Sec-WebSocket-Key`"))?;
        let accept = websocket::accept_key(key.as_bytes());
        let upgrade = parts.extensions.remove::<OnUpgrade>();
        let upgrade = upgrade.ok_or_else(|| not("this connection cannot be upgraded"))?;
        Ok(Upgrade { accept, upgrade, bytes_max: 0 })
    }
}

/// Tells whether a header lists a word, however it is written.
fn lists(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|item| item.trim().eq_ignore_ascii_case(word))
}

impl Upgrade {
    /// Sets how many bytes a message may have.
    pub fn of_bytes(self, bytes_max: usize) -> Self {
        Upgrade { bytes_max, ..self }
    }

    /// Answers that the connection goes on as a WebSocket, and has it served.
    pub fn serve<F>(self, serve: impl FnOnce(WebSocket) -> F + Send + 'static) -> Response
    where
        F: Future<Output = ()> + Send,
    {
        let Upgrade { accept, upgrade, bytes_max } = self;
        tokio::spawn(async move {
            // A peer that is gone already has nothing to say.
            let Ok(upgraded) = upgrade.await else { return };
            let (read, write) = tokio::io::split(TokioIo::new(upgraded));
            let frames = Frames { half: read, reader: Reader::new(bytes_max) };
            serve(WebSocket { frames, sink: Sink { half: write, out: Vec::new() } }).await;
        });
        let headers = [
            (header::CONNECTION, "upgrade"),
            (header::UPGRADE, "websocket"),
            (header::SEC_WEBSOCKET_ACCEPT, accept.as_str()),
        ];
        (StatusCode::SWITCHING_PROTOCOLS, headers, Body::empty()).into_response()
    }
}

impl Frames {
    /// Waits until more has come. May be given up and begun again.
    pub async fn more(&mut self) -> io::Result<()> {
        let read = match self.reader.is_large() {
            false => None,
            true => timeout(QUIET_TIME, self.half.read(self.reader.room())).await.ok(),
        };
        let count = match read {
            Some(read) => read?,
            None => {
                if self.reader.is_large() {
                    self.reader.shrink();
                }
                self.half.read(self.reader.room()).await?
            }
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.reader.came(count);
        Ok(())
    }

    /// Takes the next frame of what has come.
    pub fn take(&mut self) -> Result<Option<Frame<'_>>, Wrong> {
        self.reader.take()
    }

    /// Waits for a frame; nothing when there will be none. May be given up and begun again.
    pub async fn recv(&mut self) -> Option<Heard> {
        loop {
            match self.reader.take() {
                Ok(Some(frame)) => return Some(Heard::of(frame)),
                Ok(None) => {}
                Err(_) => return None,
            }
            self.more().await.ok()?;
        }
    }
}

impl Heard {
    fn of(frame: Frame<'_>) -> Self {
        match frame {
            Frame::Text(text) => Heard::Text(text.to_owned()),
            Frame::Binary(_) => Heard::Binary,
            Frame::Ping(payload) => Heard::Ping(payload.to_vec()),
            Frame::Pong(_) => Heard::Pong,
            Frame::Close(_) => Heard::Close,
        }
    }
}

impl Sink {
    /// Puts a text behind what waits to be written.
    pub fn text(&mut self, text: &str) {
        websocket::text(text, &mut self.out);
    }

    /// Puts a ping there.
    pub fn ping(&mut self, payload: &[u8]) {
        websocket::ping(payload, &mut self.out);
    }

    /// Puts the answer to a ping there.
    pub fn pong(&mut self, payload: &[u8]) {
        websocket::pong(payload, &mut self.out);
    }

    /// Writes what waits if that is much. Nothing when the peer is gone or takes nothing for too long.
    pub async fn flush_much(&mut self) -> Option<()> {
        if self.out.len() < WRITE_BYTES {
            return Some(());
        }
        self.flush().await
    }

    /// Writes what waits. Nothing when the peer is gone or takes nothing for too long.
    pub async fn flush(&mut self) -> Option<()> {
        if self.out.is_empty() {
            return Some(());
        }
        let mut written = 0;
        while written < self.out.len() {
            let count = timeout(WRITE_TIME, self.half.write(&self.out[written..])).await.ok()?.ok()?;
            if count == 0 {
                return None;
            }
            written += count;
        }
        self.out.clear();
        timeout(WRITE_TIME, self.half.flush()).await.ok()?.ok()
    }

    /// Gives back memory that a peer needs to which little is written.
    pub fn shrink(&mut self) {
        self.out.shrink_to(QUIET_BYTES);
    }

    /// Says that nothing more is said, and why; whoever does not listen is not told.
    pub async fn close(mut self, frame: CloseFrame) {
        websocket::close(frame.code, frame.reason, &mut self.out);
        let _told = self.flush().await;
    }
}
