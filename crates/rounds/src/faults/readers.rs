//! Those who ask for much and read nothing, beside others that read fast; and those who look at much at once.

use anyhow::{Context, ensure};

use super::scene::{Scene, note};
use super::{Saw, Stage};
use crate::clock;
use crate::http::{Answer, Line};
use crate::socket::{Came, Socket, read};

/// The text of each message for the one who does not read; together far more than all buffers on the way.
const BYTES: usize = 64 << 10;

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "slow", "fast"])?;
    let count = stage.size.pick(300, 5_000);
    let before_kib = scene.server.resident_kib().unwrap_or(0);
    let mut slow = Socket::open(scene.server.address(), "slow", scene.token("slow"), "?lease=60s")?;
    slow.send(r#"{"op":"credit","n":1000000}"#)?;
    let text = "x".repeat(BYTES);
    for first in (0..count).step_by(100) {
        let line = |number| note("ann", "slow", &format!("{number} {text}"), "");
        let lines: Vec<String> = (first..count.min(first + 100)).map(line).collect();
        let sent = scene.call("ann", "POST", "/v1/messages/batch", &lines.join("\n"))?;
        ensure!(sent.status == 200 && !sent.body_text().contains("\"status\""), "a batch: {sent}");
    }
    let mut fast = Socket::open(scene.server.address(), "fast", scene.token("fast"), "?lease=60s")?;
    fast.send(r#"{"op":"credit","n":1000000}"#)?;
    let (mut worst_ms, fast_count) = (0, stage.size.pick(200, 2_000));
    for number in 0..fast_count {
        let began = clock::now();
        scene.sent("ann", "fast", &format!("{number}"), "")?;
        let Came::Text(frame) = fast.hear()? else { anyhow::bail!("the fast socket was closed") };
        let value = read(&frame).context("a frame that is no JSON")?;
        let delivery = value.get("delivery").and_then(json::Value::as_str).context("no delivery")?;
        fast.send(&format!(r#"{{"op":"ack","delivery":"{delivery}"}}"#))?;
        worst_ms = worst_ms.max(began.elapsed().as_millis());
    }
    let grown_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib);
    // All that waits for the slow one is larger than what may be held for it.
    let bound_kib = 96 * 1024;
    ensure!(grown_kib < bound_kib, "{grown_kib} KiB for one reader that does not read");
    drop(slow);
    // What it never read is nobody's loss: at least once means that it comes again.
    let mut left = count;
    while left > 0 {
        let came = scene.take("slow", r#""max":200,"wait":"20s","lease":"60s""#)?;
        ensure!(!came.is_empty(), "{left} of {count} never came again");
        for delivery in &came {
            scene.settle("slow", &delivery.delivery, "ack", "")?;
        }
        left = left.saturating_sub(came.len());
    }
    scene.well()?;
    Ok(Saw::This(format!(
        "{count} of {BYTES} bytes for one who reads nothing cost {grown_kib} KiB; {fast_count} beside it came, the slowest in {worst_ms} ms; all {count} came again"
    )))
}

/// Sockets at once, of which some do not read.
const CROWD: usize = 100;
/// What waits for one who does not read: far more than the system's own buffers take.
const BACKLOG: usize = 24;
const BACKLOG_BYTES: usize = 512 << 10;
/// Memory that one who does not read may cost, and that may come and go with everything else.
const DEAF_KIB: u64 = 3 * 1024;
const SLACK_KIB: u64 = 64 * 1024;
/// Memory that it may cost to look at large documents, however many.
const LOOK_KIB: u64 = 128 * 1024;

/// Some of a hundred ask for everything that waits for them and read nothing, while the others go on.
pub(super) fn crowd(stage: &Stage) -> anyhow::Result<Saw> {
    let names: Vec<String> = (0..CROWD).map(|number| format!("m{number}")).collect();
    let agents: Vec<&str> = names.iter().map(String::as_str).chain(["ann"]).collect();
    let mut scene = Scene::new(stage, &agents)?;
    let posts = stage.size.pick(50, 2_000);
    let mut told = Vec::new();
    for count in [1, CROWD / 2] {
        let (deaf, readers) = names.split_at(count);
        let (deaf_topic, topic) = (format!("#deaf-{count}"), format!("#crowd-{count}"));
        join(&mut scene, deaf, &deaf_topic)?;
        join(&mut scene, readers, &topic)?;
        for number in 0..BACKLOG {
            let text = format!("{number} {}", "x".repeat(BACKLOG_BYTES));
            scene.sent("ann", &deaf_topic, &text, "")?;
        }
        let mut sockets = open_all(&scene, readers)?;
        let before_kib = scene.server.resident_kib().unwrap_or(0);
        let silent = open_all(&scene, deaf)?;
        for number in 0..posts {
            post_and_read(&mut scene, &mut sockets, &topic, &number.to_string())?;
        }
        let grown_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib);
        let bound_kib = SLACK_KIB + count as u64 * DEAF_KIB;
        ensure!(grown_kib < bound_kib, "{grown_kib} KiB with {count} of {CROWD} that do not read");
        told.push(format!("{grown_kib} KiB with {count} that read nothing"));
        drop(silent);
        settle_all(&mut scene, &deaf[count - 1], BACKLOG)?;
    }
    scene.well()?;
    Ok(Saw::This(format!("{CROWD} sockets, {posts} posts came to those who read: {}", told.join(", "))))
}

fn join(scene: &mut Scene, names: &[String], topic: &str) -> anyhow::Result<()> {
    for name in names {
        let path = format!("/v1/agents/{name}/subscriptions/{}", topic.replace('#', "%23"));
        let joined = scene.call(name, "PUT", &path, "{}")?;
        ensure!(joined.status < 300, "joining: {joined}");
    }
    Ok(())
}

fn open_all(scene: &Scene, names: &[String]) -> anyhow::Result<Vec<Socket>> {
    let open = |name: &String| -> anyhow::Result<Socket> {
        let mut socket = Socket::open(scene.server.address(), name, scene.token(name), "?lease=60s")?;
        socket.send(r#"{"op":"credit","n":1000000}"#)?;
        Ok(socket)
    };
    names.iter().map(open).collect()
}

/// Posts, and has every reader read and acknowledge it next.
fn post_and_read(scene: &mut Scene, readers: &mut [Socket], topic: &str, said: &str) -> anyhow::Result<()> {
    scene.sent("ann", topic, said, "")?;
    for reader in readers {
        let Came::Text(frame) = reader.hear()? else { anyhow::bail!("a socket was closed") };
        let value = read(&frame).context("a frame that is no JSON")?;
        let text = |place: &str| value.pointer(place).and_then(json::Value::as_str).unwrap_or_default();
        let came = text("/document/text");
        ensure!(came == said, "post {came} came where {said} was next");
        reader.send(&format!(r#"{{"op":"ack","delivery":"{}"}}"#, text("/delivery")))?;
    }
    Ok(())
}

/// Takes and acknowledges as many as were not read.
fn settle_all(scene: &mut Scene, name: &str, posts: usize) -> anyhow::Result<()> {
    let mut left = posts;
    while left > 0 {
        let came = scene.take(name, r#""max":50,"wait":"20s","lease":"60s""#)?;
        ensure!(!came.is_empty(), "{left} of {posts} never came again to {name}");
        for delivery in &came {
            scene.settle(name, &delivery.delivery, "ack", "")?;
        }
        left = left.saturating_sub(came.len());
    }
    Ok(())
}

/// Large documents are looked at, listed and searched, all at once: what is read is not all in memory.
pub(super) fn large(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob"])?;
    join(&mut scene, &["bob".to_owned()], "#large")?;
    let count = stage.size.pick(24, 120);
    // Many words, and much that is none.
    let text = format!("{} {}", "word ".repeat(1 << 17), "x".repeat(6 << 20));
    for number in 0..count {
        scene.sent("ann", "#large", &format!("{number} {text}"), "")?;
    }
    let before_kib = scene.server.peak_kib().unwrap_or(0);
    let mut shown = Vec::new();
    for (who, path) in [
        ("bob", "/v1/agents/bob/inbox?max=1000"),
        ("bob", "/v1/messages?limit=1000"),
        ("human", "/v1/messages?limit=1000&q=word"),
        ("human", "/wire/topics/%23large/messages?limit=1000"),
    ] {
        let answer = asked(&mut scene, who, path)?;
        shown.push(format!("{} KiB", answer.body.len() / 1024));
    }
    let grown_kib = scene.server.peak_kib().unwrap_or(0).saturating_sub(before_kib);
    ensure!(grown_kib < LOOK_KIB, "{grown_kib} KiB to look at {count} documents: {}", shown.join(", "));
    let refused = unread(&mut scene)?;
    scene.well()?;
    Ok(Saw::This(format!(
        "{count} documents of {} KiB; answers of {} cost {grown_kib} KiB at most; {refused}",
        text.len() / 1024,
        shown.join(", ")
    )))
}

/// Asks until the history has come as far as the log.
fn asked(scene: &mut Scene, who: &str, path: &str) -> anyhow::Result<Answer> {
    for _ in 0..1_000 {
        let answer = scene.call(who, "GET", path, "")?;
        if answer.status != 503 {
            ensure!(answer.status == 200, "{path}: {answer}");
            return Ok(answer);
        }
        scene.call("ann", "POST", "/v1/agents/ann/inbox/take", r#"{"wait":"100ms"}"#)?;
    }
    anyhow::bail!("the history never comes as far as the log")
}

/// Asks for large answers and does not read them; somebody else is not refused for it.
fn unread(scene: &mut Scene) -> anyhow::Result<String> {
    let path = "/v1/agents/bob/inbox?max=1000";
    let mut lines = Vec::new();
    for _ in 0..CROWD {
        let mut line = Line::connect(scene.server.address()).context("connecting")?;
        let token = scene.token("bob");
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
        line.write(request.as_bytes()).context("asking")?;
        lines.push(line);
    }
    let mut refused = 0;
    for line in &mut lines {
        let head = line.head().context("the head of an answer")?;
        let is_refused = head.starts_with("HTTP/1.1 429 ");
        ensure!(is_refused || head.starts_with("HTTP/1.1 200 "), "{head}");
        refused += usize::from(is_refused);
    }
    ensure!(refused >= CROWD / 2, "only {refused} of {CROWD} were refused");
    let taken = scene.call("bob", "POST", "/v1/agents/bob/inbox/take", r#"{"max":1}"#)?;
    ensure!(taken.status == 429, "taking without reading: {taken}");
    let other = scene.call("human", "GET", path, "")?;
    ensure!(other.status == 200, "somebody else: {}", other.status);
    drop(lines);
    // The server notices one after the other that nobody is there.
    for _ in 0..1_000 {
        if scene.call("bob", "GET", path, "")?.status == 200 {
            return Ok(format!("{refused} of {CROWD} that were not read were refused"));
        }
        scene.call("ann", "POST", "/v1/agents/ann/inbox/take", r#"{"wait":"20ms"}"#)?;
    }
    anyhow::bail!("whoever did not read once is never let in again")
}
