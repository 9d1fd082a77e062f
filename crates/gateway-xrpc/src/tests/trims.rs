//! A trimmed log, as those see it who read records and follow their writes.

use doorstep::Socket;
use gateway::Token;
use node::Keep;

use super::{Bus, message};

/// The log is trimmed to so much.
const KEEP: Keep = Keep { time: None, bytes: Some(4 << 20) };

/// Sends messages that are over at once, until the log has several segments.
async fn fill(bus: &Bus, token: &Token) {
    for number in 0..16 {
        let text = "filler ".repeat(100_000);
        let note = format!(
            r##"{{"kind":"note","from":"ann","to":["#nobody"],"native_id":"n{number}","text":"{text}"}}"##
        );
        let sent = bus.server.call("POST", "/v1/messages", Some(token), &note).await;
        assert_eq!(sent.status, 201, "{}", &sent.text[..sent.text.len().min(300)]);
    }
}

/// Trims the log once the history has read it.
async fn trim(bus: &Bus) -> node::Trim {
    while bus.server.node.trim(KEEP, true).await.unwrap().hindrance.is_some() {
        tokio::task::yield_now().await;
    }
    bus.server.node.trim(KEEP, false).await.unwrap()
}

fn record(text: &str) -> String {
    format!(r#"{{"$type":"org.example.note","text":"{text}"}}"#)
}

async fn put(bus: &Bus, token: &Token, key: &str, text: &str) {
    let record = record(text);
    let body =
        format!(r#"{{"repo":"ann","collection":"org.example.note","rkey":"{key}","record":{record}}}"#);
    let put = bus.post("com.atproto.repo.putRecord", Some(token), &body).await;
    assert_eq!(put.status, 200, "{}", put.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_outlive_the_log_that_they_were_written_to() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    for key in ["one", "two", "gone", "three"] {
        put(&bus, &ann, key, &format!("first {key}")).await;
    }
    put(&bus, &ann, "one", "later one").await;
    let told = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "hello")).await;
    let remove = r#"{"repo":"ann","collection":"org.example.note","rkey":"gone"}"#;
    assert_eq!(bus.post("com.atproto.repo.deleteRecord", Some(&ann), remove).await.status, 200);
    let list = "com.atproto.repo.listRecords?repo=ann&collection=org.example.note";
    let before = bus.get(list, Some(&ann)).await;
    fill(&bus, &ann).await;
    let trimmed = trim(&bus).await;
    // Three notes, and a message twice: for who waits for it and for its record.
    assert_eq!((trimmed.hindrance, trimmed.carried), (None, 5), "{trimmed:?}");
    assert_eq!(bus.get(list, Some(&ann)).await.text, before.text);

    let bus = bus.restart().await;
    assert_eq!(bus.get(list, Some(&ann)).await.text, before.text);
    let key = told.rsplit_once('/').unwrap().1;
    let get = format!("com.atproto.repo.getRecord?repo=ann&collection=agent.comms.message&rkey={key}");
    assert_eq!(bus.get(&get, Some(&bob)).await.get("/value/content/text"), "hello");
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "hello", "{}", inbox.text);

    // Who was away since before the log begins is told what is there, and then what happens.
    let mut stream = Socket::open(&bus.server, "/subscribe?cursor=1", Some(&bob)).await.unwrap();
    let mut seen = Vec::new();
    let mut ticks = Vec::new();
    for number in 0..5 {
        if number == 4 {
            put(&bus, &ann, "two", "live two").await;
        }
        let frame = stream.next().await;
        seen.push((frame.get("commit/operation"), frame.get("commit/rkey")));
        ticks.push(frame.get("time_us").parse::<u64>().unwrap());
    }
    let expected =
        [("create", "two"), ("create", "three"), ("create", "one"), ("create", key), ("update", "two")];
    let expected = expected.map(|(operation, key)| (operation.to_owned(), key.to_owned()));
    assert_eq!(seen, expected);
    assert!(ticks.is_sorted(), "{ticks:?}");

    // From a cursor between, only what came behind it.
    let path = format!("/subscribe?cursor={}", ticks[2]);
    let mut stream = Socket::open(&bus.server, &path, Some(&bob)).await.unwrap();
    let frame = stream.next().await;
    assert_eq!(
        (frame.get("commit/rkey"), frame.get("commit/record/content/text")),
        (key.to_owned(), "hello".to_owned())
    );
    let frame = stream.next().await;
    assert_eq!(
        (frame.get("commit/rkey"), frame.get("commit/record/text")),
        ("two".to_owned(), "live two".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_too_far_behind_is_told_to_come_again() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let hello = r#"{"type":"options_update","payload":{}}"#;
    let [mut late, mut knowing] = [
        Socket::open(&bus.server, "/subscribe?requireHello=true", Some(&ann)).await.unwrap(),
        Socket::open(&bus.server, "/subscribe?requireHello=true&cursor=1", Some(&ann)).await.unwrap(),
    ];
    put(&bus, &ann, "one", "first").await;
    fill(&bus, &ann).await;
    assert!(trim(&bus).await.segments > 0);
    late.send(hello).await;
    let closed = late.frame().await.unwrap_err();
    assert_eq!(closed.map(|(code, _)| code), Some(1013));
    knowing.send(hello).await;
    assert_eq!(knowing.next().await.get("commit/rkey"), "one");
}
