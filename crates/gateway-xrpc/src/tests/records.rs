//! Records that are messages, and records that are only records.

use super::{Bus, message};

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_a_message_collection_is_a_message() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let uri = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "hello")).await;
    let (place, key) = uri.rsplit_once('/').unwrap();
    assert_eq!(place, "at://did:web:ann.agent.invalid/agent.comms.message");
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "hello", "{}", inbox.text);
    assert_eq!(inbox.get("/messages/0/document/$type"), "agent.comms.message");

    let get = format!("com.atproto.repo.getRecord?repo=ann&collection=agent.comms.message&rkey={key}");
    let read = bus.get(&get, Some(&bob)).await;
    assert_eq!((read.status, read.get("/uri")), (200, uri.clone()), "{}", read.text);
    assert_eq!(read.get("/value/content/text"), "hello");
    let cid = read.get("/cid");
    assert!(cid.starts_with("bafyrei"), "{cid}");
}
