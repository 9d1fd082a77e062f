//! WebSocket frames as a client writes and reads them, [RFC 6455, section 5](https://www.rfc-editor.org/rfc/rfc6455#section-5).

use anyhow::{bail, ensure};

const TEXT: u8 = 0x81;
const PONG: u8 = 0x8a;
const MASKED: u8 = 0x80;

/// Writes masked frames.
pub(crate) struct Writer {
    mask: u32,
}

/// What the server sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame<'i> {
    Text(&'i [u8]),
    Ping(&'i [u8]),
    Pong,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Writer { mask: 0x9e37_79b9 }
    }

    /// Writes a text of several parts as one frame.
    pub(crate) fn text(&mut self, parts: &[&[u8]], out: &mut Vec<u8>) {
        self.frame(TEXT, parts, out);
    }

    /// Answers a ping.
    pub(crate) fn pong(&mut self, payload: &[u8], out: &mut Vec<u8>) {
        self.frame(PONG, &[payload], out);
    }

    fn frame(&mut self, kind: u8, parts: &[&[u8]], out: &mut Vec<u8>) {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        out.push(kind);
        if let Ok(short) = u8::try_from(length)
            && short < 126
        {
            out.push(MASKED | short);
        } else if let Ok(medium) = u16::try_from(length) {
            out.push(MASKED | 126);
            out.extend_from_slice(&medium.to_be_bytes());
        } else {
            out.push(MASKED | 127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
        self.mask = self.mask.wrapping_mul(0x915f_77f5).wrapping_add(1);
        let mask = self.mask.to_ne_bytes();
        out.extend_from_slice(&mask);
        let start = out.len();
        for part in parts {
            out.extend_from_slice(part);
        }
        apply(mask, &mut out[start..]);
    }
}

/// Reads one frame off the front, and says how long it is; nothing if it is not all there.
pub(crate) fn read(bytes: &[u8]) -> anyhow::Result<Option<(Frame<'_>, usize)>> {
    let [kind, short, ..] = *bytes else { return Ok(None) };
    ensure!(short & MASKED == 0, "the server masks its frames");
    let (length, start) = match short {
        126 => match bytes.get(2..4) {
            Some(medium) => (usize::from(u16::from_be_bytes([medium[0], medium[1]])), 4),
            None => return Ok(None),
        },
        127 => match bytes.get(2..10).and_then(|long| <[u8; 8]>::try_from(long).ok()) {
            Some(long) => (usize::try_from(u64::from_be_bytes(long))?, 10),
            None => return Ok(None),
        },
        short => (usize::from(short), 2),
    };
    let Some(payload) = bytes.get(start..start + length) else { return Ok(None) };
    let frame = match kind {
        TEXT => Frame::Text(payload),
        0x89 => Frame::Ping(payload),
        PONG => Frame::Pong,
        0x88 => bail!(
            "the server closes the socket: {}",
            String::from_utf8_lossy(payload.get(2..).unwrap_or_default())
        ),
        other => bail!("the server sent a frame of kind {other:#x}"),
    };
    Ok(Some((frame, start + length)))
}

/// Masks eight bytes at a time.
pub(crate) fn apply(mask: [u8; 4], payload: &mut [u8]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (chunks, tail) = payload.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in tail.iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
}
