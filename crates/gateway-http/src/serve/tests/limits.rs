//! Peers that send too slowly, too much, or come in too great a number.

use super::*;

#[tokio::test]
async fn a_head_that_never_ends_is_cut() {
    let server = Server::start(ServeLimits { head_timeout: SHORT, ..limits() }).await;
    for beginning in ["", "GET /hel", "GET /hello HTTP/1.1\r\nHost: localhost\r\nX-Slow: a"] {
        let mut peer = server.connect().await;
        peer.send(beginning).await;
        assert_eq!(peer.rest().await, "", "{beginning:?}");
    }
    assert!(server.ask(HELLO_AND_CLOSE).await.contains("200 OK"));
}

#[tokio::test]
async fn a_head_that_drips_is_cut_all_the_same() {
    let server = Server::start(ServeLimits { head_timeout: SHORT, ..limits() }).await;
    let mut peer = server.connect().await;
    peer.send("GET /hello HTTP/1.1\r\nX-Slow: ").await;
    let began = tokio::time::Instant::now();
    // Each byte comes in time, the whole does not.
    let mut pace = tokio::time::interval(SHORT / 10);
    loop {
        pace.tick().await;
        if peer.stream.write_all(b"a").await.is_err() {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "nobody cuts it");
    }
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_cut() {
    let server = Server::start(ServeLimits { body_grace: SHORT, ..limits() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\nabc").await;
    let answer = peer.rest().await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let whole = format!(
        "POST /count HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 100000\r\n\r\n{}",
        "a".repeat(100_000)
    );
    assert!(server.ask(&whole).await.ends_with("\r\n\r\n100000"));
}

#[tokio::test]
async fn a_body_may_take_long_as_long_as_it_comes() {
    let server = Server::start(ServeLimits { body_grace: SHORT, body_rate_min: 10, ..limits() }).await;
    let mut peer = server.connect().await;
    peer.send("POST /count HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 40\r\n\r\n")
        .await;
    // Two bytes earn what it takes them to come, three times over.
    let mut pace = tokio::time::interval(SHORT / 3);
    for _ in 0..20 {
        pace.tick().await;
        peer.send("ab").await;
    }
    let answer = peer.rest().await;
    assert!(answer.ends_with("\r\n\r\n40"), "{answer}");
}

#[tokio::test]
async fn an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let server = Server::start(ServeLimits { idle_timeout: SHORT, head_timeout: SHORT, ..limits() }).await;
    let mut waiting = server.connect().await;
    waiting.send(FOREVER).await;
    let mut socket = server.connect().await;
    socket.send(UPGRADE).await;
    socket.expect("101").await;
    let mut idle = server.connect().await;
    for _ in 0..3 {
        idle.send(HELLO).await;
        idle.expect("hello\n").await;
    }
    assert_eq!(idle.rest().await, "");
    // Neither a request under way nor a socket counts as idle: both outlive the limit.
    let mut some = [0; 1];
    for peer in [&mut waiting, &mut socket] {
        assert!(timeout(SHORT, peer.stream.read(&mut some)).await.is_err(), "still open");
    }
}

#[tokio::test]
async fn a_peer_that_takes_nothing_is_cut() {
    let server = Server::start(ServeLimits { write_timeout: SHORT, connections_max: 1, ..limits() }).await;
    let mut peer = server.connect().await;
    peer.send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    peer.expect("200 OK").await;
    // It reads no more. Its place is free again when it was cut, and not before.
    let answer = loop {
        let answer = server.ask(HELLO_AND_CLOSE).await;
        if answer.contains("200 OK") {
            break answer;
        }
    };
    assert!(answer.ends_with("hello\n"));
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let server = Server::start(limits()).await;
    let long = format!("GET /hello HTTP/1.1\r\nHost: localhost\r\nX-Long: {}\r\n\r\n", "a".repeat(32 << 10));
    let many = format!("GET /hello HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X-Many: a\r\n".repeat(200));
    for request in [&long, &many] {
        let answer = server.ask(request).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer:?}");
    }
    let fits = format!(
        "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: {}\r\n\r\n",
        "a".repeat(15 << 10)
    );
    assert!(server.ask(&fits).await.contains("200 OK"));
}

#[tokio::test]
async fn those_who_only_wait_make_room_for_those_who_ask() {
    let server = Server::start(ServeLimits { connections_max: 3, ..limits() }).await;
    let mut idle = server.connect().await;
    idle.send(HELLO).await;
    idle.expect("hello\n").await;
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(server.connect().await);
        assert!(server.ask(HELLO_AND_CLOSE).await.contains("200 OK"));
    }
    assert_eq!(idle.rest().await, "", "the one that waited longest went first");
}

#[tokio::test]
async fn those_who_are_served_keep_their_place() {
    let server = Server::start(ServeLimits { connections_max: 2, connections_reserve: 1, ..limits() }).await;
    let mut busy = Vec::new();
    for _ in 0..3 {
        let mut peer = server.connect().await;
        peer.send(UPGRADE).await;
        peer.expect("101").await;
        busy.push(peer);
    }
    let answer = server.ask(HELLO_AND_CLOSE).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 503"), "{answer}");
    drop(busy.pop());
    while !server.ask(HELLO_AND_CLOSE).await.contains("200 OK") {}
}

#[tokio::test]
async fn a_thousand_come_and_go() {
    let server = Server::start(ServeLimits { connections_max: 50, ..limits() }).await;
    for nth in 0..1_000 {
        let mut peer = server.connect().await;
        if nth % 3 == 0 {
            peer.send("GET /hel").await;
        }
    }
    assert!(server.ask(HELLO_AND_CLOSE).await.contains("200 OK"));
}

#[tokio::test]
async fn a_panic_ends_one_request() {
    let server = Server::start(limits()).await;
    let answer = server.ask("GET /panic HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("\"code\":\"internal\""), "{answer}");
    assert!(server.ask(HELLO_AND_CLOSE).await.contains("200 OK"));
}

#[tokio::test]
async fn routes_may_change_and_know_their_peer() {
    let server = Server::start(limits()).await;
    let mut peer = server.connect().await;
    peer.send("GET /peer HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    peer.expect("127.0.0.1").await;
    drop(server.routes.send_replace(Router::new().route("/hello", get(async || "good day\n"))));
    peer.send(HELLO).await;
    peer.expect("good day\n").await;
}

pub(super) const UPGRADE: &str = "GET /socket HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n\
    Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
