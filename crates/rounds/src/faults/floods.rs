//! Floods: of connections, of those who come back, of messages.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::scene::{Scene, has_program, note};
use super::{Saw, Size, Stage};
use crate::clock;
use crate::http::Line;
use crate::socket::Socket;

/// Idle sockets, heads that never end, and those who connect and go: work goes on beside them and after them.
pub(super) fn connections(stage: &Stage) -> anyhow::Result<Saw> {
    let wanted = stage.size.pick(500, 5_000);
    let mut scene = Scene::with(stage, &["ann", "bob"], |launch| {
        let launch = launch.set("LIMITS_CONNECTIONS", "9000").set("LIMITS_CONNECTIONS_PER_AGENT", "9000");
        launch.set("LIMITS_SESSIONS", "9000")
    })?;
    let before_kib = scene.server.resident_kib().unwrap_or(0);
    let mut idle = Vec::new();
    for _ in 0..wanted {
        match Socket::open(scene.server.address(), "bob", scene.token("bob"), "") {
            Ok(socket) => idle.push(socket),
            Err(error) if idle.is_empty() => return Err(error).context("the first idle socket"),
            // The files that a process may open are fewer than asked for.
            Err(_) => break,
        }
    }
    ensure!(idle.len() >= wanted.min(500), "only {} idle sockets", idle.len());
    let mut silent = Vec::new();
    for number in 0..stage.size.pick(100, 1_000) {
        let Ok(mut stream) = TcpStream::connect(scene.server.address()) else { break };
        // A head that never ends, or a body that never comes.
        let start: &[u8] = if number % 2 == 0 {
            b"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
        } else {
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        };
        drop(stream.write_all(start));
        silent.push(stream);
    }
    for _ in 0..stage.size.pick(300, 10_000) {
        drop(TcpStream::connect(scene.server.address()));
    }
    scene.reconnect()?;
    let began = clock::now();
    for number in 0..100 {
        scene.sent("ann", "bob", &format!("{number}"), "")?;
    }
    let took_ms = began.elapsed().as_millis();
    let fresh = scene.server.call("GET", "/readyz", "", "")?;
    ensure!(fresh.status == 200, "a new connection beside the flood: {fresh}");
    let each_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib) / idle.len() as u64;
    let (idle_count, silent_count) = (idle.len(), silent.len());
    drop((idle, silent));
    scene.well()?;
    Ok(Saw::This(format!(
        "{idle_count} idle sockets ({each_kib} KiB each), {silent_count} slow heads and bodies: 100 messages took {took_ms} ms"
    )))
}

/// More connections than files may be open: those that work go on, and when the flood is over everybody gets in.
pub(super) fn descriptors(stage: &Stage) -> anyhow::Result<Saw> {
    if !has_program("prlimit") {
        return Ok(Saw::Skipped("prlimit is not installed".to_owned()));
    }
    let mut scene = Scene::with(stage, &["ann", "bob"], |launch| launch.by(&["prlimit", "--nofile=256"]))?;
    let id = scene.sent("ann", "bob", "before", "")?;
    let flood: Vec<TcpStream> =
        (0..400).filter_map(|_| TcpStream::connect(scene.server.address()).ok()).collect();
    // A connection that works keeps working; one that was idle may have been closed for another.
    let during = scene.server.call("GET", "/healthz", "", "");
    let count = flood.len();
    drop(flood);
    scene.well()?;
    let receipt =
        scene.server.call("GET", &format!("/v1/messages/{id}/receipt"), scene.server.operator(), "")?;
    ensure!(receipt.status == 200, "after the flood: {receipt}");
    let during = during.map_or_else(|error| format!("{error:#}"), |answer| answer.status.to_string());
    Ok(Saw::This(format!(
        "{count} connections to 256 files; health meanwhile: {during}; all well afterwards"
    )))
}

