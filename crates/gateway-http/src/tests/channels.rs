//! Channels: who sees what of them.

use gateway::channels::{FileProblem, Severity};

use super::start;

#[tokio::test]
async fn folders_and_problems_are_the_operators() {
    let server = start().await;
    let ann = server.agent("ann", "{}").await;
    let joined = server.call("PUT", "/v1/agents/ann/subscriptions/channel:team-a", Some(&ann), "").await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    let channels = server.hub.channels();
    channels.count("/srv/collab", "Team A", |traffic| traffic.files = 7);
    for number in 0..1_001 {
        channels.note(FileProblem {
            root: "/srv/collab".to_owned(),
            channel: "team-a".to_owned(),
            file: format!("msg-{number}.json"),
            severity: Severity::Refused,
            code: "malformed".to_owned(),
            detail: "it holds no JSON object".to_owned(),
            at: server.node.wall().timestamp(),
        });
    }
    let seen = server.call("GET", "/v1/channels", Some(&ann), "").await;
    assert_eq!(seen.text, r#"{"channels":[{"channel":"team-a","members":["ann"],"folders":[]}]}"#);
    let seen = server.call("GET", "/v1/channels", Some(&server.operator), "").await;
    assert_eq!(seen.get("/channels/0/folders/0/folder"), "Team A");
    assert_eq!(seen.get("/channels/0/folders/0/files"), "7");
    assert_eq!(server.call("GET", "/v1/channels/problems", Some(&ann), "").await.status, 403);
    let seen = server.call("GET", "/v1/channels/problems", Some(&server.operator), "").await;
    assert_eq!(
        (seen.get("/total").as_str(), seen.get("/problems/0/file").as_str()),
        ("1001", "msg-1000.json")
    );
    assert_eq!(seen.text.matches("\"file\"").count(), 1_000, "the oldest goes first");
}
