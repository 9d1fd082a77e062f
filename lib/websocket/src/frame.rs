//! Frames: their heads, their kinds, and what may be wrong with them.

/// Bytes of a control frame's payload at most.
pub(crate) const CONTROL_BYTES_MAX: usize = 125;
/// Says that two bytes of length follow, or eight.
pub(crate) const LENGTH_2: u8 = 126;
pub(crate) const LENGTH_8: u8 = 127;

const LAST: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

/// What a peer said; fragments are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'r> {
    /// A text.
    Text(&'r str),
    /// Bytes.
    Binary(&'r [u8]),
    /// A question for a sign of life, to be answered by a pong with the same payload.
    Ping(&'r [u8]),
    /// The answer to a ping.
    Pong(&'r [u8]),
    /// The peer says nothing more.
    Close(Option<Close>),
}

/// Why a peer closes a connection, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close(pub u16);

/// Why a connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Clients mask what they send.
    #[error("a client's frame is not masked")]
    NotMasked,
    /// Bits are set that mean nothing without an extension.
    #[error("reserved bits are set, and no extension was agreed on")]
    Reserved,
    /// There is no such kind of frame.
    #[error("there is no frame of the kind {0}")]
    Opcode(u8),
    /// A control frame is in pieces or too long.
    #[error("a control frame is in pieces or has more than 125 bytes")]
    Control,
    /// A piece does not follow another, or another message begins between pieces.
    #[error("the pieces of a message are mixed up")]
    Pieces,
    /// A close frame says something that it may not.
    #[error("a close frame is not one")]
    Close,
    /// A text is not UTF-8.
    #[error("a text is not UTF-8")]
    NotText,
    /// A message is larger than it may be.
    #[error("a message has more than {bytes_max} bytes")]
    TooLarge {
        /// What it may have.
        bytes_max: usize,
    },
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opcode {
    Continuation,
    Text,
    Binary,
    Close,
    Ping,
    Pong,
}

/// What stands before a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) opcode: Opcode,
    pub(crate) is_last: bool,
    pub(crate) mask: [u8; 4],
    /// Bytes of the head itself.
    pub(crate) bytes: usize,
    /// Bytes of the payload.
    pub(crate) payload_bytes: u64,
}

impl Wrong {
    /// Returns the number by which the peer is told.
    pub fn close_code(self) -> u16 {
        match self {
            Wrong::NotMasked
            | Wrong::Reserved
            | Wrong::Opcode(_)
            | Wrong::Control
            | Wrong::Pieces
            | Wrong::Close => 1002,
            Wrong::NotText => 1007,
            Wrong::TooLarge { .. } => 1009,
        }
    }
}

impl Opcode {
    fn read(bits: u8) -> Result<Self, Wrong> {
        Ok(match bits {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            other => return Err(Wrong::Opcode(other)),
        })
    }

    /// Returns the first byte of a whole frame of this kind.
    pub(crate) fn whole(self) -> u8 {
        LAST | match self {
            Opcode::Continuation => 0,
            Opcode::Text => 1,
            Opcode::Binary => 2,
            Opcode::Close => 8,
            Opcode::Ping => 9,
            Opcode::Pong => 10,
        }
    }

    fn is_control(self) -> bool {
        match self {
            Opcode::Close | Opcode::Ping | Opcode::Pong => true,
            Opcode::Continuation | Opcode::Text | Opcode::Binary => false,
        }
    }
}

impl Head {
    /// Reads the head of a client's frame; nothing if it is not all there.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<Self>, Wrong> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        if first & RESERVED != 0 {
            return Err(Wrong::Reserved);
        }
        let (opcode, is_last) = (Opcode::read(first & 0x0f)?, first & LAST != 0);
        if second & MASKED == 0 {
            return Err(Wrong::NotMasked);
        }
        let short = second & !MASKED;
        if opcode.is_control() && (!is_last || usize::from(short) > CONTROL_BYTES_MAX) {
            return Err(Wrong::Control);
        }
        let (length_bytes, payload_bytes) = match short {
            LENGTH_2 => (2, rest.first_chunk().map(|length| u64::from(u16::from_be_bytes(*length)))),
            LENGTH_8 => (8, rest.first_chunk().map(|length| u64::from_be_bytes(*length))),
            short => (0, Some(u64::from(short))),
        };
        let mask = rest.get(length_bytes..).and_then(<[u8]>::first_chunk);
        let Some((payload_bytes, mask)) = payload_bytes.zip(mask) else { return Ok(None) };
        Ok(Some(Head { opcode, is_last, mask: *mask, bytes: 2 + length_bytes + mask.len(), payload_bytes }))
    }
}

impl Close {
    /// Reads the payload of a close frame.
    pub(crate) fn read(payload: &[u8]) -> Result<Option<Self>, Wrong> {
        let Some((code, reason)) = payload.split_first_chunk() else {
            return if payload.is_empty() { Ok(None) } else { Err(Wrong::Close) };
        };
        let code = u16::from_be_bytes(*code);
        let may_be_sent = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
        if !may_be_sent || std::str::from_utf8(reason).is_err() {
            return Err(Wrong::Close);
        }
        Ok(Some(Close(code)))
    }
}

/// Takes a client's mask off a payload.
pub(crate) fn unmask(mask: [u8; 4], payload: &mut [u8]) {
    let [a, b, c, d] = mask;
    let twice = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (words, rest) = payload.as_chunks_mut();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ twice).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}
