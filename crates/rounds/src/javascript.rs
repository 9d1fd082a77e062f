//! Clients in JavaScript: `node`, and the one package that they need, beside the build.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::faults::{Saw, Stage};
use crate::python::{install, program, said, target, with_server};

/// The library by which adapters of the AgentMessage bus connect.
const PACKAGE: &str = "ws@8.22.2";

/// Runs a client of the AgentMessage bus.
pub fn bus(stage: &Stage) -> anyhow::Result<Saw> {
    let modules = match modules() {
        Ok(modules) => modules,
        Err(why) => return Ok(Saw::Skipped(why)),
    };
    with_server(stage, |server, _| {
        let mut command = program(Path::new("node"), server);
        let output = command.arg("bus_client.mjs").env("CONVOKE_TEST_MODULES", &modules).output();
        let output = output.context("starting node")?;
        ensure!(output.status.success(), "bus_client.mjs failed:\n{}", said(&output));
        Ok(Saw::This(said(&output).trim().to_owned()))
    })
}

/// Returns a file beside which the packages lie, made if there is none; or why there cannot be one.
fn modules() -> Result<PathBuf, String> {
    let text = |error: std::io::Error| error.to_string();
    let target = target();
    fs::create_dir_all(&target).map_err(text)?;
    let lock = File::create(target.join("clients-node.lock")).map_err(text)?;
    // Several tests may want it at the same time; one makes it, the others wait.
    lock.lock().map_err(text)?;
    let folder = target.join("clients-node");
    let stamp = folder.join("installed.txt");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == PACKAGE) {
        return Ok(stamp);
    }
    fs::create_dir_all(&folder).map_err(text)?;
    install(Command::new("node").arg("--version"))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--fetch-retries", "1", "--prefix"]);
    install(npm.arg(&folder).arg(PACKAGE))?;
    fs::write(&stamp, PACKAGE).map_err(text)?;
    Ok(stamp)
}
