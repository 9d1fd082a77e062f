//! Clients of the AT Protocol: the official one in TypeScript beside what a real PDS answered, and following the stream.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use json::{Limits, Value};
use setup::pds::Client;

use crate::faults::{Saw, Stage};
use crate::server::{Launch, Server};

/// Makes the calls to which the answers of a real PDS were written down, and compares field by field.
pub fn beside_a_pds(stage: &Stage) -> anyhow::Result<Saw> {
    with_client(stage, |client, server, folder| {
        let recorded = root().join("tests/pds/answers.json");
        let answers = client.drive(&side(server, &recorded)?)?;
        let ours = folder.join("answers.json");
        fs::write(&ours, answers).context("writing what came back")?;
        let mut compare = client.program("compare.mjs");
        compare.args([&recorded, &ours]);
        compare.args([root().join("tests/pds/differences.json"), root().join("docs/beside-a-pds.md")]);
        let output = client.run(&mut compare, "")?;
        let table = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "not as a PDS, and not as expected:\n{table}\n{said}");
        Ok(Saw::This(table.lines().last().unwrap_or_default().to_owned()))
    })
}

/// Follows the stream while the official client writes.
pub fn following(stage: &Stage) -> anyhow::Result<Saw> {
    with_client(stage, |client, server, _| {
        let side = side(server, &root().join("tests/pds/answers.json"))?;
        let output = client.run(&mut client.program("follow.mjs"), &side)?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the stream is not as expected: {said}");
        Ok(Saw::This(String::from_utf8_lossy(&output.stdout).trim().to_owned()))
    })
}

fn with_client(
    stage: &Stage,
    work: impl FnOnce(&Client, &Server, &Path) -> anyhow::Result<Saw>,
) -> anyhow::Result<Saw> {
    let client = match Client::install(&setup::tools_folder()) {
        Ok(client) => client,
        Err(error) => return Ok(Saw::Skipped(format!("the official client cannot be had: {error:#}"))),
    };
    let folder = tempfile::tempdir().context("making a folder")?;
    let mut server = Launch::new(&stage.binary, folder.path()).start()?;
    let saw = work(&client, &server, folder.path())?;
    server.must_be_well()?;
    Ok(saw)
}

/// Makes agents with the DIDs and handles that the accounts of the PDS had, so that equal records have equal CIDs.
fn side(server: &Server, recorded: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(recorded).with_context(|| format!("reading {}", recorded.display()))?;
    let limits = Limits { bytes_max: usize::MAX, ..Limits::DOCUMENT };
    let value = json::parse_str(&text, limits).ok().context("the answers of the PDS are no JSON")?;
    let accounts = value.get("accounts").and_then(Value::as_object).context("no accounts")?;
    let mut members = Vec::new();
    for (name, account) in accounts.iter() {
        let text = |key: &str| account.get(key).and_then(Value::as_str).unwrap_or_default();
        let (did, handle) = (text("did"), text("handle"));
        let profile = format!(r#"{{"dialect":"comms","did":"{did}","handle":"{handle}"}}"#);
        let made = server.call("PUT", &format!("/v1/agents/{name}"), server.operator(), &profile)?;
        let token = made.text("token").with_context(|| format!("making {name}: {made}"))?;
        members.push(format!(r#""{name}":{{"did":"{did}","handle":"{handle}","password":"{token}"}}"#));
    }
    Ok(format!(r#"{{"url":"http://{}","accounts":{{{}}}}}"#, server.address(), members.join(",")))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
