//! Clients in Python: a virtual environment with pinned packages, and the programs in `tests/clients` run by it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, ensure};

use crate::faults::{Saw, Size, Stage};
use crate::server::{Launch, Server};

/// The check of schemathesis that says nothing here: no schema says everything that a document must be, so a request
/// that fits it may be refused.
const EXCLUDED: &str = "positive_data_acceptance";

/// Where libfaketime is in an environment with its package, below the folder of a Python's version.
const CLOCK_LIBRARY: &str = "site-packages/libfaketime/vendor/libfaketime/src/libfaketime.so.1";

/// Runs the scripted session.
pub fn session(stage: &Stage) -> anyhow::Result<Saw> {
    script(stage, "session.py")
}

/// Runs a client of the AgentMessage bus.
pub fn bus(stage: &Stage) -> anyhow::Result<Saw> {
    script(stage, "bus_client.py")
}

/// Runs two agents of the Agent Communication Protocols.
pub fn coord(stage: &Stage) -> anyhow::Result<Saw> {
    script(stage, "coord_client.py")
}

/// Runs a session that takes the bus for a PDS.
pub fn repo(stage: &Stage) -> anyhow::Result<Saw> {
    script(stage, "repo.py")
}

/// Runs a small platform of Agent Wire.
pub fn wire(stage: &Stage) -> anyhow::Result<Saw> {
    script(stage, "wire_agent.py")
}

fn script(stage: &Stage, name: &str) -> anyhow::Result<Saw> {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return Ok(Saw::Skipped(why)),
    };
    with_server(stage, |server, _| {
        let output = program(&python, server).arg(name).output().context("starting python")?;
        ensure!(output.status.success(), "{name} failed:\n{}", said(&output));
        Ok(Saw::This(said(&output).trim().replace('\n', "; ")))
    })
}

/// Lets schemathesis make up requests from the OpenAPI document.
pub fn schemathesis(stage: &Stage) -> anyhow::Result<Saw> {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return Ok(Saw::Skipped(why)),
    };
    with_server(stage, |server, folder| {
        if server.call("GET", "/v1/openapi.json", "", "")?.status != 200 {
            return Ok(Saw::Skipped("there is no /v1/openapi.json".to_owned()));
        }
        // A gate must not fail by chance; a night may find something new.
        let generation: &[&str] = match stage.size {
            Size::Short => &["--generation-deterministic", "--max-examples", "3"],
            Size::Long => &["--generation-database", "none", "--max-time", "600"],
        };
        let config = folder.join("schemathesis.toml");
        fs::write(&config, settings(server)?).context("writing the settings of schemathesis")?;
        let mut command = program(&python, server);
        // It leaves notes where it runs.
        command
            .current_dir(folder)
            .args(["-c", "from schemathesis.cli import schemathesis; schemathesis()", "--config-file"])
            .arg(&config)
            .arg("run")
            .arg(format!("http://{}/v1/openapi.json", server.address()))
            .args(["--header", &format!("Authorization: Bearer {}", server.operator())])
            .args(["--seed", &(stage.seed % 1_000_000).to_string(), "--no-color", "--no-shrink"])
            .args(["--phases", "examples,coverage,fuzzing", "--continue-on-failure"])
            .args(["--exclude-checks", EXCLUDED])
            .args(generation)
            // A stream has no end, and a socket is no request.
            .args(["--exclude-path-regex", "/(events|socket)$"])
            .env("SCHEMATHESIS_HOOKS", "hooks");
        let output = command.output().context("starting python")?;
        ensure!(output.status.success(), "schemathesis found something:\n{}", said(&output));
        let text = said(&output);
        let cases = text
            .lines()
            .find(|line| line.contains(" generated,") || line.ends_with(" generated"))
            .unwrap_or_default()
            .trim();
        Ok(Saw::This(format!("schemathesis: {cases}")))
    })
}

pub(crate) fn with_server(
    stage: &Stage,
    work: impl FnOnce(&Server, &Path) -> anyhow::Result<Saw>,
) -> anyhow::Result<Saw> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let mut server = Launch::new(&stage.binary, folder.path()).start()?;
    let saw = work(&server, folder.path())?;
    server.must_be_well()?;
    Ok(saw)
}

/// Names that exist, so that calls come further than "there is no such thing", and checks that do not fit a call.
fn settings(server: &Server) -> anyhow::Result<String> {
    let token = server.agent("ann")?;
    server.agent("bob")?;
    let document = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hello"}"#;
    let sent = server.call("POST", "/v1/messages", &token, document)?;
    let id = sent.text("id").context("a receipt without an id")?;
    let mut text = format!(
        "[parameters]\n\"path.agent\" = \"bob\"\n\"path.id\" = \"{id}\"\n\"path.address\" = \"roles.x\"\n"
    );
    // In a batch every line has an answer of its own, so the whole is accepted whatever the lines are. The four ways to
    // settle share one schema, and each looks at its own members only.
    for path in ["/v1/messages/batch", "/v1/deliveries/{delivery}/{what}"] {
        text.push_str(&format!(
            "\n[[operations]]\ninclude-path = \"{path}\"\nchecks.negative_data_rejection.enabled = false\n"
        ));
    }
    Ok(text)
}

/// A program in the folder of the clients.
fn program(python: &Path, server: &Server) -> Command {
    let mut command = Command::new(python);
    equip(&mut command, server).stdin(Stdio::null());
    command
}

/// Tells a client where the server is and who administers it.
pub(crate) fn equip<'c>(command: &'c mut Command, server: &Server) -> &'c mut Command {
    command
        .current_dir(clients())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PYTHONPATH", clients())
        .env("CONVOKE_TEST_URL", format!("http://{}", server.address()))
        .env("CONVOKE_TEST_OPERATOR", server.operator())
}

/// Returns the interpreter with our packages, made if there is none; or why there cannot be one.
fn python() -> Result<PathBuf, String> {
    let requirements = clients().join("requirements.txt");
    setup::python::with_requirements(&setup::tools_folder(), "clients", &requirements)
        .map_err(|error| format!("the Python packages cannot be installed: {error}"))
}

/// Returns the library that shows a program another time; or why there is none.
pub(crate) fn clock_library() -> Result<PathBuf, String> {
    let python = python()?;
    let packages = python.parent().and_then(Path::parent).map(|environment| environment.join("lib"));
    let versions = packages.iter().filter_map(|packages| fs::read_dir(packages).ok()).flatten().flatten();
    let libraries = versions.map(|version| version.path().join(CLOCK_LIBRARY));
    let found = libraries.into_iter().find(|library| library.is_file());
    found.ok_or_else(|| "the Python package libfaketime has no library for this system".to_owned())
}

pub(crate) fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients")
}
