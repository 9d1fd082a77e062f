//! The disk fails while a server starts, or soon after: it refuses to start and says why, or it works.

use std::path::Path;

use anyhow::{Context, ensure};

use super::{CALLS, Fault, Outcome, Tally, end, judge, settings};
use crate::faults::scene::note;
use crate::faults::{Size, Stage};
use crate::folders::copy_folder;
use crate::run::verify;
use crate::server::{Launch, Started};
use crate::strace::Strace;

/// Messages in a folder that is not new, long enough for several segments and snapshots.
const MESSAGES: usize = 12;
const MESSAGE_BYTES: usize = 600_000;
/// Calls of one kind that are tried on one folder in the short form.
const SHORT: usize = 1;

/// What a server finds.
struct Past {
    name: &'static str,
    folder: tempfile::TempDir,
    /// Messages that were acknowledged.
    ids: Vec<String>,
}

pub(super) fn run(stage: &Stage, strace: &Strace, tally: &mut Tally) -> anyhow::Result<()> {
    let empty = tempfile::tempdir().context("making a folder")?;
    let new = Past { name: "a new folder", folder: empty, ids: Vec::new() };
    for past in [new, killed(stage)?] {
        for calls in &CALLS {
            let numbers = numbers(stage, strace, &past, calls.names)?;
            let tried = match stage.size {
                Size::Short => numbers.len() / 2..(numbers.len() / 2 + SHORT).min(numbers.len()),
                Size::Long => 0..numbers.len(),
            };
            for nth in &numbers[tried] {
                let fault = Fault { calls: calls.names, nth: *nth };
                let case = format!("{} {nth} of a start on {}", calls.names, past.name);
                tally.add(&case, start(stage, strace, &past, fault));
            }
        }
    }
    Ok(())
}

/// Makes a folder whose server was killed after it had acknowledged some messages.
fn killed(stage: &Stage) -> anyhow::Result<Past> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let mut server = settings(Launch::new(&stage.binary, folder.path())).start()?;
    let ann = server.agent("ann")?;
    let mut ids = Vec::new();
    for number in 0..MESSAGES {
        let text = format!("{number} {}", "x".repeat(MESSAGE_BYTES));
        let sent = server.call("POST", "/v1/messages", &ann, &note("ann", "ann", &text, ""))?;
        ids.push(sent.text("id").with_context(|| format!("no id: {sent}"))?);
    }
    server.kill()?;
    Ok(Past { name: "a folder whose server was killed", folder, ids })
}

/// Returns the numbers of the calls that a server makes from its start to its end.
fn numbers(stage: &Stage, strace: &Strace, past: &Past, calls: &'static str) -> anyhow::Result<Vec<usize>> {
    let folder = past.copy()?;
    let launch = settings(Launch::new(&stage.binary, folder.path()));
    let (traced, trace) = strace.launch(&launch, Fault { calls, nth: 0 });
    let server = traced.start().context("starting under strace")?;
    let code = server.stop()?;
    ensure!(code == Some(0), "the server stopped with {code:?}");
    Ok(trace.numbers(&launch.data()))
}

fn start(stage: &Stage, strace: &Strace, past: &Past, fault: Fault) -> anyhow::Result<Outcome> {
    let folder = past.copy()?;
    let launch = settings(Launch::new(&stage.binary, folder.path()));
    let (traced, trace) = strace.launch(&launch, fault);
    let started = traced.try_start();
    let failed = trace.failed(&launch.data());
    let context = format!("after {failed:?}");
    let outcome = match started.with_context(|| context.clone())? {
        Started::Ended { status, said } => judge(status, &failed, &said).with_context(|| context)?,
        Started::Ready(mut server) => {
            let status = match server.agent(super::PROBE) {
                Ok(token) => end(&mut server, &token),
                Err(_) => end(&mut server, ""),
            };
            let failed = trace.failed(&launch.data());
            let context = || format!("ready, after {failed:?}");
            judge(status.with_context(context)?, &failed, &server.log_text()).with_context(context)?
        }
    };
    past.must_be_whole(&launch)?;
    Ok(outcome)
}

impl Past {
    fn copy(&self) -> anyhow::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir().context("making a folder")?;
        let data: &Path = &self.folder.path().join("data");
        if data.is_dir() {
            copy_folder(data, &folder.path().join("data")).context("copying")?;
        }
        Ok(folder)
    }

    /// Checks that another server starts and knows every message.
    fn must_be_whole(&self, launch: &Launch) -> anyhow::Result<()> {
        let server = launch.start().context("starting again on the folder")?;
        for id in &self.ids {
            let receipt = server.call("GET", &format!("/v1/messages/{id}/receipt"), server.operator(), "")?;
            ensure!(receipt.status == 200, "{id} was acknowledged and is lost: {receipt}");
        }
        let code = server.stop()?;
        ensure!(code == Some(0), "the server stopped with {code:?}");
        verify(launch)
    }
}
