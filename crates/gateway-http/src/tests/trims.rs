//! A trimmed log, as those see it who ask about what was in it.

use doorstep::Server;
use gateway::Token;

use super::start;

/// Sends a message that takes a good part of a segment, and settles it; returns its id.
async fn pass(server: &Server, ann: &Token, bob: &Token, text: &str) -> String {
    let text = format!("{text} {}", "filler ".repeat(100_000));
    let note = format!(r#"{{"kind":"note","from":"ann","to":["bob"],"native_id":"n","text":"{text}"}}"#);
    let note = note.replace("\"n\"", &format!("\"n {}\"", &text[..8]));
    let sent = server.call("POST", "/v1/messages", Some(ann), &note).await;
    assert_eq!(sent.status, 201, "{}", &sent.text[..sent.text.len().min(300)]);
    let id = sent.get("/id");
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(bob), r#"{"max":3}"#).await;
    let count = taken.text.matches("\"delivery\":").count();
    for nth in 0..count {
        let what = if taken.get(&format!("/deliveries/{nth}/id")) == id { "ack" } else { "nack" };
        let path = format!("/v1/deliveries/{}/{what}", taken.get(&format!("/deliveries/{nth}/delivery")));
        let body = if what == "nack" { r#"{"delay":"0s"}"# } else { "" };
        assert_eq!(server.call("POST", &path, Some(bob), body).await.status, 200);
    }
    id
}

#[tokio::test]
async fn what_was_trimmed_is_said_and_its_receipt_stays() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let operator = Some(&server.operator);
    let old = pass(&server, &ann, &bob, "oldtext 1").await;
    let waits = r#"{"kind":"note","from":"ann","to":["cyd"],"native_id":"w","text":"waiting"}"#;
    server.agent("cyd", "").await;
    let waiting = server.call("POST", "/v1/messages", Some(&ann), waits).await.get("/id");
    for number in 0..16 {
        pass(&server, &ann, &bob, &format!("new {number:03} text")).await;
    }
    let receipt = server.call("GET", &format!("/v1/messages/{old}/receipt"), Some(&ann), "").await;
    let waiting_receipt =
        server.call("GET", &format!("/v1/messages/{waiting}/receipt"), Some(&ann), "").await;
    // The history reads behind the log; it is asked until it has.
    let keep = r#"{"keep_bytes":4194304}"#;
    let trial = r#"{"keep_bytes":4194304,"dry_run":true}"#;
    while server.call("POST", "/v1/log/trim", operator, trial).await.get("/kept_because") != "(absent)" {
        tokio::task::yield_now().await;
    }
    let trimmed = server.call("POST", "/v1/log/trim", operator, keep).await;
    assert_eq!((trimmed.status, trimmed.get("/dry_run").as_str()), (200, "false"), "{}", trimmed.text);
    assert_eq!(trimmed.get("/carried"), "1", "{}", trimmed.text);
    let first: u64 = trimmed.get("/first").parse().unwrap();
    assert!(first > 20, "{}", trimmed.text);
    let bus = server.call("GET", "/v1/bus", operator, "").await;
    assert_eq!(bus.get("/log/first"), first.to_string());

    let gone = server.call("GET", &format!("/v1/messages/{old}"), Some(&ann), "").await;
    assert_eq!((gone.status, gone.get("/code").as_str()), (410, "gone"), "{}", gone.text);
    for (id, before) in [(&old, &receipt), (&waiting, &waiting_receipt)] {
        let after = server.call("GET", &format!("/v1/messages/{id}/receipt"), Some(&ann), "").await;
        assert_eq!(after.text, before.text, "the receipt is what it was");
    }
    let document = server.call("GET", &format!("/v1/messages/{waiting}"), Some(&ann), "").await;
    assert_eq!(document.text, waits, "what waits is there to the byte");
    let inbox = server.call("GET", "/v1/agents/cyd/inbox", operator, "").await;
    assert_eq!(inbox.get("/messages/0/document/text"), "waiting");

    let listed = server.call("GET", "/v1/messages?after=0&limit=3", operator, "").await;
    assert_eq!(
        (listed.get("/messages/0/id"), listed.get("/messages/0/text")),
        (old.clone(), "(absent)".into())
    );
    assert_eq!(listed.get("/messages/1/text"), "waiting", "one that is gone does not hide the others");
    let found = server.call("GET", "/v1/messages?q=oldtext", operator, "").await;
    assert_eq!(found.get("/messages/0/id"), old, "its words are still found: {}", found.text);
    let figures = server.call("GET", "/metrics", operator, "").await.text;
    assert!(figures.contains(&format!("\nconvoke_log_first_seq {first}\n")), "{figures}");
    assert!(figures.contains("\nconvoke_log_bodies_carried_total 1\n"), "{figures}");
}

#[tokio::test]
async fn a_task_outlives_the_request_that_was_trimmed() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let request = r#"{"kind":"task.request","from":"ann","to":["bob"],"task":"t-1","title":"Build it"}"#;
    assert_eq!(server.call("POST", "/v1/messages", Some(&ann), request).await.status, 201);
    assert_eq!(
        server.call("POST", "/v1/tasks/t-1/done", Some(&bob), r#"{"text":"built"}"#).await.status,
        201
    );
    let taken = server.call("POST", "/v1/agents/ann/inbox/take", Some(&ann), "").await;
    let path = format!("/v1/deliveries/{}/ack", taken.get("/deliveries/0/delivery"));
    assert_eq!(server.call("POST", &path, Some(&ann), "").await.status, 200);
    for number in 0..16 {
        pass(&server, &ann, &bob, &format!("new {number:03} text")).await;
    }
    let operator = Some(&server.operator);
    let (trial, keep) = (r#"{"keep_bytes":4194304,"dry_run":true}"#, r#"{"keep_bytes":4194304}"#);
    while server.call("POST", "/v1/log/trim", operator, trial).await.get("/kept_because") != "(absent)" {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.call("POST", "/v1/log/trim", operator, keep).await.status, 200);
    let shown = server.call("GET", "/v1/tasks/t-1", Some(&ann), "").await;
    let told = (shown.status, shown.get("/status"), shown.get("/document"), shown.get("/document_gone"));
    assert_eq!(told, (200, "done".into(), "(absent)".into(), "true".into()), "{}", shown.text);
    assert_eq!(shown.get("/history/1/details"), "{}", "the message is gone, the step is not: {}", shown.text);
}

#[tokio::test]
async fn the_request_of_an_open_task_outlives_every_trim() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let request = r#"{"kind":"task.request","from":"ann","to":["bob"],"task":"t-1","title":"Build it"}"#;
    assert_eq!(server.call("POST", "/v1/messages", Some(&ann), request).await.status, 201);
    let claimed = server.call("POST", "/v1/tasks/claim", Some(&bob), r#"{"task":"t-1","lease":"1h"}"#).await;
    assert_eq!(claimed.get("/outcome"), "claimed", "{}", claimed.text);
    let operator = Some(&server.operator);
    let (trial, keep) = (r#"{"keep_bytes":4194304,"dry_run":true}"#, r#"{"keep_bytes":4194304}"#);
    for round in 0..3 {
        for number in 0..16 {
            pass(&server, &ann, &bob, &format!("{round} {number:03} text")).await;
        }
        while server.call("POST", "/v1/log/trim", operator, trial).await.get("/kept_because") != "(absent)" {
            tokio::task::yield_now().await;
        }
        let trimmed = server.call("POST", "/v1/log/trim", operator, keep).await;
        assert_ne!(trimmed.get("/segments"), "0", "{}", trimmed.text);
        let shown = server.call("GET", "/v1/tasks/t-1", Some(&bob), "").await;
        let told = (shown.status, shown.get("/status"), shown.get("/document/title"));
        assert_eq!(told, (200, "claimed".into(), "Build it".into()), "trim {round}: {}", shown.text);
    }
}

#[tokio::test]
async fn only_the_operator_trims_and_says_what_to_keep() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let refused = server.call("POST", "/v1/log/trim", Some(&ann), r#"{"keep":"1d"}"#).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let unsaid = server.call("POST", "/v1/log/trim", Some(&server.operator), "").await;
    assert_eq!((unsaid.status, unsaid.get("/code").as_str()), (400, "bad_request"), "{}", unsaid.text);
    let nothing = server.call("POST", "/v1/log/trim", Some(&server.operator), r#"{"keep":"1d"}"#).await;
    assert_eq!((nothing.status, nothing.get("/segments").as_str()), (200, "0"), "{}", nothing.text);
}
