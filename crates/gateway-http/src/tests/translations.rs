//! One message to recipients of other dialects: each gets it in its own, small or large, with the names of now.

use doorstep::{Answer, Server, Socket};
use gateway::Token;

use super::start;

async fn take(server: &Server, name: &str, token: &Token) -> Answer {
    let taken = server.call("POST", &format!("/v1/agents/{name}/inbox/take"), Some(token), "{}").await;
    assert_eq!(taken.status, 200, "{}", taken.text);
    taken
}

async fn post(server: &Server, token: &Token, text: &str) {
    let document = format!(r#"{{"kind":"question","from":"ann","to":["bob","cid","dan"],"text":"{text}"}}"#);
    let receipt = server.call("POST", "/v1/messages", Some(token), &document).await;
    assert_eq!(receipt.status, 201, "{}", receipt.text);
}

#[tokio::test]
async fn who_takes_a_message_after_a_registration_gets_the_new_names() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let mut tokens = Vec::new();
    for name in ["bob", "cid", "dan"] {
        tokens.push(server.agent(name, r#"{"dialect":"comms"}"#).await);
    }
    post(&server, &ann, "hello").await;
    let sender = |taken: &Answer| taken.get("/deliveries/0/document/sender");
    let [bob, cid, dan] = &tokens[..] else { panic!("three agents") };
    let taken = [take(&server, "bob", bob).await, take(&server, "cid", cid).await];
    assert_eq!(taken[0].get("/deliveries/0/document"), taken[1].get("/deliveries/0/document"));
    assert_eq!(sender(&taken[0]), "did:web:ann.agent.invalid");
    let named =
        server.call("PUT", "/v1/agents/ann", Some(&server.operator), r#"{"did":"did:web:ann.example"}"#);
    assert_eq!(named.await.status, 200);
    assert_eq!(sender(&take(&server, "dan", dan).await), "did:web:ann.example");
}

#[tokio::test]
async fn a_large_message_is_translated_for_takers_and_sockets_alike() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let mut tokens = Vec::new();
    for name in ["bob", "cid", "dan"] {
        tokens.push(server.agent(name, r#"{"dialect":"bus"}"#).await);
    }
    post(&server, &ann, &"large ".repeat(60_000)).await;
    let [bob, cid, dan] = &tokens[..] else { panic!("three agents") };
    let taken = take(&server, "bob", bob).await;
    let document = taken.get("/deliveries/0/document");
    assert!(document.len() > 600_000 && taken.get("/deliveries/0/dialect") == "bus", "{}", document.len());
    assert_eq!(take(&server, "cid", cid).await.get("/deliveries/0/document"), document);
    let mut socket = Socket::open(&server, "/v1/agents/dan/socket", Some(dan)).await.unwrap();
    assert_eq!(socket.next().await.get("op"), "ready");
    socket.send(r#"{"op":"credit","n":1}"#).await;
    let delivered = socket.next().await;
    assert_eq!([delivered.get("op"), delivered.get("dialect")], ["deliver", "bus"]);
    assert!(delivered.0.ends_with(&format!(r#""document":{document}}}"#)));
}
