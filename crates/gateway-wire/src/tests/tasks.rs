//! Claims and tasks: one winner, and what everybody is told.

use doorstep::Server;
use gateway::Token;

use crate::tests::{brief, start};

fn claim(agent: &str, task: &str) -> String {
    format!(
        r#"{{"wire":"1.0","type":"claim","sender":"{agent}","ts":"2026-04-28T00:00:00Z","payload":{{"task_id":"{task}","agent":"{agent}","role":"developer"}}}}"#
    )
}

fn complete(agent: &str, task: &str) -> String {
    format!(
        r#"{{"wire":"1.0","type":"complete","sender":"{agent}","ts":"2026-04-28T00:00:02Z","payload":{{"task_id":"{task}","agent":"{agent}","output_ref":"a/b","summary":"Built.","cost_usd":0.10,"duration_seconds":3,"verification":{{"mechanical":"pass","semantic":"skipped","attempts":1}}}}}}"#
    )
}

async fn post(server: &Server, token: &Token, path: &str, wire: &str) -> doorstep::Answer {
    server.call("POST", path, Some(token), wire).await
}

#[tokio::test]
async fn the_first_claim_wins_and_only_its_holder_completes() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire","roles":["developer"]}"#).await;
    let second = server.agent("quinn2", r#"{"dialect":"wire","roles":["developer"]}"#).await;
    let iris = server.agent("iris", r#"{"dialect":"wire"}"#).await;
    let task = "0.0.8802709";
    assert_eq!(post(&server, &mindy, "/wire?role=developer", &brief("mindy", task)).await.status, 201);
    let show =
        async |token: &Token| server.call("GET", &format!("/wire/tasks/{task}"), Some(token), "").await;
    let waits = show(&second).await;
    let told = (waits.get("/status"), waits.get("/holder"), waits.get("/brief/type"));
    assert_eq!(told, ("available".into(), "(absent)".into(), "brief".into()), "{}", waits.text);
    assert_eq!(
        show(&iris).await.get("/brief/payload"),
        format!(r#"{{"task_id":"{task}","role":"developer"}}"#)
    );
    let won = post(&server, &quinn, "/wire", &claim("quinn", task)).await;
    assert_eq!(
        (won.status, won.get("/outcome"), won.get("/holder")),
        (200, "claimed".into(), "quinn".into()),
        "{}",
        won.text
    );
    let again = post(&server, &quinn, "/wire", &claim("quinn", task)).await;
    assert_eq!(
        (again.get("/outcome"), again.get("/holder")),
        ("claimed".into(), "quinn".into()),
        "{}",
        again.text
    );
    let lost = post(&server, &second, "/wire", &claim("quinn2", task)).await;
    let told = (lost.status, lost.get("/outcome"), lost.get("/holder"), lost.get("/reason"));
    assert_eq!(told, (200, "missed".into(), "quinn".into(), "missed".into()), "{}", lost.text);
    let forged = post(&server, &second, "/wire", &claim("quinn", task)).await;
    assert_eq!((forged.status, forged.get("/reason").as_str()), (403, "not_yours"), "{}", forged.text);
    let wrong = post(&server, &second, "/wire", &complete("quinn2", task)).await;
    let told = (wrong.status, wrong.get("/outcome"), wrong.get("/reason"), wrong.get("/error/holder"));
    assert_eq!(told, (409, "rejected".into(), "not_holder".into(), "quinn".into()), "{}", wrong.text);
    let done = post(&server, &quinn, "/wire", &complete("quinn", task)).await;
    assert_eq!((done.status, done.get("/to/0").as_str()), (201, "mindy"), "{}", done.text);
    let over = show(&mindy).await;
    let told = (over.get("/status"), over.get("/holder"), over.get("/task_id"), over.get("/links/next"));
    assert_eq!(told, ("complete".into(), "quinn".into(), task.into(), "(absent)".into()), "{}", over.text);
    let types = [0, 1, 2].map(|nth| over.get(&format!("/messages/{nth}/type")));
    assert_eq!(types, ["brief", "claim", "complete"], "{}", over.text);
    let late = post(&server, &second, "/wire", &claim("quinn2", task)).await;
    assert_ne!(late.get("/outcome"), "claimed", "{}", late.text);
    let page = server.call("GET", &format!("/wire/tasks/{task}?limit=1"), Some(&mindy), "").await;
    let rest = server.call("GET", &page.get("/links/next"), Some(&mindy), "").await;
    assert_eq!(
        (page.get("/messages/0/type"), rest.get("/messages/0/type")),
        ("brief".into(), "claim".into())
    );
    let none = server.call("GET", "/wire/tasks/0.0.1", Some(&mindy), "").await;
    assert_eq!((none.status, none.get("/reason").as_str()), (404, "unknown_task"), "{}", none.text);
    assert_eq!(server.call("GET", "/wire/tasks/0.0.1", None, "").await.status, 401);
}

#[tokio::test]
async fn a_task_of_another_language_is_claimed_by_the_id_that_stands_in() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire","roles":["developer"]}"#).await;
    let request =
        r#"{"kind":"task.request","from":"ann","to":["roles.developer"],"task":"parser","title":"Build it"}"#;
    assert_eq!(post(&server, &ann, "/v1/messages", request).await.status, 201);
    let inbox = server.call("GET", "/wire/inbox/quinn", Some(&quinn), "").await;
    let task = inbox.get("/messages/0/payload/env/task_id");
    let won = post(&server, &quinn, "/wire", &claim("quinn", &task)).await;
    assert_eq!((won.get("/outcome"), won.get("/holder")), ("claimed".into(), "quinn".into()), "{}", won.text);
    let known = server.call("GET", "/v1/tasks/parser", Some(&ann), "").await;
    assert_eq!(
        (known.get("/status"), known.get("/holder")),
        ("claimed".into(), "quinn".into()),
        "{}",
        known.text
    );
    let shown = server.call("GET", &format!("/wire/tasks/{task}"), Some(&quinn), "").await;
    assert_eq!((shown.get("/task_id"), shown.get("/status")), (task, "claimed".into()), "{}", shown.text);
}

#[tokio::test]
async fn a_blocker_goes_where_the_card_says() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let vera = server.agent("vera", "").await;
    let priya = server.agent("priya", "").await;
    let card = r#"{"dialect":"wire","card":{"card_version":"1.0","capabilities":["rust"],"escalation_rules":[{"trigger":"There is a Spec Gap in the brief","route_to":"vera","via":"task.blocked"}]}}"#;
    let quinn = server.agent("quinn", card).await;
    for (number, blocker) in [(1, "spec_gap"), (2, "tool_failure")] {
        let task = format!("0.0.{number}");
        assert_eq!(post(&server, &mindy, "/wire?to=quinn", &brief("mindy", &task)).await.status, 201);
        let blocked = format!(
            r#"{{"wire":"1.0","type":"blocked","sender":"quinn","ts":"2026-04-28T00:00:01Z","payload":{{"task_id":"{task}","agent":"quinn","reason":"No way.","blocker_type":"{blocker}","suggested_resolution":null,"attempts":1}}}}"#
        );
        let sent = post(&server, &quinn, "/wire", &blocked).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
    }
    let told = server.call("GET", "/v1/agents/vera/inbox", Some(&vera), "").await;
    assert_eq!(told.get("/messages/0/document/task"), "0.0.1", "{}", told.text);
    assert_eq!(told.get("/messages/1"), "(absent)", "{}", told.text);
    let usual = server.call("GET", "/v1/agents/priya/inbox", Some(&priya), "").await;
    assert_eq!(usual.get("/messages"), "[]", "the card comes first: {}", usual.text);
}
