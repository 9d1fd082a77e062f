//! A bus started by a command of the test's own: other flags, other limits, another environment.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// How long a test waits for what must happen before it fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for one bus.
pub(crate) struct Place {
    folder: TempDir,
}

/// A bus that runs in it.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
    said: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Puts a file into the folder, outside the data.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Returns a command that starts a bus here, from a shell line that is run first.
    pub(crate) fn command(&self, first: &str, flags: &str) -> Command {
        let mut command = Command::new("sh");
        let line = format!("{first}\nexec \"$0\" up --json --data \"$1\" {flags}");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_convoke")]).arg(self.data()).current_dir(self.path());
        command
    }

    /// Starts a bus with flags on a free port.
    pub(crate) fn start(&self, flags: &str) -> Server {
        self.start_after("", flags)
    }

    pub(crate) fn start_after(&self, first: &str, flags: &str) -> Server {
        let said = self.folder.path().join("stderr");
        let mut command = self.command(first, &format!("--listen 127.0.0.1:0 {flags}"));
        command.stdout(Stdio::piped()).stderr(File::create(&said).unwrap());
        let mut child = command.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let url = ready.split("\"url\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let url = url.unwrap_or_else(|| panic!("not ready: {}", fs::read_to_string(&said).unwrap()));
        Server { child, url: url.to_owned(), said }
    }

    pub(crate) fn operator(&self) -> String {
        fs::read_to_string(self.data().join("operator.token")).unwrap().trim().to_owned()
    }

    /// Runs another command on the folder.
    pub(crate) fn run(&self, words: &str) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env("CONVOKE_DATA", self.data())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let told = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), self.show(&String::from_utf8(told).unwrap()))
    }

    /// Replaces the folder's own name, which differs from run to run.
    pub(crate) fn show(&self, text: &str) -> String {
        text.replace(&self.path().display().to_string(), "[folder]")
    }
}

impl Server {
    pub(crate) fn address(&self) -> &str {
        self.url.split("://").nth(1).unwrap()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(self.address()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    }

    /// Asks for something and returns the whole answer, empty where there was none.
    pub(crate) fn ask(&self, path: &str, token: &str) -> String {
        let mut socket = self.connect();
        let address = self.address();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        let mut answer = String::new();
        // Whoever is turned away may be so before he has spoken.
        drop(socket.write_all(head.as_bytes()).and_then(|()| socket.read_to_string(&mut answer)));
        answer
    }

    /// Returns what it wrote to standard error.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.said).unwrap()
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop and returns how it ended.
    pub(crate) fn stop(mut self) -> i32 {
        self.signal("-TERM");
        self.child.wait().unwrap().code().unwrap()
    }
}

/// A bus does not outlive a test that fails.
impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
