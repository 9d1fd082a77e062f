//! A folder serves one process; a copy of it is another bus.

use anyhow::{Context, ensure};

use super::scene::Scene;
use super::{Saw, Stage};
use crate::folders::copy_folder;
use crate::server::Launch;

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let mut scene = Scene::new(stage, &["ann", "bob"])?;
    let id = scene.sent("ann", "bob", "one", "")?;
    let second = scene.launch.refused()?;
    ensure!(second.contains("another") || second.contains("in use"), "not clear: {second}");
    scene.well()?;

    // A copy of a folder whose server was killed is a bus of its own and knows what the first knew.
    scene.server.kill()?;
    let copy = tempfile::tempdir().context("making a folder")?;
    copy_folder(&scene.data(), &copy.path().join("data")).context("copying")?;
    let copied = Launch::new(&stage.binary, copy.path());
    let copied = copied.start()?;
    let receipt = copied.call("GET", &format!("/v1/messages/{id}/receipt"), copied.operator(), "")?;
    ensure!(receipt.status == 200, "the copy does not know the message: {receipt}");
    scene.kill_and_start(|| {})?;
    ensure!(scene.stage(&id)? == "stored", "the first bus lost its message");
    Ok(Saw::This("a second server on the folder was refused; a copy is a bus of its own".to_owned()))
}
