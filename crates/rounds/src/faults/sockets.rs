//! Sockets that behave badly, at every door: they vanish, say half, say far too much, or are a thousand.

use std::io;
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use super::scene::{Scene, note};
use super::{Saw, Size, Stage};
use crate::clock;
use crate::doors::SocketDoor;
use crate::http::{Line, PATIENCE};
use crate::socket::{Came, PING, Socket, TEXT, frame};

/// What one socket may cost, however much it says.
const GROWN_KIB_MAX: u64 = 32 << 10;
/// A frame that nobody wants.
const HUGE_BYTES: usize = 100 << 20;
/// How often we look whether what is gone is gone.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Files that may be open for other reasons than connections.
const FILES_MORE: usize = 16;

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    // Far above what is opened here: what is tried is not the limit itself.
    let mut scene = Scene::with(stage, &["ann", "bob"], |launch| {
        let launch = launch.set("LIMITS_CONNECTIONS", "4000").set("LIMITS_CONNECTIONS_PER_AGENT", "2000");
        launch.set("LIMITS_SESSIONS", "2000")
    })?;
    let files_before = scene.server.open_files().unwrap_or(0);
    let mut told = Vec::new();
    for door in SocketDoor::ALL {
        let what = || format!("{door:?}");
        vanish(&scene, door, stage.size.pick(50, 2_000)).with_context(what)?;
        half_open(&scene, door, stage.size.pick(20, 500)).with_context(what)?;
        let huge_kib = huge(&scene, door).with_context(what)?;
        let pinged_kib = pings(&scene, door, stage.size).with_context(what)?;
        let many = many(&scene, door, stage.size.pick(200, 1_000)).with_context(what)?;
        alive(&mut scene, door).with_context(what)?;
        scene.well().with_context(what)?;
        told.push(format!(
            "{door:?}: {HUGE_BYTES} bytes cost {huge_kib} KiB, pings {pinged_kib} KiB, {many} at once"
        ));
    }
    all_closed(&scene, files_before)?;
    Ok(Saw::This(told.join("; ")))
}

fn open(scene: &Scene, door: SocketDoor) -> io::Result<Socket> {
    Socket::at(scene.server.address(), &door.path("bob"), scene.token("bob"))
}

/// Sockets that are gone in the middle of a frame, of its length, of its head.
fn vanish(scene: &Scene, door: SocketDoor, count: usize) -> anyhow::Result<()> {
    let whole = frame(TEXT, true, &[b' '; 300]);
    for number in 0..count {
        let mut socket = open(scene, door).context("opening one that will vanish")?;
        socket.send_bytes(&whole[..number % whole.len()])?;
    }
    Ok(())
}

/// Sockets that say that they will say nothing more, and go on listening: the server ends them.
fn half_open(scene: &Scene, door: SocketDoor, count: usize) -> anyhow::Result<()> {
    for number in 0..count {
        let mut socket = open(scene, door).context("opening one that will be half open")?;
        if number % 2 == 0 {
            socket.send_bytes(&frame(TEXT, true, b"{")[..3])?;
        }
        socket.line().tcp().shutdown(Shutdown::Write)?;
        socket.until_ended().context("half open")?;
    }
    Ok(())
}

/// A frame of a hundred megabytes, written as far as the server lets us; returns by how much its memory grew.
fn huge(scene: &Scene, door: SocketDoor) -> anyhow::Result<u64> {
    let before_kib = scene.server.resident_kib().unwrap_or(0);
    let mut socket = open(scene, door).context("opening one that will say too much")?;
    let mut head = vec![0x81, 0xff];
    head.extend_from_slice(&(HUGE_BYTES as u64).to_be_bytes());
    head.extend_from_slice(&[0; 4]);
    let piece = vec![b' '; 1 << 20];
    // Whoever refuses it early closes before all of it is written.
    let mut written = socket.send_bytes(&head);
    for _ in 0..HUGE_BYTES / piece.len() {
        written = written.and_then(|()| socket.send_bytes(&piece));
    }
    let grown_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib);
    ensure!(grown_kib < GROWN_KIB_MAX, "a frame of {HUGE_BYTES} bytes costs {grown_kib} KiB");
    socket.until_ended().context("after far too much")?;
    Ok(grown_kib)
}

/// Pings without end from one who reads no pong, and those who work beside it; returns what that cost.
fn pings(scene: &Scene, door: SocketDoor, size: Size) -> anyhow::Result<u64> {
    let before_kib = scene.server.resident_kib().unwrap_or(0);
    let mut socket = open(scene, door).context("opening one that will ping")?;
    let stuck = Duration::from_millis(200);
    socket.line().tcp().set_write_timeout(Some(stuck))?;
    let piece = frame(PING, true, &[b'x'; 125]).repeat(500);
    let mut line = Line::connect(scene.server.address())?;
    for number in 0..size.pick(600, 2_000) {
        // A server that waits until its pongs are read takes no more pings: that is its right.
        if socket.send_bytes(&piece).is_err() {
            break;
        }
        if number % 20 == 0 {
            let document = note("ann", "ann", &format!("{door:?} {number}"), "");
            let sent = line.call("POST", "/v1/messages", scene.token("ann"), &document)?;
            ensure!(sent.status == 201, "beside pings: {sent}");
        }
    }
    let grown_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib);
    ensure!(grown_kib < GROWN_KIB_MAX, "pings cost {grown_kib} KiB");
    Ok(grown_kib)
}

/// Many sockets of one agent at once; returns how many the server let in.
fn many(scene: &Scene, door: SocketDoor, count: usize) -> anyhow::Result<usize> {
    let mut sockets = Vec::new();
    for number in 0..count {
        match open(scene, door) {
            Ok(socket) => sockets.push(socket),
            // Too many is a reason to refuse, if it is said in the words of the door.
            Err(error) if number > 0 => {
                let said = error.to_string();
                ensure!(said.contains("429") || said.contains("503"), "the socket {number}: {said}");
                break;
            }
            Err(error) => return Err(error).context("the first of many"),
        }
    }
    let health = scene.server.call("GET", "/readyz", "", "")?;
    ensure!(health.status == 200, "beside {} sockets: {health}", sockets.len());
    Ok(sockets.len())
}

/// After all that a message still arrives through the door.
fn alive(scene: &mut Scene, door: SocketDoor) -> anyhow::Result<()> {
    let mut socket = open(scene, door).context("opening one that behaves")?;
    if !door.delivers() {
        return Ok(());
    }
    if let Some(wish) = door.wish() {
        socket.send(wish)?;
    }
    let text = format!("through {door:?}");
    scene.reconnect()?;
    scene.sent("ann", "bob", &text, "")?;
    loop {
        match socket.hear().context("waiting for a message")? {
            Came::Text(came) if came.contains(&text) => return Ok(()),
            Came::Text(_) => {}
            Came::Closed(code) => anyhow::bail!("closed with {code}"),
        }
    }
}

/// Waits until the server has closed everything that is gone.
fn all_closed(scene: &Scene, before: usize) -> anyhow::Result<()> {
    let until = clock::now() + PATIENCE;
    loop {
        let Some(open) = scene.server.open_files() else { return Ok(()) };
        if open <= before + FILES_MORE {
            return Ok(());
        }
        ensure!(
            clock::now() < until,
            "{open} files are open, {before} were at first: sockets were not closed"
        );
        thread::sleep(LOOK_EVERY);
    }
}
