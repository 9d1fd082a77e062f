//! Agents, their tokens, and where they belong.

use super::start;

#[tokio::test]
async fn tokens_are_added_revoked_and_run_out() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let more = server.call("POST", "/v1/agents/ann/tokens", Some(&ann), r#"{"expires":"30d"}"#).await;
    assert_eq!(more.status, 201, "{}", more.text);
    let second = more.get("/token").parse().unwrap();
    let me = server.call("GET", "/v1/me", Some(&second), "").await;
    assert_eq!((me.get("/agent").as_str(), me.get("/operator").as_str()), ("ann", "false"), "{}", me.text);
    let shown = server.call("GET", "/v1/agents/ann", Some(&ann), "").await;
    assert_eq!(shown.get("/tokens/1/label"), more.get("/label"), "{}", shown.text);
    assert!(!shown.text.contains(&ann.reveal()), "a token is shown once");
    let path = format!("/v1/agents/ann/tokens/{}", more.get("/label"));
    assert_eq!(server.call("DELETE", &path, Some(&ann), "").await.status, 200);
    assert_eq!(
        server.call("GET", "/v1/me", Some(&second), "").await.status,
        401,
        "it opens nothing any more"
    );
    assert_eq!(server.call("DELETE", &path, Some(&ann), "").await.status, 404);
    let brief = server.call("POST", "/v1/agents/ann/tokens", Some(&ann), r#"{"expires":"0ms"}"#).await;
    let brief = brief.get("/token").parse().unwrap();
    assert_eq!(server.call("GET", "/v1/me", Some(&brief), "").await.status, 401, "its time is over");
    let bob = server.agent("bob", "").await;
    let shown = server.call("GET", "/v1/agents/ann", Some(&bob), "").await;
    assert_eq!(shown.get("/tokens"), "(absent)", "others do not see them");
    for (method, path) in [("POST", "/v1/agents/ann/tokens"), ("DELETE", "/v1/agents/ann/tokens/all")] {
        assert_eq!(server.call(method, path, Some(&bob), "").await.status, 403, "{method} {path}");
    }
    assert_eq!(
        server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&server.operator), "").await.status,
        200
    );
    assert_eq!(server.call("GET", "/v1/me", Some(&ann), "").await.status, 401);
}

#[tokio::test]
async fn a_token_that_is_revoked_makes_no_more_tokens() {
    let server = start().await;
    for round in 0..8 {
        let name = format!("vic{round}");
        let token = server.agent(&name, "").await;
        let path = format!("/v1/agents/{name}/tokens");
        let all = format!("{path}/all");
        let add = || server.call("POST", &path, Some(&token), "");
        // All of them are under way when the revocation is.
        let revoke = server.call("DELETE", &all, Some(&server.operator), "");
        let (one, two, revoked, three, four) = tokio::join!(add(), add(), revoke, add(), add());
        assert_eq!(revoked.status, 200);
        for added in [one, two, three, four] {
            let Some(made) = (added.status == 201).then(|| added.get("/token")) else { continue };
            let made: gateway::Token = made.parse().unwrap();
            assert_eq!(server.call("GET", "/v1/me", Some(&made), "").await.status, 401);
        }
    }
}

