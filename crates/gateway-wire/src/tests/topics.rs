//! Topics: numbers, hashes, pages, and who sees what.

use dialect::Dialect;
use message::Sha256;

use crate::tests::{brief, inbox, start};

/// Checks the numbers and hashes of a topic that was read from its beginning, against the documents that were sent.
fn check(shown: &doorstep::Answer, documents: &[&str]) {
    let mut hash = [0; 32];
    for (nth, document) in documents.iter().enumerate() {
        let at = |field: &str| shown.get(&format!("/messages/{nth}/{field}"));
        let digest = Sha256::of(document.as_bytes());
        hash = Sha256::of(&[hash, digest.to_bytes()].concat()).to_bytes();
        let told = (at("sequence_number"), at("message_sha256"), at("running_hash"));
        let expected = ((nth + 1).to_string(), digest.to_string(), Sha256::from_bytes(hash).to_string());
        assert_eq!(told, expected, "{}", shown.text);
    }
    assert_eq!(shown.get(&format!("/messages/{}", documents.len())), "(absent)", "{}", shown.text);
}

#[tokio::test]
async fn a_topic_has_everything_that_was_posted_in_order() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let eve = server.agent("eve", "").await;
    let note = |number: u32, to: &str| {
        format!(r#"{{ "kind":"note", "from":"ann", "to":["{to}"], "text":"number {number}" }}"#)
    };
    for (address, path) in [
        ("#news", "%23news"),
        ("#news", "news"),
        ("channel:team", "channel:team"),
        ("all", "all"),
        ("roles.dev", "roles.dev"),
    ] {
        let path = format!("/wire/topics/{path}/messages");
        let before = server.call("GET", &path, Some(&eve), "").await;
        assert_eq!(before.status, 200, "{}", before.text);
        if before.get("/messages") == "[]" {
            for number in 1..=3 {
                let sent = server.call("POST", "/v1/messages", Some(&ann), &note(number, address)).await;
                assert_eq!(sent.status, 201, "{}", sent.text);
                let shown = server.call("GET", &path, Some(&eve), "").await;
                assert_eq!(shown.get(&format!("/messages/{}/id", number - 1)), sent.get("/id"), "at once");
            }
        }
        let documents: Vec<String> = (1..=3).map(|number| note(number, address)).collect();
        let documents: Vec<&str> = documents.iter().map(String::as_str).collect();
        let all = server.call("GET", &path, Some(&eve), "").await;
        check(&all, &documents);
        assert_eq!(
            (all.get("/links/next").as_str(), all.get("/messages/0/sender").as_str()),
            ("(absent)", "ann")
        );
        // What is posted to a role is for whoever takes it.
        let body = if address == "roles.dev" { "(absent)" } else { "number 1" };
        assert_eq!(all.get("/messages/0/message/payload/body"), body, "{}", all.text);
        // Pages.
        let first = server.call("GET", &format!("{path}?limit=2"), Some(&eve), "").await;
        assert_eq!(first.get("/messages/2"), "(absent)");
        let second = server.call("GET", &first.get("/links/next"), Some(&eve), "").await;
        assert_eq!(second.get("/messages/0"), all.get("/messages/2"), "{}", second.text);
        assert_eq!(second.get("/links/next"), "(absent)");
    }
    for bad in ["codex:%2F%2Fann", "ann%232", "%23", "roles.%20"] {
        let refused = server.call("GET", &format!("/wire/topics/{bad}/messages"), Some(&eve), "").await;
        assert_eq!((refused.status, refused.get("/outcome").as_str()), (400, "rejected"), "{bad}");
    }
    assert_eq!(server.call("GET", "/wire/topics/news/messages?after=x", Some(&eve), "").await.status, 400);
    assert_eq!(server.call("GET", "/wire/topics/news/messages", None, "").await.status, 401);
}

#[tokio::test]
async fn a_task_is_a_topic_and_shows_each_as_much_as_it_may_see() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire","roles":["developer"]}"#).await;
    let iris = server.agent("iris", "").await;
    let briefed = brief("mindy", "0.0.20");
    let claim = r#"{"wire":"1.0","type":"claim","sender":"quinn","ts":"2026-04-28T00:00:00Z","payload":{"task_id":"0.0.20","agent":"quinn","role":"developer"}}"#;
    let asked = inbox("quinn", "mindy", 2, "Which parser?").replace("null", r#""0.0.20""#);
    for (path, token, document) in [
        ("/wire?role=developer", &mindy, briefed.as_str()),
        ("/wire", &quinn, claim),
        ("/wire", &quinn, asked.as_str()),
    ] {
        let sent = server.call("POST", path, Some(token), document).await;
        assert!(sent.status < 300, "{}", sent.text);
    }
    let all = [briefed.as_str(), claim, asked.as_str()];
    let read = async |topic: &str, token| {
        server.call("GET", &format!("/wire/topics/{topic}/messages"), Some(token), "").await
    };
    let types = |shown: &doorstep::Answer| -> Vec<String> {
        (0..3).map(|nth| shown.get(&format!("/messages/{nth}/message/type"))).collect()
    };
    for topic in ["0.0.20", "task:0.0.20"] {
        for (token, expected) in [
            (&mindy, ["brief", "claim", "inbox"]),
            (&quinn, ["brief", "claim", "inbox"]),
            // Whoever has not taken it sees the pointer; what was asked in private is private.
            (&iris, ["available", "claim", "(absent)"]),
            (&server.operator, ["brief", "claim", "inbox"]),
        ] {
            let shown = read(topic, token).await;
            check(&shown, &all);
            assert_eq!(types(&shown), expected, "{topic}: {}", shown.text);
        }
    }
    let role = read("roles.developer", &iris).await;
    check(&role, &all[..1]);
    let pointer = role.get("/messages/0/message");
    let value = json::parse_str(&pointer, json::Limits::DOCUMENT).unwrap();
    assert!(dialect_wire::Wire.validate(&value).errors.is_empty(), "{pointer}");
    assert!(dialect_wire::fits_role_topic(pointer.as_bytes()), "{pointer}");
    assert_eq!(role.get("/messages/0/message/payload"), r#"{"task_id":"0.0.20","role":"developer"}"#);
    assert_eq!(
        types(&read("roles.developer", &mindy).await)[0],
        "available",
        "there it is a pointer for everybody"
    );
}
