//! NATS JetStream: its text protocol as far as a publisher and a consumer need it.
//!
//! A client of our own, because it spends less than the official one and leaves the processors to the server.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use super::input::{Input, last_number, line};
use super::speech::{Consume, Publish};

const STREAM: &str = "PEERS";
const CONSUMER: &str = "TAKERS";
const SUBJECT: &str = "peers.notes";
const INBOX: &str = "_INBOX.setting-up";
/// Messages that a consumer asks for at once; two such wishes are open at any time.
const PULL: u64 = 256;

/// Publishes one by one, each with its own acknowledgement.
pub(crate) struct Single {
    inbox: String,
}

/// Publishes in atomic batches, each acknowledged as a whole.
pub(crate) struct Batches {
    inbox: String,
    size: u64,
    batch: u64,
    /// How many of the batch were written.
    written: u64,
}

/// Takes and acknowledges message by message.
pub(crate) struct Taker {
    inbox: String,
    until_pull: u64,
}

/// One thing that the server said.
enum Heard<'i> {
    /// A message with where its acknowledgement goes, if anywhere.
    Message {
        reply: Option<&'i [u8]>,
        payload: &'i [u8],
    },
    /// A message that is only a status, such as the end of a wish.
    Status,
    Ping,
    Other,
}

/// Greets a server as a publisher. Whoever shares an inbox hears the answers to others.
pub(crate) fn hello_publisher(place: usize) -> Vec<u8> {
    hello(&publisher_inbox(place))
}

/// Greets a server as a publisher of batches.
pub(crate) fn hello_batches(place: usize) -> Vec<u8> {
    hello(&batches_inbox(place))
}

/// Greets a server as a consumer.
pub(crate) fn hello_taker(place: usize) -> Vec<u8> {
    hello(&taker_inbox(place))
}

/// Makes an empty stream and its consumer, or makes them anew.
pub(crate) fn make_stream(address: SocketAddr) -> anyhow::Result<()> {
    let mut talk = Talk::open(address)?;
    let deleted = talk.ask(&format!("$JS.API.STREAM.DELETE.{STREAM}"), "")?;
    let code = deleted["error"]["code"].as_u64();
    ensure!(code.is_none_or(|code| code == 404), "the old stream stays: {deleted}");
    let stream = json!({
        "name": STREAM, "subjects": ["peers.>"], "storage": "file", "num_replicas": 1, "retention": "limits",
        "discard": "new", "allow_atomic": true,
    });
    talk.must(&format!("$JS.API.STREAM.CREATE.{STREAM}"), &stream)?;
    let consumer = json!({
        "stream_name": STREAM,
        "config": {
            "durable_name": CONSUMER, "ack_policy": "explicit", "deliver_policy": "all",
            "max_ack_pending": 100_000, "max_waiting": 512,
        },
    });
    talk.must(&format!("$JS.API.CONSUMER.DURABLE.CREATE.{STREAM}.{CONSUMER}"), &consumer)?;
    Ok(())
}

/// Waits until a server answers.
pub(crate) fn greet(address: SocketAddr) -> anyhow::Result<()> {
    // JetStream comes up after the port does.
    let info = Talk::open(address)?.ask("$JS.API.INFO", "")?;
    ensure!(info["error"].is_null(), "JetStream is not up: {info}");
    Ok(())
}

impl Single {
    pub(crate) fn new(place: usize) -> Self {
        Single { inbox: publisher_inbox(place) }
    }
}

impl Publish for Single {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(format!("PUB {SUBJECT} {} {}\r\n", self.inbox, document.len()).as_bytes());
        out.extend_from_slice(document);
        out.extend_from_slice(b"\r\n");
    }

    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((heard, length)) = hear(input.rest())? {
            if let Heard::Message { payload, .. } = heard {
                check(payload)?;
                count += 1;
            }
            pong(&heard, out);
            input.consume(length);
        }
        Ok(count)
    }
}

impl Batches {
    pub(crate) fn new(place: usize, size: u64, first: u64) -> Self {
        Batches { inbox: batches_inbox(place), size, batch: first, written: 0 }
    }
}

impl Publish for Batches {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        self.written += 1;
        let is_last = self.written == self.size;
        let commit = if is_last { "Nats-Batch-Commit:1\r\n" } else { "" };
        let headers = format!(
            "NATS/1.0\r\nNats-Batch-Id:{}-{}\r\nNats-Batch-Sequence:{}\r\n{commit}\r\n",
            self.inbox, self.batch, self.written
        );
        let reply = if is_last { self.inbox.as_str() } else { "" };
        let total = headers.len() + document.len();
        out.extend_from_slice(format!("HPUB {SUBJECT} {reply} {} {total}\r\n", headers.len()).as_bytes());
        out.extend_from_slice(headers.as_bytes());
        out.extend_from_slice(document);
        out.extend_from_slice(b"\r\n");
        if is_last {
            (self.written, self.batch) = (0, self.batch + 1);
        }
    }

    fn answers(&mut self, input: &mut Input, out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((heard, length)) = hear(input.rest())? {
            if let Heard::Message { payload, .. } = heard {
                check(payload)?;
                count += self.size;
            }
            pong(&heard, out);
            input.consume(length);
        }
        Ok(count)
    }
}

impl Taker {
    pub(crate) fn new(place: usize) -> Self {
        Taker { inbox: taker_inbox(place), until_pull: PULL }
    }

