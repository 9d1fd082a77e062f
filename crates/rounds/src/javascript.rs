//! Clients in JavaScript.

use anyhow::ensure;
use setup::pds::Client;

use crate::faults::{Saw, Stage};
use crate::python::{clients, equip, said, with_server};

/// Runs a client of the AgentMessage bus.
pub fn bus(stage: &Stage) -> anyhow::Result<Saw> {
    let client = match Client::install(&setup::tools_folder()) {
        Ok(client) => client,
        Err(error) => return Ok(Saw::Skipped(format!("{error:#}"))),
    };
    with_server(stage, |server, _| {
        let mut command = client.command(&clients().join("bus_client.mjs"));
        equip(&mut command, server).env("CONVOKE_TEST_MODULES", client.modules());
        let output = client.run(&mut command, "")?;
        ensure!(output.status.success(), "bus_client.mjs failed:\n{}", said(&output));
        Ok(Saw::This(said(&output).trim().to_owned()))
    })
}
