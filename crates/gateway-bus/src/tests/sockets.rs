//! The socket: what goes over it, what settles, and what it survives.

use std::time::Duration;

use doorstep::{Server, Socket};
use futures_util::{SinkExt, StreamExt};
use gateway::Token;
use tokio::io::AsyncWriteExt;
use tokio_tungstenite::tungstenite::Message;

use super::{agent, message, send, socket, start};

const ANN: &str = "codex://ann";
const BOB: &str = "opencode://bob";

async fn pair() -> (Server, Token, Token) {
    let server = start().await;
    let (ann, bob) = (agent(&server, ANN).await, agent(&server, BOB).await);
    (server, ann, bob)
}

/// Sends a message, and returns its id on the bus.
async fn sent(server: &Server, token: &Token, message: &str) -> String {
    let sent = send(server, token, message).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    sent.get("/id")
}

/// Returns how far a message has come, and by which door.
async fn stage(server: &Server, token: &Token, id: &str) -> [String; 2] {
    let receipt = server.call("GET", &format!("/v1/messages/{id}/receipt"), Some(token), "").await;
    let last = ["/recipients/0/stages/3/by", "/recipients/0/stages/2/by"].map(|path| receipt.get(path));
    [receipt.get("/stage"), last.into_iter().find(|by| by != "(absent)").unwrap_or_default()]
}

/// Waits until so many deliveries were settled.
pub(super) async fn settled(server: &Server, token: &Token, count: u64) {
    let acknowledged = &server.node.counters().happened.acknowledged;
    let settled = async {
        while acknowledged.load(std::sync::atomic::Ordering::Relaxed) < count {
            // Every call lets the node and the sockets go on.
            server.call("GET", "/bus/metrics", Some(token), "").await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), settled).await.unwrap();
}

#[tokio::test]
async fn what_was_sent_meanwhile_comes_in_order_once_and_is_settled() {
    let (server, ann, bob) = pair().await;
    let mut ids = Vec::new();
    for id in ["m-1", "m-2", "m-3"] {
        ids.push(sent(&server, &ann, &message(id, ANN, BOB, &[])).await);
    }
    let mut first = socket(&server, BOB, &bob).await;
    for id in ["m-1", "m-2", "m-3"] {
        let came = first.next().await;
        assert_eq!(came.get("message_id"), id);
        assert!(came.0.starts_with("{ \"message_id\""), "the very bytes: {}", came.0);
    }
    first.send("nonsense").await;
    first.next().await;
    settled(&server, &ann, 3).await;
    for id in &ids {
        assert_eq!(stage(&server, &ann, id).await, ["acknowledged", "bus"]);
    }
    drop(first);
    let mut second = socket(&server, BOB, &bob).await;
    sent(&server, &ann, &message("m-4", ANN, BOB, &[])).await;
    assert_eq!(second.next().await.get("message_id"), "m-4", "nothing comes twice");
}