/// Everybody reconnects at once after a kill.
pub(super) fn herd(stage: &Stage) -> anyhow::Result<Saw> {
    let count = stage.size.pick(50, 1_000);
    let mut scene = Scene::with(stage, &["ann"], |launch| launch.set("LIMITS_CONNECTIONS", "9000"))?;
    let mut tokens = Vec::new();
    for number in 0..count {
        let name = format!("agent-{number}");
        let made = scene.call("human", "PUT", &format!("/v1/agents/{name}"), "{}")?;
        tokens.push((name, made.text("token").context("no token")?));
    }
    let connect = |scene: &Scene| -> anyhow::Result<Vec<Socket>> {
        let address = scene.server.address();
        thread::scope(|scope| {
            let threads: Vec<_> = tokens
                .chunks(count.div_ceil(16))
                .map(|tokens| {
                    scope.spawn(move || {
                        tokens.iter().map(|(name, token)| Socket::open(address, name, token, "")).collect()
                    })
                })
                .collect();
            let mut sockets = Vec::new();
            for thread in threads {
                let opened: std::io::Result<Vec<Socket>> =
                    thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
                sockets.extend(opened.context("reconnecting")?);
            }
            Ok(sockets)
        })
    };
    let before = connect(&scene)?;
    scene.kill_and_start(|| drop(before))?;
    let began = clock::now();
    let after = connect(&scene)?;
    let took_ms = began.elapsed().as_millis();
    ensure!(after.len() == count, "only {} came back", after.len());
    scene.sent("ann", "agent-0", "hello", "")?;
    let ready_ms = scene.server.ready_after.as_millis();
    scene.well()?;
    Ok(Saw::This(format!("ready after {ready_ms} ms, {count} agents were back after {took_ms} ms")))
}

/// Senders that never rest, and a queue that fills: what is too much is refused, and nothing that was taken is lost.
pub(super) fn overload(stage: &Stage) -> anyhow::Result<Saw> {
    let seconds = stage.size.pick(2, 120) as u64;
    let queue = 2_000;
    let mut scene =
        Scene::with(stage, &["ann", "bob"], |launch| launch.set("LIMITS_QUEUE", &queue.to_string()))?;
    let (address, ann) = (scene.server.address().to_owned(), scene.token("ann").to_owned());
    let until = clock::now() + Duration::from_secs(seconds);
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let (address, ann) = (address.clone(), ann.clone());
            thread::spawn(move || -> std::io::Result<[u64; 3]> {
                let mut line = Line::connect(&address)?;
                let mut counts = [0; 3];
                while clock::now() < until {
                    let text = format!("{sender} {}", counts.iter().sum::<u64>());
                    let document = note("ann", "bob", &text, r#","priority":"low""#);
                    let sent = line.call("POST", "/v1/messages", &ann, &document)?;
                    match sent.status {
                        201 => counts[0] += 1,
                        200 => counts[1] += 1,
                        429 if sent.header("retry-after").is_some() => counts[2] += 1,
                        _ => return Err(std::io::Error::other(sent.to_string())),
                    }
                }
                Ok(counts)
            })
        })
        .collect();
    let (mut taken, mut peak_kib) = (0, 0);
    while senders.iter().any(|sender| !sender.is_finished()) {
        for delivery in scene.take("bob", r#""max":50,"wait":"100ms","lease":"60s""#)? {
            taken += u64::from(scene.settle("bob", &delivery.delivery, "ack", "")?.status == 200);
        }
        peak_kib = peak_kib.max(scene.server.resident_kib().unwrap_or(0));
    }
    let mut counts = [0; 3];
    for sender in senders {
        let sent = sender.join().map_err(|_| anyhow::anyhow!("a sender panicked"))??;
        counts.iter_mut().zip(sent).for_each(|(sum, count)| *sum += count);
    }
    loop {
        let came = scene.take("bob", r#""max":500,"lease":"60s""#)?;
        if came.is_empty() {
            break;
        }
        for delivery in came {
            taken += u64::from(scene.settle("bob", &delivery.delivery, "ack", "")?.status == 200);
        }
    }
    let [accepted, repeated, refused] = counts;
    ensure!(taken == accepted, "{accepted} were accepted, {taken} came");
    ensure!(stage.size == Size::Short || refused > 0, "nothing was refused");
    scene.well()?;
    Ok(Saw::This(format!(
        "{seconds} s: {accepted} accepted, {repeated} repeated, {refused} refused with a time to come again, all {taken} came; at most {peak_kib} KiB"
    )))
}
