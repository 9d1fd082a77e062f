//! Policies and gates: the operator decides, agents ask.

use super::{start, steady};

const POLICY: &str = r#"{"version":"1","enabled_chains":["A","B","C"],"risk_thresholds":{"low":0.25,"high":0.6},"budget_limits":{"per_task":2.5,"per_agent":10,"total":100},"circuit_breaker_config":{"error_threshold":3,"timeout_ms":120000,"reset_timeout_ms":300000}}"#;

fn request(task: &str, constraints: &str) -> String {
    format!(
        r#"{{"kind":"task.request","from":"ann","to":["bob"],"task":"{task}","title":"Do {task}","brief":{{"constraints":[{constraints}]}}}}"#
    )
}

#[tokio::test]
async fn a_policy_is_set_by_the_operator_and_tried_first() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    server.agent("bob", "").await;
    let empty = server.call("GET", "/v1/policy", Some(&ann), "").await;
    assert_eq!(empty.text, r#"{"policy":null,"version":0,"spent_usd":0.00,"reserved_usd":0.00}"#);
    let sent = server.call("POST", "/v1/messages", Some(&ann), &request("t-1", r#""budget_usd: 3""#)).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    let tried = server.call("PUT", "/v1/policy?dry_run=true", Some(&server.operator), POLICY).await;
    insta::assert_snapshot!(steady(&tried.text));
    let none = server.call("PUT", "/v1/policy?dry_run=true&last=0", Some(&server.operator), POLICY).await;
    assert_eq!((none.get("/decisions"), none.get("/changed")), ("0".into(), "[]".into()), "{}", none.text);
    for (token, body, status, code) in [
        (&ann, POLICY, 403, "not_yours"),
        (&server.operator, "[", 400, "not_json"),
        (&server.operator, "[]", 400, "not_json"),
        (&server.operator, r#"{"risk_thresholds":{"low":0.9,"high":0.1}}"#, 422, "invalid"),
        (&server.operator, r#"{"budget_limits":{"per_task":-1}}"#, 422, "invalid"),
    ] {
        let refused = server.call("PUT", "/v1/policy", Some(token), body).await;
        assert_eq!(
            (refused.status, refused.get("/code").as_str()),
            (status, code),
            "{body}: {}",
            refused.text
        );
    }
    let set = server.call("PUT", "/v1/policy", Some(&server.operator), POLICY).await;
    assert_eq!((set.status, set.get("/version").as_str()), (200, "1"), "{}", set.text);
    let shown = server.call("GET", "/v1/policy", Some(&ann), "").await;
    assert_eq!(shown.get("/policy/budget_limits/per_task"), "2.5", "{}", shown.text);
    let over = server.call("POST", "/v1/messages", Some(&ann), &request("t-2", r#""budget_usd: 3""#)).await;
    assert_eq!((over.status, over.get("/code").as_str()), (429, "over_policy"), "{}", over.text);
    let figures = server.call("GET", "/metrics", Some(&server.operator), "").await.text;
    for line in [
        r#"convoke_tasks{status="pending"} 1"#,
        "convoke_gates_open 0",
        "convoke_breakers_open 0",
        "convoke_work_spent_usd 0.00",
        "convoke_work_reserved_usd 3.00",
    ] {
        assert!(figures.lines().any(|found| found == line), "{line} is not in {figures}");
    }
}

#[tokio::test]
async fn a_gate_waits_for_the_operator() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", "").await;
    server.call("PUT", "/v1/policy", Some(&server.operator), POLICY).await;
    for task in ["t-1", "t-2"] {
        let sent = server.call("POST", "/v1/messages", Some(&ann), &request(task, r#""risk: 0.9""#)).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
    }
    let listed = server.call("GET", "/v1/gates", Some(&ann), "").await;
    let (first, second) = (listed.get("/gates/0/id"), listed.get("/gates/1/id"));
    assert_eq!(listed.get("/gates/0/task"), "t-1", "{}", listed.text);
    assert_eq!(server.call("GET", "/v1/gates", Some(&bob), "").await.get("/gates"), "[]", "it asked nothing");
    let task = server.call("GET", "/v1/tasks/t-1", Some(&ann), "").await;
    assert_eq!(task.get("/gate"), first, "{}", task.text);
    let path = format!("/v1/gates/{first}/approve");
    assert_eq!(server.call("POST", &path, Some(&ann), "").await.status, 403);
    let judged = server.call("POST", &path, Some(&server.operator), r#"{"reason":"fine"}"#).await;
    insta::assert_snapshot!(steady(&judged.text));
    let inbox = server.call("GET", "/v1/agents/bob/inbox", Some(&bob), "").await;
    assert_eq!(inbox.get("/messages/0/document/task"), "t-1", "what waited goes on: {}", inbox.text);
    let path = format!("/v1/gates/{second}/reject");
    assert_eq!(server.call("POST", &path, Some(&server.operator), "").await.get("/approved"), "false");
    for (path, code) in [
        (path.as_str(), "unknown_gate"),
        ("/v1/gates/x/approve", "unknown_gate"),
        ("/v1/gates/x/maybe", "not_found"),
    ] {
        let refused = server.call("POST", path, Some(&server.operator), "").await;
        assert_eq!((refused.status, refused.get("/code").as_str()), (404, code), "{path}: {}", refused.text);
    }
    let all = server.call("GET", "/v1/gates?all=true", Some(&ann), "").await;
    assert_eq!((all.get("/gates/0/approved"), all.get("/gates/1/approved")), ("false".into(), "true".into()));
}
