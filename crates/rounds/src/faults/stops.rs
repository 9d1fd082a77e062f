//! A process that sleeps: nothing expires in masses, leases get a grace.

use std::thread;
use std::time::Duration;

use anyhow::ensure;
use rustix::process::Signal;

use super::scene::Scene;
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
    Ok(Saw::This(format!("slept for {pause_s} s with 50 leases of 20 s: none was lost")))
}
