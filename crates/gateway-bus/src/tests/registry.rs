//! Who is registered, by whom, under which names.

use super::{Call, agent, check, message, register, registration, send, start};
use doorstep::Server;

const REVIEWER: &str = "opencode://code-reviewer";
const ENCODED: &str = "/bus/agents/opencode%3A%2F%2Fcode-reviewer";

#[tokio::test]
async fn registering_is_answered_as_clients_know_it() {
    let server = start().await;
    let good = registration(REVIEWER, "1.0");
    let register = "/bus/agents/register";
    let without_endpoints = good.replace(r#""endpoints":{},"#, "");
    let listed = good
        .replace(r#"{"optimal_tasks":["code_review"]}"#, r#"["code_review"]"#)
        .replace("code-reviewer", "x");
    let mismatched = good.replace(r#""framework":"opencode""#, r#""framework":"codex""#);
    let reserved = good.replace(REVIEWER, "communication-bus").replace("\"opencode\"", "\"x\"");
    let calls: &[Call<'_>] = &[
        (
            "POST",
            register,
            &good,
            200,
            &[("/success", "true"), ("/agent_id", REVIEWER), ("/agent", "code-reviewer")],
        ),
        ("POST", register, &good, 200, &[("/success", "true"), ("/token", "(absent)")]),
        (
            "POST",
            register,
            &good.replace("1.0", "2.0"),
            400,
            &[
                ("/success", "false"),
                ("/error", "Agent opencode://code-reviewer already registered"),
                ("/code", "name_taken"),
            ],
        ),
        (
            "POST",
            register,
            &without_endpoints,
            400,
            &[("/error", "Invalid agent descriptor"), ("/errors/0/path", "/agent_descriptor/endpoints")],
        ),
        ("POST", register, &listed, 200, &[("/agent", "x")]),
        (
            "POST",
            register,
            &mismatched,
            400,
            &[("/success", "false"), ("/errors/0/code", "framework_mismatch")],
        ),
        ("POST", register, &reserved, 403, &[("/code", "name_reserved")]),
        ("POST", register, "{", 400, &[("/success", "false"), ("/code", "not_json")]),
        ("POST", register, "[]", 400, &[("/error", "Invalid agent descriptor")]),
        ("DELETE", ENCODED, "", 200, &[("/success", "true")]),
        ("DELETE", ENCODED, "", 200, &[("/success", "false"), ("/code", "unknown_agent")]),
        ("POST", register, &good.replace("1.0", "2.0"), 200, &[("/agent", "code-reviewer")]),
        ("DELETE", "/bus/agents/opencode://code-reviewer", "", 200, &[("/success", "true")]),
        ("DELETE", "/bus/agents/human", "", 403, &[("/success", "false"), ("/code", "name_reserved")]),
        ("GET", "/bus/nothing", "", 404, &[("/success", "false"), ("/code", "not_found")]),
        ("PATCH", register, "", 405, &[("/success", "false")]),
        ("GET", "/bus?agent_id=x", "", 426, &[("/code", "not_an_upgrade")]),
    ];
    check(&server, &server.operator, calls).await;
    let unknown = server.call("POST", register, None, &good).await;
    assert_eq!((unknown.status, unknown.get("/success").as_str()), (401, "false"), "{}", unknown.text);
}

#[tokio::test]
async fn names_that_clash_are_told_apart_by_their_framework() {
    let server = start().await;
    let codex = agent(&server, "codex://ann").await;
    let opencode = agent(&server, "opencode://ann").await;
    let third = register(&server, &server.operator, "claude-code://human", "1.0").await;
    assert_eq!(third.get("/agent"), "human.claude-code", "{}", third.text);
    let shown = server.call("GET", "/v1/agents/ann.opencode", Some(&opencode), "").await;
    assert_eq!(shown.get("/aliases/0"), "opencode://ann", "{}", shown.text);
    assert_eq!(shown.get("/descriptor/capabilities/optimal_tasks/0"), "code_review", "{}", shown.text);
    assert!(shown.get("/work").contains(r#""capabilities":["code_review"]"#), "{}", shown.text);
    assert_eq!(shown.get("/dialect"), "bus");
    let sent = send(&server, &codex, &message("m-1", "codex://ann", "opencode://ann", &[])).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let inbox = server.call("GET", "/v1/agents/ann.opencode/inbox", Some(&opencode), "").await;
    assert_eq!(inbox.get("/messages/0/document/message_id"), "m-1", "{}", inbox.text);
    // An id that nobody has is nobody's, however much it looks like somebody's.
    let lost = send(&server, &codex, &message("m-2", "codex://ann", "cursor://ann", &[])).await;
    assert_eq!((lost.status, lost.get("/code").as_str()), (404, "unknown_recipient"), "{}", lost.text);
    let spoofed = send(&server, &opencode, &message("m-3", "codex://ann", "opencode://ann", &[])).await;
    assert_eq!((spoofed.status, spoofed.get("/code").as_str()), (403, "not_yours"), "{}", spoofed.text);
}

#[tokio::test]
async fn an_agent_registers_itself_and_nobody_else() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let registered = register(&server, &ann, "codex://ann", "1.0").await;
    assert_eq!((registered.status, registered.get("/agent").as_str()), (200, "ann"), "{}", registered.text);
    assert_eq!(registered.get("/token"), "(absent)", "it has one");
    assert_eq!(register(&server, &ann, "codex://bob", "1.0").await.status, 403);
    assert_eq!(register(&server, &ann, "opencode://ann", "1.0").await.status, 403, "ann has an id already");
    let bob = agent(&server, "codex://bob").await;
    assert_eq!(register(&server, &bob, "codex://ann", "1.0").await.status, 403);
    assert_eq!(server.call("DELETE", "/bus/agents/codex%3A%2F%2Fann", Some(&bob), "").await.status, 403);
    // What an agent takes back is what it said of itself: its name, its token and what waits stay.
    let sent = send(&server, &bob, &message("m-1", "codex://bob", "codex://ann", &[])).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    for expected in ["true", "false"] {
        let removed = server.call("DELETE", "/bus/agents/codex%3A%2F%2Fann", Some(&ann), "").await;
        assert_eq!(removed.get("/success"), expected, "{}", removed.text);
    }
    assert_eq!(register(&server, &ann, "codex://ann", "2.0").await.status, 200);
    let inbox = server.call("GET", "/v1/agents/ann/inbox", Some(&ann), "").await;
    assert_eq!(inbox.get("/messages/0/document/message_id"), "m-1", "{}", inbox.text);
}

#[tokio::test]
async fn the_same_registration_is_known_again_after_a_restart() {
    let server = start().await;
    let ann = agent(&server, "codex://ann").await;
    let server = Server::restart(server, |hub| gateway_http::router(hub, vec![crate::doorway()])).await;
    let again = register(&server, &ann, "codex://ann", "1.0").await;
    assert_eq!((again.status, again.get("/agent").as_str()), (200, "ann"), "{}", again.text);
    let other = register(&server, &server.operator, "codex://ann", "2.0").await;
    assert_eq!(other.status, 400, "{}", other.text);
    assert_eq!(other.get("/error"), "Agent codex://ann already registered");
}
