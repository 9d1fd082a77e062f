//! What came over a connection and was not read yet.

use std::io::{self, Read};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Room that there is at least before more is read.
const ROOM: usize = 256 << 10;

/// Bytes of which whole answers are taken off the front.
#[derive(Default)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    /// What is there.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Takes so much off the front.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
    }

    /// Adds what the other side has written meanwhile.
    pub(crate) async fn fill(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        self.make_room();
        let count = stream.read(&mut self.bytes[self.end..]).await?;
        self.add(count)
    }

    /// The same, and blocks.
    pub(crate) fn fill_blocking(&mut self, stream: &mut impl Read) -> io::Result<()> {
        self.make_room();
        let count = stream.read(&mut self.bytes[self.end..])?;
        self.add(count)
    }

    fn add(&mut self, count: usize) -> io::Result<()> {
        self.end += count;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed the connection"));
        }
        Ok(())
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.bytes.len() - self.end < ROOM / 2 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let length = (self.end + ROOM).max(self.bytes.len());
            self.bytes.resize(length, 0);
        }
    }
}

/// The first line of some bytes, without its end, and how long it is with it.
pub(crate) fn line(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let at = bytes.iter().position(|byte| *byte == b'\n')?;
    let text = &bytes[..at];
    Some((text.strip_suffix(b"\r").unwrap_or(text), at + 1))
}

/// The number at the end of a line.
pub(crate) fn last_number(line: &[u8]) -> Option<usize> {
    let word = line.rsplit(|byte| *byte == b' ').next()?;
    std::str::from_utf8(word).ok()?.parse().ok()
}