#[tokio::test]
async fn who_speaks_for_another_sends_and_reads_as_it() {
    let server = start().await;
    server.agent("ann", "").await;
    server.agent("bob", "").await;
    let boss = server.agent("boss", r#"{"speaks_for":["ann"]}"#).await;
    let note = |from: &str| format!(r#"{{"kind":"note","from":"{from}","to":["bob"],"text":"hi"}}"#);
    assert_eq!(server.call("POST", "/v1/messages", Some(&boss), &note("ann")).await.status, 201);
    assert_eq!(server.call("POST", "/v1/messages", Some(&boss), &note("boss")).await.status, 201);
    assert_eq!(server.call("POST", "/v1/messages", Some(&boss), &note("bob")).await.status, 403);
    assert_eq!(server.call("GET", "/v1/agents/ann/inbox", Some(&boss), "").await.status, 200);
    assert_eq!(server.call("GET", "/v1/agents/bob/inbox", Some(&boss), "").await.status, 403);
    let forged = server.call("POST", "/v1/messages", Some(&server.operator), &note("ann")).await;
    assert_eq!(forged.status, 403, "the operator speaks as itself");
    assert_eq!(server.call("POST", "/v1/messages", Some(&server.operator), &note("human")).await.status, 201);
}

#[tokio::test]
async fn members_get_what_goes_to_their_group_and_leave_it() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let bob = server.agent("bob", r#"{"roles":["developer"]}"#).await;
    let shown = server.call("GET", "/v1/agents/bob", Some(&bob), "").await;
    assert_eq!(shown.get("/memberships"), r#"["roles.developer"]"#);
    let join = "/v1/agents/bob/subscriptions/%23deploys";
    assert_eq!(server.call("PUT", join, Some(&ann), "").await.status, 403);
    assert_eq!(server.call("PUT", join, Some(&bob), "").await.status, 200);
    let post = r##"{"kind":"announce","from":"ann","to":["#deploys"],"text":"out"}"##;
    assert_eq!(server.call("POST", "/v1/messages", Some(&ann), post).await.status, 201);
    let inbox = server.call("GET", "/v1/agents/bob/inbox", Some(&bob), "").await;
    assert_eq!(inbox.get("/messages/0/document/text"), "out", "{}", inbox.text);
    assert_eq!(server.call("DELETE", join, Some(&bob), "").await.status, 200);
    let sent = server.call("POST", "/v1/messages", Some(&ann), &post.replace("out", "again")).await;
    assert_eq!(sent.get("/warnings/0/code"), "no_recipient", "{}", sent.text);
    let odd = server.call("PUT", "/v1/agents/bob/subscriptions/ann", Some(&bob), "").await;
    assert_eq!((odd.status, odd.get("/code").as_str()), (422, "not_a_group"), "{}", odd.text);
}

/// Returns the names of the agents in an answer, each with a comma behind it.
fn names(answer: &doorstep::Answer) -> String {
    let value = json::parse_str(&answer.text, json::Limits::DOCUMENT).unwrap();
    let agents = value.get("agents").and_then(json::Value::as_array).unwrap();
    agents.iter().map(|agent| format!("{},", agent.get("agent").unwrap().as_str().unwrap())).collect()
}

#[tokio::test]
async fn agents_are_listed_page_by_page() {
    let server = start().await;
    let eve = server.agent("eve", "").await;
    for name in ["ann", "bob", "cyd"] {
        server.agent(name, "").await;
    }
    assert_eq!(server.call("DELETE", "/v1/agents/ann", Some(&server.operator), "").await.status, 200);
    let all = server.call("GET", "/v1/agents", Some(&eve), "").await;
    assert_eq!(names(&all), "human,system,runner,eve,bob,cyd,");
    assert_eq!(all.get("/next"), "(absent)", "all at once is as it always was");
    let (mut paged, mut path) = (String::new(), "/v1/agents?limit=4".to_owned());
    loop {
        let page = server.call("GET", &path, Some(&eve), "").await;
        paged.push_str(&names(&page));
        match page.get("/next").as_str() {
            "null" | "(absent)" => break,
            next => path = format!("/v1/agents?limit=4&after={next}"),
        }
    }
    assert_eq!(paged, names(&all));
    let behind = server.call("GET", "/v1/agents?after=ann", Some(&eve), "").await;
    assert_eq!(names(&behind), "bob,cyd,", "one that is gone keeps its place");
    let unknown = server.call("GET", "/v1/agents?after=zed", Some(&eve), "").await;
    assert_eq!((unknown.status, unknown.get("/code").as_str()), (404, "unknown_agent"), "{}", unknown.text);
}

#[tokio::test]
async fn a_list_of_several_pages_is_streamed() {
    let server = start().await;
    for name in ["ann", "bob", "cyd", "dan"] {
        server.agent(name, "").await;
    }
    assert_eq!(server.call("DELETE", "/v1/agents/dan", Some(&server.operator), "").await.status, 200);
    let whole = server.call("GET", "/v1/agents", Some(&server.operator), "").await;
    for max in 1..8 {
        let caller =
            gateway::Caller { hub: server.hub.clone(), principal: gateway::Principal::Operator, token: None };
        let streamed = crate::agents::all(caller, None, max).await.unwrap();
        let streamed = axum::body::to_bytes(streamed.into_body(), usize::MAX).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&streamed), whole.text, "{max} at a time");
    }
}

#[tokio::test]
async fn signs_of_life_are_noted_and_not_delivered() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let beat = r#"{"kind":"agent.heartbeat","from":"ann","to":["system"],"presence":{"state":"busy"}}"#;
    let noted = server.call("POST", "/v1/messages", Some(&ann), beat).await;
    assert_eq!((noted.status, noted.get("/stage").as_str()), (202, "acknowledged"), "{}", noted.text);
    let shown = server.call("GET", "/v1/agents/ann", Some(&ann), "").await;
    assert_eq!(shown.get("/presence/state"), "busy", "{}", shown.text);
}
