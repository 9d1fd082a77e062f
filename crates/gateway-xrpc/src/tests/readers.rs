//! Who may read what.

use super::{Bus, key_of, message};

#[tokio::test(flavor = "multi_thread")]
async fn messages_are_for_those_to_whom_they_go() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let eve = bus.server.agent("eve", "{}").await;
    let did = |name: &str| format!("did:web:{name}.agent.invalid");
    let private = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "psst")).await;
    let (sender, at) = (did("ann"), "2026-11-15T10:00:00Z");
    let request = format!(r#"{{"sender":"{sender}","task":"dig","createdAt":"{at}"}}"#);
    let open = bus.create(&ann, "ann", "agent.comms.request", &request).await;
    let assigned = request.replace("\"task\"", &format!(r#""assignee":"{}","task""#, did("bob")));
    let assigned = bus.create(&ann, "ann", "agent.comms.request", &assigned).await;
    let said =
        format!(r#"{{"sender":"{sender}","content":{{"kind":"text","text":"all"}},"createdAt":"{at}"}}"#);
    let broadcast = bus.create(&ann, "ann", "agent.comms.broadcast", &said).await;
    let note = bus.create(&ann, "ann", "com.example.note", "{}").await;

    let operator = &bus.server.operator;
    let seen =
        [(&private, "yyyn"), (&open, "yyyy"), (&assigned, "yyyn"), (&broadcast, "yyyy"), (&note, "yyyy")];
    for (uri, expected) in seen {
        let mut found = String::new();
        for token in [operator, &ann, &bob, &eve] {
            found.push(if bus.read(Some(token), uri).await.status == 200 { 'y' } else { 'n' });
        }
        assert_eq!(found, expected, "{uri}");
    }
    for (token, expected) in [(&bob, 2), (&eve, 1)] {
        let list = "com.atproto.repo.listRecords?repo=ann&collection=agent.comms.request";
        let listed = bus.get(list, Some(token)).await;
        assert_eq!(listed.text.matches("\"uri\"").count(), expected, "{}", listed.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_reads_what_the_operator_lets_it_read() {
    let bus = Bus::start_public(&["agent.comms.broadcast", "com.example.*"]).await;
    let ann = bus.server.agent("ann", "{}").await;
    bus.server.agent("bob", "{}").await;
    let secret = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "psst")).await;
    let note = bus.create(&ann, "ann", "com.example.note", r#"{"a":1,"xOrigin":{"document":"x"}}"#).await;
    let read = bus.read(None, &note).await;
    assert_eq!((read.status, read.get("/value/a")), (200, "1".to_owned()), "{}", read.text);
    assert_eq!(read.get("/value/xOrigin"), "(absent)", "where it comes from is nobody's business");
    assert!(bus.read(Some(&ann), &note).await.get("/value/xOrigin") != "(absent)");
    assert_eq!(bus.read(None, &secret).await.get("/error"), "RecordNotFound");
    let described = bus.get("com.atproto.repo.describeRepo?repo=ann", None).await;
    assert_eq!(described.get("/collections"), r#"["com.example.note"]"#);
    let gone = format!(r#"{{"repo":"ann","collection":"com.example.note","rkey":"{}"}}"#, key_of(&note));
    let refused = bus.post("com.atproto.repo.deleteRecord", None, &gone).await;
    assert_eq!(refused.get("/error"), "AuthMissing", "nobody writes");
}
