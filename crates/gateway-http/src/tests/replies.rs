//! Waiting for a reply: one outcome, whatever happens.

use super::start;
use doorstep::{Answer, Server};
use gateway::Token;

const ASK: &str =
    r#"{"convoke":1,"native_id":"q-1","kind":"question","from":"ann","to":["bob"],"text":"Which port?"}"#;

fn reply_to(id: &str) -> String {
    format!(r#"{{"kind":"task.done","from":"bob","to":["ann"],"reply_to":"{id}","text":"7700"}}"#)
}

/// Bob takes one message and returns its id.
async fn take(server: &Server, bob: &Token) -> Answer {
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(bob), r#"{"wait":"30s"}"#).await;
    assert_eq!(taken.status, 200, "{}", taken.text);
    taken
}

#[tokio::test]
async fn who_waits_gets_the_reply_and_a_repeat_gets_it_again() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let asked = server.call("POST", "/v1/messages?wait=30s", Some(&ann), ASK);
    let answered = async {
        let id = take(&server, &bob).await.get("/deliveries/0/id");
        let sent = server.call("POST", "/v1/messages", Some(&bob), &reply_to(&id)).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
        id
    };
    let (asked, id) = tokio::join!(asked, answered);
    assert_eq!((asked.status, asked.get("/reply/text").as_str()), (200, "7700"), "{}", asked.text);
    assert_eq!((asked.get("/receipt/id"), asked.get("/dialect").as_str()), (id.clone(), "convoke"));
    let again = server.call("POST", "/v1/messages?wait=30s", Some(&ann), ASK).await;
    assert_eq!((again.status, again.get("/reply/text").as_str()), (200, "7700"), "{}", again.text);
    assert_eq!(again.get("/receipt/duplicate"), "true");
    let inbox = server.call("GET", "/v1/agents/ann/inbox", Some(&ann), "").await;
    assert_eq!(inbox.get("/messages"), "[]", "a reply that was given is not in the inbox");
    let receipt = server.call("GET", &format!("/v1/messages/{id}/receipt"), Some(&ann), "").await;
    assert_eq!(receipt.get("/stage"), "answered", "{}", receipt.text);
}

#[tokio::test]
async fn nobody_answers_in_time_and_the_late_reply_is_filed() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let asked = server.call("POST", "/v1/messages?wait=10ms", Some(&ann), ASK).await;
    assert_eq!((asked.status, asked.get("/code").as_str()), (504, "no_reply"), "{}", asked.text);
    assert_eq!(asked.get("/receipt/stage"), "stored");
    let again = server.call("POST", "/v1/messages?wait=30s", Some(&ann), ASK).await;
    assert_eq!(
        (again.status, again.get("/code").as_str()),
        (504, "no_reply"),
        "its time is over: {}",
        again.text
    );
    let id = take(&server, &bob).await.get("/deliveries/0/id");
    let late = server.call("POST", "/v1/messages", Some(&bob), &reply_to(&id)).await;
    assert_eq!((late.status, late.get("/warnings/0/code").as_str()), (201, "late_reply"), "{}", late.text);
}

#[tokio::test]
async fn where_nobody_can_answer_nobody_waits() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let ask = ASK.replace("\"bob\"", "\"#nobody-here\"");
    let asked = server.call("POST", "/v1/messages?wait=30s", Some(&ann), &ask).await;
    assert_eq!((asked.status, asked.get("/code").as_str()), (504, "no_reply"), "{}", asked.text);
    assert_eq!(asked.get("/receipt/warnings/0/code"), "no_recipient");
}

#[tokio::test]
async fn a_message_that_dies_is_an_outcome_too() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let asked = server.call("POST", "/v1/messages?wait=30s", Some(&ann), ASK);
    let refused = async {
        let taken = take(&server, &bob).await;
        let path = format!("/v1/deliveries/{}/nack", taken.get("/deliveries/0/delivery"));
        server.call("POST", &path, Some(&bob), r#"{"reason":"no","retryable":false}"#).await
    };
    let (asked, refused) = tokio::join!(asked, refused);
    assert_eq!(refused.status, 200, "{}", refused.text);
    assert_eq!((asked.status, asked.get("/code").as_str()), (504, "undeliverable"), "{}", asked.text);
    assert_eq!(asked.get("/receipt/recipients/0/stage"), "dead");
    let dead = server.call("GET", "/v1/dead", Some(&ann), "").await;
    assert_eq!(
        (dead.get("/dead/0/reason").as_str(), dead.get("/dead/0/to").as_str()),
        ("no", "bob"),
        "{}",
        dead.text
    );
    assert_eq!(
        server.call("GET", "/v1/dead", Some(&bob), "").await.get("/dead"),
        "[]",
        "it is ann's, not bob's"
    );
    let id = dead.get("/dead/0/id");
    let others = server.call("POST", &format!("/v1/dead/{id}/retry"), Some(&bob), "").await;
    assert_eq!((others.status, others.get("/code").as_str()), (404, "not_dead"), "{}", others.text);
    let retried = server.call("POST", &format!("/v1/dead/{id}/retry"), Some(&ann), "").await;
    assert_eq!((retried.status, retried.get("/stage").as_str()), (200, "stored"), "{}", retried.text);
}

#[tokio::test]
async fn a_connection_that_is_gone_leaves_the_reply_in_the_inbox() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let asked = server.call("POST", "/v1/messages?wait=30s", Some(&ann), ASK);
    let taken = async { take(&server, &bob).await };
    let id = {
        // The request is dropped as soon as bob has the message.
        tokio::pin!(asked);
        tokio::select! {
            asked = &mut asked => panic!("nobody answered: {}", asked.text),
            taken = taken => taken.get("/deliveries/0/id"),
        }
    };
    server.call("POST", "/v1/messages", Some(&bob), &reply_to(&id)).await;
    let taken = server.call("POST", "/v1/agents/ann/inbox/take", Some(&ann), r#"{"wait":"30s"}"#).await;
    assert_eq!(taken.get("/deliveries/0/document/text"), "7700", "{}", taken.text);
}

#[tokio::test]
async fn a_document_that_wishes_to_wait_waits_in_its_own_dialect() {
    let server = start().await;
    let ann = server.agent("ann", r#"{"dialect":"bus","uri":"codex://ann"}"#).await;
    let bob = server.agent("bob", "").await;
    let document = r#"{"message_id":"m-1","timestamp":"2026-11-15T10:00:00Z","sender":{"agent_id":"codex://ann","framework":"codex"},"recipient":{"agent_id":"bob"},"message_type":"task_request","content":{"task_id":"t-1","payload":{"text":"Which port?"}},"routing":{"priority":"high","delivery_mode":"sync","timeout":"30s","retry_policy":{"max_retries":0,"backoff":"linear"},"fallback_agents":[]}}"#;
    let asked = server.call("POST", "/v1/messages?dialect=bus", Some(&ann), document);
    let answered = async {
        let id = take(&server, &bob).await.get("/deliveries/0/id");
        server.call("POST", "/v1/messages", Some(&bob), &reply_to(&id)).await
    };
    let (asked, _) = tokio::join!(asked, answered);
    assert_eq!((asked.status, asked.get("/dialect").as_str()), (200, "bus"), "{}", asked.text);
    assert_eq!(asked.get("/reply/recipient/agent_id"), "codex://ann", "{}", asked.text);
}
