//! Peers that come in too great a number or never finish, against the real binary.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};

use crate::server::{Place, Server};

const SHORT: &str = "[limits]\nhead_timeout = '200ms'\nidle_timeout = '200ms'\nbody_grace = '200ms'\n";

/// Reads until the connection is closed.
fn rest(socket: &mut TcpStream) -> String {
    let mut heard = Vec::new();
    let mut some = [0; 4096];
    loop {
        match socket.read(&mut some) {
            Ok(0) => break,
            Ok(read) => heard.extend_from_slice(&some[..read]),
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "it is closed in time");
                break;
            }
        }
    }
    String::from_utf8_lossy(&heard).into_owned()
}

fn is_well(server: &Server, place: &Place) -> bool {
    server.ask("/v1/agents", &place.operator()).starts_with("HTTP/1.1 200")
}

#[test]
fn slow_heads_slow_bodies_and_idlers_are_cut() {
    let place = Place::new();
    place.write("short.toml", SHORT);
    let server = place.start("--config short.toml");
    let mut slow_heads: Vec<TcpStream> = (0..50).map(|_| server.connect()).collect();
    for (nth, socket) in slow_heads.iter_mut().enumerate() {
        socket.write_all(&b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nX: "[..nth.min(40)]).unwrap();
    }
    let mut slow_body = server.connect();
    let operator = place.operator();
    write!(
        slow_body,
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {operator}\r\nContent-Length: 9999\r\n\r\n{{"
    )
    .unwrap();
    let mut idle = server.connect();
    write!(idle, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(is_well(&server, &place));
    for socket in &mut slow_heads {
        assert_eq!(rest(socket), "");
    }
    let answer = rest(&mut slow_body);
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert!(rest(&mut idle).starts_with("HTTP/1.1 200"));
    assert!(is_well(&server, &place));
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_flood_of_silent_connections_shuts_nobody_out() {
    let place = Place::new();
    let server = place.start_after("ulimit -n 256", "");
    assert!(server.said().contains("which is enough for 144 connections"), "{}", server.said());
    let mut flood = Vec::new();
    for nth in 0..600 {
        flood.push(server.connect());
        if nth % 50 == 0 {
            assert!(is_well(&server, &place), "after {nth}");
        }
    }
    // Half of them go without a word, half are still there.
    for socket in flood.drain(..300) {
        drop(socket.shutdown(Shutdown::Both));
    }
    assert!(is_well(&server, &place));
    drop(flood);
    assert!(is_well(&server, &place));
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_process_without_descriptors_goes_on_when_it_has_some() {
    let place = Place::new();
    // Fewer than the least number of connections needs, so that accepting fails.
    let server = place.start_after("ulimit -n 48", "");
    let flood: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
    assert!(server.ask("/healthz", "").starts_with("HTTP/1.1 200"), "{}", server.said());
    drop(flood);
    assert!(is_well(&server, &place), "{}", server.said());
    assert!(server.said().matches("cannot accept").count() <= 1, "it is not said all the time");
    assert_eq!(server.stop(), 0);
}

#[test]
fn a_thousand_connect_and_close() {
    let place = Place::new();
    let server = place.start("");
    for nth in 0..1_000_usize {
        let mut socket = server.connect();
        drop(socket.write_all(&b"GET /v1/me HTTP/1.1\r\n"[..nth % 20]));
    }
    assert!(is_well(&server, &place));
    assert_eq!(server.stop(), 0);
}

#[test]
fn those_who_wait_for_messages_keep_their_place() {
    let place = Place::new();
    place.write("few.toml", "[limits]\nconnections = 4\nconnections_reserve = 2\nstop_grace = '500ms'\n");
    let server = place.start("--config few.toml");
    let (operator, body) = (place.operator(), r#"{"wait":"300s"}"#);
    let mut waiting = Vec::new();
    // Who only waits for a place to be served gives way, who is served does not: in the end there is no room.
    while is_well(&server, &place) {
        assert!(waiting.len() < 1_000, "there is always room for more");
        let mut socket = server.connect();
        write!(
            socket,
            "POST /v1/agents/human/inbox/take HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {operator}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        waiting.push(socket);
    }
    let answer = server.ask("/healthz", "");
    assert!(answer.is_empty() || answer.contains("\"code\":\"too_many_connections\""), "{answer}");
    drop(waiting);
    while !is_well(&server, &place) {}
    assert_eq!(server.stop(), 0);
}

#[test]
fn heads_that_are_too_large_are_refused() {
    let place = Place::new();
    let server = place.start("");
    let mut socket = server.connect();
    write!(socket, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: a\r\n".repeat(200)).unwrap();
    assert!(rest(&mut socket).starts_with("HTTP/1.1 431"));
    assert!(is_well(&server, &place));
    assert_eq!(server.stop(), 0);
}
