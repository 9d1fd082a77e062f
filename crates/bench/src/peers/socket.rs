//! Our native socket, as lean as a client of it can be.

use std::collections::VecDeque;

use anyhow::{Context, bail, ensure};

use super::document::{after, agent};
use super::frames::{self, Frame, Writer};
use super::input::Input;
use super::speech::{Consume, Publish};

/// Deliveries for which there is credit at first; what is settled is replaced.
const CREDIT: u64 = 512;

/// Sends documents; receipts come for all that became durable together.
pub(crate) struct Sender {
    writer: Writer,
    sent: u64,
}

/// Takes deliveries and acknowledges each.
pub(crate) struct Taker {
    writer: Writer,
    /// Deliveries that each awaited confirmation stands for, oldest first.
    awaited: VecDeque<u64>,
    asked: u64,
}

/// Asks for the socket of an agent.
pub(crate) fn hello(place: usize, token: &str) -> Vec<u8> {
    upgrade(&format!("/v1/agents/{}/socket?receipts=together&lease=60s", agent(place)), token)
}

/// Asks for the socket at a path.
pub(crate) fn upgrade(path: &str, token: &str) -> Vec<u8> {
    format!(
        "GET {path} HTTP/1.1\r\nHost: localhost\r\n\
         Authorization: Bearer {token}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: cGVlcnMgYXJlIG1lYXN1cg==\r\n\r\n"
    )
    .into_bytes()
}

/// Reads the answer to that, and the first frame; false if it is not all there.
pub(crate) fn is_open(input: &mut Input) -> anyhow::Result<bool> {
    let bytes = input.rest();
    let Some(end) = after(bytes, b"\r\n\r\n") else { return Ok(false) };
    let head = String::from_utf8_lossy(&bytes[..end]);
    ensure!(head.starts_with("HTTP/1.1 101"), "there is no socket: {}", String::from_utf8_lossy(bytes));
    let mut read = end;
    while let Some((frame, length)) = frames::read(&bytes[read..])? {
        read += length;
        // A ping may come first; whatever we say later is a sign of life too.
        if let Frame::Text(text) = frame {
            ensure!(text.starts_with(br#"{"op":"ready""#), "not ready: {}", String::from_utf8_lossy(text));
            input.consume(read);
            return Ok(true);
        }
    }
    Ok(false)
}

impl Sender {
    pub(crate) fn new() -> Self {
        Sender { writer: Writer::new(), sent: 0 }
    }
}

impl Publish for Sender {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        let head = format!("{{\"op\":\"send\",\"ref\":\"{}\",\"document\":", self.sent);
        self.writer.text(&[head.as_bytes(), document, b"}"], out);
        self.sent += 1;
    }

    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((frame, length)) = frames::read(input.rest())? {
            match frame {
                Frame::Text(text) if text.starts_with(br#"{"op":"receipts""#) => count += count_in(text)?,
                Frame::Text(text) => bail!("the bus said: {}", String::from_utf8_lossy(text)),
                Frame::Ping(payload) => self.writer.pong(payload, out),
                Frame::Pong => {}
            }
            input.consume(length);
        }
        Ok(count)
    }
}

impl Taker {
    pub(crate) fn new() -> Self {
        Taker { writer: Writer::new(), awaited: VecDeque::new(), asked: 0 }
    }

    fn credit(&mut self, more: u64, out: &mut Vec<u8>) {
        self.writer.text(&[format!("{{\"op\":\"credit\",\"n\":{more}}}").as_bytes()], out);
    }

    /// Acknowledges a delivery; the last of those that came together is confirmed, and with it all before it.
    fn acknowledge(&mut self, delivery: &[u8], confirmed: Option<u64>, out: &mut Vec<u8>) {
        let head = br#"{"op":"ack","delivery":""#;
        match confirmed {
            None => self.writer.text(&[head, delivery, b"\"}"], out),
            Some(count) => {
                let end = format!("\",\"ref\":\"{}\"}}", self.asked);
                self.writer.text(&[head, delivery, end.as_bytes()], out);
                self.awaited.push_back(count);
                self.asked += 1;
            }
        }
    }
}

impl Consume for Taker {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.credit(CREDIT, out);
    }

    fn receive(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        seen: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<u64> {
        let (mut settled, mut came) = (0, 0);
        let mut last: Vec<u8> = Vec::new();
        while let Some((frame, length)) = frames::read(input.rest())? {
            match frame {
                Frame::Text(text) if text.starts_with(br#"{"op":"deliver""#) => {
                    seen(text);
                    if came > 0 {
                        self.acknowledge(&last, None, out);
                    }
                    last.clear();
                    last.extend_from_slice(delivery_in(text)?);
                    came += 1;
                }
                Frame::Text(text) if text.starts_with(br#"{"op":"done""#) => {
                    settled += self.awaited.pop_front().context("a confirmation that nobody awaits")?;
                }
                Frame::Text(text) => bail!("the bus said: {}", String::from_utf8_lossy(text)),
                Frame::Ping(payload) => self.writer.pong(payload, out),
                Frame::Pong => {}
            }
            input.consume(length);
        }
        if came > 0 {
            self.acknowledge(&last, Some(came), out);
            self.credit(came, out);
        }
        Ok(settled)
    }
}

/// Finds how many messages a receipt tells of.
fn count_in(text: &[u8]) -> anyhow::Result<u64> {
    let start = after(text, br#""count":"#).context("a receipt without a count")?;
    let digits = text[start..].iter().take_while(|byte| byte.is_ascii_digit());
    Ok(digits.fold(0, |count, digit| count * 10 + u64::from(digit - b'0')))
}

/// Finds the id of a delivery.
pub(crate) fn delivery_in(text: &[u8]) -> anyhow::Result<&[u8]> {
    let start = after(text, br#""delivery":""#).context("a delivery without its id")?;
    let length = text[start..].iter().position(|byte| *byte == b'"').context("an id without an end")?;
    Ok(&text[start..start + length])
}
