//! Lexicons of the operator.

use super::Bus;

const REVIEW: &str = r#"{"lexicon":1,"id":"com.example.review","defs":{"main":{"type":"record","key":"any",
  "record":{"type":"object","required":["stars"],"properties":{"stars":{"type":"integer","maximum":5}}}}}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn records_and_content_are_checked_by_what_the_operator_adds() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let put = async |bus: &Bus, document: &str, query: &str| {
        let path = format!("/v1/lexicons{query}");
        bus.server.call("PUT", &path, Some(&bus.server.operator), document).await
    };
    assert_eq!(bus.server.call("PUT", "/v1/lexicons", Some(&ann), REVIEW).await.status, 403);
    let added = put(&bus, REVIEW, "").await;
    assert_eq!((added.status, added.get("/changed")), (200, "true".to_owned()), "{}", added.text);
    assert_eq!(put(&bus, REVIEW, "").await.get("/changed"), "false");
    let breaking = REVIEW.replace("\"integer\",\"maximum\":5", "\"string\"");
    assert_eq!(put(&bus, &breaking, "").await.get("/code"), "breaking");
    assert_eq!(put(&bus, &REVIEW.replace("com.example.review", "agent.comms.message"), "").await.status, 409);
    assert_eq!(put(&bus, r#"{"lexicon":1,"id":"com.example.x"}"#, "").await.status, 422);

    let bus = bus.restart().await;
    let record = |stars: &str| {
        format!(
            r#"{{"repo":"ann","collection":"com.example.review","record":{{"stars":{stars}}},"validate":true}}"#
        )
    };
    assert_eq!(bus.repo("createRecord", &ann, &record("5")).await.get("/validationStatus"), "valid");
    assert_eq!(bus.repo("createRecord", &ann, &record("6")).await.status, 400);
    let note = |stars: &str| {
        format!(
            r#"{{"convoke":1,"kind":"note","from":"ann","to":["bob"],"schema":"com.example.review","data":{{"stars":{stars}}}}}"#
        )
    };
    assert_eq!(bus.server.call("POST", "/v1/messages", Some(&ann), &note("3")).await.status, 201);
    let refused = bus.server.call("POST", "/v1/messages", Some(&ann), &note("9")).await;
    assert_eq!((refused.status, refused.get("/errors/0/path")), (422, "/data/stars".to_owned()));
    assert_eq!(refused.get("/errors/0/source"), "rule");

    assert_eq!(put(&bus, &breaking, "?force=true").await.status, 200);
    assert_eq!(bus.repo("createRecord", &ann, &record("\"5\"")).await.status, 200);
    let listed = bus.server.call("GET", "/v1/lexicons", Some(&bob), "").await;
    assert!(listed.text.contains(r#""id":"com.example.review","source":"operator""#), "{}", listed.text);
    let published = "at://human/com.atproto.lexicon.schema/com.example.review";
    assert_eq!(bus.read(Some(&bob), published).await.get("/value/id"), "com.example.review");

    // As a record, it is taken back as any other.
    let gone = r#"{"repo":"human","collection":"com.atproto.lexicon.schema","rkey":"com.example.review"}"#;
    assert_eq!(bus.repo("deleteRecord", &bus.server.operator, gone).await.status, 200);
    assert_eq!(bus.repo("createRecord", &ann, &record("6")).await.status, 400, "nobody knows it any more");
}
