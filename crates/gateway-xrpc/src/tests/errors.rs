//! What goes wrong has the name and the status that clients of a PDS know.

use super::Bus;

/// One case a line.
const CASES: &str = include_str!("errors.txt");

#[tokio::test(flavor = "multi_thread")]
async fn errors_have_the_names_of_a_pds() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    bus.server.agent("bob", "{}").await;
    let note = r#"{"repo":"ann","collection":"com.example.note","rkey":"a","record":{"a":1}}"#;
    assert_eq!(bus.repo("createRecord", &ann, note).await.status, 200);
    let mut wrong = Vec::new();
    for case in CASES.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = case.split(" | ");
        let (who, call, expected) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let (verb, call) = call.split_once(' ').unwrap();
        let (call, body) = call.split_once(' ').unwrap_or((call, ""));
        let path = format!("/xrpc/{call}");
        let answer = match who {
            "nobody" => bus.server.call(verb, &path, None, body).await,
            "ann" => bus.server.call(verb, &path, Some(&ann), body).await,
            bearer => bus.bearing(verb, call, bearer, body).await,
        };
        let found = format!("{} {}", answer.status, answer.get("/error"));
        if found != expected || answer.get("/message") == "(absent)" {
            wrong.push(format!("{case}: {} {}", answer.status, answer.text));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_an_end_to_what_a_call_may_ask() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    let writes = |count: usize| {
        let write =
            r#"{"$type":"com.atproto.repo.applyWrites#create","collection":"com.example.note","value":{}}"#;
        format!(r#"{{"repo":"ann","writes":[{}]}}"#, vec![write; count].join(","))
    };
    let many = bus.repo("applyWrites", &ann, &writes(200)).await;
    assert_eq!((many.status, many.text.matches("\"uri\"").count()), (200, 200));
    assert_eq!(bus.repo("applyWrites", &ann, &writes(201)).await.get("/error"), "InvalidRequest");
    let long = format!(
        r#"{{"repo":"ann","collection":"com.example.note","record":{{"a":"{}"}}}}"#,
        "x".repeat(2 << 20)
    );
    let large = bus.repo("createRecord", &ann, &long).await;
    assert_eq!((large.status, large.get("/error")), (413, "PayloadTooLarge".to_owned()));
    // The tests' own bus holds a thousand records.
    for _ in 0..4 {
        assert_eq!(bus.repo("applyWrites", &ann, &writes(200)).await.status, 200);
    }
    let full = bus.repo("applyWrites", &ann, &writes(1)).await;
    assert_eq!((full.status, full.get("/error")), (429, "RateLimitExceeded".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn anybody_may_ask_what_the_server_is() {
    let bus = Bus::start().await;
    assert_eq!(bus.get("_health", None).await.status, 200);
    let described = bus.get("com.atproto.server.describeServer", None).await;
    assert_eq!(described.get("/inviteCodeRequired"), "true");
    assert_eq!(described.get("/blobUploadLimit"), (10 << 20).to_string());
}
