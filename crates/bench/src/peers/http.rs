//! HTTP/1.1 as lean as a client of it can be: our native door without the socket.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::input::Input;
use super::speech::Publish;

/// Posts documents, one after the other on its connection.
pub(crate) struct Poster {
    path: &'static str,
    token: String,
    /// The status of every answer.
    status: u16,
}

/// Where records are created, at a PDS and at ours.
const CREATE_RECORD: &str = "/xrpc/com.atproto.repo.createRecord";

/// An answer: its status and its body.
type Answer<'i> = (u16, &'i [u8]);

impl Poster {
    pub(crate) fn new(token: &str, status: u16) -> Self {
        Poster { path: "/v1/messages", token: token.to_owned(), status }
    }

    /// One who posts records.
    pub(crate) fn of_records(token: &str) -> Self {
        Poster { path: CREATE_RECORD, token: token.to_owned(), status: 200 }
    }
}

impl Publish for Poster {
    fn publish(&mut self, document: &[u8], out: &mut Vec<u8>) {
        request("POST", self.path, &self.token, document, out);
    }

    fn answers(&mut self, input: &mut Input, _out: &mut Vec<u8>) -> anyhow::Result<u64> {
        let mut count = 0;
        while let Some(((status, body), length)) = answer(input.rest())? {
            ensure!(status == self.status, "the bus answered {status}: {}", String::from_utf8_lossy(body));
            input.consume(length);
            count += 1;
        }
        Ok(count)
    }
}

/// Asks one thing on a connection of its own and gives back the status and what the body says.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> anyhow::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    let (mut input, mut out) = (Input::default(), Vec::new());
    request(method, path, token, body.as_bytes(), &mut out);
    stream.write_all(&out)?;
    loop {
        if let Some(((status, body), _)) = answer(input.rest())? {
            return Ok((status, serde_json::from_slice(body).unwrap_or_default()));
        }
        input.fill_blocking(&mut stream).with_context(|| format!("{method} {path}"))?;
    }
}

fn request(method: &str, path: &str, token: &str, body: &[u8], out: &mut Vec<u8>) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(body);
}

/// Reads one answer off the front, and says how long it is; nothing if it is not all there.
pub(crate) fn answer(bytes: &[u8]) -> anyhow::Result<Option<(Answer<'_>, usize)>> {
    let Some(start) = super::document::after(bytes, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..start]).context("an answer that is not text")?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let status: u16 = status.context("an answer without a status")?;
    let lengths = lines.filter_map(|line| line.split_once(": "));
    let mut length =
        lengths.filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).map(|(_, value)| value);
    let length: usize = length.next().context("an answer without a length")?.parse()?;
    let body = bytes.get(start..start + length);
    Ok(body.map(|body| ((status, body), start + length)))
}

/// Fails until the server says that it is there.
pub(crate) fn greet(address: SocketAddr) -> anyhow::Result<()> {
    let (status, _) = ask(address, "GET", "/readyz", "", "")?;
    ensure!(status == 200, "the server answers {status}");
    Ok(())
}
