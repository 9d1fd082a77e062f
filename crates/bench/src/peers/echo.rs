//! Sockets on which everybody writes to itself: what was written comes back through the bus, and that is its answer.

use anyhow::{bail, ensure};

use super::document::{after, agent};
use super::frames::{self, Frame, Writer};
use super::input::Input;
use super::socket;
use super::speech::Publish;

/// Credit that is never used up.
const CREDIT: &[u8] = br#"{"op":"credit","n":1000000000}"#;

/// The native socket: a receipt, a delivery and an acknowledgement for each document.
pub(crate) struct Native {
    writer: Writer,
    is_begun: bool,
    sent: u64,
}

/// The socket of the bus door: a frame there, a frame back, and the pong that settles it.
pub(crate) struct Bus {
    writer: Writer,
    /// Frames that came and are not settled yet.
    came: u64,
}

/// Asks for the socket of an agent at the bus door.
pub(crate) fn hello(place: usize, token: &str) -> Vec<u8> {
    socket::upgrade(&format!("/bus?agent_id={}", agent(place)), token)
}

/// Reads the answer to that; false if it is not all there.
pub(crate) fn is_open(input: &mut Input) -> anyhow::Result<bool> {
    let bytes = input.rest();
    let Some(end) = after(bytes, b"\r\n\r\n") else { return Ok(false) };
    let head = String::from_utf8_lossy(&bytes[..end]);
    ensure!(head.starts_with("HTTP/1.1 101"), "there is no socket: {}", String::from_utf8_lossy(bytes));
    input.consume(end);
    Ok(true)
}

impl Native {
    pub(crate) fn new() -> Self {
        Native { writer: Writer::new(), is_begun: false, sent: 0 }
    }
}

impl Publish for Native {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        if !self.is_begun {
            self.writer.text(&[CREDIT], out);
            self.is_begun = true;
        }
        let head = format!("{{\"op\":\"send\",\"ref\":\"{}\",\"document\":", self.sent);
        self.writer.text(&[head.as_bytes(), document, b"}"], out);
        self.sent += 1;
    }

    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((frame, length)) = frames::read(input.rest())? {
            match frame {
                Frame::Text(text) if text.starts_with(br#"{"op":"deliver""#) => {
                    let delivery = socket::delivery_in(text)?;
                    self.writer.text(&[br#"{"op":"ack","delivery":""#, delivery, b"\"}"], out);
                    count += 1;
                }
                Frame::Text(text) if text.starts_with(br#"{"op":"receipts""#) => {}
                Frame::Text(text) => bail!("the bus said: {}", String::from_utf8_lossy(text)),
                Frame::Ping(payload) => self.writer.pong(payload, out),
                Frame::Pong => {}
            }
            input.consume(length);
        }
        Ok(count)
    }
}

impl Bus {
    pub(crate) fn new() -> Self {
        Bus { writer: Writer::new(), came: 0 }
    }
}

impl Publish for Bus {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        self.writer.text(&[document], out);
    }

    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((frame, length)) = frames::read(input.rest())? {
            match frame {
                Frame::Text(text) if after(text, br#""message_type":"status_update""#).is_some() => {
                    self.came += 1;
                }
                Frame::Text(text) => bail!("the bus said: {}", String::from_utf8_lossy(text)),
                // The pong settles everything that came before the ping.
                Frame::Ping(payload) => {
                    self.writer.pong(payload, out);
                    count += std::mem::take(&mut self.came);
                }
                Frame::Pong => {}
            }
            input.consume(length);
        }
        Ok(count)
    }
}
