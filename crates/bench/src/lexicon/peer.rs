//! The peer: a Node.js process that answers each line with a line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::Measure;
use super::corpus::{Verdict, file_name};
use crate::figures::Timing;
use setup::node::{Node, Package};

pub(crate) const PACKAGE: Package = Package {
    name: "lexicon",
    manifest: include_str!("../../peers/lexicon/package.json"),
    lock: include_str!("../../peers/lexicon/package-lock.json"),
    files: &[("peer.mjs", include_str!("../../peers/lexicon/peer.mjs"))],
    compiled: &[],
};

/// The peer's program, ready to be started.
pub(crate) struct Installed {
    node: Node,
    script: PathBuf,
}

/// A running peer.
pub(crate) struct Peer {
    child: Child,
    /// Taken when the peer shall end.
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// What the peer is.
#[derive(Clone, Debug)]
pub(crate) struct Versions {
    pub(crate) node: String,
    pub(crate) package: String,
}

/// Installs whatever the peer needs, unless it is there.
pub(crate) fn install(tools: &Path) -> anyhow::Result<Installed> {
    let node = Node::find(tools)?;
    let script = node.install(&PACKAGE, tools)?.join("peer.mjs");
    Ok(Installed { node, script })
}

impl Peer {
    /// Starts the peer on the folder that the corpus was written to.
    pub(crate) fn start(installed: &Installed, folder: &Path) -> anyhow::Result<Self> {
        let mut command = installed.node.command(&installed.script);
        command.arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting the peer")?;
        let requests = child.stdin.take();
        let answers = child.stdout.take().context("the peer has no standard output")?;
        Ok(Peer { child, requests, answers: BufReader::new(answers) })
    }

    pub(crate) fn versions(&mut self) -> anyhow::Result<Versions> {
        let answer = self.ask(&json!({ "do": "versions" }))?;
        Ok(Versions { node: text(&answer, "node")?, package: text(&answer, "package")? })
    }

    /// What the peer says about each case, with its message, in the order of the cases.
    pub(crate) fn verdicts(&mut self) -> anyhow::Result<Vec<(Verdict, String)>> {
        let answer = self.ask(&json!({ "do": "verdicts", "set": "cases" }))?;
        let verdicts = answer["verdicts"].as_array().context("the peer sent no verdicts")?;
        let mut read = Vec::with_capacity(verdicts.len());
        for (at, verdict) in verdicts.iter().enumerate() {
            ensure!(text(verdict, "name")? == file_name(at), "the peer's verdicts are out of order");
            let valid = verdict["valid"].as_bool().context("a verdict is neither valid nor invalid")?;
            read.push((Verdict::from_validity(valid), text(verdict, "message")?));
        }
        Ok(read)
    }

    /// Lets the peer run a measure for some time.
    pub(crate) fn measure(&mut self, measure: Measure, duration: Duration) -> anyhow::Result<Timing> {
        let milliseconds = u64::try_from(duration.as_millis()).context("the duration is too long")?;
        let answer = self.ask(&json!({
            "do": "measure",
            "set": "records",
            "what": measure.name(),
            "milliseconds": milliseconds,
        }))?;
        let number = |key: &str| answer[key].as_u64().with_context(|| format!("the peer sent no {key}"));
        let processor = Duration::from_nanos(number("processor_ns")?);
        Ok(Timing {
            records: number("records")?,
            wall: Duration::from_nanos(number("wall_ns")?),
            processor: (!processor.is_zero()).then_some(processor),
        })
    }

    fn ask(&mut self, request: &Value) -> anyhow::Result<Value> {
        let requests = self.requests.as_mut().context("the peer has no standard input")?;
        writeln!(requests, "{request}").context("asking the peer")?;
        requests.flush().context("asking the peer")?;
        let mut line = String::new();
        self.answers.read_line(&mut line).context("waiting for the peer")?;
        ensure!(!line.is_empty(), "the peer ended without an answer; what it said stands above");
        serde_json::from_str(&line).context("reading the peer's answer")
    }
}

impl Drop for Peer {
    /// A peer that reads the end of its requests ends; waiting for it leaves no process behind.
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Err(error) = self.child.wait() {
            eprintln!("bench: the peer did not end: {error}");
        }
    }
}

fn text(value: &Value, key: &str) -> anyhow::Result<String> {
    let text = value[key].as_str().with_context(|| format!("the peer sent no {key}"))?;
    Ok(text.to_owned())
}
