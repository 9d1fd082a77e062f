//! Inboxes: the order, what settles, whose they are, and big ones page by page.

use crate::tests::{inbox, start};

#[tokio::test]
async fn an_inbox_is_ordered_by_priority_and_then_by_time() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    for (priority, text) in [(3, "second"), (1, "first"), (3, "third")] {
        let sent = server.call("POST", "/wire", Some(&mindy), &inbox("mindy", "quinn", priority, text)).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
    }
    let said = async |path: &str| -> (Vec<String>, String, String) {
        let shown = server.call("GET", path, Some(&quinn), "").await;
        assert_eq!(shown.status, 200, "{}", shown.text);
        let each = (0..3).map(|nth| shown.get(&format!("/messages/{nth}/payload/body")));
        let last = (0..3).map(|nth| shown.get(&format!("/ids/{nth}"))).rfind(|id| id != "(absent)");
        let more = shown.get("/more");
        (each.filter(|body| body != "(absent)").collect(), last.unwrap_or_default(), more)
    };
    let (all, _, more) = said("/wire/inbox/quinn").await;
    assert_eq!((all.join(" "), more.as_str()), ("first second third".into(), "0"));
    // Looking settles nothing, and a page goes on behind the last one.
    let (page, last, more) = said("/wire/inbox/quinn?limit=2").await;
    assert_eq!((page.join(" "), more.as_str()), ("first second".into(), "1"));
    let (page, _, more) = said(&format!("/wire/inbox/quinn?limit=2&after={last}")).await;
    assert_eq!((page.join(" "), more.as_str()), ("third".into(), "0"));
    let gone = server.call("GET", "/wire/inbox/quinn?after=nonsense", Some(&quinn), "").await;
    assert_eq!(gone.status, 400, "{}", gone.text);
}

#[tokio::test]
async fn what_was_processed_is_settled_once_and_unknown_ids_are_told() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    let wire = inbox("mindy", "quinn", 2, "by our id");
    let id = server.call("POST", "/wire", Some(&mindy), &wire).await.get("/id");
    let named = inbox("mindy", "quinn", 2, "by its own id").replacen('{', r#"{"wire_id":"w-1","#, 1);
    server.call("POST", "/wire", Some(&mindy), &named).await;
    let nameless = inbox("mindy", "quinn", 2, "by what it says");
    server.call("POST", "/wire", Some(&mindy), &nameless).await;
    let digest = dialect_wire::wire_id(
        json::parse_str(&nameless, json::Limits::DOCUMENT).unwrap().as_object().unwrap(),
    );
    let ids = format!(r#"{{"ids":["{id}","w-1","{digest}","w-2","01930000-0000-7000-8000-000000000000"]}}"#);
    let path = "/wire/inbox/quinn/processed";
    let settled = server.call("POST", path, Some(&quinn), &ids).await;
    let outcomes: Vec<String> = (0..5).map(|nth| settled.get(&format!("/results/{nth}/outcome"))).collect();
    assert_eq!(outcomes, ["processed", "processed", "processed", "unknown", "unknown"], "{}", settled.text);
    assert_eq!(settled.get("/results/1/id"), "w-1");
    assert_eq!(server.call("GET", "/wire/inbox/quinn", Some(&quinn), "").await.get("/messages"), "[]");
    let again = server.call("POST", path, Some(&quinn), &format!(r#"{{"ids":["{id}"]}}"#)).await;
    assert_eq!(again.get("/results/0/outcome"), "processed", "a repeat says the same: {}", again.text);
    let receipt = server.call("GET", &format!("/v1/messages/{id}/receipt"), Some(&mindy), "").await;
    assert_eq!(receipt.get("/recipients/0/stages/2/by"), "wire", "{}", receipt.text);
    for bad in ["{}", r#"{"ids":[1]}"#, r#"{"ids":"x"}"#, "["] {
        assert_eq!(server.call("POST", path, Some(&quinn), bad).await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn an_inbox_is_its_owner_s_and_the_operator_s() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let quinn = server.agent("quinn", "").await;
    let id = server.call("POST", "/wire", Some(&mindy), &inbox("mindy", "quinn", 2, "hi")).await.get("/id");
    assert_eq!(server.call("GET", "/wire/inbox/quinn", Some(&mindy), "").await.status, 403);
    assert_eq!(server.call("GET", "/wire/inbox/nobody", Some(&mindy), "").await.status, 403);
    assert_eq!(server.call("GET", "/wire/inbox/nobody", Some(&server.operator), "").await.status, 404);
    let ids = format!(r#"{{"ids":["{id}"]}}"#);
    assert_eq!(server.call("POST", "/wire/inbox/quinn/processed", Some(&mindy), &ids).await.status, 403);
    // Somebody else's message is unknown in an inbox of one's own.
    let other = server.call("POST", "/wire/inbox/mindy/processed", Some(&mindy), &ids).await;
    assert_eq!(other.get("/results/0/outcome"), "unknown", "{}", other.text);
    for token in [&quinn, &server.operator] {
        let shown = server.call("GET", "/wire/inbox/quinn", Some(token), "").await;
        assert_eq!(shown.get("/ids/0"), id, "{}", shown.text);
    }
}

#[tokio::test]
async fn messages_of_every_language_are_shown_as_wires() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    let documents = [
        (
            "convoke",
            r#"{"kind":"question","from":"ann","to":["quinn"],"text":"Which branch?","priority":"critical"}"#,
        ),
        (
            "coord",
            r#"{"id":"3d5a56f0-400b-4fbb-a89a-56f74f97f8af","type":"HELP_REQUEST","from":"ann","to":"quinn","timestamp":"2025-02-01T10:00:00Z","payload":{"request_id":"r-1","help_type":"CODE_REVIEW","description":"Please look","priority":"high"},"metadata":{}}"#,
        ),
    ];
    for (dialect, document) in documents {
        let sent =
            server.call("POST", &format!("/v1/messages?dialect={dialect}"), Some(&ann), document).await;
        assert_eq!(sent.status, 201, "{dialect}: {}", sent.text);
    }
    let shown = server.call("GET", "/wire/inbox/quinn", Some(&quinn), "").await;
    for (nth, priority) in [(0, "1"), (1, "2")] {
        let at = |field: &str| shown.get(&format!("/messages/{nth}/{field}"));
        let told = (at("type"), at("sender"), at("payload/to_agent"), at("payload/priority"));
        assert_eq!(told, ("inbox".into(), "ann".into(), "quinn".into(), priority.into()), "{}", shown.text);
    }
}
