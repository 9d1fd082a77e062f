//! Disks: one that is full, and one that takes its time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::scene::{Scene, note};
use super::{Saw, Stage};
use crate::clock;
use crate::http::Line;
use crate::server::Launch;

/// Bytes of the small disk: some segments and their reserve fit.
const DISK: &str = "size=48m";

/// A small disk that is taken away again.
pub(super) struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    pub(super) fn mount(folder: &Path) -> Option<Self> {
        fs::create_dir_all(folder).ok()?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", DISK, "convoke-rounds"]).arg(folder);
        let status = mount.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then(|| SmallDisk { folder: folder.to_owned() })
    }

    /// Mounts it in another way, such as `ro`.
    pub(super) fn remount(&self, how: &str) -> anyhow::Result<()> {
        let status = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(&self.folder).status();
        ensure!(status.is_ok_and(|status| status.success()), "the disk cannot be mounted as {how}");
        Ok(())
    }
}

/// Settings with which a log fits on it.
pub(super) fn small(launch: Launch) -> Launch {
    launch
        .set("LOG_SEGMENT_BYTES", "4MiB")
        .set("LOG_RECORD_BYTES", "3MiB")
        .set("LIMITS_MESSAGE_BYTES", "1MiB")
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(&self.folder).status());
    }
}

/// New messages are refused, everything else goes on; with room again messages are taken again.
pub(super) fn full(stage: &Stage) -> anyhow::Result<Saw> {
    let outer = tempfile::tempdir().context("making a folder")?;
    let disk = outer.path().join("disk");
    let Some(mounted) = SmallDisk::mount(&disk) else {
        return Ok(Saw::Skipped("a small disk cannot be mounted here".to_owned()));
    };
    let launch = small(Launch::new(&stage.binary, &disk));
    let mut server = launch.start()?;
    let (ann, bob) = (server.agent("ann")?, server.agent("bob")?);
    let mut line = Line::connect(server.address())?;
    let accepted = fill(&mut line, &ann)?;
    let ready = line.call("GET", "/readyz", "", "")?;
    ensure!(ready.status == 503 && ready.text("state").as_deref() == Some("full"), "ready: {ready}");
    let taken = line.call("POST", "/v1/agents/bob/inbox/take", &bob, r#"{"max":3}"#)?;
    ensure!(taken.status == 200, "taking from a full disk: {taken}");
    let deliveries: Vec<String> = taken
        .body_text()
        .split("\"delivery\":\"")
        .skip(1)
        .filter_map(|rest| Some(rest.split('"').next()?.to_owned()))
        .collect();
    ensure!(deliveries.len() == 3, "took {}: {taken}", deliveries.len());
    for delivery in &deliveries {
        let acked = line.call("POST", &format!("/v1/deliveries/{delivery}/ack"), &bob, "")?;
        ensure!(acked.status == 200, "acknowledging on a full disk: {acked}");
    }
    server.must_be_well()?;
    // Room comes back: somebody makes the disk larger. The server notices by itself.
    mounted.remount("size=128m")?;
    let mut tries = 0;
    loop {
        let sent = line.call("POST", "/v1/messages", &ann, &note("ann", "bob", "room", ""))?;
        if sent.status == 201 {
            break;
        }
        tries += 1;
        ensure!(sent.status == 507 && tries < 200, "with room again: {sent}");
        // Nothing comes to ann; this passes the time.
        line.call("POST", "/v1/agents/ann/inbox/take", &ann, r#"{"wait":"100ms"}"#)?;
    }
    server.kill()?;
    let server = launch.start().context("starting after the disk was full")?;
    let mut line = Line::connect(server.address())?;
    for id in &accepted {
        let receipt = line.call("GET", &format!("/v1/messages/{id}/receipt"), server.operator(), "")?;
        ensure!(receipt.status == 200, "{id} was accepted and is lost: {receipt}");
    }
    Ok(Saw::This(format!(
        "full after {} messages; 3 taken and acknowledged; all there with room again",
        accepted.len()
    )))
}

/// Sends until there is no room, and returns the ids of what was accepted.
fn fill(line: &mut Line, ann: &str) -> anyhow::Result<Vec<String>> {
    let mut accepted = Vec::new();
    let text = "x".repeat(500_000);
    loop {
        let name = format!(r#","native_id":"n-{}""#, accepted.len());
        let sent = line.call("POST", "/v1/messages", ann, &note("ann", "bob", &text, &name))?;
        if sent.status != 201 {
            ensure!(sent.status == 507 && sent.code() == "no_room", "a full disk: {sent}");
            return Ok(accepted);
        }
        accepted.push(sent.text("id").unwrap_or_default());
        ensure!(accepted.len() < 200, "the small disk is never full");
    }
}

/// Every sync takes long: answers are late and right, and whoever needs no disk is not held up.
pub(super) fn slow(stage: &Stage) -> anyhow::Result<Saw> {
    let strace = match setup::strace::command_line(&setup::tools_folder()) {
        Ok(words) => words,
        Err(error) => return Ok(Saw::Skipped(error.to_string())),
    };
    let delay_us = stage.size.pick(200_000, 1_000_000);
    let inject = format!("--inject=fdatasync,fsync:delay_exit={delay_us}");
    let mut by: Vec<&str> = strace.iter().map(String::as_str).collect();
    by.extend(["-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", &inject]);
    let began = Scene::with(stage, &["ann", "bob"], |launch| launch.by(&by));
    let mut scene = match began {
        Ok(scene) => scene,
        Err(error) => return Ok(Saw::Skipped(format!("strace does not work here: {error:#}"))),
    };
    let address = scene.server.address().to_owned();
    let before_kib = scene.server.resident_kib().unwrap_or(0);
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (address, token) = (address.clone(), scene.token("ann").to_owned());
            std::thread::spawn(move || -> std::io::Result<u32> {
                let mut line = Line::connect(&address)?;
                let mut accepted = 0;
                for number in 0..5 {
                    let document = note("ann", "bob", &format!("{writer} {number}"), "");
                    let sent = line.call("POST", "/v1/messages", &token, &document)?;
                    accepted += u32::from(sent.status == 201);
                }
                Ok(accepted)
            })
        })
        .collect();
    let began = clock::now();
    let mut asked = 0;
    while writers.iter().any(|writer| !writer.is_finished()) {
        let health = scene.call("", "GET", "/healthz", "")?;
        ensure!(health.status == 200, "not healthy: {health}");
        asked += 1;
    }
    let took_ms = began.elapsed().as_millis();
    let mut accepted = 0;
    for writer in writers {
        accepted += writer.join().map_err(|_| anyhow::anyhow!("a writer panicked"))??;
    }
    ensure!(accepted == 40, "only {accepted} of 40 were accepted");
    let came = scene.take("bob", r#""max":100,"wait":"30s","lease":"60s""#)?;
    ensure!(came.iter().all(|came| came.attempt == 1), "handed out twice: {came:?}");
    let grown_kib = scene.server.resident_kib().unwrap_or(0).saturating_sub(before_kib);
    scene.well()?;
    Ok(Saw::This(format!(
        "40 messages with {delay_us} us a sync took {took_ms} ms; {asked} health checks meanwhile; {grown_kib} KiB more"
    )))
}
