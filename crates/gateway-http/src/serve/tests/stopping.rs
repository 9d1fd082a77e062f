//! Stopping: who is done goes at once, who is not has a grace.

use super::limits::UPGRADE;
use super::*;

#[tokio::test]
async fn idle_connections_do_not_hold_up_a_stop() {
    let mut server = Server::start(limits()).await;
    let mut idle = server.connect().await;
    idle.send(HELLO).await;
    idle.expect("hello\n").await;
    server.stop();
    assert_eq!(idle.rest().await, "");
    let address = server.address;
    server.stopped().await;
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_request_under_way_is_finished() {
    let mut server = Server::start(limits()).await;
    let mut slow = server.connect().await;
    slow.send("POST /count HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab").await;
    // A later answer means that the beginning of the first request was heard.
    assert!(server.ask(HELLO_AND_CLOSE).await.contains("200 OK"));
    server.stop();
    slow.send("cd").await;
    let answer = slow.rest().await;
    assert!(answer.ends_with("\r\n\r\n4"), "{answer}");
    server.stopped().await;
}

#[tokio::test]
async fn who_takes_too_long_is_cut() {
    let mut server = Server::start(ServeLimits { stop_grace: SHORT, ..limits() }).await;
    let mut waiting = server.connect().await;
    waiting.send(FOREVER).await;
    let mut socket = server.connect().await;
    socket.send(UPGRADE).await;
    socket.expect("101").await;
    server.stop();
    assert_eq!(waiting.rest().await, "");
    assert_eq!(socket.rest().await, "");
    server.stopped().await;
}
