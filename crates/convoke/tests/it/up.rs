//! `convoke up`: a real process, a real socket, and a real `kill -9`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::session::Session;

/// A bus that runs.
struct Bus {
    child: Child,
    address: String,
}

impl Bus {
    fn start(data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(["up", "--listen", "127.0.0.1:0", "--json", "--data"])
            .arg(data)
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
    fn call(&self, method: &str, path: &str, token: &str, body: &str) -> (u16, String) {
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

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop, as a service manager does.
    fn stop(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

/// Returns a text member of an answer.
fn member(body: &str, name: &str) -> String {
    let after = body.split(&format!("\"{name}\":\"")).nth(1).unwrap_or_else(|| panic!("no {name} in {body}"));
    after.split('"').next().unwrap().to_owned()
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let bus = Bus::start(&folder);
    let token_file = folder.join("operator.token");
    for (path, mode) in [(&folder, 0o700), (&token_file, 0o600)] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
    let operator = fs::read_to_string(&token_file).unwrap().trim().to_owned();
    let (status, body) = bus.call("PUT", "/v1/agents/ann", &operator, "");
    assert_eq!(status, 201, "{body}");
    let ann = member(&body, "token");
    let (_, body) = bus.call("PUT", "/v1/agents/bob", &operator, r#"{"dialect":"wire"}"#);
    let bob = member(&body, "token");
    let note = |id: &str| {
        format!(r#"{{"convoke":1,"native_id":"{id}","kind":"note","from":"ann","to":["bob"],"text":"{id}"}}"#)
    };
    for id in ["one", "two"] {
        let (status, body) = bus.call("POST", "/v1/messages", &ann, &note(id));
        assert_eq!(status, 201, "{body}");
    }
    bus.kill();

    let bus = Bus::start(&folder);
    let (status, body) = bus.call("POST", "/v1/messages", &ann, &note("one"));
    assert_eq!((status, body.contains("\"duplicate\":true")), (200, true), "{body}");
    let take = r#"{"max":10,"dialect":"convoke"}"#;
    let (status, body) = bus.call("POST", "/v1/agents/bob/inbox/take", &bob, take);
    assert_eq!((status, body.matches("\"delivery\":").count()), (200, 2), "{body}");
    let first = member(&body, "delivery");
    let (status, body) = bus.call("POST", &format!("/v1/deliveries/{first}/ack"), &bob, "");
    assert_eq!(status, 200, "{body}");
    bus.kill();

    let bus = Bus::start(&folder);
    let (status, body) = bus.call("POST", &format!("/v1/deliveries/{first}/ack"), &bob, "");
    assert_eq!(status, 200, "an acknowledgement may be repeated: {body}");
    assert_eq!(bus.stop(), 0);
    let data = folder.display().to_string();
    let verified = Session::new().run(&format!("log verify --data {data}"));
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
}

#[test]
fn who_waits_long_does_not_hold_up_a_stop() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let bus = Bus::start(&folder);
    let operator = fs::read_to_string(folder.join("operator.token")).unwrap().trim().to_owned();
    let address = bus.address.clone();
    let mut waiting = TcpStream::connect(&address).unwrap();
    let body = r#"{"wait":"300s"}"#;
    write!(
        waiting,
        "POST /v1/agents/human/inbox/take HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {operator}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    // A later call is answered, so the one before it is under way.
    assert_eq!(bus.call("GET", "/v1/agents", &operator, "").0, 200);
    assert_eq!(bus.stop(), 0);
}

#[test]
fn a_second_bus_on_the_folder_and_a_door_to_the_world_are_refused() {
    let session = Session::new();
    let data = session.path().join("data");
    let bus = Bus::start(&data);
    let commands = [
        "up --listen 127.0.0.1:0 --data data",
        "up --listen 0.0.0.0:7700 --data data",
        "up --listen nonsense --data data",
        "up --help",
    ];
    let shown = session.transcript(&commands).replace(&session.path().display().to_string(), "[folder]");
    insta::assert_snapshot!(shown);
    assert_eq!(bus.stop(), 0);
}
