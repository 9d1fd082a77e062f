//! Tasks by calls: claimed, moved, shown; refused to whom they are none of the business.

use axum::body::Body;
use axum::http::{Request, header};
use doorstep::{Answer, Server};
use gateway::Token;

use super::{start, steady};

/// Asks for a task.
async fn ask(server: &Server, from: &Token, task: &str, to: &str, more: &str) -> Answer {
    let name = from.agent();
    let document = format!(
        r#"{{"kind":"task.request","from":"{name}","to":["{to}"],"task":"{task}","title":"Build {task}"{more}}}"#
    );
    let sent = server.call("POST", "/v1/messages", Some(from), &document).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    sent
}

/// Takes all that waits for an agent, whose queue is short here.
async fn drain(server: &Server, token: &Token) {
    let inbox = format!("/v1/agents/{}/inbox/take", token.agent());
    let taken = server.call("POST", &inbox, Some(token), r#"{"max":10}"#).await;
    for nth in 0..10 {
        let delivery = taken.get(&format!("/deliveries/{nth}/delivery"));
        server.call("POST", &format!("/v1/deliveries/{delivery}/ack"), Some(token), "").await;
    }
}

/// Calls with a key.
async fn call_with_key(server: &Server, path: &str, token: &Token, key: &str, body: &str) -> Answer {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header(header::HOST, "localhost:7700")
        .header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()))
        .header(header::CONTENT_LENGTH, body.len())
        .header("idempotency-key", key);
    server.send(request.body(Body::from(body.to_owned())).unwrap()).await
}

