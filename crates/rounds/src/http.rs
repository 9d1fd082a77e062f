//! HTTP as bytes: a client that sends what it is told to, right or wrong, and reads whatever comes back.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use json::{Limits, Value};

/// How long an answer may take before a run fails; nothing here is meant to take that long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of an answer at most.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// One connection.
pub struct Line {
    stream: BufReader<TcpStream>,
    address: String,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Line {
    /// Opens a connection.
    pub fn connect(address: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Line { stream: BufReader::new(stream), address: address.to_owned() })
    }

    /// Makes a call and reads its answer; the connection can be used again.
    pub fn call(&mut self, method: &str, path: &str, token: &str, body: &str) -> io::Result<Answer> {
        self.call_with(method, path, token, "", body.as_bytes())
    }

    /// Makes a call with further headers, each with its line end.
    pub fn call_with(
        &mut self,
        method: &str,
        path: &str,
        token: &str,
        headers: &str,
        body: &[u8],
    ) -> io::Result<Answer> {
        let (address, length) = (&self.address, body.len());
        let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n{headers}");
        if !token.is_empty() {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        request.push_str(&format!("Content-Length: {length}\r\n\r\n"));
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        self.write(&bytes)?;
        self.answer()
    }

    /// Writes bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    /// Says that nothing more will be written.
    pub fn end(&self) -> io::Result<()> {
        self.stream.get_ref().shutdown(std::net::Shutdown::Write)
    }

    /// Reads an answer.
    pub fn answer(&mut self) -> io::Result<Answer> {
        loop {
            let head = self.head()?;
            let status: u16 = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(odd)?;
            // What comes before the answer proper has no body.
            if (100..200).contains(&status) && status != 101 {
                continue;
            }
            return self.answer_after(head);
        }
    }

    /// Reads the rest of an answer whose head was read.
    pub fn answer_after(&mut self, head: String) -> io::Result<Answer> {
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or_else(odd)?;
        let body = if status == 101 || status == 204 { Vec::new() } else { self.body(&head)? };
        Ok(Answer { status, head, body })
    }

    /// Reads one line, without its end; nothing when there is no more.
    pub fn text_line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        Ok(Some(line.trim_end().to_owned()))
    }

    /// Fills a buffer.
    pub fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.stream.read_exact(bytes)
    }

    /// Returns the socket beneath.
    pub fn tcp(&self) -> &TcpStream {
        self.stream.get_ref()
    }

    /// Reads a head up to its empty line.
    pub fn head(&mut self) -> io::Result<String> {
        let mut head = String::new();
        loop {
            let before = head.len();
            if self.stream.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if head[before..].trim_end().is_empty() {
                return Ok(head);
            }
        }
    }

    fn body(&mut self, head: &str) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if header(head, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
            while self.chunk(&mut body)? {}
            return Ok(body);
        }
        match header(head, "content-length").map(str::parse::<usize>) {
            Some(Ok(length)) if length <= ANSWER_BYTES_MAX => {
                body.resize(length, 0);
                self.stream.read_exact(&mut body)?;
            }
            Some(_) => return Err(odd()),
            None => drop(self.stream.read_to_end(&mut body)?),
        }
        Ok(body)
    }

    /// Reads a piece of a body, and tells whether there are more.
    pub fn chunk(&mut self, body: &mut Vec<u8>) -> io::Result<bool> {
        let size = self.text_line()?.ok_or(io::ErrorKind::UnexpectedEof)?;
        let size = usize::from_str_radix(&size, 16).map_err(|_| odd())?;
        if body.len() + size > ANSWER_BYTES_MAX {
            return Err(odd());
        }
        let before = body.len();
        body.resize(before + size, 0);
        self.stream.read_exact(&mut body[before..])?;
        self.text_line()?;
        Ok(size > 0)
    }
}

impl Answer {
    /// Returns the body as text.
    pub fn body_text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Reads the body as JSON.
    pub fn json(&self) -> Option<Value<'_>> {
        let limits = Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT };
        json::parse(&self.body, limits).ok()
    }

    /// Returns a text member of the body.
    pub fn text(&self, name: &str) -> Option<String> {
        Some(self.json()?.get(name)?.as_str()?.to_owned())
    }

    /// Returns a number of the body, found by a JSON Pointer.
    pub fn number(&self, pointer: &str) -> Option<u64> {
        u64::try_from(self.json()?.pointer(pointer)?.as_integer()?).ok()
    }

    /// Returns the code of a problem.
    pub fn code(&self) -> String {
        self.text("code").unwrap_or_default()
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body: String = self.body_text().chars().take(400).collect();
        write!(f, "{} {body}", self.status)
    }
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn odd() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is no answer")
}