#[tokio::test]
async fn what_comes_over_a_socket_is_routed() {
    let (server, ann, bob) = pair().await;
    let (mut asking, mut working) = (socket(&server, ANN, &ann).await, socket(&server, BOB, &bob).await);
    let task = r#"{"task_id":"t-1"}"#;
    // A wish to wait makes no difference here.
    let routing =
        r#"{"timeout":"50ms","retry_policy":{"max_retries":0,"backoff":"linear"},"delivery_mode":"sync"}"#;
    let routing = routing.replace("50ms", "60s");
    asking.send(&message("m-1", ANN, BOB, &[("metadata", task), ("routing", &routing)])).await;
    let request = working.next().await;
    assert_eq!(request.get("message_id"), "m-1");
    // What is over cannot fail any more: the error is of another task.
    let other = r#"{"task_id":"t-2"}"#;
    for (id, kind, of) in
        [("r-1", "status_update", task), ("r-2", "task_response", task), ("r-3", "error", other)]
    {
        working
            .send(&message(id, BOB, ANN, &[("message_type", kind), ("metadata", of), ("payload", "{}")]))
            .await;
        assert_eq!([asking.next().await.get("message_id")], [id], "{kind}");
    }
    // Agents of other dialects are reached, and reach this one.
    let cyd = server.agent("cyd", "").await;
    working.send(&message("m-2", BOB, "cyd", &[])).await;
    let taken = server.call("POST", "/v1/agents/cyd/inbox/take", Some(&cyd), r#"{"wait":"30s"}"#).await;
    assert_eq!(taken.get("/deliveries/0/document/kind"), "task.request", "{}", taken.text);
    let note = r#"{"kind":"note","from":"cyd","to":["opencode://bob"],"text":"hello"}"#;
    assert_eq!(server.call("POST", "/v1/messages", Some(&cyd), note).await.status, 201);
    let came = working.next().await;
    assert_eq!(
        [came.get("message_type"), came.get("payload/notes")],
        ["status_update", "hello"],
        "{}",
        came.0
    );
}

#[tokio::test]
async fn what_is_refused_is_told_and_the_socket_stays() {
    let (server, ann, _) = pair().await;
    let mut socket = socket(&server, ANN, &ann).await;
    let good = message("m-1", ANN, BOB, &[]);
    let frames = [
        ("nonsense".to_owned(), "not_json", ""),
        (String::new(), "not_json", ""),
        ("[]".to_owned(), "not_json", ""),
        (good.replace("task_request", "shout"), "invalid", "m-1"),
        (good.replace("300s", "300"), "invalid", "m-1"),
        (good.replace("codex://ann", "codex://eve"), "not_yours", "m-1"),
        (good.replace("opencode://bob", "opencode://eve"), "unknown_recipient", "m-1"),
    ];
    for (frame, code, id) in frames {
        socket.send(&frame).await;
        let error = socket.next().await;
        let told = [
            "message_type",
            "sender/agent_id",
            "recipient/agent_id",
            "payload/error_code",
            "payload/original_message_id",
        ];
        assert_eq!(
            told.map(|path| error.get(path)),
            ["error", "communication-bus", ANN, code, id],
            "{frame}: {}",
            error.0
        );
        let checked = translate_check(&error.0);
        assert!(checked.is_ok(), "{frame}: {checked:?}: {}", error.0);
    }
    socket.stream.send(Message::binary(vec![0xff, 0xfe])).await.unwrap();
    assert_eq!(socket.next().await.get("payload/error_code"), "not_json");
    // Bytes that are a document are one, and a second login changes nothing.
    socket.send(&format!(r#"{{"type":"auth","token":"{}"}}"#, ann.reveal())).await;
    socket.stream.send(Message::binary(good.into_bytes())).await.unwrap();
    socket.send("nonsense").await;
    assert_eq!(socket.next().await.get("payload/error_code"), "not_json");
    let inbox = server.call("GET", "/v1/agents/bob/inbox", Some(&server.operator), "").await;
    assert_eq!(inbox.get("/messages/0/document/message_id"), "m-1", "{}", inbox.text);
}

/// Checks a document as strictly as `convoke validate` does.
fn translate_check(text: &str) -> Result<(), String> {
    use dialect::Dialect;
    let value = json::parse_str(text, json::Limits::DOCUMENT).unwrap();
    let verdict = dialect_bus::Bus.validate(&value);
    if verdict.errors.is_empty() { Ok(()) } else { Err(format!("{:?}", verdict.errors.into_kept())) }
}

#[tokio::test]
async fn a_message_that_dies_is_told_to_its_sender_in_its_own_words() {
    let (server, ann, _) = pair().await;
    let mut socket = socket(&server, ANN, &ann).await;
    let routing =
        r#"{"timeout":"50ms","retry_policy":{"max_retries":2,"backoff":"linear"},"delivery_mode":"async"}"#;
    socket.send(&message("m-1", ANN, BOB, &[("routing", routing)])).await;
    let notice = socket.next().await;
    assert_eq!(
        [notice.get("message_type"), notice.get("sender/agent_id"), notice.get("payload/code")],
        ["error", "communication-bus", "EXPIRED"],
        "{}",
        notice.0
    );
}

#[tokio::test]
async fn what_was_not_ponged_for_goes_back_at_once() {
    let (server, ann, bob) = pair().await;
    let mut first = socket(&server, BOB, &bob).await;
    let again = sent(&server, &ann, &message("m-1", ANN, BOB, &[])).await;
    let once =
        r#"{"timeout":"300s","retry_policy":{"max_retries":0,"backoff":"linear"},"delivery_mode":"async"}"#;
    // The frame is read, the ping behind it is not.
    assert_eq!(first.next().await.get("message_id"), "m-1");
    drop(first);
    let mut second = socket(&server, BOB, &bob).await;
    assert_eq!(second.next().await.get("message_id"), "m-1", "it comes again");
    second.send("nonsense").await;
    second.next().await;
    settled(&server, &ann, 1).await;
    assert_eq!(stage(&server, &ann, &again).await[0], "acknowledged");
    let unsure =
        sent(&server, &ann, &message("m-2", ANN, BOB, &[("routing", once), ("priority", "low")])).await;
    assert_eq!(second.next().await.get("message_id"), "m-2");
    drop(second);
    let mut third = socket(&server, BOB, &bob).await;
    sent(&server, &ann, &message("m-3", ANN, BOB, &[])).await;
    assert_eq!(third.next().await.get("message_id"), "m-3", "what is wanted once does not come twice");
    assert_eq!(stage(&server, &ann, &unsure).await[0], "unconfirmed");
}

#[tokio::test]
async fn no_more_is_handed_out_than_the_peer_pongs_for() {
    const WINDOW: usize = 256;
    let (server, ann, bob) = pair().await;
    let mut socket = socket(&server, BOB, &bob).await;
    // The tests' own bus keeps three messages waiting, and refuses the next.
    let mut accepted = 0;
    while accepted <= WINDOW + 3 {
        let answer = send(&server, &ann, &message(&format!("m-{accepted}"), ANN, BOB, &[])).await;
        if answer.status == 429 {
            break;
        }
        assert_eq!(answer.status, 200, "{}", answer.text);
        accepted += 1;
    }
    assert_eq!(accepted, WINDOW + 3);
    for number in 0..accepted {
        assert_eq!(socket.next().await.get("message_id"), format!("m-{number}"));
    }
}

#[tokio::test]
async fn an_agent_may_have_several_sockets_and_closing_one_closes_no_other() {
    let (server, ann, bob) = pair().await;
    let (old, mut new) = (socket(&server, BOB, &bob).await, socket(&server, BOB, &bob).await);
    new.send("nonsense").await;
    new.next().await;
    drop(old);
    for id in ["m-1", "m-2"] {
        sent(&server, &ann, &message(id, ANN, BOB, &[])).await;
        assert_eq!(new.next().await.get("message_id"), id);
    }
}

#[tokio::test]
async fn who_may_open_a_socket() {
    let (server, ann, bob) = pair().await;
    let path = format!("/bus?agent_id={ANN}");
    for (id, token, reason) in [
        ("codex://nobody", &server.operator, "Agent not registered"),
        ("codex://nobody", &ann, "Agent not registered"),
        (ANN, &bob, "not_yours"),
    ] {
        let mut refused = socket(&server, id, token).await;
        assert_eq!(refused.frame().await.err().flatten(), Some((1008, reason.to_owned())), "{id}");
    }
    let path_encoded = "/bus/?agent_id=codex%3A%2F%2Fann";
    let key = ann.reveal();
    let mut encoded =
        Socket::with_header(&server, path_encoded, "x-agent-api-key", Some(&key)).await.unwrap();
    encoded.send("nonsense").await;
    encoded.next().await;
    for (query, value) in [("", Some("Bearer nonsense")), (&*format!("&api_key={}", ann.reveal()), None)] {
        let refused = Socket::with_header(&server, &format!("{path}{query}"), "authorization", value).await;
        assert!(refused.err().is_some_and(|error| error.to_string().contains("401")), "{query}");
    }
    for first in [
        "{}".to_owned(),
        format!(r#"{{"type":"auth","token":"{}x"}}"#, ann.reveal()),
        message("m", ANN, BOB, &[]),
    ] {
        let mut refused = Socket::open(&server, &path, None).await.unwrap();
        refused.send(&first).await;
        assert_eq!(refused.frame().await.err().flatten(), Some((1008, "no_token".to_owned())), "{first}");
    }
    let mut late = Socket::open(&server, &path, None).await.unwrap();
    late.send(&format!(r#"{{"type":"auth","token":"{}"}}"#, ann.reveal())).await;
    late.send("nonsense").await;
    assert_eq!(late.next().await.get("message_type"), "error");
    // Who is revoked or forgotten does not stay.
    server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&server.operator), "").await;
    assert_eq!(late.frame().await.err().flatten(), Some((1008, "no_token".to_owned())));
    let mut gone = socket(&server, BOB, &server.operator).await;
    gone.send("nonsense").await;
    gone.next().await;
    server.call("DELETE", "/bus/agents/opencode%3A%2F%2Fbob", Some(&server.operator), "").await;
    assert_eq!(gone.frame().await.err().flatten(), Some((1008, "Agent not registered".to_owned())));
}

#[tokio::test]
async fn odd_frames_are_survived() {
    let (server, ann, bob) = pair().await;
    let mut taker = socket(&server, BOB, &bob).await;
    for payload in [&b""[..], b"x", &7_u64.to_be_bytes(), &u64::MAX.to_be_bytes(), &[0; 125]] {
        taker.stream.send(Message::Pong(payload.to_vec().into())).await.unwrap();
    }
    for _ in 0..1_000 {
        taker.stream.feed(Message::Ping(b"still there?".to_vec().into())).await.unwrap();
    }
    taker.stream.flush().await.unwrap();
    let id = sent(&server, &ann, &message("m-1", ANN, BOB, &[])).await;
    assert_eq!(taker.next().await.get("message_id"), "m-1");
    taker.send("nonsense").await;
    taker.next().await;
    settled(&server, &ann, 1).await;
    assert_eq!(stage(&server, &ann, &id).await, ["acknowledged", "bus"]);

    // Frames that are not allowed end the connection, and nothing else.
    let masked = |head: &[u8]| [head, &[0, 0, 0, 0]].concat();
    let hostile: [(&str, Vec<u8>); 4] = [
        ("text that is not UTF-8", [masked(&[0x81, 0x82]), vec![0xff, 0xfe]].concat()),
        ("a length of 100 MB", masked(&[&[0x81, 0xff][..], &100_000_000_u64.to_be_bytes()].concat())),
        ("an unknown opcode", masked(&[0x83, 0x80])),
        ("half a frame", [masked(&[0x81, 0xfe, 0x10, 0x00]), vec![b'x'; 10]].concat()),
    ];
    for (what, bytes) in hostile {
        let mut socket = socket(&server, BOB, &bob).await;
        socket.stream.get_mut().write_all(&bytes).await.unwrap();
        if what == "half a frame" {
            drop(socket);
            continue;
        }
        let closed = socket.frame().await.unwrap_err();
        if what == "a length of 100 MB" {
            assert_eq!(closed, Some((1009, "too_large".to_owned())), "{what}");
        }
        while let Some(Ok(_)) = socket.stream.next().await {}
    }
    sent(&server, &ann, &message("m-2", ANN, BOB, &[])).await;
    assert_eq!(taker.next().await.get("message_id"), "m-2");
}

#[tokio::test]
async fn a_bus_that_stops_says_so() {
    let (server, ann, _) = pair().await;
    let mut socket = socket(&server, ANN, &ann).await;
    socket.send("nonsense").await;
    socket.next().await;
    server.hub.stop();
    assert_eq!(socket.frame().await.err().flatten(), Some((1001, "stopping".to_owned())));
}

#[tokio::test]
async fn an_open_bus_asks_nobody_for_a_key() {
    let doors = |hub| gateway_http::router(hub, vec![crate::doorway()]);
    let server = Server::start_with(|authority| authority.open = true, doors).await;
    for id in [ANN, BOB] {
        let registered =
            server.call("POST", "/bus/agents/register", None, &super::registration(id, "1.0")).await;
        assert_eq!(registered.status, 200, "{}", registered.text);
    }
    let path = |id: &str| format!("/bus?agent_id={id}");
    let mut asking = Socket::open(&server, &path(ANN), None).await.unwrap();
    // Whatever a client that knows nothing better sends as its key.
    let mut working =
        Socket::with_header(&server, &path(BOB), "x-agent-api-key", Some("change-me")).await.unwrap();
    asking.send(&message("m-1", ANN, BOB, &[])).await;
    assert_eq!(working.next().await.get("message_id"), "m-1");
}

#[tokio::test]
async fn tokens_are_read_from_urls_where_that_is_allowed() {
    let doors = |hub| gateway_http::router(hub, vec![crate::doorway()]);
    let server = Server::start_with(|authority| authority.allow_token_in_url = true, doors).await;
    let ann = agent(&server, ANN).await;
    for (path, key) in [
        (format!("/bus?agent_id={ANN}"), "api_key"),
        ("/v1/agents/ann/socket?receipts=brief".to_owned(), "token"),
    ] {
        let mut socket =
            Socket::open(&server, &format!("{path}&{key}={}", ann.reveal()), None).await.unwrap();
        socket.send("nonsense").await;
        socket.next().await;
    }
    let wrong = format!("/bus?agent_id={ANN}&api_key=nonsense");
    assert!(Socket::open(&server, &wrong, None).await.is_err_and(|error| error.to_string().contains("401")));
    let path = format!("/v1/me?token={}", ann.reveal());
    assert_eq!(server.call("GET", &path, None, "").await.get("/agent"), "ann");
    let path = format!("/bus/messages/send?api_key={}", ann.reveal());
    let refused = server.call("POST", &path, None, &message("m-1", ANN, ANN, &[])).await;
    assert_eq!(refused.status, 401, "who can post can set a header");
}
