//! `convoke up`: a real process, a real socket, and a real `kill -9`.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::bus::{Bus, member};
use crate::server::Place;
use crate::session::Session;

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("data");
    let bus = Bus::start(&folder);
    let token_file = folder.join("operator.token");
    for (path, mode) in [(&folder, 0o700), (&token_file, 0o600), (&folder.join("origin.key"), 0o600)] {
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

#[test]
fn in_the_background_until_it_is_told_to_stop() {
    let place = Place::new();
    let (code, told) = place.run("up --detach --listen 127.0.0.1:0 --json");
    assert_eq!(code, 0, "{told}");
    let server = fs::read_to_string(place.data().join("server.json")).unwrap();
    assert_eq!(member(&server, "url"), member(&told, "url"));
    assert_eq!(place.run("who --json").0, 0, "commands find it by themselves");
    let (code, told) = place.run("up --detach --listen 127.0.0.1:0");
    assert!(code == 2 && told.contains("error: the bus in [folder]/data does not start"), "{told}");
    assert!(told.contains("hint: another bus runs on this folder: stop it with `convoke down`"), "{told}");
    let (code, told) = place.run("down --json");
    assert!(code == 0 && told.starts_with("{\"event\":\"stopped\",\"pid\":"), "{told}");
    assert!(!place.data().join("server.json").exists());
    let (code, told) = place.run("down");
    assert_eq!((code, &*told), (1, "error: no bus runs on [folder]/data\nhint: `convoke up` starts one\n"));
    let log = fs::read_to_string(place.data().join("server.log")).unwrap();
    assert!(log.contains("INFO data in "), "{log}");
}

#[test]
fn down_stops_no_process_that_is_not_a_bus() {
    let place = Place::new();
    assert_eq!(place.start("").stop(), 0);
    let pid = std::process::id();
    let server =
        format!("{{\"url\":\"http://127.0.0.1:1\",\"pid\":{pid},\"started\":\"2026-11-15T10:00:00Z\"}}");
    fs::write(place.data().join("server.json"), server).unwrap();
    let (code, told) = place.run("down");
    assert_eq!(code, 1, "we are still here: {told}");
    let held = fs::File::options().write(true).open(place.data().join("log/lock")).unwrap();
    held.lock().unwrap();
    fs::remove_file(place.data().join("server.json")).unwrap();
    let (code, told) = place.run("down");
    assert!(code == 1 && told.contains("is not a bus that said it was ready"), "{told}");
}

#[test]
fn an_open_bus_needs_no_token_and_says_what_that_means() {
    let place = Place::new();
    let server = place.start("--open");
    assert!(
        server.said().contains("OPEN: no token is needed. Any process on this machine"),
        "{}",
        server.said()
    );
    let answer = server.ask("/v1/agents", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(server.stop(), 0);
    let (code, told) = place.run("up --open --listen 0.0.0.0:0 --insecure-remote");
    assert!(code == 2 && told.contains("--open asks nobody for a token"), "{told}");
    let server = place.start("");
    assert!(server.ask("/v1/agents", "").starts_with("HTTP/1.1 401"), "only as long as it is said");
    assert_eq!(server.stop(), 0);
}

#[test]
fn while_a_long_log_is_read_the_bus_says_that_it_is_starting() {
    let place = Place::new();
    let server = place.start("--open");
    let line = r#"{"convoke":1,"kind":"note","from":"human","to":["human"],"text":"N"}"#;
    for batch in 0..10 {
        let lines: String =
            (0..2_000).map(|nth| format!("{}\n", line.replace('N', &format!("{batch} {nth}")))).collect();
        let mut socket = server.connect();
        let length = lines.len();
        write!(socket, "POST /v1/messages/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{lines}").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    server.kill();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut child = place
        .command("", &format!("--listen {port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ask = |path: &str| -> Option<String> {
        let mut socket = TcpStream::connect(port).ok()?;
        write!(socket, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        Some(answer)
    };
    let mut was_starting = false;
    loop {
        let Some(answer) = ask("/readyz") else {
            assert!(!was_starting, "who listens goes on listening");
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            continue;
        };
        if answer.starts_with("HTTP/1.1 200") {
            break;
        }
        assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("\"state\":\"starting\""), "{answer}");
        was_starting = true;
        let answer = ask("/v1/agents").unwrap();
        assert!(answer.contains("\"code\":\"starting\"") || answer.starts_with("HTTP/1.1 401"), "{answer}");
    }
    assert!(was_starting, "reading so many records takes longer than asking");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_service_unit_is_printed() {
    let (code, told) = Place::new().run("service --config my.toml");
    let binary = env!("CARGO_BIN_EXE_convoke");
    insta::assert_snapshot!(format!("{}[exit {code}]\n", told.replace(binary, "[convoke]")));
}
