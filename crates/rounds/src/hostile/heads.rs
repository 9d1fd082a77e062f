//! Heads: paths, queries, headers and chunks that are wrong in every way that HTTP has been attacked by.

use super::{Expect, Target};
use crate::random::Dice;

const PATHS: [&str; 14] = [
    "/v1/agents/%",
    "/v1/agents/%zz/inbox",
    "/v1/agents/%ff%fe/inbox",
    "/v1/agents/%00",
    "/v1/messages/..%2f..%2fetc%2fpasswd",
    "/v1/messages/../../healthz",
    "//v1//me",
    "/v1/me/",
    "/v1/me%20",
    "/v1/messages?dialect=%",
    "/v1/messages?limit=-1&after=99999999999999999999&q=%ff",
    "/v1/messages?q=%22&q='&q=*&q=(((((&limit=1",
    "/v1/events?after=x",
    "/?%3f",
];

/// Search words that a full-text engine might take for orders.
const QUERIES: [&str; 10] =
    ["%22", "AND", "NEAR(", "*", "a*%20OR", "%00", "col:x", "-", "%5e%5e", "%F0%9F%92%A9"];

pub(super) fn attack(target: &mut Target, dice: &mut Dice) -> anyhow::Result<()> {
    paths(target)?;
    beneath(target)?;
    chunks(target)?;
    cut(target, dice)
}

fn paths(target: &mut Target) -> anyhow::Result<()> {
    let long = format!("/v1/agents/{}/inbox", "x".repeat(4_000));
    let queries = QUERIES.map(|query| format!("/v1/messages?q={query}"));
    let numbers = ["-1", "1e9", "99999999999999999999", "", "x", "0"]
        .map(|number| format!("/v1/messages?limit={number}&after={number}&before={number}"));
    let all = PATHS.iter().map(|path| (*path).to_owned()).chain([long]).chain(queries).chain(numbers);
    for path in all.collect::<Vec<_>>() {
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "BREW"] {
            let request =
                format!("{}Connection: close\r\nContent-Length: 0\r\n\r\n", target.head(method, &path));
            // The answer to HEAD has a length and no body.
            let expect = if method == "HEAD" { Expect::AnswerOrEnd } else { Expect::Answer };
            target.send(request.as_bytes(), expect, "a path")?;
        }
    }
    Ok(())
}

/// What is not HTTP, or nearly.
fn beneath(target: &mut Target) -> anyhow::Result<()> {
    let good = target.head("GET", "/v1/me");
    let many: String = (0..300).map(|number| format!("X-{number}: x\r\n")).collect();
    let large = format!("X-Large: {}\r\n", "x".repeat(100_000));
    let requests = [
        format!("{good}{many}\r\n"),
        format!("{good}{large}\r\n"),
        format!("{good}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        format!("{good}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        format!("{good}Content-Length: -1\r\n\r\n"),
        format!("{good}Content-Length: 99999999999999999999\r\n\r\n"),
        format!("{good}Transfer-Encoding: gzip\r\n\r\n"),
        format!("{good}X-Folded: a\r\n b\r\n\r\n"),
        format!("{good}Bad Header: a\r\n\r\n"),
        format!("{good}X: \u{1}\r\n\r\n"),
        format!("{good}Host: evil.example\r\n\r\n"),
        format!("{good}Authorization: Bearer x\r\n\r\n"),
        format!("{good}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{{}}"),
        format!("{good}Expect: 417-please\r\n\r\n"),
        format!("{good}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
        format!("{good}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
        good.replace("HTTP/1.1", "HTTP/9.9") + "\r\n",
        good.replace("HTTP/1.1", "HTTP/1.0") + "\r\n",
        good.replace("GET /v1/me", "GET http://evil.example/v1/me") + "\r\n",
        good.replace("GET", "get") + "\r\n",
        good.replace("\r\n", "\n") + "\n",
        good.replace("GET /v1/me", "CONNECT evil.example:443") + "\r\n",
        "GET /v1/me\r\n\r\n".to_owned(),
        "GET /v1/me HTTP/1.1\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}".to_owned(),
        "\r\n\r\n\r\n\r\n".to_owned(),
        "x".repeat(200_000),
        String::new(),
    ];
    for request in requests {
        target.send(request.as_bytes(), Expect::AnswerOrEnd, "a head")?;
    }
    Ok(())
}

fn chunks(target: &mut Target) -> anyhow::Result<()> {
    let good = target.head("POST", "/v1/messages");
    let good = format!("{good}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    for chunks in [
        "0\r\n\r\n",
        "2\r\n{}\r\n0\r\n\r\n",
        "2;name=value\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
        "zz\r\n{}\r\n",
        "-2\r\n{}\r\n",
        "ffffffffffffffffff\r\n{}",
        "2\r\n{}",
        "5\r\n{}\r\n0\r\n\r\n",
        "1\r\n{\r\n1\r\n}\r\n00000000\r\n\r\n",
        "\r\n\r\n",
    ] {
        target.send(format!("{good}{chunks}").as_bytes(), Expect::AnswerOrEnd, "chunks")?;
    }
    Ok(())
}

/// Whoever goes away in the middle, at any place.
fn cut(target: &mut Target, dice: &mut Dice) -> anyhow::Result<()> {
    let request = format!(
        "{}Content-Length: 400\r\n\r\n{}",
        target.head("POST", "/v1/messages"),
        "{\"x\":1} ".repeat(50)
    );
    for _ in 0..60 {
        let end = dice.index(request.len());
        target.send(&request.as_bytes()[..end], Expect::AnswerOrEnd, "cut off")?;
    }
    Ok(())
}
