//! The socket, by a client that we did not write.

use doorstep::{Server, Socket};
use futures_util::{SinkExt, StreamExt};
use gateway::Token;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use super::start;

async fn ready(server: &Server, path: &str, token: &Token) -> Socket {
    let mut socket = Socket::open(server, &format!("/v1/agents/{path}"), Some(token)).await.unwrap();
    assert_eq!(socket.next().await.get("op"), "ready");
    socket
}

fn send(reference: &str, text: &str) -> String {
    let document = format!(r#"{{ "kind":"note","from":"ann","to":["bob"],"text":"{text}"}}"#);
    format!(r#"{{"op":"send","ref":{reference},"document":{document}}}"#)
}

#[tokio::test]
async fn what_is_sent_over_a_socket_is_receipted_delivered_with_credit_and_settled() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut sender = ready(&server, "ann/socket", &ann).await;
    let mut taker = ready(&server, "bob/socket", &bob).await;
    sender.send(&send("1", "one")).await;
    let receipt = sender.next().await;
    assert_eq!(
        [receipt.get("op"), receipt.get("ref"), receipt.get("kind")],
        ["receipt", "1", "note"],
        "{}",
        receipt.0
    );
    assert_eq!(receipt.get("recipients/0/reachability"), "socket");
    taker.send(r#"{"op":"credit","n":1}"#).await;
    let delivered = taker.next().await;
    assert_eq!(
        [delivered.get("op"), delivered.get("id")],
        ["deliver".to_owned(), receipt.get("id")],
        "{}",
        delivered.0
    );
    assert!(delivered.0.contains(r#""document":{ "kind""#), "the very bytes: {}", delivered.0);
    // Without credit nothing comes: the next frame is the answer to what is asked now.
    sender.send(&send("\"b\"", "two")).await;
    assert_eq!(sender.next().await.get("ref"), "b");
    let delivery = delivered.get("delivery");
    taker.send(&format!(r#"{{"op":"ack","delivery":"{delivery}","ref":7}}"#)).await;
    let done = taker.next().await;
    assert_eq!([done.get("op"), done.get("ref")], ["done", "7"], "{}", done.0);
    taker.send(r#"{"op":"credit","n":5}"#).await;
    assert_eq!(taker.next().await.get("document/text"), "two");
    let path = format!("/v1/messages/{}/receipt", receipt.get("id"));
    let receipt = server.call("GET", &path, Some(&ann), "").await;
    assert_eq!(receipt.get("/recipients/0/stages/2/by"), "socket", "{}", receipt.text);
    assert_eq!(receipt.get("/stage"), "acknowledged");
}

#[tokio::test]
async fn a_socket_that_goes_gives_back_what_it_did_not_settle() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut sender = ready(&server, "ann/socket?receipts=brief", &ann).await;
    sender.send(&send("1", "one")).await;
    let receipt = sender.next().await;
    assert_eq!(
        [receipt.get("stage"), receipt.get("duplicate"), receipt.get("kind")],
        ["stored", "false", ""]
    );
    let mut taker = ready(&server, "bob/socket?dialect=coord", &bob).await;
    taker.send(r#"{"op":"credit","n":9}"#).await;
    let delivered = taker.next().await;
    assert_eq!([delivered.get("dialect"), delivered.get("attempt")], ["coord", "1"], "{}", delivered.0);
    drop(taker);
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), r#"{"wait":"30s"}"#).await;
    assert_eq!(taken.get("/deliveries/0/id"), receipt.get("id"), "{}", taken.text);
}

#[tokio::test]
async fn receipts_come_together_for_what_was_merely_stored() {
    let server = start().await;
    let (ann, _) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut sender = ready(&server, "ann/socket?receipts=together", &ann).await;
    let with_id = |reference: &str, id: &str| {
        send(reference, "x").replace("\"kind\"", &format!("\"native_id\":\"{id}\",\"kind\""))
    };
    let refused = send("4", "x").replace("[\"bob\"]", "[\"nobody\"]");
    let frames = [with_id("1", "a"), with_id("2", "b"), with_id("3", "a"), refused];
    for frame in &frames {
        sender.stream.feed(Message::text(frame)).await.unwrap();
    }
    sender.send(&with_id("\"last\"", "c")).await;
    // How many of them come in one frame is up to how they arrive; what is told of each is not.
    let (mut stored, mut told, mut upto) = (0, Vec::new(), String::new());
    while stored < 3 || told.len() < 2 {
        let answer = sender.next().await;
        match answer.get("op").as_str() {
            "receipts" => {
                assert_eq!(answer.get("stage"), "stored", "{}", answer.0);
                stored += answer.get("count").parse::<u64>().unwrap();
                upto = answer.get("upto");
            }
            "receipt" => told.push((answer.get("ref"), answer.get("duplicate"))),
            "error" => told.push((answer.get("ref"), answer.get("code"))),
            other => panic!("{other}: {}", answer.0),
        }
    }
    let expected =
        [("3", "true"), ("4", "unknown_recipient")].map(|(of, what)| (of.to_owned(), what.to_owned()));
    assert_eq!((stored, told.as_slice(), upto.as_str()), (3, &expected[..], "last"));
}

#[tokio::test]
async fn what_is_no_frame_closes_the_socket_with_its_code_and_pings_are_answered() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    for (first_byte, code) in [(0xc1, 1002), (0x83, 1002), (0x80, 1002)] {
        let mut socket = ready(&server, "ann/socket", &ann).await;
        socket.stream.send(Message::Ping("here?".into())).await.unwrap();
        assert_eq!(socket.stream.next().await.unwrap().unwrap(), Message::Pong("here?".into()));
        socket.stream.get_mut().write_all(&[first_byte, 0x81, 0, 0, 0, 0, b'x']).await.unwrap();
        let closed = socket.frame().await.unwrap_err();
        assert_eq!(closed.map(|(code, _)| code), Some(code), "{first_byte:x}");
    }
}

#[tokio::test]
async fn bad_frames_are_refused_one_by_one() {
    let server = start().await;
    let (ann, _) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut socket = ready(&server, "ann/socket", &ann).await;
    let spoofed = send("5", "x").replace("\"from\":\"ann\"", "\"from\":\"bob\"");
    for (frame, code) in [
        ("nonsense", "not_json"),
        ("[]", "not_json"),
        (r#"{"op":"dance","ref":1}"#, "bad_request"),
        (r#"{"op":"send","ref":2}"#, "bad_request"),
        (r#"{"op":"send","ref":{},"document":{}}"#, "bad_request"),
        (r#"{"op":"send","ref":3,"document":{"kind":"nonsense"}}"#, "invalid"),
        (r#"{"op":"send","ref":4,"document":{"kind":}}"#, "not_json"),
        (&spoofed, "not_yours"),
        (r#"{"op":"ack","delivery":"nonsense"}"#, "unknown_delivery"),
        (r#"{"op":"ack"}"#, "bad_request"),
        (r#"{"op":"credit"}"#, "bad_request"),
        (r#"{"op":"nack","delivery":7}"#, "bad_request"),
    ] {
        socket.send(frame).await;
        let error = socket.next().await;
        assert_eq!(
            [error.get("op").as_str(), error.get("code").as_str()],
            ["error", code],
            "{frame}: {}",
            error.0
        );
    }
    socket.stream.send(Message::binary(vec![0xff, 0xfe])).await.unwrap();
    assert_eq!(socket.next().await.get("code"), "not_json");
    socket.send(&send("9", "still here")).await;
    assert_eq!(socket.next().await.get("op"), "receipt");
}

#[tokio::test]
async fn a_socket_opens_by_its_head_or_its_first_frame_and_closes_with_its_token() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    for (path, token) in
        [("ann/socket", Some(&bob)), ("nobody/socket", Some(&bob)), ("ann/socket?receipts=odd", Some(&ann))]
    {
        let refused = Socket::open(&server, &format!("/v1/agents/{path}"), token)
            .await
            .err()
            .map(|error| error.to_string());
        assert!(refused.is_some_and(|error| error.contains("40")), "{path}");
    }
    let mut late = Socket::open(&server, "/v1/agents/ann/socket", None).await.unwrap();
    late.send(&format!(r#"{{"op":"auth","token":"{}"}}"#, ann.reveal())).await;
    assert_eq!(late.next().await.get("agent"), "ann");
    let mut wrong = Socket::open(&server, "/v1/agents/ann/socket", None).await.unwrap();
    wrong.send(&format!(r#"{{"op":"auth","token":"{}"}}"#, bob.reveal())).await;
    assert_eq!(wrong.next().await.get("code"), "not_yours");
    let mut silent = Socket::open(&server, "/v1/agents/ann/socket", None).await.unwrap();
    silent.send(&send("1", "x")).await;
    assert_eq!(silent.next().await.get("code"), "no_token");
    server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&server.operator), "").await;
    assert!(late.frame().await.is_err(), "a token that is revoked closes its sockets");
}

#[tokio::test]
async fn a_reply_comes_over_the_socket_that_waits_for_it() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut socket = ready(&server, "ann/socket", &ann).await;
    let question = r#"{"kind":"question","from":"ann","to":["bob"],"text":"Which port?"}"#;
    socket.send(&format!(r#"{{"op":"send","ref":"q","wait":"30s","document":{question}}}"#)).await;
    let id = socket.next().await.get("id");
    let reply =
        format!(r#"{{"kind":"task.done","from":"bob","to":["ann"],"reply_to":"{id}","text":"7700"}}"#);
    server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), "").await;
    server.call("POST", "/v1/messages", Some(&bob), &reply).await;
    let reply = socket.next().await;
    assert_eq!(
        [reply.get("op"), reply.get("ref"), reply.get("document/text")],
        ["reply", "q", "7700"],
        "{}",
        reply.0
    );
    socket
        .send(&format!(
            r#"{{"op":"send","ref":"r","wait":"1ms","document":{}}}"#,
            question.replace("port", "host")
        ))
        .await;
    assert_eq!(socket.next().await.get("op"), "receipt");
    let late = socket.next().await;
    assert_eq!([late.get("op"), late.get("ref"), late.get("code")], ["error", "r", "no_reply"], "{}", late.0);
}

#[tokio::test]
async fn wishes_count_however_short_the_frame_is() {
    let server = start().await;
    let (ann, _) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut socket = ready(&server, "ann/socket", &ann).await;
    let note = |text: &str| format!(r#"{{"kind":"note","from":"ann","to":["bob"],"text":"{text}"}}"#);
    for text in ["one", "two"] {
        socket.send(&format!(r#"{{"op":"send","document":{},"key":"k"}}"#, note(text))).await;
    }
    assert_eq!(socket.next().await.get("op"), "receipt");
    assert_eq!(socket.next().await.get("code"), "conflict", "the key is the same, the document is not");
    socket.send(&format!(r#"{{"op":"send","document":{},"wait":"1ms"}}"#, note("three"))).await;
    assert_eq!(socket.next().await.get("op"), "receipt");
    assert_eq!(socket.next().await.get("code"), "no_reply");
}

#[tokio::test]
async fn sockets_of_one_agent_are_counted() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(ready(&server, "ann/socket", &ann).await);
    }
    let mut ninth = Socket::open(&server, "/v1/agents/ann/socket", Some(&ann)).await.unwrap();
    assert_eq!(ninth.next().await.get("code"), "too_many_connections");
}
