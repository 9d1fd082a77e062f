//! Frames of clients, good, in pieces and bad, in whatever portions their bytes come.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Close, Frame, Reader, Wrong, accept_key, close, ping, pong, text};

const BYTES_MAX: usize = 100_000;

/// What was read, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Said {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong(Vec<u8>),
    Close(Option<u16>),
}

/// Writes a frame as a client does.
fn client(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [0x37, 0xfa, 0x21, 0x3d];
    let mut out = vec![first];
    match payload.len() {
        length @ 0..126 => out.push(0x80 | length as u8),
        length @ 126..65_536 => {
            out.push(0x80 | 126);
            out.extend((length as u16).to_be_bytes());
        }
        length => {
            out.push(0x80 | 127);
            out.extend((length as u64).to_be_bytes());
        }
    }
    out.extend(mask);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    out
}

/// Reads bytes that come in portions.
fn read(bytes: &[u8], portion: usize) -> (Vec<Said>, Option<Wrong>) {
    let (mut reader, mut said) = (Reader::new(BYTES_MAX), Vec::new());
    let mut rest = bytes;
    loop {
        loop {
            match reader.take() {
                Ok(Some(frame)) => said.push(owned(frame)),
                Ok(None) => break,
                Err(wrong) => return (said, Some(wrong)),
            }
        }
        if rest.is_empty() {
            return (said, None);
        }
        let room = reader.room();
        let count = room.len().min(portion).min(rest.len());
        assert!(count > 0, "there is always room");
        room[..count].copy_from_slice(&rest[..count]);
        reader.came(count);
        rest = &rest[count..];
    }
}

fn owned(frame: Frame<'_>) -> Said {
    match frame {
        Frame::Text(text) => Said::Text(text.to_owned()),
        Frame::Binary(bytes) => Said::Binary(bytes.to_vec()),
        Frame::Ping(payload) => Said::Ping(payload.to_vec()),
        Frame::Pong(payload) => Said::Pong(payload.to_vec()),
        Frame::Close(code) => Said::Close(code.map(|Close(code)| code)),
    }
}

fn said(text: &str) -> Said {
    Said::Text(text.to_owned())
}

