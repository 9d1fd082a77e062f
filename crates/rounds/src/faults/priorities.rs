//! Urgent first, and nothing starves: seen in the order in which things come.

use anyhow::ensure;

use super::scene::{Scene, note};
use super::{Saw, Stage};

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob", "cyd"])?;
    let flood = stage.size.pick(200, 20_000);
    const URGENT: usize = 10;
    batch(&mut scene, "bob", "low", flood)?;
    batch(&mut scene, "bob", "critical", URGENT)?;
    // Of every eight one is the oldest, whatever its priority.
    let last = place_of_last(&mut scene, "bob", "critical", URGENT)?;
    ensure!(last <= URGENT + URGENT / 4, "the last critical one came as number {last}");

    batch(&mut scene, "cyd", "low", 1)?;
    batch(&mut scene, "cyd", "critical", flood)?;
    let first = place_of_last(&mut scene, "cyd", "low", 1)?;
    ensure!(first <= 8, "the low one came as number {first}");
    scene.well()?;
    Ok(Saw::This(format!(
        "{URGENT} critical after {flood} low were all there after {last}; a low one before {flood} critical was number {first}"
    )))
}

fn batch(scene: &mut Scene, to: &str, priority: &str, count: usize) -> anyhow::Result<()> {
    let more = format!(r#","priority":"{priority}""#);
    let lines: Vec<String> =
        (0..count).map(|number| note("ann", to, &format!("{priority} {number}"), &more)).collect();
    for lines in lines.chunks(5_000) {
        let sent = scene.call("ann", "POST", "/v1/messages/batch", &lines.join("\n"))?;
        ensure!(sent.status == 200 && !sent.body_text().contains("\"status\""), "a batch: {sent}");
    }
    Ok(())
}

/// Takes one after the other until so many of a kind have come, and returns the place of the last of them.
fn place_of_last(scene: &mut Scene, agent: &str, word: &str, count: usize) -> anyhow::Result<usize> {
    let (mut place, mut found) = (0, 0);
    while found < count {
        let came = scene.one(agent, "60s")?;
        place += 1;
        found += usize::from(came.text.starts_with(word));
        scene.settle(agent, &came.delivery, "ack", "")?;
    }
    Ok(place)
}
