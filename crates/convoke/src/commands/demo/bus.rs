//! The bus of the demo: a child process in a folder that goes with it.

use std::fs::{self, DirBuilder, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use json::{Limits, Value};
use tokio::process::{Child, Command};

use crate::failure::Failure;

/// What a shell may have set for another bus.
const VARIABLES: [&str; 5] =
    ["CONVOKE_URL", "CONVOKE_TOKEN", "CONVOKE_AGENT", "CONVOKE_DATA", "CONVOKE_CONFIG"];

/// A bus that runs. The process, if it still is one, is killed before its folder is removed.
pub(super) struct Bus {
    child: Child,
    folder: Folder,
}

struct Folder(PathBuf);

impl Bus {
    /// Starts the process.
    pub(super) fn spawn() -> Result<Self, Failure> {
        let folder = Folder::make()?;
        let child = spawn(&folder.data()).map_err(|error| cannot(&error.to_string()))?;
        Ok(Bus { child, folder })
    }

    /// Waits until it listens; returns where, and the operator's token.
    pub(super) async fn ready(&mut self) -> Result<(String, String), Failure> {
        let stdout = self.child.stdout.take().ok_or_else(|| cannot("it has no output"))?;
        let stdout = stdout.into_owned_fd().map_err(|error| cannot(&error.to_string()))?;
        // The line is read on a thread of its own, so that a signal is heard meanwhile.
        let read = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(File::from(stdout)).read_line(&mut line).map(|_| line)
        });
        let line = read.await.map_err(|error| cannot(&error.to_string()))?;
        let line = line.map_err(|error| cannot(&error.to_string()))?;
        let ready = json::parse_str(&line, Limits::DOCUMENT).ok();
        let url = ready.as_ref().and_then(|ready| ready.get("url")).and_then(Value::as_str);
        let url = url.ok_or_else(|| cannot("it did not say where it is"))?.to_owned();
        let token = fs::read_to_string(self.folder.data().join("operator.token"));
        let token = token.map_err(|error| cannot(&error.to_string()))?;
        Ok((url, token.trim().to_owned()))
    }

    /// Ends the process and waits for its end; the folder goes after it.
    pub(super) async fn stop(mut self) {
        // It fails only for a process that is gone already, which is what is wanted.
        drop(self.child.kill().await);
    }
}

impl Folder {
    fn make() -> Result<Self, Failure> {
        let mut chance = [0; 8];
        getrandom::fill(&mut chance).map_err(|error| cannot(&error.to_string()))?;
        let name = format!("convoke-demo-{:016x}", u64::from_le_bytes(chance));
        let folder = Folder(std::env::temp_dir().join(name));
        DirBuilder::new().mode(0o700).create(&folder.0).map_err(|error| cannot(&error.to_string()))?;
        Ok(folder)
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Nobody can be told, and the folder is in the place for what may be lost.
        drop(fs::remove_dir_all(&self.0));
    }
}

fn spawn(data: &Path) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["up", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(data);
    for name in VARIABLES {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true).spawn()
}

fn cannot(reason: &str) -> Failure {
    Failure::wrong_use(format!("cannot start a bus for the demo: {reason}"))
        .hint("does `convoke up --listen 127.0.0.1:0` start?")
}
