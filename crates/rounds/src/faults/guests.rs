//! Those who are not who they say: senders, replays, tokens, paths, and pages of other sites.

use anyhow::{Context, ensure};

use super::scene::{Scene, note};
use super::{Saw, Stage};
use crate::http::Line;
use crate::socket::{Came, Socket};

/// Names that must lead nowhere.
const PATHS: [&str; 12] = [
    "..%2f..%2foperator.token",
    "..",
    "%2e%2e%2f",
    "bob%00",
    "bob%2f..%2fann",
    "ann%20",
    "%ff%fe",
    "BOB",
    "roles.x",
    "*",
    "%25%32%65",
    "bob;x=1",
];

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob", "eve"])?;
    let id = scene.sent("ann", "bob", "secret", r#","native_id":"n-1""#)?;
    spoofed(&mut scene)?;
    replayed(&mut scene, &id)?;
    let tried = nosy(&mut scene, &id)?;
    revoked(&mut scene)?;
    scene.well()?;
    Ok(Saw::This(format!(
        "spoofed, replayed and revoked were refused; {tried} ways to somebody else's things led nowhere"
    )))
}

/// A document says who sent it; the token decides. What the bus sets cannot be set by a document.
fn spoofed(scene: &mut Scene) -> anyhow::Result<()> {
    for from in ["ann", "human", "system", "runner", "nobody", "ann#1"] {
        let document = note(from, "bob", "hello", "");
        let answer = scene.call("eve", "POST", "/v1/messages", &document)?;
        ensure!(matches!(answer.status, 403 | 422), "eve spoke as {from}: {answer}");
    }
    for forged in [r#","verified_sender":"ann""#, r#","hops":0"#, r#","trust":"operator""#] {
        let answer = scene.send("eve", "bob", "forged", forged)?;
        if answer.status == 201 {
            ensure!(answer.text("from").as_deref() == Some("eve"), "forged: {answer}");
        }
    }
    Ok(())
}

