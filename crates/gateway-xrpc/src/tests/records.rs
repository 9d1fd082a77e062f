//! Records that are messages, and records that are only records.

use super::{Bus, key_of, message};

const MESSAGE: &str = "agent.comms.message";

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_a_message_collection_is_a_message() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let uri = bus.create(&ann, "ann", MESSAGE, &message("ann", "bob", "hello")).await;
    assert!(uri.starts_with("at://did:web:ann.agent.invalid/agent.comms.message/"), "{uri}");
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "hello", "{}", inbox.text);
    assert_eq!(inbox.get("/messages/0/document/$type"), MESSAGE);
    let read = bus.read(Some(&bob), &uri).await;
    assert_eq!((read.status, read.get("/uri")), (200, uri.clone()), "{}", read.text);
    assert_eq!(read.get("/value/content/text"), "hello");
    assert!(read.get("/cid").starts_with("bafyrei"), "{}", read.text);

    // The answer to it is known as such, by the URI.
    let taken = bus.server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), "{}").await;
    let ack = format!("/v1/deliveries/{}/ack", taken.get("/deliveries/0/delivery"));
    assert_eq!(bus.server.call("POST", &ack, Some(&bob), "").await.status, 200);
    let reply =
        message("bob", "ann", "well").replace(r#""content""#, &format!(r#""inReplyTo":"{uri}","content""#));
    bus.create(&bob, "bob", MESSAGE, &reply).await;
    let id = inbox.get("/messages/0/id");
    let receipt = bus.server.call("GET", &format!("/v1/messages/{id}/receipt"), Some(&ann), "").await;
    assert_eq!(receipt.get("/native_id"), uri, "{}", receipt.text);
    assert_eq!(receipt.get("/recipients/0/stage"), "answered", "{}", receipt.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cid_is_that_of_the_record_and_a_commit_follows_another() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let body = r#"{"repo":"ann","collection":"com.example.note","rkey":"one","record":{"text":"hi","n":1}}"#;
    let made = bus.repo("createRecord", &ann, body).await;
    let record = json::parse_str(r#"{"n":1,"$type":"com.example.note","text":"hi"}"#, json::Limits::DOCUMENT);
    assert_eq!(made.get("/cid"), lexicon::data::cid(&record.unwrap()).unwrap().as_str());
    assert_eq!(made.get("/validationStatus"), "unknown");
    let (cid, commit, rev) = (made.get("/cid"), made.get("/commit/cid"), made.get("/commit/rev"));
    assert!(commit.starts_with("bafyrei") && rev.len() == 13, "{}", made.text);

    // The same again changes nothing; another one has a later revision.
    let same = bus.repo("putRecord", &ann, body).await;
    assert_eq!((same.get("/cid"), same.get("/commit/cid")), (cid.clone(), "(absent)".to_owned()));
    let other = format!(
        r#"{{"repo":"ann","collection":"com.example.note","rkey":"one","record":{{"text":"WORD"}},"swapCommit":"{commit}","swapRecord":"{cid}"}}"#
    );
    let changed = bus.repo("putRecord", &ann, &other).await;
    assert_eq!(changed.status, 200, "{}", changed.text);
    assert!(changed.get("/commit/rev") > rev && changed.get("/commit/cid") != commit);
    for stale in ["putRecord", "deleteRecord"] {
        let refused = bus.repo(stale, &ann, &other.replace("WORD", "HUM")).await;
        assert_eq!((refused.status, refused.get("/error")), (400, "InvalidSwap".to_owned()));
    }
    let absent = other.replace(&format!(r#""{cid}""#), "null").replace(&commit, &changed.get("/commit/cid"));
    assert_eq!(bus.repo("putRecord", &ann, &absent.replace("WORD", "X")).await.get("/error"), "InvalidSwap");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_amends_and_a_delete_retracts() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let uri = bus.create(&ann, "ann", MESSAGE, &message("ann", "bob", "hello")).await;
    let put = |text: &str| {
        let (record, key) = (message("ann", "bob", text), key_of(&uri));
        format!(r#"{{"repo":"ann","collection":"{MESSAGE}","rkey":"{key}","record":{record}}}"#)
    };
    let put_other = put("better").replace("web:bob", "web:ann");
    let refused = bus.repo("putRecord", &ann, &put_other).await;
    assert_eq!(refused.status, 400, "a message keeps its recipient: {}", refused.text);
    assert_eq!(bus.repo("putRecord", &ann, &put("better")).await.status, 200);
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "better", "{}", inbox.text);
    assert_eq!(inbox.get("/messages/1"), "(absent)");

    let gone = format!(r#"{{"repo":"ann","collection":"{MESSAGE}","rkey":"{}"}}"#, key_of(&uri));
    let removed = bus.repo("deleteRecord", &ann, &gone).await;
    assert!(removed.status == 200 && removed.get("/commit/rev").len() == 13, "{}", removed.text);
    assert_eq!(bus.inbox("bob", &bob).await.get("/messages/0"), "(absent)");
    assert_eq!(bus.read(Some(&ann), &uri).await.get("/error"), "RecordNotFound");
    let again = bus.repo("deleteRecord", &ann, &gone).await;
    assert_eq!((again.status, again.text.as_str()), (200, "{}"));

    // Under the same name it is another message.
    assert_eq!(bus.repo("putRecord", &ann, &put("better")).await.status, 200);
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "better", "{}", inbox.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_delivered_is_told_of_second_thoughts() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"convoke"}"#).await;
    let uri = bus.create(&ann, "ann", MESSAGE, &message("ann", "bob", "hello")).await;
    let taken = bus.server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), "{}").await;
    assert_eq!(taken.get("/deliveries/0/document/text"), "hello", "{}", taken.text);
    let gone = format!(r#"{{"repo":"ann","collection":"{MESSAGE}","rkey":"{}"}}"#, key_of(&uri));
    assert_eq!(bus.repo("deleteRecord", &ann, &gone).await.status, 200);
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/from"), "system", "{}", inbox.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_checked_is_stored_and_sent_only_if_it_is_right() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let create = |record: &str, options: &str| {
        format!(r#"{{"repo":"ann","collection":"{MESSAGE}","record":{record}{options}}}"#)
    };
    let broken = message("ann", "bob", "hello").replace("\"text\",", "\"song\",");
    for options in ["", r#","validate":true"#] {
        let refused = bus.repo("createRecord", &ann, &create(&broken, options)).await;
        assert_eq!((refused.status, refused.get("/error")), (400, "InvalidRequest".to_owned()));
    }
    let stored = bus.repo("createRecord", &ann, &create(&broken, r#","validate":false"#)).await;
    assert_eq!((stored.status, stored.get("/validationStatus")), (200, "(absent)".to_owned()));
    assert_eq!(bus.inbox("bob", &bob).await.get("/messages/0"), "(absent)");
    assert_eq!(bus.read(Some(&ann), &stored.get("/uri")).await.status, 200);
    assert_eq!(bus.read(Some(&bob), &stored.get("/uri")).await.status, 200, "it says to whom it goes");

    let right = message("ann", "bob", "hello");
    let sent = bus.repo("createRecord", &ann, &create(&right, r#","validate":false"#)).await;
    assert_eq!((sent.status, sent.get("/validationStatus")), (200, "(absent)".to_owned()));
    let checked = bus.repo("createRecord", &ann, &create(&right, r#","validate":true"#)).await;
    assert_eq!(checked.get("/validationStatus"), "valid");
    assert_eq!(bus.inbox("bob", &bob).await.get("/messages/1/document/content/text"), "hello");
    let unknown = r#"{"repo":"ann","collection":"com.example.note","record":{},"validate":true}"#;
    let unknown = bus.repo("createRecord", &ann, unknown).await;
    assert_eq!(unknown.get("/message"), "Unknown lexicon type: com.example.note");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_stored_when_a_message_cannot_be_sent() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let record = message("ann", "nobody", "hello");
    let body =
        format!(r#"{{"repo":"ann","collection":"{MESSAGE}","rkey":"3jzfcijpj2z2a","record":{record}}}"#);
    let refused = bus.repo("createRecord", &ann, &body).await;
    assert_eq!((refused.status, refused.get("/error")), (400, "RecipientNotFound".to_owned()));
    let spoofed = body.replace("web:ann", "web:bob").replace("web:nobody", "web:ann");
    assert_eq!(bus.repo("createRecord", &ann, &spoofed).await.get("/error"), "Forbidden");
    let list = format!("com.atproto.repo.listRecords?repo=ann&collection={MESSAGE}");
    assert_eq!(bus.get(&list, Some(&ann)).await.text, r#"{"records":[]}"#);
    let held = bus.repo("createRecord?hold=true", &ann, &body).await;
    assert_eq!(held.status, 200, "whoever comes later gets it: {}", held.text);

    // One of several that is refused takes the others with it.
    let write = |to: &str| {
        let value = message("ann", to, "several");
        let kind = "com.atproto.repo.applyWrites#create";
        format!(r#"{{"$type":"{kind}","collection":"{MESSAGE}","value":{value}}}"#)
    };
    let all = |to: &[&str]| {
        let writes: Vec<String> = to.iter().map(|to| write(to)).collect();
        format!(r#"{{"repo":"ann","writes":[{}]}}"#, writes.join(","))
    };
    for to in [&["bob", "nobody2"][..], &["bob", "bob", "bob", "bob"]] {
        let refused = bus.repo("applyWrites", &ann, &all(to)).await;
        assert!(refused.status >= 400, "{}", refused.text);
        assert_eq!(bus.inbox("bob", &bob).await.get("/messages/0"), "(absent)");
    }
    let done = bus.repo("applyWrites", &ann, &all(&["bob", "bob"])).await;
    assert_eq!(done.get("/results/1/$type"), "com.atproto.repo.applyWrites#createResult", "{}", done.text);
    assert_eq!(done.get("/results/0/validationStatus"), "valid");
    assert_eq!(bus.inbox("bob", &bob).await.get("/messages/1/document/content/text"), "several");
    let listed = bus.get(&list, Some(&ann)).await;
    assert!(listed.get("/records/2") != "(absent)" && listed.get("/records/3") == "(absent)");
}

#[tokio::test(flavor = "multi_thread")]
async fn records_are_listed_in_pages_both_ways() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    for key in ["a", "b", "c", "d", "e"] {
        let body =
            format!(r#"{{"repo":"ann","collection":"com.example.note","rkey":"{key}","record":{{}}}}"#);
        assert_eq!(bus.repo("createRecord", &ann, &body).await.status, 200);
    }
    let mut seen = Vec::new();
    for (reverse, expected) in [("false", "edcba"), ("true", "abcde")] {
        let (mut cursor, mut keys) = (String::new(), String::new());
        loop {
            let call = format!(
                "com.atproto.repo.listRecords?repo=ann&collection=com.example.note&limit=2&reverse={reverse}{cursor}"
            );
            let page = bus.get(&call, Some(&ann)).await;
            seen.push(page.status);
            for place in 0..2 {
                let uri = page.get(&format!("/records/{place}/uri"));
                keys += if uri == "(absent)" { "" } else { key_of(&uri) };
            }
            let next = page.get("/cursor");
            if next == "(absent)" {
                break;
            }
            cursor = format!("&cursor={next}");
        }
        assert_eq!(keys, expected);
    }
    assert!(seen.iter().all(|status| *status == 200));
    let described = bus.get("com.atproto.repo.describeRepo?repo=ann", Some(&ann)).await;
    assert_eq!(described.get("/collections/0"), "com.example.note");
    assert_eq!(described.get("/handle"), "ann.agent.invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_there_after_a_restart() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", r#"{"did":"did:web:ann.example","handle":"ann.example"}"#).await;
    let bob = bus.server.agent("bob", r#"{"dialect":"comms"}"#).await;
    let record = message("ann", "bob", "hello").replace("ann.agent.invalid", "ann.example");
    let uri = bus.create(&ann, "ann.example", MESSAGE, &record).await;
    assert!(uri.starts_with("at://did:web:ann.example/"), "{uri}");
    let before = bus.read(Some(&bob), &uri).await.text;
    let bus = bus.restart().await;
    assert_eq!(bus.read(Some(&bob), &uri).await.text, before);
    let inbox = bus.inbox("bob", &bob).await;
    assert_eq!(inbox.get("/messages/0/document/content/text"), "hello", "{}", inbox.text);
    let next = bus.create(&ann, "did:web:ann.example", MESSAGE, &record).await;
    assert!(key_of(&next) > key_of(&uri), "keys go on growing");
}
