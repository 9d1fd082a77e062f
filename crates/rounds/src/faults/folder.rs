//! A folder serves one process; a copy of it is another bus; one that cannot be written serves nobody.

use anyhow::{Context, ensure};

use super::disk::{SmallDisk, small};
use super::scene::{Scene, note};
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
    let read_only = read_only(stage)?;
    Ok(Saw::This(format!(
        "a second server on the folder was refused; a copy is a bus of its own; {read_only}"
    )))
}

/// Whoever starts a bus where nothing can be written is told so, and finds everything as it was when it can be again.
fn read_only(stage: &Stage) -> anyhow::Result<&'static str> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let launch = small(Launch::new(&stage.binary, folder.path()));
    let Some(disk) = SmallDisk::mount(&launch.data()) else {
        return Ok("a disk that is read-only cannot be mounted here");
    };
    let server = launch.start()?;
    let ann = server.agent("ann")?;
    let sent = server.call("POST", "/v1/messages", &ann, &note("ann", "ann", "one", ""))?;
    let id = sent.text("id").with_context(|| format!("no id: {sent}"))?;
    drop(server);
    disk.remount("ro")?;
    let said = launch.refused()?;
    ensure!(said.contains("cannot be written") && said.contains("hint: make the folder yours"), "{said}");
    disk.remount("rw")?;
    let server = launch.start()?;
    let receipt = server.call("GET", &format!("/v1/messages/{id}/receipt"), server.operator(), "")?;
    ensure!(receipt.status == 200, "what was there before is gone: {receipt}");
    Ok("one on a read-only disk was refused and is whole")
}
