//! Reading frames out of bytes as they come.

use std::ops::Range;

use crate::frame::{Close, Frame, Head, Opcode, Wrong, unmask};

/// Room of a reader that has read little.
const SMALL: usize = 4 << 10;
/// Room to which a reader grows only because much comes at once.
const LARGE: usize = 256 << 10;
/// What the largest head has.
const HEAD_BYTES_MAX: usize = 14;

/// Bytes that came and were not read yet, and the pieces of a message that is not whole.
#[derive(Debug)]
pub struct Reader {
    buffer: Vec<u8>,
    /// What of the buffer came and was not read yet.
    unread: Range<usize>,
    /// The pieces that came, and what they are pieces of.
    pieces: Vec<u8>,
    kind: Option<Kind>,
    bytes_max: usize,
}

/// What pieces are put together to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Binary,
}

/// A frame that is all there.
enum Found {
    /// A message in one piece, at its place in the buffer.
    Whole(Kind, Range<usize>),
    /// A message that was put together.
    Put(Kind),
    Ping(Range<usize>),
    Pong(Range<usize>),
    Close(Range<usize>),
}

impl Reader {
    /// Makes a reader of messages that have at most so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        Reader { buffer: Vec::new(), unread: 0..0, pieces: Vec::new(), kind: None, bytes_max }
    }

    /// Returns where more bytes are to be put, at least one; [`Reader::came`] says how many were.
    pub fn room(&mut self) -> &mut [u8] {
        if self.unread.is_empty() {
            self.unread = 0..0;
        }
        let is_half_full = self.unread.end > self.buffer.len() / 2;
        if is_half_full && self.unread.start > 0 {
            self.buffer.copy_within(self.unread.clone(), 0);
            self.unread = 0..self.unread.len();
        }
        if self.unread.end == self.buffer.len() {
            // Memory is taken as bytes come, whatever a head announces.
            let ceiling = self.bytes_max.saturating_add(HEAD_BYTES_MAX).max(self.buffer.len() + 1);
            self.buffer.resize((self.buffer.len() * 2).clamp(SMALL, ceiling.max(SMALL)), 0);
        }
        &mut self.buffer[self.unread.end..]
    }

    /// Says how many bytes were put into the room.
    pub fn came(&mut self, count: usize) {
        self.unread.end = (self.unread.end + count).min(self.buffer.len());
        // Whoever fills the room has more to say.
        if self.unread.end == self.buffer.len() && self.buffer.len() < LARGE {
            self.buffer.resize((self.buffer.len() * 2).clamp(SMALL, LARGE), 0);
        }
    }

    /// Tells whether it holds more memory than a silent peer is worth.
    pub fn is_large(&self) -> bool {
        self.unread.is_empty() && (self.buffer.len() > SMALL || self.pieces.capacity() > SMALL)
    }

    /// Gives back memory that nothing is in.
    pub fn shrink(&mut self) {
        if self.unread.is_empty() {
            (self.buffer, self.unread) = (Vec::new(), 0..0);
        }
        if self.kind.is_none() {
            self.pieces = Vec::new();
        }
    }

    /// Takes the next frame; nothing if it is not all there. After something wrong nothing more can be read.
    pub fn take(&mut self) -> Result<Option<Frame<'_>>, Wrong> {
        let Some(found) = self.find()? else { return Ok(None) };
        Ok(Some(match found {
            Found::Whole(kind, place) => kind.frame(&self.buffer[place])?,
            Found::Put(kind) => kind.frame(&self.pieces)?,
            Found::Ping(place) => Frame::Ping(&self.buffer[place]),
            Found::Pong(place) => Frame::Pong(&self.buffer[place]),
            Found::Close(place) => Frame::Close(Close::read(&self.buffer[place])?),
        }))
    }

    fn find(&mut self) -> Result<Option<Found>, Wrong> {
        loop {
            let Some(head) = Head::read(&self.buffer[self.unread.clone()])? else { return Ok(None) };
            let so_far = if self.kind.is_some() { self.pieces.len() } else { 0 };
            let is_too_large = |bytes: u64| bytes > (self.bytes_max - so_far.min(self.bytes_max)) as u64;
            if is_too_large(head.payload_bytes) {
                return Err(Wrong::TooLarge { bytes_max: self.bytes_max });
            }
            let begin = self.unread.start + head.bytes;
            // What is not too large fits into memory.
            let place = begin..begin + head.payload_bytes as usize;
            let Some(payload) = self.buffer.get_mut(place.clone()).filter(|_| place.end <= self.unread.end)
            else {
                return Ok(None);
            };
            unmask(head.mask, payload);
            self.unread.start = place.end;
            let kind = match head.opcode {
                Opcode::Ping => return Ok(Some(Found::Ping(place))),
                Opcode::Pong => return Ok(Some(Found::Pong(place))),
                Opcode::Close => return Ok(Some(Found::Close(place))),
                Opcode::Text => self.begins(Kind::Text)?,
                Opcode::Binary => self.begins(Kind::Binary)?,
                Opcode::Continuation => {
                    self.pieces.extend_from_slice(&self.buffer[place]);
                    match (self.kind.ok_or(Wrong::Pieces)?, head.is_last) {
                        (_, false) => continue,
                        (kind, true) => {
                            self.kind = None;
                            return Ok(Some(Found::Put(kind)));
                        }
                    }
                }
            };
            if head.is_last {
                return Ok(Some(Found::Whole(kind, place)));
            }
            self.kind = Some(kind);
            self.pieces.clear();
            self.pieces.extend_from_slice(&self.buffer[place]);
        }
    }

    /// Says of what kind a message is that begins, unless another one is not whole.
    fn begins(&self, kind: Kind) -> Result<Kind, Wrong> {
        if self.kind.is_some() { Err(Wrong::Pieces) } else { Ok(kind) }
    }
}

impl Kind {
    fn frame(self, payload: &[u8]) -> Result<Frame<'_>, Wrong> {
        match self {
            Kind::Text => std::str::from_utf8(payload).map(Frame::Text).map_err(|_| Wrong::NotText),
            Kind::Binary => Ok(Frame::Binary(payload)),
        }
    }
}