#[tokio::test]
async fn a_task_is_claimed_moved_and_shown() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"roles":["developer"]}"#).await;
    let eve = server.agent("eve", "").await;
    ask(&server, &ann, "t-1", "roles.developer", r#","priority":"high","deadline":"2099-01-01T00:00:00Z""#)
        .await;
    let claimed =
        server.call("POST", "/v1/tasks/claim", Some(&bob), r#"{"role":"developer","lease":"30m"}"#).await;
    let told =
        (claimed.status, claimed.get("/outcome"), claimed.get("/task/id"), claimed.get("/task/holder"));
    assert_eq!(told, (200, "claimed".into(), "t-1".into(), "bob".into()), "{}", claimed.text);
    assert_eq!(claimed.get("/task/document/title"), "Build t-1", "{}", claimed.text);
    // Whoever asked is told.
    let inbox = server.call("GET", "/v1/agents/ann/inbox", Some(&ann), "").await;
    assert_eq!(inbox.get("/messages/0/kind"), "task.claim", "{}", inbox.text);
    let begun = server
        .call("POST", "/v1/tasks/t-1/progress", Some(&bob), r#"{"text":"half","data":{"percent":50}}"#)
        .await;
    let told =
        (begun.status, begun.get("/task/status"), begun.get("/receipt/kind"), begun.get("/receipt/to/0"));
    assert_eq!(told, (201, "running".into(), "task.progress".into(), "ann".into()), "{}", begun.text);
    let body = r#"{"text":"built","data":{"lines":12},"cost_usd":0.25,"tokens":1200,"artifacts":["https://example.org/a.diff"]}"#;
    let done = server.call("POST", "/v1/tasks/t-1/done", Some(&bob), body).await;
    assert_eq!((done.status, done.get("/task/status").as_str()), (201, "done"), "{}", done.text);
    let shown = server.call("GET", "/v1/tasks/t-1", Some(&ann), "").await;
    insta::assert_snapshot!(steady(&shown.text));
    // Everybody sees the task; what was said in it only whom it concerns.
    let seen = server.call("GET", "/v1/tasks/t-1", Some(&eve), "").await;
    assert_eq!((seen.status, seen.get("/status").as_str()), (200, "done"));
    let hidden = ["/document", "/result", "/artifacts"].map(|place| seen.get(place));
    assert_eq!(hidden, ["(absent)", "(absent)", "(absent)"], "{}", seen.text);
    let as_wire = server.call("GET", "/v1/tasks/t-1?dialect=wire", Some(&bob), "").await;
    assert_eq!(as_wire.get("/document/type"), "brief", "{}", as_wire.text);
    drain(&server, &ann).await;
    let late = server.call("POST", "/v1/tasks/t-1/progress", Some(&bob), "{}").await;
    let told = (late.status, late.get("/code"), late.get("/task_status"));
    assert_eq!(told, (409, "task_state".into(), "done".into()), "{}", late.text);
}

#[tokio::test]
async fn a_claim_has_one_outcome_and_a_repeat_the_same() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"roles":["developer"]}"#).await;
    let cyd = server.agent("cyd", r#"{"roles":["developer"]}"#).await;
    let eve = server.agent("eve", "").await;
    let claim =
        async |token: &Token, body: &str| server.call("POST", "/v1/tasks/claim", Some(token), body).await;
    assert_eq!(claim(&bob, "").await.get("/outcome"), "no_tasks");
    ask(&server, &ann, "t-1", "roles.developer", "").await;
    ask(&server, &ann, "t-2", "roles.developer", r#","priority":"high""#).await;
    let first = call_with_key(&server, "/v1/tasks/claim", &bob, "k-1", "{}").await;
    let again = call_with_key(&server, "/v1/tasks/claim", &bob, "k-1", "{}").await;
    assert_eq!(first.get("/task/id"), "t-2", "the most urgent first: {}", first.text);
    assert_eq!(
        (again.get("/outcome"), again.get("/task/id")),
        ("claimed".into(), "t-2".into()),
        "{}",
        again.text
    );
    let other = call_with_key(&server, "/v1/tasks/claim", &bob, "k-2", "{}").await;
    assert_eq!(other.get("/task/id"), "t-1", "{}", other.text);
    let missed = claim(&cyd, r#"{"task":"t-1"}"#).await;
    let told = (missed.status, missed.get("/outcome"), missed.get("/holder"), missed.get("/task"));
    assert_eq!(told, (200, "missed".into(), "bob".into(), "(absent)".into()), "{}", missed.text);
    assert_eq!(claim(&cyd, "").await.get("/outcome"), "no_tasks");
    ask(&server, &ann, "t-3", "roles.developer", "").await;
    let strange = claim(&eve, r#"{"task":"t-3"}"#).await;
    let told = (strange.status, strange.get("/outcome"), strange.get("/code"));
    assert_eq!(told, (200, "rejected".into(), "not_asked".into()), "{}", strange.text);
    let outside = claim(&eve, r#"{"role":"developer"}"#).await;
    assert_eq!((outside.get("/outcome"), outside.get("/code")), ("rejected".into(), "not_asked".into()));
    let nothing = claim(&bob, r#"{"task":"t-9"}"#).await;
    assert_eq!((nothing.status, nothing.get("/code").as_str()), (404, "unknown_task"), "{}", nothing.text);
    // What is over is nobody's, whatever the key.
    let done = server.call("POST", "/v1/tasks/t-2/done", Some(&bob), "{}").await;
    assert_eq!(done.status, 201, "{}", done.text);
    let over = call_with_key(&server, "/v1/tasks/claim", &bob, "k-1", "{}").await;
    assert_eq!(over.get("/outcome"), "missed", "{}", over.text);
}

#[tokio::test]
async fn only_the_holder_moves_a_task_and_only_its_requester_takes_it_back() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", "").await;
    let eve = server.agent("eve", r#"{"speaks_for":["bob"]}"#).await;
    ask(&server, &ann, "t-1", "bob", "").await;
    let act = async |token: &Token, what: &str, body: &str| {
        server.call("POST", &format!("/v1/tasks/t-1/{what}"), Some(token), body).await
    };
    let cases = [
        (&eve, "done", "{}", 409, "not_holder"),
        (&bob, "cancel", "{}", 403, "not_yours"),
        (&bob, "renew", "{}", 409, "not_holder"),
        (&bob, "handoff", "{}", 400, "bad_request"),
        (&bob, "accept", "{}", 409, "not_holder"),
        (&bob, "review", "{}", 400, "bad_request"),
        (&bob, "shout", "{}", 404, "not_found"),
        (&bob, "done", r#"{"cost_usd":-1}"#, 400, "bad_request"),
        (&bob, "block", r#"{"blocker":"mood"}"#, 400, "bad_request"),
        (&bob, "done", r#"{"artifacts":[1]}"#, 400, "bad_request"),
        (&bob, "done", r#"{"agent":"ann"}"#, 403, "not_yours"),
        (&bob, "done", "[", 400, "not_json"),
    ];
    for (token, what, body, status, code) in cases {
        let refused = act(token, what, body).await;
        assert_eq!(
            (refused.status, refused.get("/code").as_str()),
            (status, code),
            "{what} {body}: {}",
            refused.text
        );
    }
    let spoken = act(&eve, "progress", r#"{"agent":"bob"}"#).await;
    assert_eq!((spoken.status, spoken.get("/task/holder").as_str()), (201, "bob"), "{}", spoken.text);
    let blocked = act(&bob, "block", r#"{"waits_for":["t-0"],"reason":"t-0 first"}"#).await;
    let told = (blocked.get("/task/status"), blocked.get("/task/blocker"), blocked.get("/task/waits_for"));
    assert_eq!(told, ("blocked".into(), "dependency".into(), r#"["t-0"]"#.into()), "{}", blocked.text);
    drain(&server, &ann).await;
    let renewed = act(&bob, "renew", r#"{"lease":"2h"}"#).await;
    assert_eq!(renewed.status, 201, "{}", renewed.text);
    let cancelled = act(&ann, "cancel", r#"{"reason":"not wanted"}"#).await;
    let told = (cancelled.status, cancelled.get("/task/status"), cancelled.get("/receipt/to/0"));
    assert_eq!(told, (201, "cancelled".into(), "bob".into()), "{}", cancelled.text);
    assert_eq!(server.call("GET", "/v1/tasks/t-9", Some(&ann), "").await.get("/code"), "unknown_task");
}

#[tokio::test]
async fn a_task_is_handed_over_when_the_other_accepts() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", "").await;
    let cyd = server.agent("cyd", "").await;
    ask(&server, &ann, "t-1", "bob", "").await;
    let act = async |token: &Token, what: &str, key: &str, body: &str| {
        call_with_key(&server, &format!("/v1/tasks/t-1/{what}"), token, key, body).await
    };
    assert_eq!(act(&bob, "progress", "p", "{}").await.status, 201);
    let offer = r#"{"to":"cyd","reason":"RATE_LIMIT"}"#;
    let offered = act(&bob, "handoff", "h-1", offer).await;
    let told = (offered.status, offered.get("/task/offer/to"), offered.get("/task/offer/reason"));
    assert_eq!(told, (201, "cyd".into(), "RATE_LIMIT".into()), "{}", offered.text);
    let declined = act(&cyd, "decline", "d-1", r#"{"reason":"later"}"#).await;
    assert_eq!((declined.status, declined.get("/task/holder").as_str()), (201, "bob"), "{}", declined.text);
    assert_eq!(act(&bob, "handoff", "h-2", offer).await.status, 201);
    let accepted = act(&cyd, "accept", "a-1", "{}").await;
    assert_eq!((accepted.status, accepted.get("/task/holder").as_str()), (201, "cyd"), "{}", accepted.text);
    // A repeat under the same key is the same, another step under it is a conflict.
    let again = act(&cyd, "accept", "a-1", "{}").await;
    let told = (again.status, again.get("/receipt/duplicate"), again.get("/receipt/id"));
    assert_eq!(told, (200, "true".into(), accepted.get("/receipt/id")), "{}", again.text);
    let other = act(&cyd, "done", "a-1", "{}").await;
    assert_eq!((other.status, other.get("/code").as_str()), (409, "conflict"), "{}", other.text);
    assert_eq!(act(&cyd, "done", "d-2", "{}").await.status, 201);
    let voted = act(&ann, "review", "r-1", r#"{"approve":true}"#).await;
    let told = (voted.get("/task/votes/0/approve"), voted.get("/task/reviewed"));
    assert_eq!(told, ("true".into(), "true".into()), "{}", voted.text);
}

#[tokio::test]
async fn lists_are_narrowed_and_go_page_by_page() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"roles":["developer"]}"#).await;
    for number in 1..=3 {
        ask(&server, &ann, &format!("t-{number}"), "roles.developer", "").await;
    }
    let claimed = server.call("POST", "/v1/tasks/claim", Some(&bob), r#"{"task":"t-2"}"#).await;
    assert_eq!(claimed.get("/outcome"), "claimed", "{}", claimed.text);
    let ids = async |query: &str| {
        let listed = server.call("GET", &format!("/v1/tasks{query}"), Some(&bob), "").await;
        assert_eq!(listed.status, 200, "{query}: {}", listed.text);
        let ids: Vec<String> = (0..3).map(|nth| listed.get(&format!("/tasks/{nth}/id"))).collect();
        (ids.into_iter().filter(|id| id != "(absent)").collect::<Vec<_>>().join(" "), listed.get("/next"))
    };
    for (query, expected) in [
        ("", "t-1 t-2 t-3"),
        ("?status=pending", "t-1 t-3"),
        ("?holder=bob", "t-2"),
        ("?requester=ann&open=true", "t-1 t-2 t-3"),
        ("?requester=bob", ""),
        ("?role=developer", "t-1 t-2 t-3"),
        ("?role=roles.other", ""),
        ("?late=true", ""),
    ] {
        assert_eq!(ids(query).await.0, expected, "{query}");
    }
    let (first, next) = ids("?limit=2").await;
    assert_eq!(first, "t-1 t-2");
    assert_eq!(ids(&format!("?limit=2&after={next}")).await, ("t-3".into(), "(absent)".into()));
    for (query, status) in [("?status=odd", 400), ("?holder=nobody", 404), ("?after=x", 400)] {
        assert_eq!(
            server.call("GET", &format!("/v1/tasks{query}"), Some(&bob), "").await.status,
            status,
            "{query}"
        );
    }
}

#[tokio::test]
async fn a_claim_is_repeated_across_a_restart() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"roles":["developer"]}"#).await;
    ask(&server, &ann, "t-1", "roles.developer", "").await;
    let first = call_with_key(&server, "/v1/tasks/claim", &bob, "k", r#"{"lease":"2h"}"#).await;
    assert_eq!(first.get("/outcome"), "claimed", "{}", first.text);
    let server = server.restart(|hub| crate::router(hub, Vec::new())).await;
    let again = call_with_key(&server, "/v1/tasks/claim", &bob, "k", r#"{"lease":"2h"}"#).await;
    assert_eq!(again.get("/task"), first.get("/task"), "the same task, as it was");
    assert_eq!(server.call("POST", "/v1/tasks/t-1/done", Some(&bob), "{}").await.status, 201);
}
