//! Wires come in: briefs go where the query says, the others where they say themselves or to whom they concern.

use crate::tests::{brief, inbox, start};

#[tokio::test]
async fn a_brief_goes_to_the_role_or_the_agent_that_the_query_names() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire","roles":["developer"]}"#).await;
    let vikram = server.agent("vikram", r#"{"roles":["any"]}"#).await;
    let cases = [
        ("?role=developer", "roles.developer", "quinn"),
        ("?role=roles.developer", "roles.developer", "quinn"),
        ("?to=quinn", "quinn", "quinn"),
        ("", "roles.any", "vikram"),
    ];
    for (number, (query, to, reader)) in cases.into_iter().enumerate() {
        let document = brief("mindy", &format!("0.0.{number}"));
        let sent = server.call("POST", &format!("/wire{query}"), Some(&mindy), &document).await;
        assert_eq!((sent.status, sent.get("/to/0").as_str()), (201, to), "{query}: {}", sent.text);
        let token = if reader == "quinn" { &quinn } else { &vikram };
        let path = format!("/wire/inbox/{reader}");
        let shown = server.call("GET", &path, Some(token), "").await;
        assert_eq!(shown.get("/messages/0"), document, "the very bytes");
        assert_eq!(shown.get("/ids/0"), sent.get("/id"));
        let ids = format!(r#"{{"ids":["{}"]}}"#, sent.get("/id"));
        let done = server.call("POST", &format!("{path}/processed"), Some(token), &ids).await;
        assert_eq!(done.get("/results/0/outcome"), "processed", "{}", done.text);
        let path = format!("/v1/messages/{}/receipt", sent.get("/id"));
        let receipt = server.call("GET", &path, Some(&mindy), "").await;
        let told = (receipt.get("/to/0"), receipt.get("/stage"), receipt.get("/recipients/0/agent"));
        assert_eq!(told, (to.into(), "acknowledged".into(), reader.into()), "{}", receipt.text);
    }
}

#[tokio::test]
async fn the_same_brief_to_another_role_is_another_message() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let document = brief("mindy", "0.0.7");
    let first = server.call("POST", "/wire?role=developer", Some(&mindy), &document).await;
    let again = server.call("POST", "/wire?role=developer", Some(&mindy), &document).await;
    let other = server.call("POST", "/wire?role=ba", Some(&mindy), &document).await;
    assert_eq!((again.status, again.get("/duplicate").as_str()), (200, "true"), "{}", again.text);
    assert_eq!(again.get("/id"), first.get("/id"));
    assert_eq!(other.status, 201, "{}", other.text);
    let with_id = document.replacen('{', r#"{"wire_id":"w-1","#, 1);
    assert_eq!(server.call("POST", "/wire?role=developer", Some(&mindy), &with_id).await.status, 201);
    let conflict = server.call("POST", "/wire?role=ba", Some(&mindy), &with_id).await;
    assert_eq!((conflict.status, conflict.get("/reason").as_str()), (409, "conflict"), "{}", conflict.text);
}

#[tokio::test]
async fn a_brief_names_its_recipient_in_other_languages_too() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let cyd = server.agent("cyd", r#"{"dialect":"bus","uri":"codex://cyd"}"#).await;
    let sent = server.call("POST", "/wire?to=cyd", Some(&mindy), &brief("mindy", "0.0.8")).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    let shown = server.call("GET", "/v1/agents/cyd/inbox", Some(&cyd), "").await;
    assert_eq!(shown.get("/messages/0/document/recipient/agent_id"), "codex://cyd", "{}", shown.text);
}

#[tokio::test]
async fn claims_and_completions_reach_whom_they_concern() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    let iris = server.agent("iris", r#"{"dialect":"wire"}"#).await;
    let joined = server.call("PUT", "/v1/agents/iris/subscriptions/%230.0.9", Some(&iris), "").await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    server.call("POST", "/wire?to=quinn", Some(&mindy), &brief("mindy", "0.0.9")).await;
    let claim = r#"{"wire":"1.0","type":"claim","sender":"quinn","ts":"2026-04-28T00:00:00Z","payload":{"task_id":"0.0.9","agent":"quinn","role":"developer"}}"#;
    let blocked = r#"{"wire":"1.0","type":"blocked","sender":"quinn","ts":"2026-04-28T00:00:01Z","payload":{"task_id":"0.0.9","agent":"quinn","reason":"No spec.","blocker_type":"spec_gap","suggested_resolution":null,"attempts":1}}"#;
    let won = server.call("POST", "/wire", Some(&quinn), claim).await;
    let told = (won.status, won.get("/outcome"), won.get("/holder"), won.get("/receipt/to"));
    assert_eq!(
        told,
        (200, "claimed".into(), "quinn".into(), r##"["mindy","#0.0.9"]"##.into()),
        "{}",
        won.text
    );
    let sent = server.call("POST", "/wire", Some(&quinn), blocked).await;
    assert_eq!((sent.status, sent.get("/to").as_str()), (201, r##"["mindy","#0.0.9"]"##), "{}", sent.text);
    for wire in [claim, blocked] {
        for (name, token) in [("mindy", &mindy), ("iris", &iris)] {
            let shown = server.call("GET", &format!("/wire/inbox/{name}"), Some(token), "").await;
            assert!(shown.text.contains(wire), "{name}: {}", shown.text);
        }
    }
    let known = server.call("GET", "/v1/agents/quinn", Some(&quinn), "").await;
    assert!(
        known.get("/memberships").contains("roles.developer"),
        "a claim says whose role it is: {}",
        known.text
    );
    let nobody = claim.replace("0.0.9", "0.0.10");
    let sent = server.call("POST", "/wire", Some(&quinn), &nobody).await;
    let told = (sent.status, sent.get("/outcome"), sent.get("/reason"));
    assert_eq!(told, (200, "rejected".into(), "unknown_task".into()), "{}", sent.text);
}

#[tokio::test]
async fn a_completion_answers_whoever_waits_for_it() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    let document = brief("mindy", "0.0.11");
    let asked = server.call("POST", "/wire?to=quinn&wait=60s", Some(&mindy), &document);
    let complete = r#"{"wire":"1.0","type":"complete","sender":"quinn","ts":"2026-04-28T00:00:00Z","payload":{"task_id":"0.0.11","agent":"quinn","output_ref":"a/b","summary":"Built.","cost_usd":0.10,"duration_seconds":3,"verification":{"mechanical":"pass","semantic":"skipped","attempts":1}}}"#;
    let works = async {
        let take = r#"{"max":1,"wait":"60s","dialect":"wire"}"#;
        let taken = server.call("POST", "/v1/agents/quinn/inbox/take", Some(&quinn), take).await;
        assert_eq!(taken.get("/deliveries/0/document"), document, "{}", taken.text);
        server.call("POST", "/wire", Some(&quinn), complete).await
    };
    let (asked, sent) = tokio::join!(asked, works);
    assert_eq!(sent.get("/to/0"), "mindy", "{}", sent.text);
    assert_eq!((asked.status, asked.get("/reply").as_str()), (200, complete), "{}", asked.text);
}

#[tokio::test]
async fn refusals_have_an_outcome_a_reason_and_what_to_do() {
    let server = start().await;
    let mindy = server.agent("mindy", "").await;
    let good = inbox("mindy", "mindy", 3, "hello");
    let cases = [
        ("/wire", good.replace("1.0", "2.0"), 422, "unsupported_wire_version"),
        ("/wire", good.replace("\"priority\":3", "\"priority\":4"), 422, "range"),
        ("/wire", "{".to_owned(), 400, "not_json"),
        ("/wire", good.replace("\"sender\":\"mindy\"", "\"sender\":\"quinn\""), 403, "not_yours"),
        ("/wire", good.replace("\"to_agent\":\"mindy\"", "\"to_agent\":\"mindi\""), 404, "unknown_recipient"),
        ("/wire?to=quinn", good.clone(), 400, "bad_request"),
        ("/wire?to=a&role=b", brief("mindy", "0.0.1"), 400, "bad_request"),
        ("/wire?role=%20", brief("mindy", "0.0.1"), 400, "bad_request"),
        ("/wire/nothing", String::new(), 404, "not_found"),
    ];
    for (path, document, status, reason) in cases {
        let refused = server.call("POST", path, Some(&mindy), &document).await;
        let told = (refused.status, refused.get("/outcome"), refused.get("/reason"));
        assert_eq!(told, (status, "rejected".into(), reason.into()), "{path}: {}", refused.text);
        assert_ne!(refused.get("/error/message"), "(absent)", "{}", refused.text);
        assert_ne!(refused.get("/error/hint"), "(absent)", "{}", refused.text);
    }
    let closed = server.call("POST", "/wire", None, &good).await;
    assert_eq!((closed.status, closed.get("/reason").as_str()), (401, "no_token"));
    assert_eq!(server.call("GET", "/wire", Some(&mindy), "").await.get("/reason"), "method_not_allowed");
}

#[tokio::test]
async fn fields_of_later_versions_are_kept() {
    let server = start().await;
    let mindy = server.agent("mindy", r#"{"dialect":"wire"}"#).await;
    let quinn = server.agent("quinn", r#"{"dialect":"wire"}"#).await;
    let wire = inbox("mindy", "quinn", 2, "hello").replacen("1.0", "1.1", 1).replacen(
        '{',
        r#"{"wire_id":"content.x.1","stream_id":"content:thinking:x","stream_seq":1,"correlation_id":"c-1","x_new":{"a":1.50},"#,
        1,
    );
    let sent = server.call("POST", "/wire", Some(&mindy), &wire).await;
    assert_eq!((sent.status, sent.get("/native_id").as_str()), (201, "content.x.1"), "{}", sent.text);
    let shown = server.call("GET", "/wire/inbox/quinn", Some(&quinn), "").await;
    assert!(shown.text.contains(&wire), "{}", shown.text);
    let again = server.call("POST", "/wire", Some(&mindy), &wire).await;
    assert_eq!((again.status, again.get("/duplicate").as_str()), (200, "true"), "{}", again.text);
}
