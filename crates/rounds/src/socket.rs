//! A WebSocket as bytes: frames right and wrong.

use std::io;
use std::time::Duration;

use json::{Limits, Value};

use crate::http::Line;

/// The key of the handshake; nothing depends on its value.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// The kinds of frames.
pub const CONTINUATION: u8 = 0x0;
/// A frame with text.
pub const TEXT: u8 = 0x1;
/// A frame with bytes.
pub const BINARY: u8 = 0x2;
/// A frame that ends the connection.
pub const CLOSE: u8 = 0x8;
/// A frame that must be answered.
pub const PING: u8 = 0x9;
const PONG: u8 = 0xA;

/// An open WebSocket.
pub struct Socket {
    line: Line,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// Text.
    Text(String),
    /// The end, with its code.
    Closed(u16),
}

impl Socket {
    /// Opens a socket of an agent and waits until the server has said that it is ready.
    pub fn open(address: &str, agent: &str, token: &str, query: &str) -> io::Result<Self> {
        let mut socket = Socket::shake_hands(address, agent, token, query)?;
        match socket.hear()? {
            Came::Text(text) if text.contains("\"ready\"") => Ok(socket),
            Came::Text(text) => Err(io::Error::other(format!("no welcome: {text}"))),
            Came::Closed(code) => Err(io::Error::other(format!("closed at once: {code}"))),
        }
    }

    /// Opens a socket of an agent, whatever the server says then.
    pub fn shake_hands(address: &str, agent: &str, token: &str, query: &str) -> io::Result<Self> {
        Socket::at(address, &format!("/v1/agents/{agent}/socket{query}"), token)
    }

    /// Opens a socket at a path.
    pub fn at(address: &str, path: &str, token: &str) -> io::Result<Self> {
        let mut line = Line::connect(address)?;
        let authorization =
            if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        line.write(request.as_bytes())?;
        let answer = line.answer()?;
        if answer.status != 101 {
            return Err(io::Error::other(format!("no socket: {answer}")));
        }
        Ok(Socket { line })
    }

    /// Sends text.
    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.line.write(&frame(TEXT, true, text.as_bytes()))
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.line.write(bytes)
    }

    /// Returns the next text; pings are answered on the way.
    pub fn hear(&mut self) -> io::Result<Came> {
        loop {
            let (kind, payload) = self.frame()?;
            match kind {
                TEXT => return Ok(Came::Text(String::from_utf8_lossy(&payload).into_owned())),
                CLOSE => {
                    let code = payload.first_chunk::<2>().map_or(1005, |code| u16::from_be_bytes(*code));
                    return Ok(Came::Closed(code));
                }
                PING => self.line.write(&frame(PONG, true, &payload))?,
                _ => {}
            }
        }
    }

    /// Returns the texts that come before the next ping, at least one, and answers the ping.
    pub fn hear_to_ping(&mut self) -> io::Result<Vec<String>> {
        let mut texts = Vec::new();
        loop {
            let (kind, payload) = self.frame()?;
            match kind {
                TEXT => texts.push(String::from_utf8_lossy(&payload).into_owned()),
                CLOSE => return Err(io::Error::other("closed instead of a ping")),
                PING => {
                    self.line.write(&frame(PONG, true, &payload))?;
                    if !texts.is_empty() {
                        return Ok(texts);
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads until the server ends the connection, whatever it says before. One that does neither is an error.
    pub fn until_ended(&mut self) -> io::Result<()> {
        loop {
            match self.hear() {
                Ok(Came::Text(_)) => {}
                Ok(Came::Closed(_)) => return Ok(()),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Err(io::Error::other("the socket neither answers nor ends"));
                }
                Err(_) => return Ok(()),
            }
        }
    }

    /// Says how long reading may take.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        self.line.tcp().set_read_timeout(Some(patience))
    }

    /// Returns the connection beneath.
    pub fn line(&self) -> &Line {
        &self.line
    }

    fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.line.read_exact(&mut head)?;
        let length = match head[1] & 0x7f {
            126 => {
                let mut length = [0; 2];
                self.line.read_exact(&mut length)?;
                usize::from(u16::from_be_bytes(length))
            }
            127 => {
                let mut length = [0; 8];
                self.line.read_exact(&mut length)?;
                usize::try_from(u64::from_be_bytes(length)).unwrap_or(usize::MAX)
            }
            short => usize::from(short),
        };
        if length > 64 << 20 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a frame without end"));
        }
        let mut payload = vec![0; length];
        self.line.read_exact(&mut payload)?;
        Ok((head[0] & 0x0f, payload))
    }
}

/// Writes a frame as a client must: masked.
pub fn frame(kind: u8, is_last: bool, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind | if is_last { 0x80 } else { 0 }];
    match u16::try_from(payload.len()) {
        Ok(short) if short < 126 => bytes.push(0x80 | u8::try_from(short).unwrap_or(0)),
        Ok(medium) => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&medium.to_be_bytes());
        }
        Err(_) => {
            bytes.push(0x80 | 127);
            bytes.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        }
    }
    bytes.extend_from_slice(&MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// Reads what came as JSON.
pub fn read(text: &str) -> Option<Value<'_>> {
    let limits = Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT };
    json::parse_str(text, limits).ok()
}
