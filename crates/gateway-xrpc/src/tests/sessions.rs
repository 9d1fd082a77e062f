//! Sessions: opened with a token, renewed, ended.

use doorstep::Answer;

use super::Bus;

async fn open(bus: &Bus, identifier: &str, password: &str) -> Answer {
    let body = format!(r#"{{"identifier":"{identifier}","password":"{password}"}}"#);
    bus.post("com.atproto.server.createSession", None, &body).await
}

async fn renew(bus: &Bus, token: &str) -> Answer {
    bus.bearing("POST", "com.atproto.server.refreshSession", &format!("Bearer {token}"), "").await
}

async fn look(bus: &Bus, token: &str) -> Answer {
    bus.bearing("GET", "com.atproto.server.getSession", &format!("Bearer {token}"), "").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_calls_is_renewed_and_ends() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", r#"{"did":"did:web:ann.example","handle":"ann.example"}"#).await;
    for identifier in ["ann", "ann.example", "did:web:ann.example", "@ann.example"] {
        assert_eq!(open(&bus, identifier, &ann.reveal()).await.get("/did"), "did:web:ann.example");
    }
    let session = open(&bus, "ann", &ann.reveal()).await;
    let (access, refresh) = (session.get("/accessJwt"), session.get("/refreshJwt"));
    assert_eq!(look(&bus, &access).await.get("/handle"), "ann.example");
    assert_eq!(look(&bus, &ann.reveal()).await.get("/did"), "did:web:ann.example", "a token will do, too");
    assert_eq!(look(&bus, &refresh).await.get("/error"), "InvalidToken", "each has its use");
    assert_eq!(renew(&bus, &access).await.get("/error"), "InvalidToken");
    let note = r#"{"repo":"ann","collection":"com.example.note","record":{}}"#;
    let made = bus.bearing("POST", "com.atproto.repo.createRecord", &format!("Bearer {access}"), note).await;
    assert_eq!(made.status, 200, "{}", made.text);

    // It outlives the process, and renewing it makes the token before it useless after the next.
    let bus = bus.restart().await;
    assert_eq!(look(&bus, &access).await.status, 200);
    let second = renew(&bus, &refresh).await;
    assert_eq!(second.status, 200, "{}", second.text);
    let lost = renew(&bus, &refresh).await;
    assert_eq!(lost.get("/refreshJwt"), second.get("/refreshJwt"), "an answer may be lost on its way");
    let third = renew(&bus, &second.get("/refreshJwt")).await;
    assert_eq!(third.status, 200);
    assert_eq!(renew(&bus, &refresh).await.get("/error"), "ExpiredToken");

    let bearer = format!("Bearer {}", third.get("/refreshJwt"));
    let ended = bus.bearing("POST", "com.atproto.server.deleteSession", &bearer, "").await;
    assert_eq!((ended.status, ended.text.as_str()), (200, ""));
    assert_eq!(look(&bus, &third.get("/accessJwt")).await.get("/error"), "ExpiredToken");
    let bus = bus.restart().await;
    assert_eq!(renew(&bus, &third.get("/refreshJwt")).await.get("/error"), "ExpiredToken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_with_its_token() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let more = bus.server.call("POST", "/v1/agents/ann/tokens", Some(&ann), "{}").await;
    let session = open(&bus, "ann", &more.get("/token")).await;
    let other = open(&bus, "ann", &ann.reveal()).await;
    let path = format!("/v1/agents/ann/tokens/{}", more.get("/label"));
    assert_eq!(bus.server.call("DELETE", &path, Some(&ann), "").await.status, 200);
    assert_eq!(look(&bus, &session.get("/accessJwt")).await.get("/error"), "ExpiredToken");
    assert_eq!(renew(&bus, &session.get("/refreshJwt")).await.get("/error"), "ExpiredToken");
    assert_eq!(look(&bus, &other.get("/accessJwt")).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_opens_a_session_of_another_or_tries_for_ever() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    bus.server.agent("bob", "{}").await;
    let operator = bus.server.operator.reveal();
    for (identifier, password) in [("bob", &ann.reveal()), ("ann", &operator), ("human", &operator)] {
        let refused = open(&bus, identifier, password).await;
        assert_eq!((refused.status, refused.get("/error")), (401, "AuthenticationRequired".to_owned()));
    }
    let mut statuses = Vec::new();
    for _ in 0..60 {
        statuses.push(open(&bus, "ann", "wrong").await.status);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(open(&bus, "ann", &ann.reveal()).await.status, 200, "who is right is let in");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_sessions_make_the_oldest_give_way() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let first = open(&bus, "ann", &ann.reveal()).await;
    for _ in 0..32 {
        assert_eq!(open(&bus, "ann", &ann.reveal()).await.status, 200);
    }
    assert_eq!(look(&bus, &first.get("/accessJwt")).await.get("/error"), "ExpiredToken");
}
