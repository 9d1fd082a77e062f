//! Clients in TypeScript.

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
        let mut command = client.command(&clients().join("bus_client.mts"));
        equip(&mut command, server).env("CONVOKE_TEST_MODULES", client.modules());
        // Node.js reads types and lets them go; older ones want to be told so.
        command.env("NODE_OPTIONS", "--experimental-strip-types --disable-warning=ExperimentalWarning");
        let output = client.run(&mut command, "")?;
        ensure!(output.status.success(), "bus_client.mts failed:\n{}", said(&output));
        Ok(Saw::This(said(&output).trim().to_owned()))
    })
}
