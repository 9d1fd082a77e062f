//! Bodies: truncated, huge, deep, mistyped, in encodings that nobody asked for.

use super::{Call, Expect, Target};
use crate::random::Dice;

/// A document that is right, to be spoilt.
const DOCUMENT: &str = r#"{"convoke":1,"native_id":"n-1","kind":"task.request","from":"ann","to":["human"],"thread":"t-1","task":"task-9","text":"Please review","data":{"a":[1,2,{"b":null}]},"attachments":[{"uri":"blob:x","name":"a.diff","size":12}],"priority":"high","expires":"2999-01-01T00:00:00Z","delivery":{"mode":"async","guarantee":"at_least_once","timeout":"300s","retries":2,"fallback":["human"]},"metrics":{"duration_ms":12,"tokens":300,"cost_usd":0.25}}"#;
const TAKE: &str = r#"{"max":10,"max_tokens":1000,"wait":"0s","lease":"60s","dialect":"wire"}"#;
const AGENT: &str = r#"{"dialect":"wire","framework":"x","did":"did:web:a.b","handle":"a.b","uri":"codex://a","roles":["r"],"speaks_for":["ann"],"expires":"30d"}"#;
const SETTLE: &str = r#"{"reason":"x","delay":"5s","by":"me","lease":"60s","retryable":true}"#;

/// Values to put where others belong.
const VALUES: [&str; 16] = [
    "null",
    "true",
    "-1",
    "1e999",
    "99999999999999999999999999",
    "0.1",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "{\"a\":{}}",
    "\"\\u0000\"",
    "\"9999999999999999d\"",
    "\"2026-02-30T25:61:61Z\"",
];

/// Every call with every kind of body once, and some more by chance.
pub(super) fn attack(target: &mut Target, dice: &mut Dice, extra: usize) -> anyhow::Result<()> {
    for call in target.calls.clone() {
        let good = good_body(&call);
        for (kind, body) in spoilt(good, dice) {
            send(target, &call, "", &body, kind)?;
        }
        for _ in 0..extra {
            let body = mistyped(good, dice);
            send(target, &call, "", body.as_bytes(), "mistyped")?;
            let body = flipped(good, dice);
            send(target, &call, "", &body, "flipped")?;
        }
        let dialects = ["bus", "coord", "comms", "channel", "wire", "auto", "convoke", "klingon"];
        let header = format!("Convoke-Dialect: {}\r\n", dice.pick(&dialects));
        send(target, &call, &header, good.as_bytes(), "another dialect")?;
    }
    // The largest ones cost time, and whoever reads bodies reads them the same way.
    let post = Call { method: "POST".to_owned(), path: "/v1/messages".to_owned() };
    for (kind, body) in huge() {
        send(target, &post, "", &body, kind)?;
        let batch = Call { method: "POST".to_owned(), path: "/v1/messages/batch".to_owned() };
        send(target, &batch, "", &body, kind)?;
    }
    Ok(())
}

fn send(target: &mut Target, call: &Call, headers: &str, body: &[u8], kind: &str) -> anyhow::Result<()> {
    let Call { method, path } = call;
    let mut bytes = format!("{}{headers}Content-Length: {}\r\n\r\n", target.head(method, path), body.len());
    // One request a connection: nobody waits for a second one.
    bytes.insert_str(bytes.len() - 2, "Connection: close\r\n");
    let mut bytes = bytes.into_bytes();
    bytes.extend_from_slice(body);
    // A body of which more comes than is read may break the connection before the refusal is read.
    let expect = if body.len() > 1 << 20 { Expect::AnswerOrEnd } else { Expect::Answer };
    target.send(&bytes, expect, &format!("{method} {path}, {kind}"))
}

fn good_body(call: &Call) -> &'static str {
    match call.path.rsplit('/').next() {
        Some("take") => TAKE,
        Some("ack") => SETTLE,
        _ if call.path.starts_with("/v1/agents") => AGENT,
        _ => DOCUMENT,
    }
}

fn spoilt(good: &str, dice: &mut Dice) -> Vec<(&'static str, Vec<u8>)> {
    let middle = 1 + dice.index(good.len() - 1);
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut broken_utf8 = good.as_bytes().to_vec();
    broken_utf8[middle] = 0xff;
    let depth = 20_000;
    vec![
        ("right", good.as_bytes().to_vec()),
        ("empty", Vec::new()),
        ("truncated", good.as_bytes()[..middle].to_vec()),
        ("mistyped", mistyped(good, dice).into_bytes()),
        ("UTF-16", utf16),
        ("a byte order mark", [b"\xef\xbb\xbf", good.as_bytes()].concat()),
        ("not UTF-8", broken_utf8),
        ("a surrogate alone", br#"{"text":"\ud800"}"#.to_vec()),
        ("NUL", vec![0; 100]),
        ("deep", [b"[".repeat(depth), b"]".repeat(depth)].concat()),
        ("deep and open", br#"{"a":"#.repeat(depth)),
        ("a key twice", br#"{"from":"ann","from":"bob","to":["x"],"to":["y"]}"#.to_vec()),
        ("a long number", format!("{{\"max\":{}}}", "9".repeat(10_000)).into_bytes()),
        ("a scalar", b"42".to_vec()),
        ("null", b"null".to_vec()),
        ("a list", b"[{},{},1]".to_vec()),
        ("text", b"hello".to_vec()),
        ("a form", b"from=ann&to=bob&text=hello".to_vec()),
        ("gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03".to_vec()),
        ("many lines", b"{}\n".repeat(2_000)),
        ("many keys", many_keys()),
    ]
}

fn many_keys() -> Vec<u8> {
    let members: Vec<String> = (0..5_000).map(|number| format!("\"k{number}\":{number}")).collect();
    format!("{{{}}}", members.join(",")).into_bytes()
}

fn huge() -> Vec<(&'static str, Vec<u8>)> {
    let text = format!(
        r#"{{"convoke":1,"kind":"note","from":"ann","to":["human"],"text":"{}"}}"#,
        "x".repeat(9 << 20)
    );
    vec![
        ("huge", text.into_bytes()),
        ("huge and blank", vec![b' '; 40 << 20]),
        ("many empty lines", b"{}\n".repeat(20_000)),
    ]
}

/// Puts another value in the place of one.
fn mistyped(good: &str, dice: &mut Dice) -> String {
    let colons: Vec<usize> = good.match_indices("\":").map(|(index, _)| index + 2).collect();
    if colons.is_empty() {
        return (*dice.pick(&VALUES)).to_owned();
    }
    let start = *dice.pick(&colons);
    let (mut depth, mut end) = (0_i32, good.len());
    let mut in_text = false;
    for (offset, character) in good[start..].char_indices() {
        match character {
            '"' => in_text = !in_text,
            '{' | '[' if !in_text => depth += 1,
            ',' if !in_text && depth == 0 => end = start + offset,
            '}' | ']' if !in_text && depth == 0 => end = start + offset,
            '}' | ']' if !in_text => depth -= 1,
            _ => {}
        }
        if end < good.len() {
            break;
        }
    }
    format!("{}{}{}", &good[..start], dice.pick(&VALUES), &good[end..])
}

/// Changes a few bytes.
fn flipped(good: &str, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = good.as_bytes().to_vec();
    for _ in 0..dice.range(1, 8) {
        let index = dice.index(bytes.len());
        bytes[index] = (dice.draw() & 0xff) as u8;
    }
    bytes
}
