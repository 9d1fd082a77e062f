//! Redis streams: its protocol as far as a publisher and a consumer need it.
//!
//! A client of our own, because nothing is faster than writing commands and counting answers.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, bail, ensure};

use super::input::{Input, line};
use super::speech::{Consume, Publish};

const STREAM: &[u8] = b"peers";
const GROUP: &[u8] = b"takers";
/// Entries that a consumer asks for at once.
const COUNT: &[u8] = b"256";

/// Adds entries to the stream.
pub(crate) struct Adder;

/// Takes entries as a member of the group.
pub(crate) struct Taker {
    name: String,
    acks: Acks,
    /// Settled documents that each answer which is awaited stands for, oldest first.
    awaited: std::collections::VecDeque<u64>,
}

/// How entries are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Acks {
    /// A command for each.
    Single,
    /// A command for all that came together.
    Together,
}

/// A value of the protocol.
enum Reply<'i> {
    Text(&'i [u8]),
    Number,
    List(Vec<Reply<'i>>),
    Nothing,
}

/// Makes an empty stream with its group, or makes it anew.
pub(crate) fn make_stream(address: SocketAddr) -> anyhow::Result<()> {
    ask(address, &[b"FLUSHALL"])?;
    ask(address, &[b"XGROUP", b"CREATE", STREAM, GROUP, b"0", b"MKSTREAM"])
}

/// Waits until a server answers.
pub(crate) fn greet(address: SocketAddr) -> anyhow::Result<()> {
    ask(address, &[b"PING"])
}

impl Publish for Adder {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        command(&[b"XADD", STREAM, b"*", b"d", document], out);
    }

    fn answers(&mut self, input: &mut Input, _out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some((_, length)) = reply(input.rest())? {
            input.consume(length);
            count += 1;
        }
        Ok(count)
    }
}

impl Taker {
    pub(crate) fn new(place: usize, acks: Acks) -> Self {
        Taker { name: format!("taker{place}"), acks, awaited: std::collections::VecDeque::new() }
    }

    fn read(&mut self, out: &mut Vec<u8>) {
        let name = self.name.as_bytes();
        let words: [&[u8]; 11] =
            [b"XREADGROUP", b"GROUP", GROUP, name, b"COUNT", COUNT, b"BLOCK", b"0", b"STREAMS", STREAM, b">"];
        command(&words, out);
    }

    fn acknowledge(&mut self, ids: &[&[u8]], out: &mut Vec<u8>) {
        match self.acks {
            Acks::Single => {
                for id in ids {
                    command(&[b"XACK", STREAM, GROUP, id], out);
                    self.awaited.push_back(1);
                }
            }
            Acks::Together => {
                let words: Vec<&[u8]> =
                    [&b"XACK"[..], STREAM, GROUP].into_iter().chain(ids.iter().copied()).collect();
                command(&words, out);
                self.awaited.push_back(ids.len() as u64);
            }
        }
    }
}

impl Consume for Taker {
    fn begin(&mut self, out: &mut Vec<u8>) {
        self.read(out);
    }

    fn receive(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        seen: &mut dyn FnMut(&[u8]),
    ) -> anyhow::Result<u64> {
        let mut settled = 0;
        while let Some((heard, length)) = reply(input.rest())? {
            match heard {
                Reply::Number => {
                    settled += self.awaited.pop_front().context("an answer that nobody awaits")?
                }
                Reply::List(streams) => {
                    let ids = entries(&streams, seen);
                    self.acknowledge(&ids, out);
                    self.read(out);
                }
                Reply::Nothing => self.read(out),
                Reply::Text(_) => {}
            }
            input.consume(length);
        }
        Ok(settled)
    }
}

/// Shows the documents in what a reader was given, and returns the ids of their entries.
fn entries<'i>(streams: &[Reply<'i>], seen: &mut dyn FnMut(&[u8])) -> Vec<&'i [u8]> {
    let [Reply::List(stream)] = streams else { return Vec::new() };
    let [_, Reply::List(entries)] = stream.as_slice() else { return Vec::new() };
    let mut ids = Vec::with_capacity(entries.len());
    for entry in entries {
        let Reply::List(parts) = entry else { continue };
        let [Reply::Text(id), Reply::List(fields)] = parts.as_slice() else { continue };
        if let [_, Reply::Text(document)] = fields.as_slice() {
            seen(document);
        }
        ids.push(*id);
    }
    ids
}

fn command(words: &[&[u8]], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// Reads one value off the front, and says how long it is; nothing if it is not all there.
fn reply(bytes: &[u8]) -> anyhow::Result<Option<(Reply<'_>, usize)>> {
    let Some((head, start)) = line(bytes) else { return Ok(None) };
    let (kind, rest) = head.split_first().context("an empty answer")?;
    let number = || -> anyhow::Result<i64> { Ok(std::str::from_utf8(rest)?.parse()?) };
    match kind {
        b'+' => Ok(Some((Reply::Text(rest), start))),
        b':' => Ok(Some((Reply::Number, start))),
        b'$' => {
            let Ok(length) = usize::try_from(number()?) else { return Ok(Some((Reply::Nothing, start))) };
            let whole = bytes.len() >= start + length + 2;
            Ok(whole.then(|| (Reply::Text(&bytes[start..start + length]), start + length + 2)))
        }
        b'*' => {
            let Ok(count) = usize::try_from(number()?) else { return Ok(Some((Reply::Nothing, start))) };
            let (mut end, mut list) = (start, Vec::with_capacity(count));
            for _ in 0..count {
                let Some((value, length)) = reply(&bytes[end..])? else { return Ok(None) };
                list.push(value);
                end += length;
            }
            Ok(Some((Reply::List(list), end)))
        }
        _ => bail!("the Redis server said: {}", String::from_utf8_lossy(head)),
    }
}

/// Asks one thing on a connection of its own.
fn ask(address: SocketAddr, words: &[&[u8]]) -> anyhow::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let (mut input, mut out) = (Input::default(), Vec::new());
    command(words, &mut out);
    stream.write_all(&out)?;
    loop {
        if let Some((said, _)) = reply(input.rest())? {
            ensure!(matches!(said, Reply::Text(_)), "the Redis server did not say yes");
            return Ok(());
        }
        input.fill_blocking(&mut stream)?;
    }
}
