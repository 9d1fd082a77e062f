//! Measures that want a process of their own: this very program does one work and answers in one line.

use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

/// Where such a work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a process of its own, whose memory holds nothing else.
    Child,
    /// In this process, where the figures mean nothing; a test's program is not ours to start again.
    Here,
}

/// Starts this program for one work and reads its answer, which is the last line that it writes.
pub(crate) fn ask(area: &str, what: &str, passes: u64) -> anyhow::Result<Value> {
    let program = std::env::current_exe().context("finding our own program")?;
    let mut command = Command::new(program);
    command.args([area, "--work", what, "--passes", &passes.to_string()]);
    let output = command.output().with_context(|| format!("starting a process for {what}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the process for {what} failed: {}", said.trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().with_context(|| format!("the process for {what} said nothing"))?;
    serde_json::from_str(line).with_context(|| format!("reading what the process for {what} said"))
}

/// Reads a number out of an answer.
pub(crate) fn number(answer: &Value, name: &str) -> anyhow::Result<f64> {
    answer.get(name).and_then(Value::as_f64).with_context(|| format!("there is no number {name} in {answer}"))
}