#[test]
fn the_key_of_the_specification_is_accepted_as_it_says() {
    assert_eq!(accept_key(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

#[test]
fn the_masked_frame_of_the_specification_says_hello() {
    let bytes = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    assert_eq!(read(&bytes, 1), (vec![said("Hello")], None));
}

#[test]
fn pieces_are_put_together_and_control_frames_come_between_them() {
    let frames = [
        client(0x01, b"one "),
        client(0x89, b"here?"),
        client(0x00, b"two "),
        client(0x8a, b""),
        client(0x80, b"three"),
        client(0x02, &[0xff]),
        client(0x80, &[0xfe]),
        client(0x88, &1000_u16.to_be_bytes()),
    ];
    let expected = vec![
        Said::Ping(b"here?".to_vec()),
        Said::Pong(Vec::new()),
        said("one two three"),
        Said::Binary(vec![0xff, 0xfe]),
        Said::Close(Some(1000)),
    ];
    for portion in [1, 2, 3, 7, 4_096] {
        assert_eq!(read(&frames.concat(), portion), (expected.clone(), None), "{portion}");
    }
}

#[test]
fn what_a_client_may_not_write_ends_the_connection_with_its_code() {
    let long = vec![b'a'; BYTES_MAX];
    let cases: &[(&str, Vec<u8>, Wrong, u16)] = &[
        ("no mask", vec![0x81, 0x01, b'a'], Wrong::NotMasked, 1002),
        ("a compressed frame", client(0xc1, b"a"), Wrong::Reserved, 1002),
        ("a kind of data that is not there", client(0x83, b"a"), Wrong::Opcode(3), 1002),
        ("a kind of control that is not there", client(0x8b, b"a"), Wrong::Opcode(11), 1002),
        ("a ping in pieces", client(0x09, b"a"), Wrong::Control, 1002),
        ("a ping that is long", client(0x89, &[0; 126]), Wrong::Control, 1002),
        ("a piece of nothing", client(0x80, b"a"), Wrong::Pieces, 1002),
        ("a first piece of nothing", client(0x00, b"a"), Wrong::Pieces, 1002),
        ("two texts at once", [client(0x01, b"a"), client(0x81, b"b")].concat(), Wrong::Pieces, 1002),
        ("half a number", client(0x88, &[3]), Wrong::Close, 1002),
        ("a number that nobody sends", client(0x88, &1005_u16.to_be_bytes()), Wrong::Close, 1002),
        ("a reason that is no text", client(0x88, &[3, 232, 0xff]), Wrong::Close, 1002),
        ("a text that is none", client(0x81, &[0xc3, 0x28]), Wrong::NotText, 1007),
        ("pieces of no text", [client(0x01, &[0xc3]), client(0x80, &[0x28])].concat(), Wrong::NotText, 1007),
        ("a text that is too large", client(0x81, &[long.as_slice(), b"a"].concat()), TOO_LARGE, 1009),
        ("pieces that are", [client(0x01, &long), client(0x80, b"a")].concat(), TOO_LARGE, 1009),
        ("one that says so", [&[0x82, 0xff][..], &[0x7f; 8], &[0; 4]].concat(), TOO_LARGE, 1009),
        ("one that says more", [&[0x82, 0xff][..], &[0xff; 8], &[0; 4]].concat(), TOO_LARGE, 1009),
    ];
    for (name, bytes, wrong, code) in cases {
        for portion in [1, 5, 1 << 20] {
            assert_eq!(read(bytes, portion).1, Some(*wrong), "{name}");
        }
        assert_eq!(wrong.close_code(), *code, "{name}");
    }
}

const TOO_LARGE: Wrong = Wrong::TooLarge { bytes_max: BYTES_MAX };

#[test]
fn a_character_may_stand_in_two_pieces() {
    let frames = [client(0x01, &[0xc3]), client(0x80, &[0xa4])].concat();
    assert_eq!(read(&frames, 1), (vec![said("ä")], None));
}

#[test]
fn memory_is_taken_as_bytes_come_and_given_back() {
    let mut reader = Reader::new(BYTES_MAX);
    let announced = client(0x81, &vec![b'a'; BYTES_MAX]);
    reader.room()[..100].copy_from_slice(&announced[..100]);
    reader.came(100);
    assert_eq!(reader.take(), Ok(None));
    assert!(reader.room().len() < 8_192, "nothing is taken for what is only announced");
    let mut rest = &announced[100..];
    while !rest.is_empty() {
        let room = reader.room();
        let count = room.len().min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        reader.came(count);
        rest = &rest[count..];
    }
    assert!(matches!(reader.take(), Ok(Some(Frame::Text(text))) if text.len() == BYTES_MAX));
    assert!(reader.is_large());
    reader.shrink();
    assert!(!reader.is_large());
    assert_eq!(reader.take(), Ok(None));
}

#[test]
fn what_a_server_writes_is_as_the_specification_says() {
    let mut out = Vec::new();
    text("Hello", &mut out);
    ping(b"Hello", &mut out);
    pong(&[b'x'; 200], &mut out);
    close(1008, &"ä".repeat(100), &mut out);
    let written = [
        [&[0x81, 0x05][..], b"Hello"].concat(),
        [&[0x89, 0x05][..], b"Hello"].concat(),
        [&[0x8a, 125][..], &[b'x'; 125]].concat(),
        [&[0x88, 124, 3, 240][..], "ä".repeat(61).as_bytes()].concat(),
    ];
    assert_eq!(out, written.concat());
    for (length, head) in [(125, vec![0x81, 125]), (126, vec![0x81, 126, 0, 126])] {
        let mut out = Vec::new();
        text(&"a".repeat(length), &mut out);
        assert_eq!(out[..head.len()], head);
    }
    let mut out = Vec::new();
    text(&"a".repeat(65_536), &mut out);
    assert_eq!(out[..10], [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
}

proptest! {
    #[test]
    fn texts_are_read_as_they_were_written_however_their_bytes_come(
        texts in vec("(?s).{0,300}", 1..8),
        pieces in 1_usize..5,
        portion in 1_usize..600,
    ) {
        let mut bytes = Vec::new();
        for text in &texts {
            let length = text.len().div_ceil(pieces).max(1);
            let parts: Vec<&[u8]> = text.as_bytes().chunks(length).collect();
            let count = parts.len().max(1);
            for place in 0..count {
                let opcode = u8::from(place == 0);
                let last = if place + 1 == count { 0x80 } else { 0 };
                bytes.extend(client(opcode | last, parts.get(place).copied().unwrap_or_default()));
            }
        }
        let expected: Vec<Said> = texts.iter().map(|text| said(text)).collect();
        prop_assert_eq!(read(&bytes, portion), (expected, None));
    }

    #[test]
    fn any_bytes_are_read_or_refused_alike_however_they_come(bytes in vec(any::<u8>(), 0..400), portion in 1_usize..50) {
        prop_assert_eq!(read(&bytes, portion), read(&bytes, 400));
    }
}
