//! `convoke up`: a real process, a real socket, and a real `kill -9`.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use crate::bus::{Bus, member};
use crate::session::Session;

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
