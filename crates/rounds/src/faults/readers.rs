//! One that asks for much and reads nothing, beside others that read fast.

use anyhow::{Context, ensure};

use super::scene::{Scene, note};
use super::{Saw, Stage};
use crate::clock;
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
