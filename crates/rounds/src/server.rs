//! The real server: the binary in a process of its own, to be stopped, paused or killed.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock;
use crate::http::{Answer, Line, PATIENCE};

/// How often one looks whether a process has ended.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub binary: PathBuf,
    /// The folder of everything that belongs to one bus.
    pub folder: PathBuf,
    /// What runs the program, such as `prlimit --nofile=256`; it must become the program, not stay beside it.
    pub wrapper: Vec<String>,
    /// Variables of the environment, settings above all.
    pub variables: Vec<(String, String)>,
}

/// A server that runs.
pub struct Server {
    process: Process,
    /// Kept open: a server that cannot write to its stdout might stop.
    _stdout: BufReader<ChildStdout>,
    address: String,
    operator: String,
    log: PathBuf,
    /// How long it took to be ready.
    pub ready_after: Duration,
}

/// A process of ours.
struct Process(Child);

/// What came of starting a server.
pub enum Started {
    /// It is ready.
    Ready(Server),
    /// It ended by itself.
    Ended {
        /// How.
        status: ExitStatus,
        /// What it said.
        said: String,
    },
}

impl Launch {
    /// Starts the program in a folder, as it is.
    pub fn new(binary: &Path, folder: &Path) -> Self {
        Launch {
            binary: binary.to_owned(),
            folder: folder.to_owned(),
            wrapper: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Adds a setting, by the name that it has in the environment.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((format!("CONVOKE_{name}"), value.to_owned()));
        self
    }

    /// Runs the program by another.
    #[must_use]
    pub fn by(mut self, wrapper: &[&str]) -> Self {
        self.wrapper = wrapper.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Returns the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Starts it and waits until it is ready.
    pub fn start(&self) -> anyhow::Result<Server> {
        match self.try_start()? {
            Started::Ready(server) => Ok(server),
            Started::Ended { status, said } => bail!("the server is not ready ({status}): {said}"),
        }
    }

    /// Starts it and waits until it is ready, or has ended by itself.
    pub fn try_start(&self) -> anyhow::Result<Started> {
        let log = self.folder.join("server.log");
        let stderr = OpenOptions::new().create(true).append(true).open(&log).context("opening the log")?;
        let mut words = self.wrapper.iter().map(String::as_str).chain(self.binary.to_str());
        let mut command = Command::new(words.next().context("the path of the program is not UTF-8")?);
        command
            .args(words)
            .args(["up", "--listen", "127.0.0.1:0", "--json", "--data"])
            .arg(self.data())
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .env_remove("CONVOKE_URL")
            .env_remove("CONVOKE_TOKEN")
            .env_remove("CONVOKE_AGENT")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr);
        let began = clock::now();
        let mut process = Process(command.spawn().context("starting the server")?);
        let stdout = BufReader::new(process.0.stdout.take().context("the server has no stdout")?);
        let Some((ready, stdout)) = first_line(stdout) else {
            bail!("the server is neither ready nor ends: {}", tail(&log));
        };
        let Some(address) = ready.split("http://").nth(1).and_then(|rest| rest.split('"').next()) else {
            let ended = process.ended_within(PATIENCE)?;
            let said = format!("{ready}{}", tail(&log));
            let status =
                ended.with_context(|| format!("the server is not ready and does not end: {said}"))?;
            return Ok(Started::Ended { status, said });
        };
        let ready_after = began.elapsed();
        let operator = fs::read_to_string(self.data().join("operator.token"));
        let operator = operator.context("reading the operator's token")?.trim().to_owned();
        let address = address.to_owned();
        Ok(Started::Ready(Server { process, _stdout: stdout, address, operator, log, ready_after }))
    }

    /// Starts it where it must not start, and returns what it said.
    pub fn refused(&self) -> anyhow::Result<String> {
        match self.start() {
            Ok(_) => bail!("the server started"),
            Err(error) => Ok(format!("{error:#}")),
        }
    }
}

impl Server {
    /// Returns where it listens, as host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the id of its process.
    pub fn id(&self) -> u32 {
        self.process.0.id()
    }

