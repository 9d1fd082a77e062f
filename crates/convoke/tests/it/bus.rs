//! A bus for tests: the real binary on a free port.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A bus that runs.
pub(crate) struct Bus {
    child: Child,
    pub(crate) address: String,
}

impl Bus {
    /// Starts one on a free port.
    pub(crate) fn start(data: &Path) -> Self {
        Bus::start_at(data, "127.0.0.1:0")
    }

    /// Starts one on a port that another had before.
    pub(crate) fn start_at(data: &Path, listen: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(["up", "--listen", listen, "--json", "--data"])
            .arg(data)
            .env_remove("CONVOKE_URL")
            .env_remove("CONVOKE_TOKEN")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let url = ready.split("http://").nth(1).unwrap_or_else(|| panic!("not ready: {ready}"));
        Bus { child, address: url.split('"').next().unwrap().to_owned() }
    }

    /// Sends a request and returns the status and the body.
    pub(crate) fn call(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
        let mut socket = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        write!(
            socket,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, as a service manager does.
    pub(crate) fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

/// A test that fails leaves no bus behind.
impl Drop for Bus {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Returns a text member of an answer.
pub(crate) fn member(body: &str, name: &str) -> String {
    let after = body.split(&format!("\"{name}\":\"")).nth(1).unwrap_or_else(|| panic!("no {name} in {body}"));
    after.split('"').next().unwrap().to_owned()
}
