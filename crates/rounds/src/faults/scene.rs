//! A bus with a few agents, and what parts do with it again and again.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, ensure};
use json::Value;
use tempfile::TempDir;

use super::Stage;
use crate::http::{Answer, Line};
use crate::server::{Launch, Server};

/// A bus, its folder, and those who are there.
pub(super) struct Scene {
    pub(super) server: Server,
    pub(super) launch: Launch,
    tokens: HashMap<String, String>,
    line: Line,
    _folder: TempDir,
}

/// A letter that came.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) delivery: String,
    pub(super) id: String,
    pub(super) attempt: u64,
    pub(super) text: String,
    pub(super) json: String,
}

impl Scene {
    /// Starts a bus with agents; pauses are short.
    pub(super) fn new(stage: &Stage, agents: &[&str]) -> anyhow::Result<Self> {
        Scene::with(stage, agents, |launch| launch)
    }

    /// Starts a bus with agents and settings.
    pub(super) fn with(
        stage: &Stage,
        agents: &[&str],
        set: impl FnOnce(Launch) -> Launch,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("making a folder")?;
        let launch = Launch::new(&stage.binary, folder.path())
            .set("DELIVERY_BACKOFF", "10ms")
            .set("DELIVERY_BACKOFF_MAX", "50ms")
            .set("DELIVERY_LEASE_MIN", "10ms");
        let launch = set(launch);
        let server = launch.start()?;
        let mut tokens = HashMap::new();
        for agent in agents {
            tokens.insert((*agent).to_owned(), server.agent(agent)?);
        }
        tokens.insert("human".to_owned(), server.operator().to_owned());
        let line = Line::connect(server.address()).context("connecting")?;
        Ok(Scene { server, launch, tokens, line, _folder: folder })
    }

    pub(super) fn token(&self, agent: &str) -> &str {
        self.tokens.get(agent).map_or("", String::as_str)
    }

    pub(super) fn data(&self) -> std::path::PathBuf {
        self.launch.data()
    }

    pub(super) fn call(
        &mut self,
        agent: &str,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<Answer> {
        let token = self.tokens.get(agent).map_or("", String::as_str);
        self.line.call(method, path, token, body).with_context(|| format!("{method} {path}"))
    }

    /// Sends a note; `more` are further members of the document, each with a comma in front.
    pub(super) fn send(&mut self, from: &str, to: &str, text: &str, more: &str) -> anyhow::Result<Answer> {
        let document = note(from, to, text, more);
        self.call(from, "POST", "/v1/messages", &document)
    }

    /// Sends a note that must be accepted, and returns its id.
    pub(super) fn sent(&mut self, from: &str, to: &str, text: &str, more: &str) -> anyhow::Result<String> {
        let answer = self.send(from, to, text, more)?;
        ensure!(answer.status == 201, "sending {:.40}: {answer}", text);
        answer.text("id").context("a receipt without an id")
    }

    /// Takes; `how` are the members of the wish.
    pub(super) fn take(&mut self, agent: &str, how: &str) -> anyhow::Result<Vec<Delivery>> {
        let body = format!(r#"{{"dialect":"convoke",{how}}}"#);
        let taken = self.call(agent, "POST", &format!("/v1/agents/{agent}/inbox/take"), &body)?;
        ensure!(taken.status == 200, "taking: {taken}");
        let value = taken.json().context("no JSON")?;
        let deliveries = value.get("deliveries").and_then(Value::as_array).unwrap_or_default();
        Ok(deliveries.iter().map(delivery).collect())
    }

    /// Takes one that must come, however long that takes.
    pub(super) fn one(&mut self, agent: &str, lease: &str) -> anyhow::Result<Delivery> {
        let how = format!(r#""max":1,"wait":"30s","lease":"{lease}""#);
        self.take(agent, &how)?.pop().with_context(|| format!("nothing came to {agent}"))
    }

    /// Says something of a delivery.
    pub(super) fn settle(
        &mut self,
        agent: &str,
        delivery: &str,
        what: &str,
        body: &str,
    ) -> anyhow::Result<Answer> {
        self.call(agent, "POST", &format!("/v1/deliveries/{delivery}/{what}"), body)
    }

    /// Returns the stage of a message.
    pub(super) fn stage(&mut self, id: &str) -> anyhow::Result<String> {
        let receipt = self.call("human", "GET", &format!("/v1/messages/{id}/receipt"), "")?;
        receipt.text("stage").with_context(|| format!("no stage: {receipt}"))
    }

    /// Kills the server and starts it again.
    pub(super) fn kill_and_start(&mut self, between: impl FnOnce()) -> anyhow::Result<()> {
        self.server.kill()?;
        between();
        self.server = self.launch.start()?;
        self.reconnect()
    }

    /// Connects anew, as everybody must whose connection was idle when places were short.
    pub(super) fn reconnect(&mut self) -> anyhow::Result<()> {
        self.line = Line::connect(self.server.address()).context("connecting")?;
        Ok(())
    }

    /// Checks that the server is alive and has not panicked.
    pub(super) fn well(&mut self) -> anyhow::Result<()> {
        self.server.must_be_well()
    }
}

/// Writes a note.
pub(super) fn note(from: &str, to: &str, text: &str, more: &str) -> String {
    format!(r#"{{"convoke":1,"kind":"note","from":"{from}","to":["{to}"],"text":"{text}"{more}}}"#)
}

/// Tells whether a program is there.
pub(super) fn has_program(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| Path::new(&folder).join(name).is_file())
    })
}

fn delivery(value: &Value<'_>) -> Delivery {
    let text = |key: &str| value.pointer(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let attempt = value.get("attempt").and_then(Value::as_integer).unwrap_or(0);
    Delivery {
        delivery: text("/delivery"),
        id: text("/id"),
        attempt: u64::try_from(attempt).unwrap_or(0),
        text: text("/document/text"),
        json: value.to_json(),
    }
}
