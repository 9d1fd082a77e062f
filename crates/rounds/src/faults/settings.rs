//! Settings that do not exist, or are nonsense, are refused at start with their name.

use std::fs;

use anyhow::{Context, ensure};

use super::{Saw, Stage};
use crate::server::Launch;

/// What is written into the file, and what the refusal must name.
const WRONG: [(&str, &str); 6] = [
    ("enforce_fsync = true\n", "enforce_fsync"),
    ("[limits]\nbody_byte = \"1MiB\"\n", "body_byte"),
    ("[limits]\nbody_bytes = true\n", "body_bytes"),
    ("[delivery]\nlease = \"9999d\"\n", "lease"),
    ("[lgo]\nsegment_bytes = \"4MiB\"\n", "lgo"),
    ("listen = \n", "convoke.toml"),
];

pub(super) fn run(stage: &Stage) -> anyhow::Result<Saw> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let launch = Launch::new(&stage.binary, folder.path());
    fs::create_dir_all(launch.data()).context("making the data folder")?;
    let file = launch.data().join("convoke.toml");
    for (text, name) in WRONG {
        fs::write(&file, text).context("writing the settings")?;
        let said = launch.refused().with_context(|| format!("with {text:?}"))?;
        ensure!(said.contains(name), "{text:?} is refused without {name}: {said}");
    }
    fs::remove_file(&file).context("removing the settings")?;
    let said = launch.clone().set("LIMITS_BODY_BYTES", "a lot").refused()?;
    ensure!(said.contains("LIMITS_BODY_BYTES") || said.contains("body_bytes"), "not named: {said}");
    launch.start()?.must_be_well()?;
    Ok(Saw::This(format!("{} wrong settings were refused by name", WRONG.len() + 1)))
}
