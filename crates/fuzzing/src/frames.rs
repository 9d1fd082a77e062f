//! WebSocket frames: read or refused alike, however their bytes come, and never more than may be said is kept.

use websocket::{Frame, Reader, Wrong};

const BYTES_MAX: usize = 1 << 16;

pub(crate) fn run(bytes: &[u8]) {
    let (portion, bytes) =
        bytes.split_first().map_or((1, bytes), |(first, rest)| (usize::from(*first) + 1, rest));
    assert_eq!(read(bytes, portion), read(bytes, usize::MAX), "in portions of {portion}");
}

/// Reads bytes that come in portions; returns what was said, and what was wrong.
fn read(bytes: &[u8], portion: usize) -> (Vec<String>, Option<Wrong>) {
    let (mut reader, mut said, mut rest) = (Reader::new(BYTES_MAX), Vec::new(), bytes);
    loop {
        loop {
            match reader.take() {
                Ok(Some(frame)) => {
                    if let Frame::Text(text) = frame {
                        assert!(text.len() <= BYTES_MAX, "a text of {} bytes", text.len());
                    }
                    said.push(format!("{frame:?}"));
                }
                Ok(None) => break,
                Err(wrong) => return (said, Some(wrong)),
            }
        }
        if rest.is_empty() {
            return (said, None);
        }
        let room = reader.room();
        let count = room.len().min(portion).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        reader.came(count);
        rest = &rest[count..];
    }
}
