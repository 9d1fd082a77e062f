//! Calls and what comes back.

use axum::body::Body;
use axum::http::{Request, header};

use super::start;
use doorstep::BODY_BYTES_MAX;

const NOTE: &str =
    r#"{"convoke":1,"native_id":"n-1","kind":"note","from":"ann","to":["bob"],"text":"hello"}"#;

#[tokio::test]
async fn a_message_is_sent_taken_and_settled() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"dialect":"coord"}"#).await;
    let sent = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    assert_eq!((sent.status, sent.get("/stage").as_str()), (201, "stored"), "{}", sent.text);
    let looked = server.call("GET", "/v1/agents/bob/inbox?dialect=convoke", Some(&bob), "").await;
    assert_eq!(
        (looked.status, looked.get("/messages/0/document/text").as_str()),
        (200, "hello"),
        "{}",
        looked.text
    );
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), r#"{"lease":"60s"}"#).await;
    assert_eq!((taken.status, taken.get("/deliveries/0/dialect").as_str()), (200, "coord"), "{}", taken.text);
    assert_eq!(taken.get("/deliveries/0/document/from"), "ann");
    let path = format!("/v1/deliveries/{}/ack", taken.get("/deliveries/0/delivery"));
    assert_eq!(server.call("POST", &path, Some(&ann), "").await.status, 404, "it is not ann's");
    let acked = server.call("POST", &path, Some(&bob), r#"{"by":"test"}"#).await;
    assert_eq!((acked.status, acked.get("/stage").as_str()), (200, "acknowledged"), "{}", acked.text);
    let receipt =
        server.call("GET", &format!("/v1/messages/{}/receipt", sent.get("/id")), Some(&ann), "").await;
    assert_eq!(receipt.get("/recipients/0/stages/2/by"), "http", "{}", receipt.text);
    assert_eq!(receipt.get("/recipients/0/stage"), "acknowledged");
}

#[tokio::test]
async fn a_repeat_is_the_same_message_and_another_body_is_a_conflict() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    server.agent("bob", "").await;
    let first = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    let again = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    assert_eq!(
        (again.status, again.get("/id"), again.get("/duplicate")),
        (200, first.get("/id"), "true".to_owned())
    );
    let other = server.call("POST", "/v1/messages", Some(&ann), &NOTE.replace("hello", "bye")).await;
    assert_eq!((other.status, other.get("/code").as_str()), (409, "conflict"), "{}", other.text);
}

#[tokio::test]
async fn nobody_speaks_for_another() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", "").await;
    assert_eq!(server.call("POST", "/v1/messages", None, NOTE).await.status, 401);
    let spoofed = server.call("POST", "/v1/messages", Some(&bob), NOTE).await;
    assert_eq!((spoofed.status, spoofed.get("/code").as_str()), (403, "not_yours"), "{}", spoofed.text);
    let peeked = server.call("GET", "/v1/agents/bob/inbox", Some(&ann), "").await;
    assert_eq!(peeked.status, 403, "{}", peeked.text);
    let made = server.call("PUT", "/v1/agents/eve", Some(&ann), "").await;
    assert_eq!(made.status, 403, "{}", made.text);
    let sent = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    let eve = server.agent("eve", "").await;
    let receipt =
        server.call("GET", &format!("/v1/messages/{}/receipt", sent.get("/id")), Some(&eve), "").await;
    assert_eq!(receipt.status, 404, "who has nothing to do with a message does not hear of it");
}

#[tokio::test]
async fn refusals_say_what_to_do() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    server.agent("bobby", "").await;
    let unknown = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    assert_eq!(
        (unknown.status, unknown.get("/suggestions").as_str()),
        (404, r#"["bobby"]"#),
        "{}",
        unknown.text
    );
    let bad = server.call("POST", "/v1/messages", Some(&ann), r#"{"kind":"nonsense"}"#).await;
    assert_eq!((bad.status, bad.get("/code").as_str()), (422, "invalid"), "{}", bad.text);
    assert_eq!(server.call("POST", "/v1/messages", Some(&ann), "{").await.status, 400);
    assert_eq!(server.call("POST", "/v1/messages?dialect=klingon", Some(&ann), NOTE).await.status, 400);
    let to_bobby = NOTE.replace("\"bob\"", "\"bobby\"");
    for number in 0..3 {
        let document = to_bobby.replace("n-1", &format!("m-{number}"));
        let sent = server.call("POST", "/v1/messages", Some(&ann), &document).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
    }
    let full = server.call("POST", "/v1/messages", Some(&ann), &to_bobby).await;
    assert_eq!((full.status, full.get("/code").as_str()), (429, "queue_full"), "{}", full.text);
    assert_eq!(server.call("GET", "/nowhere", None, "").await.status, 404);
    let huge = server.call("POST", "/v1/messages", Some(&ann), &" ".repeat(BODY_BYTES_MAX + 1)).await;
    assert_eq!((huge.status, huge.get("/code").as_str()), (413, "too_large"), "{}", huge.text);
    assert_eq!(
        huge.connection.as_deref(),
        Some("close"),
        "what was not read would be taken for the next request"
    );
    assert_eq!(unknown.connection, None);
}

#[tokio::test]
async fn requests_on_behalf_of_other_sites_are_turned_away() {
    let server = start().await;
    let request = |host: &str, origin: Option<&str>| {
        let mut request = Request::builder().uri("/healthz").header(header::HOST, host);
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        request.body(Body::empty()).unwrap()
    };
    for (host, origin, status) in [
        ("localhost:7700", None, 200),
        ("127.0.0.1", Some("http://localhost:7700"), 200),
        ("evil.example", None, 403),
        ("localhost.evil.example:7700", None, 403),
        ("localhost:7700", Some("http://evil.example"), 403),
        ("localhost:7700", Some("null"), 403),
    ] {
        assert_eq!(server.send(request(host, origin)).await.status, status, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn what_was_answered_survives_and_the_stop_is_told() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    server.node.shut_down();
    let sent = server.call("POST", "/v1/messages", Some(&ann), NOTE).await;
    assert_eq!((sent.status, sent.get("/code").as_str()), (503, "stopped"), "{}", sent.text);
}
