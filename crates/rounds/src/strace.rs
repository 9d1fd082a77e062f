//! strace on a server: chosen calls to the system fail, and it is told which ones did.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};

use crate::clock;
use crate::http::PATIENCE;
use crate::server::Launch;

/// How often one looks whether something has come.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How much of a call is told.
const CALL_CHARS_MAX: usize = 100;
/// How strace marks a call that it failed.
const MARK: &str = "(INJECTED)";

/// The program.
pub(crate) struct Strace {
    words: Vec<String>,
}

/// Calls of which one fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The calls as strace names them, separated by commas.
    pub(crate) calls: &'static str,
    /// Which call of each thread fails, counted from 1; none where this is 0.
    pub(crate) nth: usize,
}

/// What strace wrote.
pub(crate) struct Trace {
    file: PathBuf,
}

/// A strace that has attached itself to a process. It ends with that process.
pub(crate) struct Attached {
    child: Child,
    pub(crate) trace: Trace,
}

impl Strace {
    /// Finds the program, or says why it cannot be used here.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let words = setup::strace::command_line(&setup::tools_folder())?;
        let strace = Strace { words };
        let folder = tempfile::tempdir().context("making a folder")?;
        let mut other = Command::new("sleep").arg("60").spawn().context("starting a process")?;
        let attached = strace.attach(other.id(), Fault { calls: "fsync", nth: 0 }, folder.path());
        drop(other.kill());
        drop(other.wait());
        attached?;
        Ok(strace)
    }

    /// Attaches to a process, and returns when calls are being failed.
    pub(crate) fn attach(&self, process: u32, fault: Fault, folder: &Path) -> anyhow::Result<Attached> {
        let (file, said) = (folder.join("trace"), folder.join("strace.log"));
        let mut words = self.words(fault, &file).into_iter();
        let mut command = Command::new(words.next().context("no words")?);
        command.args(words).args(["-p", &process.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said)?);
        let child = command.spawn().context("starting strace")?;
        let mut attached = Attached { child, trace: Trace { file } };
        let began = clock::now();
        while !fs::read_to_string(&said)?.contains("attached") {
            let ended = attached.child.try_wait()?.is_some();
            ensure!(!ended, "strace cannot attach: {}", fs::read_to_string(&said)?.trim());
            ensure!(began.elapsed() < PATIENCE, "strace does not attach");
            thread::sleep(LOOK_EVERY);
        }
        Ok(attached)
    }

    /// Starts a server under it. It traces from outside, so that the process that is started is the server.
    pub(crate) fn launch(&self, launch: &Launch, fault: Fault) -> (Launch, Trace) {
        let file = launch.folder.join("trace");
        let mut words = self.words(fault, &file);
        words.extend(["-D".to_owned(), "-qq".to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        (launch.clone().by(&words), Trace { file })
    }

    fn words(&self, fault: Fault, file: &Path) -> Vec<String> {
        let Fault { calls, nth } = fault;
        let mut words = self.words.clone();
        // Threads too; files by their paths; nothing of signals.
        words.extend(["-f", "-y", "-e", "signal=none", "-e"].map(str::to_owned));
        words.push(format!("trace={calls}"));
        if nth > 0 {
            words.extend(["-e".to_owned(), format!("inject={calls}:error=EIO:when={nth}")]);
        }
        words.extend(["-o".to_owned(), file.display().to_string()]);
        words
    }
}

impl Trace {
    /// Returns the calls about files in a folder that were failed.
    pub(crate) fn failed(&self, folder: &Path) -> Vec<String> {
        let folder = folder.display().to_string();
        let text = self.text();
        let lines = text.lines().filter(|line| line.contains(MARK) && line.contains(&folder));
        lines.map(|line| line.replace(&folder, "DATA").chars().take(CALL_CHARS_MAX).collect()).collect()
    }

    /// Returns the numbers, within their threads, of the calls about files in a folder.
    pub(crate) fn numbers(&self, folder: &Path) -> Vec<usize> {
        let folder = folder.display().to_string();
        let (mut counts, mut numbers) = (HashMap::new(), BTreeSet::new());
        // A call that others interrupt has a second line, which names no arguments.
        for line in self.text().lines().filter(|line| !line.contains(" resumed>")) {
            let thread = line.split(' ').next().unwrap_or_default().to_owned();
            let count: &mut usize = counts.entry(thread).or_default();
            *count += usize::from(line.contains('('));
            if line.contains(&folder) {
                numbers.insert(*count);
            }
        }
        numbers.into_iter().collect()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.file).unwrap_or_default()).into_owned()
    }
}

impl Attached {
    /// Waits until it has written everything about a process that has ended.
    pub(crate) fn finish(&mut self) -> anyhow::Result<&Trace> {
        let began = clock::now();
        while self.child.try_wait()?.is_none() {
            ensure!(began.elapsed() < PATIENCE, "strace does not end");
            thread::sleep(LOOK_EVERY);
        }
        Ok(&self.trace)
    }
}

/// A process that is still traced goes on without it.
impl Drop for Attached {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
