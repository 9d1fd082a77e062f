//! A wall clock that jumps, while the server runs and between two runs: leases and pauses do not mind, nothing comes
//! twice or out of order, and only what was given a time to live ends by it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use tempfile::TempDir;

use super::scene::{Delivery, Scene};
use super::{Saw, Stage};
use crate::python;
use crate::server::Launch;

/// How far the clock jumps, as `libfaketime` reads it.
const JUMPS: [&str; 4] = ["-1h", "+1h", "-1y", "+1y"];
/// No jump.
const RIGHT: &str = "+0s";

/// A wall clock that we set; the steady one goes on as it is.
struct Wall {
    library: PathBuf,
    file: PathBuf,
    _folder: TempDir,
}

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let library = match python::clock_library() {
        Ok(library) => library,
        Err(why) => return Ok(Saw::Skipped(why)),
    };
    let wall = Wall::new(library)?;
    for jump in JUMPS {
        let context = || format!("a clock that jumps by {jump}");
        if !jumped(stage, &wall, jump).with_context(context)? {
            return Ok(Saw::Skipped("libfaketime does not reach the server's clock here".to_owned()));
        }
    }
    let jumps = JUMPS.join(", ");
    Ok(Saw::This(format!("jumps of {jumps} and back: leases, retries and order as without them")))
}

/// Tells whether the clock could be set.
fn jumped(stage: &Stage, wall: &Wall, jump: &str) -> anyhow::Result<bool> {
    wall.set(RIGHT)?;
    let mut scene = Scene::with(stage, &["ann", "bob", "cyd"], |launch| wall.around(launch))?;
    let right = year(&mut scene)?;
    wall.set("+1y")?;
    if year(&mut scene)? == right {
        return Ok(false);
    }
    wall.set(RIGHT)?;
    let mut sent = Vec::new();
    for number in 0..20 {
        sent.push(scene.sent("ann", "bob", &number.to_string(), "")?);
    }
    let mortal = scene.sent("ann", "cyd", "mortal", r#","delivery":{"timeout":"30m"}"#)?;
    let mut held = scene.take("bob", r#""max":10,"lease":"60s""#)?;
    ensure!(ids(&held) == sent[..10], "took {:?}", ids(&held));

    wall.set(jump)?;
    // What is held stays held, and nothing overtakes.
    sent.push(scene.sent("ann", "bob", "after the jump", "")?);
    let rest = scene.take("bob", r#""max":50,"lease":"60s""#)?;
    ensure!(ids(&rest) == sent[10..], "after the jump came {:?}", ids(&rest));
    ensure!(rest.iter().all(|letter| letter.attempt == 1), "something was handed out before: {rest:?}");
    held.extend(rest);
    let stage_now = scene.stage(&mortal)?;
    ensure!((stage_now == "expired") == jump.starts_with('+'), "what lives for half an hour is {stage_now}");

    // A pause before a retry and a lease are as long as ever.
    let last = held.pop().context("nothing is held")?;
    let nacked = scene.settle("bob", &last.delivery, "nack", "")?;
    ensure!(nacked.status == 200, "{nacked}");
    let again = scene.one("bob", "50ms")?;
    ensure!((again.id == last.id, again.attempt) == (true, 2), "after a nack came {again:?}");
    wall.set(RIGHT)?;
    let again = scene.one("bob", "60s")?;
    ensure!((again.id == last.id, again.attempt) == (true, 3), "after a lease came {again:?}");
    held.push(again);

    // The next run begins with a clock that is off, and is put right while it runs.
    wall.set(jump)?;
    scene.kill_and_start(|| {})?;
    let early = scene.sent("ann", "bob", "of the next run", "")?;
    wall.set(RIGHT)?;
    let late = scene.sent("ann", "bob", "of the right time", "")?;
    let came = scene.take("bob", r#""max":50,"lease":"60s""#)?;
    ensure!(ids(&came) == [early, late], "after the next start came {:?}", ids(&came));
    for letter in held.iter().chain(&came) {
        let acked = scene.settle("bob", &letter.delivery, "ack", "")?;
        ensure!(acked.status == 200, "an ack of {}: {acked}", letter.text);
    }
    scene.well()?;
    Ok(true)
}

fn ids(letters: &[Delivery]) -> Vec<String> {
    letters.iter().map(|letter| letter.id.clone()).collect()
}

/// Returns the year that the server's wall clock shows.
fn year(scene: &mut Scene) -> anyhow::Result<String> {
    let me = scene.call("human", "GET", "/v1/me", "")?;
    let time = me.text("time").with_context(|| format!("no time: {me}"))?;
    Ok(time.split('-').next().unwrap_or_default().to_owned())
}

impl Wall {
    fn new(library: PathBuf) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("making a folder")?;
        Ok(Wall { library, file: folder.path().join("offset"), _folder: folder })
    }

    /// Sets the clock by moving a file into place: the server never reads half of it.
    fn set(&self, offset: &str) -> anyhow::Result<()> {
        let new = self.file.with_extension("new");
        fs::write(&new, offset).and_then(|()| fs::rename(&new, &self.file)).context("setting the clock")
    }

    /// Has a program see this clock.
    fn around(&self, launch: Launch) -> Launch {
        let of = |name: &str, path: &Path| format!("{name}={}", path.display());
        let (library, file) = (of("LD_PRELOAD", &self.library), of("FAKETIME_TIMESTAMP_FILE", &self.file));
        launch.by(&["env", &library, &file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"])
    }
}
