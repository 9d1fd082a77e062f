//! A process that sleeps, and a clock that jumps: nothing expires in masses, leases get a grace.

use std::thread;
use std::time::Duration;

use anyhow::ensure;
use rustix::process::Signal;

use super::scene::{Scene, has_program};
use super::{Saw, Stage};

pub(super) fn pause(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob"])?;
    for number in 0..50 {
        scene.sent("ann", "bob", &format!("{number}"), "")?;
    }
    let taken = scene.take("bob", r#""max":50,"lease":"20s""#)?;
    ensure!(taken.len() == 50, "took {}", taken.len());
    // Longer than the leases, and than what counts as a sleep of the machine.
    let pause_s = stage.size.pick(1, 40) as u64;
    scene.server.signal(Signal::STOP)?;
    thread::sleep(Duration::from_secs(pause_s));
    scene.server.signal(Signal::CONT)?;
    let again = scene.take("bob", r#""max":50"#)?;
    ensure!(again.is_empty(), "{} were handed out again after a sleep", again.len());
    for delivery in &taken {
        let acked = scene.settle("bob", &delivery.delivery, "ack", "")?;
        ensure!(acked.status == 200, "after a sleep: {acked}");
    }
    scene.well()?;
    let jump = if has_program("faketime") { jump(stage)? } else { "faketime is not installed".to_owned() };
    Ok(Saw::This(format!("slept for {pause_s} s with 50 leases of 20 s: none was lost; clock: {jump}")))
}

/// The wall clock of the next start is a year off, in either direction.
fn jump(stage: &Stage) -> anyhow::Result<String> {
    for offset in ["-1y", "+1y"] {
        let mut scene = Scene::new(stage, &["ann", "bob"])?;
        let id = scene.sent("ann", "bob", "one", "")?;
        scene.launch = scene.launch.clone().by(&["faketime", "-f", offset]);
        scene.kill_and_start(|| {})?;
        let second = scene.sent("ann", "bob", "two", "")?;
        let came: Vec<String> = scene.take("bob", r#""max":10"#)?.into_iter().map(|came| came.id).collect();
        ensure!(came == [id, second], "with a clock {offset}: {came:?}");
        scene.well()?;
    }
    Ok("a year back and a year on changed nothing".to_owned())
}
