//! Writing frames, each behind what is there already.

use crate::frame::{CONTROL_BYTES_MAX, LENGTH_2, LENGTH_8, Opcode};

/// Writes a text.
pub fn text(text: &str, out: &mut Vec<u8>) {
    frame(Opcode::Text, text.as_bytes(), out);
}

/// Writes a ping; of a payload that is too long, its beginning.
pub fn ping(payload: &[u8], out: &mut Vec<u8>) {
    control(Opcode::Ping, payload, out);
}

/// Writes the answer to a ping.
pub fn pong(payload: &[u8], out: &mut Vec<u8>) {
    control(Opcode::Pong, payload, out);
}

/// Writes that nothing more is said, and why: a number, and a few words.
pub fn close(code: u16, reason: &str, out: &mut Vec<u8>) {
    let mut payload = Vec::with_capacity(CONTROL_BYTES_MAX);
    payload.extend_from_slice(&code.to_be_bytes());
    let length = reason.floor_char_boundary(CONTROL_BYTES_MAX - payload.len());
    payload.extend_from_slice(&reason.as_bytes()[..length]);
    frame(Opcode::Close, &payload, out);
}

fn control(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    frame(opcode, &payload[..payload.len().min(CONTROL_BYTES_MAX)], out);
}

fn frame(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    out.push(opcode.whole());
    let length = payload.len();
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < LENGTH_2 => out.push(short),
        (_, Ok(medium)) => {
            out.push(LENGTH_2);
            out.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            out.push(LENGTH_8);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(payload);
}