    /// Returns the operator's token.
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// Makes one call on a connection of its own.
    pub fn call(&self, method: &str, path: &str, token: &str, body: &str) -> anyhow::Result<Answer> {
        let mut line = Line::connect(&self.address).context("connecting")?;
        line.call(method, path, token, body).with_context(|| format!("{method} {path}"))
    }

    /// Makes an agent, or one more token for one that is there, and returns the token.
    pub fn agent(&self, name: &str) -> anyhow::Result<String> {
        let made = self.call("PUT", &format!("/v1/agents/{name}"), &self.operator, "{}")?;
        if let Some(token) = made.text("token") {
            return Ok(token);
        }
        let made = self.call("POST", &format!("/v1/agents/{name}/tokens"), &self.operator, "{}")?;
        made.text("token").with_context(|| format!("no token for {name}: {made}"))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        kill_process(self.pid()?, signal).context("sending a signal")
    }

    /// Kills it, as a power cut would.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        self.process.0.kill().context("killing the server")?;
        self.process.0.wait().context("waiting for the server")?;
        Ok(())
    }

    /// Waits until it has ended by itself, for so long at most.
    pub fn ended_within(&mut self, limit: Duration) -> anyhow::Result<Option<ExitStatus>> {
        self.process.ended_within(limit)
    }

    /// Asks it to stop, and returns its exit code.
    pub fn stop(mut self) -> anyhow::Result<Option<i32>> {
        self.signal(Signal::TERM)?;
        Ok(self.process.0.wait().context("waiting for the server")?.code())
    }

    /// Tells whether the process is there and answers.
    pub fn must_be_well(&mut self) -> anyhow::Result<()> {
        if let Some(status) = self.process.0.try_wait().context("asking for the server")? {
            bail!("the server ended: {status}: {}", tail(&self.log));
        }
        let health = self.call("GET", "/healthz", "", "")?;
        ensure!(health.status == 200, "not healthy: {health}");
        let log = self.log_text();
        ensure!(!tells_of_panic(&log), "the server panicked: {log}");
        Ok(())
    }

    /// Returns what it has written to stderr.
    pub fn log_text(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Returns how much memory it has, in KiB.
    pub fn resident_kib(&self) -> Option<u64> {
        self.status_kib("VmRSS:")
    }

    /// Returns how much memory it had at most, in KiB.
    pub fn peak_kib(&self) -> Option<u64> {
        self.status_kib("VmHWM:")
    }

    fn status_kib(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.0.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Returns how many files and sockets it has open.
    pub fn open_files(&self) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.process.0.id())).ok()?.count())
    }

    fn pid(&self) -> anyhow::Result<Pid> {
        let id = i32::try_from(self.process.0.id()).context("the id of the process")?;
        Pid::from_raw(id).context("the id of the process")
    }
}

impl Process {
    fn ended_within(&mut self, limit: Duration) -> anyhow::Result<Option<ExitStatus>> {
        let began = clock::now();
        loop {
            let status = self.0.try_wait().context("asking for the server")?;
            if status.is_some() || began.elapsed() >= limit {
                return Ok(status);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// A run that fails leaves no server behind, not even one that is paused.
impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Tells whether a server wrote that it panicked, in its own words or in those of the language.
pub fn tells_of_panic(log: &str) -> bool {
    log.contains("a fault in the program") || log.contains("panicked at")
}

/// Reads a line from a process that may say nothing for ever.
fn first_line(mut stdout: BufReader<ChildStdout>) -> Option<(String, BufReader<ChildStdout>)> {
    let (tell, told) = mpsc::channel();
    // If nothing comes, the thread ends when the process is killed.
    thread::spawn(move || {
        let mut line = String::new();
        let read = stdout.read_line(&mut line);
        drop(tell.send(read.map(|_| (line, stdout))));
    });
    told.recv_timeout(PATIENCE).ok()?.ok()
}

fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
