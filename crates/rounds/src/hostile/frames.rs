//! Frames: what a WebSocket may be sent, before and after it is known who sends it.

use anyhow::{Context, ensure};
use json::Value;

use super::Target;
use crate::doors::SocketDoor;
use crate::random::Dice;
use crate::socket::{BINARY, CLOSE, CONTINUATION, Came, PING, Socket, TEXT, frame, read};

/// Frames of text that are no order, or a wrong one.
const TEXTS: [&str; 26] = [
    "",
    "{}",
    "[]",
    "null",
    "hello",
    "{\"op\":1}",
    "{\"op\":\"fly\"}",
    "{\"op\":\"credit\"}",
    "{\"op\":\"credit\",\"n\":-1}",
    "{\"op\":\"credit\",\"n\":99999999999999999999}",
    "{\"op\":\"credit\",\"n\":\"many\"}",
    "{\"op\":\"ack\"}",
    "{\"op\":\"ack\",\"delivery\":\"x\"}",
    "{\"op\":\"ack\",\"delivery\":1,\"ref\":[]}",
    "{\"op\":\"nack\",\"delivery\":\"0193a5b0-0000-7000-8000-000000000001\",\"delay\":\"soon\"}",
    "{\"op\":\"extend\",\"delivery\":\"0193a5b0-0000-7000-8000-000000000001\"}",
    "{\"op\":\"surfaced\",\"delivery\":null}",
    "{\"op\":\"send\"}",
    "{\"op\":\"send\",\"document\":1}",
    "{\"op\":\"send\",\"document\":{},\"ref\":{\"a\":1}}",
    "{\"op\":\"send\",\"dialect\":\"klingon\",\"document\":{}}",
    "{\"op\":\"send\",\"document\":{\"convoke\":1,\"kind\":\"note\",\"from\":\"bob\",\"to\":[\"ann\"]}}",
    "{\"op\":\"send\",\"wait\":\"-1s\",\"document\":{}}",
    "{\"op\":\"auth\",\"token\":\"again\"}",
    "{\"op\":\"credit\",\"n\":1,\"n\":2}",
    "{\"op\":\"send\",\"document\":{\"text\":\"\\ud800\"}}",
];

pub(super) fn attack(target: &mut Target, dice: &mut Dice) -> anyhow::Result<()> {
    texts(target)?;
    let agent = target.agent.clone();
    // A stream has no frame in which to say who one is.
    let unknown = SocketDoor::ALL.into_iter().filter(|door| door.delivers()).map(|door| (door, ""));
    for (door, token) in SocketDoor::ALL.into_iter().map(|door| (door, agent.as_str())).chain(unknown) {
        for (what, bytes) in frames(dice) {
            target.count += 1;
            let what = || format!("{door:?}: {what}");
            let mut socket =
                Socket::at(target.server.address(), &door.path("ann"), token).with_context(what)?;
            // Who is cut off while writing has been answered.
            drop(socket.send_bytes(&bytes));
            drop(socket.line().end());
            socket.until_ended().with_context(what)?;
            target.server.must_be_well().with_context(what)?;
        }
    }
    Ok(())
}

/// Each wrong order is answered with an error, and the socket goes on.
fn texts(target: &mut Target) -> anyhow::Result<()> {
    let deep = format!("{{\"op\":\"send\",\"document\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let texts: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).chain([deep]).collect();
    let mut socket = Socket::open(target.server.address(), "ann", &target.agent, "")?;
    for text in texts {
        target.count += 1;
        let shown: String = text.chars().take(80).collect();
        socket.send(&text)?;
        socket.send(r#"{"op":"ack","delivery":"0193a5b0-0000-7000-8000-000000000001","ref":"mark"}"#)?;
        let mut errors = Vec::new();
        loop {
            let Came::Text(came) = socket.hear().with_context(|| shown.clone())? else {
                anyhow::bail!("{shown} closed the socket");
            };
            let value = read(&came).with_context(|| format!("{shown}: {came}"))?;
            if let Some(code) = value.get("code").and_then(Value::as_str) {
                ensure!(target.codes.contains(code), "{shown}: {code} is not documented");
                ensure!(!matches!(code, "internal" | "stored"), "{shown}: {came}");
                errors.push(code.to_owned());
            }
            if value.get("ref").and_then(Value::as_str) == Some("mark") {
                break;
            }
        }
        ensure!(!errors.is_empty(), "{shown} was not refused");
    }
    Ok(())
}

/// Frames that are wrong, and what is wrong with each.
fn frames(dice: &mut Dice) -> Vec<(&'static str, Vec<u8>)> {
    let good = br#"{"op":"credit","n":1}"#;
    let mut frames = vec![
        ("an empty frame", frame(TEXT, true, b"")),
        (
            "a frame in pieces",
            [frame(TEXT, false, &good[..5]), frame(CONTINUATION, true, &good[5..])].concat(),
        ),
        (
            "empty pieces without end",
            frame(TEXT, false, b"")
                .into_iter()
                .chain(frame(CONTINUATION, false, b"").repeat(5_000))
                .collect(),
        ),
        ("a piece of nothing", frame(CONTINUATION, true, good)),
        ("two beginnings", [frame(TEXT, false, good), frame(TEXT, false, good)].concat()),
        ("not UTF-8", frame(TEXT, true, b"\xff\xfe{")),
        (
            "half a character",
            frame(
                TEXT,
                true,
                "{\"op\":\"\u{e4}".as_bytes().split_last().map_or(b"" as &[u8], |(_, rest)| rest),
            ),
        ),
        ("bytes", frame(BINARY, true, good)),
        ("not masked", [&[0x81, good.len() as u8], good as &[u8]].concat()),
        ("a length without end", announced(u64::MAX)),
        ("a large length", announced(1 << 40)),
        ("too large", frame(TEXT, true, &vec![b' '; 9 << 20])),
        (
            "too large in pieces",
            frame(TEXT, false, &vec![b' '; 1 << 20])
                .into_iter()
                .chain(frame(CONTINUATION, false, &vec![b' '; 1 << 20]).repeat(9))
                .collect(),
        ),
        ("an unknown kind", frame(0x3, true, good)),
        ("an unknown control", frame(0xB, true, b"")),
        ("reserved bits", frame(TEXT | 0x40, true, good)),
        ("pings", frame(PING, true, b"x").repeat(2_000)),
        ("a long ping", frame(PING, true, &[b'x'; 200])),
        ("a ping in pieces", frame(PING, false, b"x")),
        ("a bad close", frame(CLOSE, true, b"\x00")),
        ("an odd close", frame(CLOSE, true, &9_999_u16.to_be_bytes())),
        ("HTTP", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("nothing", Vec::new()),
    ];
    let whole = frame(TEXT, true, br#"{"op":"auth","token":"x"}"#);
    for _ in 0..10 {
        frames.push(("half a frame", whole[..dice.index(whole.len())].to_vec()));
    }
    for _ in 0..20 {
        let noise = (0..dice.range(1, 200)).map(|_| (dice.draw() & 0xff) as u8).collect();
        frames.push(("noise", noise));
    }
    frames
}

/// The start of a frame that says how much is to come.
fn announced(length: u64) -> Vec<u8> {
    let mut bytes = vec![0x81, 0xff];
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes
}
