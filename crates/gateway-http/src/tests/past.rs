//! Looking back, taking back, and many at once.

use super::start;

fn note(text: &str) -> String {
    format!(r#"{{"kind":"note","from":"ann","to":["bob"],"thread":"t 1","text":"{text}"}}"#)
}

#[tokio::test]
async fn a_writer_finds_its_own_words_and_nobody_else_does() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let eve = server.agent("eve", "").await;
    for text in ["the parser is slow", "the lexer is fast"] {
        let sent = server.call("POST", "/v1/messages", Some(&ann), &note(text)).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
        let query = text.split(' ').nth(1).unwrap();
        let found = server.call("GET", &format!("/v1/messages?q={query}"), Some(&ann), "").await;
        assert_eq!(found.get("/messages/0/id"), sent.get("/id"), "at once: {}", found.text);
        assert!(found.get("/messages/0/highlight").contains(&format!("«{query}»")), "{}", found.text);
    }
    let plus = server.call("GET", "/v1/messages?q=lexer+fast", Some(&ann), "").await;
    assert_eq!(plus.get("/messages/0/text"), "the lexer is fast", "a plus is a blank: {}", plus.text);
    let all = server.call("GET", "/v1/messages?thread=t%201&agent=bob&kind=note", Some(&bob), "").await;
    assert_eq!(all.get("/messages/1/text"), "the lexer is fast", "{}", all.text);
    for path in ["/v1/messages?q=parser", "/v1/messages?thread=t%201", "/v1/messages?agent=ann"] {
        let none = server.call("GET", path, Some(&eve), "").await;
        assert_eq!((none.status, none.get("/messages").as_str()), (200, "[]"), "{path}: {}", none.text);
    }
    let first = server.call("GET", "/v1/messages?after=0&limit=1", Some(&server.operator), "").await;
    assert_eq!(first.get("/messages/0/text"), "the parser is slow", "{}", first.text);
    let next = format!("/v1/messages?after={}&limit=1", first.get("/next"));
    let second = server.call("GET", &next, Some(&server.operator), "").await;
    assert_eq!(second.get("/messages/0/text"), "the lexer is fast", "{}", second.text);
    assert_eq!(second.get("/next"), "(absent)");
    for bad in ["/v1/messages?limit=x", "/v1/messages?kind=nonsense", "/v1/messages?q=%ff"] {
        assert_eq!(server.call("GET", bad, Some(&ann), "").await.status, 400, "{bad}");
    }
    assert_eq!(server.call("GET", "/v1/messages?agent=nobody", Some(&ann), "").await.status, 404);
}

#[tokio::test]
async fn documents_are_shown_as_they_came_or_as_asked() {
    let server = start().await;
    let (ann, eve) = (server.agent("ann", "").await, server.agent("eve", "").await);
    server.agent("bob", "").await;
    let document = note("hello").replace(',', " , ");
    let id = server.call("POST", "/v1/messages", Some(&ann), &document).await.get("/id");
    let path = format!("/v1/messages/{id}");
    assert_eq!(server.call("GET", &path, Some(&ann), "").await.text, document, "the very bytes");
    let wire = server.call("GET", &format!("{path}?dialect=coord"), Some(&ann), "").await;
    assert_eq!(wire.get("/from"), "ann", "{}", wire.text);
    for path in [path.clone(), format!("{path}/receipt")] {
        assert_eq!(server.call("GET", &path, Some(&eve), "").await.status, 404, "{path} is none of eve's");
    }
}

#[tokio::test]
async fn what_was_sent_is_amended_and_taken_back() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let id = server.call("POST", "/v1/messages", Some(&ann), &note("wrong")).await.get("/id");
    let path = format!("/v1/messages/{id}");
    assert_eq!(server.call("PUT", &path, Some(&bob), &note("spoofed")).await.status, 403);
    let amended = server.call("PUT", &path, Some(&ann), &note("right")).await;
    assert_eq!(amended.status, 200, "{}", amended.text);
    let inbox = server.call("GET", "/v1/agents/bob/inbox", Some(&bob), "").await;
    assert_eq!(inbox.get("/messages/0/document/text"), "right", "{}", inbox.text);
    assert_eq!(server.call("DELETE", &path, Some(&bob), "").await.status, 403);
    let withdrawn = server.call("DELETE", &path, Some(&ann), "").await;
    assert_eq!(
        (withdrawn.status, withdrawn.get("/stage").as_str()),
        (200, "withdrawn"),
        "{}",
        withdrawn.text
    );
    assert_eq!(server.call("GET", "/v1/agents/bob/inbox", Some(&bob), "").await.get("/messages"), "[]");
}

#[tokio::test]
async fn a_batch_answers_line_by_line_and_a_bad_line_stops_no_other() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    server.agent("bob", "").await;
    let lines = [
        note("one").replace("{\"kind\"", "{\"native_id\":\"a\",\"kind\""),
        "{".to_owned(),
        String::new(),
        note("two").replace("\"ann\"", "\"bob\""),
        note("three").replace("\"bob\"", "\"bo\""),
        note("one").replace("{\"kind\"", "{\"native_id\":\"a\",\"kind\""),
    ];
    let before = server.node.counters().batches.load(std::sync::atomic::Ordering::Relaxed);
    let answered = server.call("POST", "/v1/messages/batch", Some(&ann), &lines.join("\n")).await;
    let after = server.node.counters().batches.load(std::sync::atomic::Ordering::Relaxed);
    assert_eq!(answered.status, 200, "{}", answered.text);
    let codes: Vec<String> = answered
        .text
        .lines()
        .map(|line| {
            let value = json::parse_str(line, json::Limits::DOCUMENT).unwrap();
            let member = value.get("code").or(value.get("duplicate")).unwrap();
            member.as_str().map_or_else(|| member.to_json(), str::to_owned)
        })
        .collect();
    assert_eq!(codes, ["false", "not_json", "not_yours", "unknown_recipient", "true"]);
    assert_eq!(after - before, 1, "one commit");
}
