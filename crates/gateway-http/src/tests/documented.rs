//! What the door says of itself: the OpenAPI document, the list of errors, the figures.

use gateway::{Code, Retry};
use json::{Limits, Value};

use super::start;
use crate::api::{CALLS, Form, Who};

#[tokio::test]
async fn the_openapi_document_is_the_committed_one() {
    let server = start().await;
    let shown = server.call("GET", "/v1/openapi.json", None, "").await;
    assert_eq!(shown.status, 200);
    let value = json::parse_str(&shown.text, Limits::DOCUMENT).unwrap();
    testkit::check_file(&testkit::root().join("docs/openapi.json"), &testkit::pretty(&value));
}

#[tokio::test]
async fn every_call_is_served_and_wants_a_token() {
    let server = start().await;
    for call in CALLS {
        let path = call.path.replace("{agent}", "human").replace("{id}", "x").replace("{label}", "x");
        let path = path
            .replace("{address}", "x")
            .replace("{delivery}", "x")
            .replace("{what}", "ack")
            .replace("{verdict}", "approve");
        let answered = server.call(&call.method.to_uppercase(), &path, None, "").await;
        let expected: &[u16] = match call.who {
            Who::Anybody => &[200],
            // A socket may show its token later, but must be one.
            _ if call.gives.iter().any(|(_, form)| *form == Form::Upgrade) => &[426],
            Who::Token | Who::Own | Who::Party | Who::Operator => &[401],
        };
        assert!(
            expected.contains(&answered.status),
            "{} {path}: {} {}",
            call.method,
            answered.status,
            answered.text
        );
    }
    let wrong = server.call("PATCH", "/v1/messages", None, "").await;
    assert_eq!((wrong.status, wrong.get("/code").as_str()), (405, "method_not_allowed"), "{}", wrong.text);
}

#[test]
fn every_call_stands_in_the_documentation() {
    let page = testkit::read(&testkit::root().join("docs/http.md"));
    for call in CALLS {
        let row = page.lines().find(|line| {
            let cell = line.split(" | ").next().unwrap_or_default();
            cell.contains(&call.method.to_uppercase()) && cell.contains(&format!("{}`", call.path))
        });
        assert!(row.is_some(), "{} {} is not in docs/http.md", call.method, call.path);
    }
}

#[test]
fn every_component_that_is_named_is_there() {
    let document = crate::openapi::document();
    let value = json::parse_str(&document, Limits::DOCUMENT).unwrap();
    let schemas = value.pointer("/components/schemas").and_then(Value::as_object).unwrap();
    let mut named = 0;
    for reference in document.split("#/components/schemas/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(schemas.contains_key(name), "{name} is described nowhere");
        named += 1;
    }
    assert!(named > 50, "{named}");
}

#[test]
fn the_list_of_errors_is_the_committed_one() {
    let mut list = String::from(
        "# Every public error, once: its code, the HTTP status, whether the same request may succeed later, and what to do\n\
         # next. Written from `crates/gateway/src/code.rs`; a test compares them (UPDATE_VECTORS=1 writes it again).\n",
    );
    for code in Code::ALL {
        let retryable = code.retry() == Retry::Later;
        let help = Value::from(code.help()).to_json();
        list.push_str(&format!(
            "\n[[error]]\ncode = \"{}\"\nstatus = {}\nretryable = {retryable}\nhelp = {help}\n",
            code.name(),
            code.status()
        ));
    }
    testkit::check_file(&testkit::root().join("errors.toml"), &list);
}

#[tokio::test]
async fn figures_are_for_the_operator_and_count_what_happens() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    assert_eq!(server.call("GET", "/metrics", None, "").await.status, 401);
    assert_eq!(server.call("GET", "/metrics", Some(&ann), "").await.status, 403);
    let note = r#"{"kind":"note","from":"ann","to":["bob"],"text":"x"}"#;
    server.call("POST", "/v1/messages", Some(&ann), note).await;
    let waiting = server.call("GET", "/metrics", Some(&server.operator), "").await.text;
    for line in [
        "convoke_messages_accepted_total 1",
        "convoke_messages_open 1",
        "convoke_queue_messages{dialect=\"convoke\",reachability=\"nobody\"} 1",
    ] {
        assert!(waiting.lines().any(|found| found == line), "{line} is not in {waiting}");
    }
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), "").await;
    let path = format!("/v1/deliveries/{}/ack", taken.get("/deliveries/0/delivery"));
    server.call("POST", &path, Some(&bob), "").await;
    let settled = server.call("GET", "/metrics", Some(&server.operator), "").await.text;
    for line in [
        "convoke_deliveries_total{stage=\"acknowledged\"} 1",
        "convoke_stage_seconds_count{stage=\"acknowledged\"} 1",
        "convoke_query_seconds_count{query=\"figures\"} 2",
        "convoke_messages_open 0",
    ] {
        assert!(settled.lines().any(|found| found == line), "{line} is not in {settled}");
    }
    assert!(!settled.contains("bob"), "names are no labels");
}
