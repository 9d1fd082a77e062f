//! A log that is kept short: killed at any instant nothing is lost, and it stays short.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, ensure};

use super::scene::Scene;
use super::{Saw, Stage};
use crate::random::Dice;
use crate::run::verify;

const MIB: u64 = 1 << 20;
const SEGMENT_MIB: u64 = 4;
/// What is kept.
const KEPT_MIB: u64 = 12;
/// What may lie there beside it: reserve and spare, the segment that is written to, the next ones until a trim has
/// come round, and snapshots.
const BESIDE_MIB: u64 = 7 * SEGMENT_MIB;

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let keep = format!("{KEPT_MIB}MiB");
    let mut scene = Scene::with(stage, &["ann", "bob", "cyd"], |launch| {
        launch
            .set("LOG_SEGMENT_BYTES", &format!("{SEGMENT_MIB}MiB"))
            .set("LOG_RECORD_BYTES", "3MiB")
            .set("LIMITS_MESSAGE_BYTES", "1MiB")
            .set("LOG_SNAPSHOT_BYTES", "8MiB")
            .set("LOG_KEEP_BYTES", &keep)
    })?;
    let mut dice = Dice::new(stage.seed, 7);
    // What nobody takes until the end, and one that was settled early.
    let mut waiting: BTreeMap<String, String> = BTreeMap::new();
    let (mut settled, mut sent_bytes) = (String::new(), 0);
    let rounds = stage.size.pick(4, 40);
    for round in 0..rounds {
        for number in 0..dice.range(60, 120) {
            let text = format!("{round} {number} {}", "z".repeat(dice.index(500_000)));
            sent_bytes += text.len() as u64;
            let id = scene.sent("ann", "bob", &text, "")?;
            let came = scene.one("bob", "60s")?;
            ensure!(came.id == id && came.text == text, "{id} came as {}", came.id);
            ensure!(scene.settle("bob", &came.delivery, "ack", "")?.status == 200, "not acknowledged");
            if settled.is_empty() {
                settled = id;
            }
            if dice.percent(10) {
                let text = format!("waits {round} {number} {}", "w".repeat(dice.index(50_000)));
                waiting.insert(scene.sent("ann", "cyd", &text, "")?, text);
            }
        }
        scene.well()?;
        scene.kill_and_start(|| {})?;
    }
    let taken_mib = until_short(&mut scene)?;
    let bus = scene.call("human", "GET", "/v1/bus", "")?;
    let first = bus.json().context("no JSON")?;
    let first = first.pointer("/log/first").and_then(json::Value::as_integer).unwrap_or(1);
    ensure!(first > 100, "nothing was given up: the log begins at {first}");
    ensure!(scene.stage(&settled)? == "acknowledged", "the receipt of what was trimmed is gone");
    let gone = scene.call("human", "GET", &format!("/v1/messages/{settled}"), "")?;
    ensure!(gone.status == 410 && gone.code() == "gone", "a document that was trimmed: {gone}");
    let mut came = BTreeMap::new();
    while came.len() < waiting.len() {
        let letters = scene.take("cyd", r#""max":50,"lease":"60s""#)?;
        ensure!(!letters.is_empty(), "only {} of {} that waited came", came.len(), waiting.len());
        came.extend(letters.into_iter().map(|letter| (letter.id, letter.text)));
    }
    ensure!(came == waiting, "what waited came otherwise than it was sent");
    scene.server.kill()?;
    verify(&scene.launch)?;
    Ok(Saw::This(format!(
        "{rounds} kills, {} MiB sent, {} waited and came; the log begins at {first} and takes {taken_mib} MiB",
        sent_bytes / MIB,
        came.len()
    )))
}

/// Waits until the log is as short as it is to be; returns what it takes.
fn until_short(scene: &mut Scene) -> anyhow::Result<u64> {
    for _ in 0..300 {
        let taken = bytes_of(&scene.data().join("log"))? / MIB;
        if taken <= KEPT_MIB + BESIDE_MIB {
            return Ok(taken);
        }
        // Nothing comes to ann; this passes the time.
        scene.take("ann", r#""wait":"100ms""#)?;
    }
    let taken = bytes_of(&scene.data().join("log"))? / MIB;
    let trial = format!(r#"{{"keep_bytes":{},"dry_run":true}}"#, KEPT_MIB * MIB);
    let trial = scene.call("human", "POST", "/v1/log/trim", &trial)?;
    anyhow::bail!("the log takes {taken} MiB, and {KEPT_MIB} are to be kept: {trial}")
}

fn bytes_of(folder: &Path) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).context("looking at the log")? {
        // A file may be renamed or removed while it is looked at.
        bytes += entry.ok().and_then(|entry| entry.metadata().ok()).map_or(0, |metadata| metadata.len());
    }
    Ok(bytes)
}