    fn pull(&mut self, out: &mut Vec<u8>) {
        let wish = format!("{{\"batch\":{PULL},\"expires\":60000000000}}");
        let inbox = &self.inbox;
        let line =
            format!("PUB $JS.API.CONSUMER.MSG.NEXT.{STREAM}.{CONSUMER} {inbox} {}\r\n{wish}\r\n", wish.len());
        out.extend_from_slice(line.as_bytes());
        self.until_pull = PULL;
    }
}

impl Consume for Taker {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.pull(out);
        self.pull(out);
    }

    fn receive(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        seen: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((heard, length)) = hear(input.rest())? {
            if let Heard::Message { reply: Some(reply), payload } = heard {
                seen(payload);
                // An empty message is an acknowledgement.
                out.extend_from_slice(b"PUB ");
                out.extend_from_slice(reply);
                out.extend_from_slice(b" 0\r\n\r\n");
                count += 1;
                self.until_pull -= 1;
                if self.until_pull == 0 {
                    self.pull(out);
                }
            }
            pong(&heard, out);
            input.consume(length);
        }
        Ok(count)
    }
}

fn publisher_inbox(place: usize) -> String {
    format!("_INBOX.publisher{place}")
}

fn batches_inbox(place: usize) -> String {
    format!("_INBOX.batches{place}")
}

fn taker_inbox(place: usize) -> String {
    format!("_INBOX.taker{place}")
}

fn hello(inbox: &str) -> Vec<u8> {
    let options = "{\"verbose\":false,\"pedantic\":false,\"headers\":true,\"no_responders\":true}";
    format!("CONNECT {options}\r\nSUB {inbox} 1\r\n").into_bytes()
}

/// Reads one thing off the front, and says how long it is; nothing if it is not all there.
fn hear(bytes: &[u8]) -> anyhow::Result<Option<(Heard<'_>, usize)>> {
    let Some((head, start)) = line(bytes) else { return Ok(None) };
    if head.starts_with(b"MSG ") || head.starts_with(b"HMSG ") {
        let length = last_number(head).context("a message has no length")?;
        let end = start + length + 2;
        if bytes.len() < end {
            return Ok(None);
        }
        let payload = &bytes[start..start + length];
        let words: Vec<&[u8]> = head.split(|byte| *byte == b' ').collect();
        // `MSG subject sid [reply] length`
        let reply = (words.len() == 5).then(|| words[3]);
        if head.starts_with(b"HMSG ") {
            return Ok(Some((hear_headers(&words, payload)?, end)));
        }
        return Ok(Some((Heard::Message { reply, payload }, end)));
    }
    match head {
        b"PING" => Ok(Some((Heard::Ping, start))),
        b"PONG" | b"+OK" => Ok(Some((Heard::Other, start))),
        _ if head.starts_with(b"INFO ") => Ok(Some((Heard::Other, start))),
        _ => bail!("the NATS server said: {}", String::from_utf8_lossy(head)),
    }
}

/// Reads a message with headers: `HMSG subject sid [reply] header-length length`. One that has only headers is a status.
fn hear_headers<'i>(words: &[&'i [u8]], payload: &'i [u8]) -> anyhow::Result<Heard<'i>> {
    ensure!(!payload.starts_with(b"NATS/1.0 503"), "nobody listens to what we publish");
    let [.., header_length, _] = words else { bail!("a message has no lengths") };
    let header_length = last_number(header_length).context("a header has no length")?;
    let payload = payload.get(header_length..).unwrap_or_default();
    Ok(match words.len() {
        6 => Heard::Message { reply: Some(words[3]), payload },
        _ => Heard::Status,
    })
}

fn pong(heard: &Heard<'_>, out: &mut Vec<u8>) {
    if matches!(heard, Heard::Ping) {
        out.extend_from_slice(b"PONG\r\n");
    }
}

/// Refuses an acknowledgement that is none.
fn check(payload: &[u8]) -> anyhow::Result<()> {
    let is_error = payload.starts_with(b"{\"error\"");
    ensure!(!is_error, "JetStream said: {}", String::from_utf8_lossy(payload));
    Ok(())
}

/// A connection on which one thing is asked after the other.
struct Talk {
    stream: TcpStream,
    input: Input,
}

impl Talk {
    fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(&hello(INBOX))?;
        Ok(Talk { stream, input: Input::default() })
    }

    fn ask(&mut self, subject: &str, body: &str) -> anyhow::Result<Value> {
        let request = format!("PUB {subject} {} {}\r\n{body}\r\n", INBOX, body.len());
        self.stream.write_all(request.as_bytes())?;
        loop {
            while let Some((heard, length)) = hear(self.input.rest())? {
                let answer = match heard {
                    Heard::Message { payload, .. } => Some(serde_json::from_slice(payload)?),
                    Heard::Status | Heard::Ping | Heard::Other => None,
                };
                self.input.consume(length);
                if let Some(answer) = answer {
                    return Ok(answer);
                }
            }
            self.input.fill_blocking(&mut self.stream)?;
        }
    }

    fn must(&mut self, subject: &str, body: &Value) -> anyhow::Result<()> {
        let answer = self.ask(subject, &body.to_string())?;
        ensure!(answer["error"].is_null(), "{subject}: {answer}");
        Ok(())
    }
}