/// The same id is the same message, or refused; also after a kill.
fn replayed(scene: &mut Scene, id: &str) -> anyhow::Result<()> {
    for _ in 0..2 {
        let again = scene.send("ann", "bob", "secret", r#","native_id":"n-1""#)?;
        ensure!(again.status == 200 && again.text("id").as_deref() == Some(id), "a replay: {again}");
        let other = scene.send("ann", "bob", "changed", r#","native_id":"n-1""#)?;
        ensure!(other.status == 409 && other.code() == "conflict", "another body: {other}");
        scene.kill_and_start(|| {})?;
    }
    // Somebody else's id is its own.
    let own = scene.send("eve", "bob", "mine", r#","native_id":"n-1""#)?;
    ensure!(own.status == 201, "eve's own id: {own}");
    Ok(())
}

/// Everything that eve tries to see or do with what is not hers.
fn nosy(scene: &mut Scene, id: &str) -> anyhow::Result<usize> {
    let taken = scene.one("bob", "60s")?;
    let mut calls = vec![
        ("GET", format!("/v1/messages/{id}")),
        ("GET", format!("/v1/messages/{id}/receipt")),
        ("DELETE", format!("/v1/messages/{id}")),
        ("PUT", format!("/v1/messages/{id}")),
        ("POST", format!("/v1/messages/{id}/resume")),
        ("GET", "/v1/agents/bob/inbox".to_owned()),
        ("POST", "/v1/agents/bob/inbox/take".to_owned()),
        ("PUT", "/v1/agents/mallory".to_owned()),
        ("DELETE", "/v1/agents/bob".to_owned()),
        ("POST", "/v1/agents/bob/tokens".to_owned()),
        ("DELETE", "/v1/agents/bob/tokens/all".to_owned()),
        ("PUT", "/v1/agents/bob/subscriptions/%23x".to_owned()),
        ("POST", format!("/v1/deliveries/{}/ack", taken.delivery)),
        ("POST", format!("/v1/deliveries/{}/nack", taken.delivery)),
        ("POST", format!("/v1/dead/{id}/retry")),
        ("DELETE", format!("/v1/dead/{id}")),
    ];
    for name in PATHS {
        calls.push(("GET", format!("/v1/agents/{name}/inbox")));
        calls.push(("POST", format!("/v1/agents/{name}/inbox/take")));
        calls.push(("GET", format!("/v1/messages/{name}")));
    }
    for (method, path) in &calls {
        let answer = scene.call("eve", method, path, "{}")?;
        ensure!((400..500).contains(&answer.status), "eve: {method} {path}: {answer}");
        ensure!(!answer.body_text().contains("secret"), "eve: {method} {path} shows it: {answer}");
    }
    let seen = scene.call("eve", "GET", "/v1/messages?q=secret&limit=100", "")?;
    ensure!(!seen.body_text().contains(id), "eve found it: {seen}");
    let acked = scene.settle("bob", &taken.delivery, "ack", "")?;
    ensure!(acked.status == 200, "bob's own delivery: {acked}");
    Ok(calls.len())
}

/// A token that was revoked opens nothing any more, not even a socket that is open.
fn revoked(scene: &mut Scene) -> anyhow::Result<()> {
    let mut socket = Socket::open(scene.server.address(), "eve", scene.token("eve"), "")?;
    let gone = scene.call("human", "DELETE", "/v1/agents/eve/tokens/all", "")?;
    ensure!(gone.status == 200, "revoking: {gone}");
    let answer = scene.call("eve", "GET", "/v1/me", "")?;
    ensure!(answer.status == 401, "a revoked token still opens: {answer}");
    match socket.hear() {
        Ok(Came::Closed(_)) | Err(_) => {}
        Ok(Came::Text(text)) => ensure!(text.contains("no_token"), "the socket goes on: {text}"),
    }
    for token in ["", "x", "ann", "cvk_ann_00", "\u{e4}"] {
        let mut line = Line::connect(scene.server.address())?;
        let answer = line.call("GET", "/v1/me", token, "").context("asking with a token of one's own")?;
        ensure!(matches!(answer.status, 400 | 401), "{token:?} opens: {answer}");
    }
    Ok(())
}

/// Host by Origin by door by way: only our own names pass.
pub(super) fn origins(stage: &Stage) -> anyhow::Result<Saw> {
    let scene = Scene::new(stage, &["ann"])?;
    let address = scene.server.address().to_owned();
    let port = address.rsplit(':').next().unwrap_or_default();
    let named = |name: &str| format!("{name}:{port}");
    let hosts = [
        (named("localhost"), true),
        (named("127.0.0.1"), true),
        (named("[::1]"), true),
        (named("LocalHost"), true),
        ("evil.example".to_owned(), false),
        (named("evil.example"), false),
        (named("localhost.evil.example"), false),
        (named("127.0.0.1.nip.io"), false),
        (named("evil.example@localhost"), false),
        (named("0.0.0.0"), false),
        (String::new(), false),
    ];
    let origins = [
        ("", true),
        ("http://localhost", true),
        ("http://127.0.0.1:1", true),
        ("https://evil.example", false),
        ("http://localhost.evil.example", false),
        ("http://evil.example:80#localhost", false),
        ("null", false),
        ("file://", false),
    ];
    let doors =
        ["/healthz", "/readyz", "/v1/me", "/v1/agents", "/v1/messages", "/v1/agents/ann/inbox", "/nothing"];
    let mut count = 0;
    for (host, host_passes) in &hosts {
        for (origin, origin_passes) in origins {
            for upgrade in [false, true] {
                let paths: &[&str] = if upgrade { &["/v1/agents/ann/socket"] } else { &doors };
                for path in paths {
                    let status = knock(&scene, path, host, origin, upgrade)?;
                    let passes = *host_passes && origin_passes;
                    let turned_away = matches!(status, 400 | 403);
                    ensure!(passes != turned_away, "Host {host:?} Origin {origin:?} {path}: {status}");
                    count += 1;
                }
            }
        }
    }
    Ok(Saw::This(format!("{count} combinations: only the server's own names passed")))
}

fn knock(scene: &Scene, path: &str, host: &str, origin: &str, upgrade: bool) -> anyhow::Result<u16> {
    let mut line = Line::connect(scene.server.address())?;
    let mut request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n", scene.token("ann"));
    if !origin.is_empty() {
        request.push_str(&format!("Origin: {origin}\r\n"));
    }
    if upgrade {
        request.push_str(
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        );
    }
    request.push_str("\r\n");
    line.write(request.as_bytes())?;
    Ok(line.answer().with_context(|| format!("{path} with {host:?} and {origin:?}"))?.status)
}
