//! Both ways: files become messages, and messages become files.

use std::fs;

use channel_root::{Draft, Heartbeat};
use dialect_channel::presence::Phase;
use json::Value;

use super::{Bench, text};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_becomes_a_message_and_its_answer_a_file() {
    let bench = Bench::start().await;
    let ann = bench.server.agent("ann", "{}").await;
    let posted = bench.post("team-a", "claude", "ann", "Please look");
    let row = bench.message(&posted.id).await;
    assert_eq!(text(&row, "/from"), "claude");
    assert_eq!(text(&row, "/dialect"), "channel");
    let taken =
        bench.server.call("POST", "/v1/agents/ann/inbox/take", Some(&ann), "{\"dialect\":\"channel\"}").await;
    assert_eq!(taken.get("/deliveries/0/document/content/text"), "Please look", "{}", taken.text);
    let id = taken.get("/deliveries/0/id");
    let reply = format!(
        r#"{{"kind":"note","from":"ann","to":["claude"],"text":"It is fine","reply_to":"{id}","thread":"team-a"}}"#
    );
    let sent = bench.server.call("POST", "/v1/messages", Some(&ann), &reply).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    let path = bench.file_saying(&bench.path("channels/team-a"), "It is fine").await;
    let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let document = fs::read_to_string(&path).unwrap();
    let document = json::parse_str(&document, json::Limits::DOCUMENT).unwrap();
    assert_eq!(text(&document, "/id"), stem);
    assert_eq!(text(&document, "/from"), "ann");
    assert_eq!(text(&document, "/to"), "claude");
    let receipt = bench.stage(&sent.get("/id"), "acknowledged").await;
    assert!(receipt.text.contains(r#""by":"files""#), "{}", receipt.text);
    // Whoever answers the file answers the message.
    let answer = Draft { in_reply_to: Some(stem), ..Draft::new("claude", "ann", "Thanks") };
    let answer = bench.message(&bench.post_draft("team-a", &answer).id).await;
    assert_eq!(text(&answer, "/reply_to"), sent.get("/id"));
    assert_eq!(bench.problems(), [] as [String; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_post_reaches_every_root_of_its_channel_once() {
    let mut bench = Bench::start().await;
    bench
        .root_at("other")
        .post("team-a", &Draft::new("codex", "all", "I am here"), bench.server.node.wall().timestamp())
        .unwrap();
    bench.open(&[("collab", ""), ("other", "")]).await;
    let posted = bench.post("team-a", "claude", "all", "Hello all");
    bench.message(&posted.id).await;
    let other = bench.folder.path().join("other/channels/team-a");
    let there = bench.file_saying(&other, "Hello all").await;
    assert_eq!(there.file_name(), posted.path.file_name(), "the file is called the same everywhere");
    assert_eq!(fs::read_to_string(there).unwrap(), posted.document, "and is the same to the byte");
    let sent = bench
        .send(r#"{"kind":"announce","from":"human","to":["channel:team-a"],"text":"From the bus"}"#)
        .await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    bench.file_saying(&other, "From the bus").await;
    bench.file_saying(&bench.path("channels/team-a"), "From the bus").await;
    bench.stage(&sent.get("/id"), "acknowledged").await;
    let count = |folder: &std::path::Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((count(&bench.path("channels/team-a")), count(&other)), (2, 3));
    let rows = bench.rows().await;
    assert_eq!(rows.len(), 2, "no file that the bus wrote came back: {rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_direct_message_without_a_thread_has_a_channel_of_its_own() {
    let bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    let sent = bench.send(r#"{"kind":"task.request","from":"human","to":["claude"],"text":"Do it"}"#).await;
    let path = bench.file_saying(&bench.path("channels/direct-human-claude"), "Do it").await;
    bench.stage(&sent.get("/id"), "acknowledged").await;
    let document = fs::read_to_string(path).unwrap();
    let document = json::parse_str(&document, json::Limits::DOCUMENT).unwrap();
    assert_eq!(text(&document, "/type"), "task_assign");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_sender_gets_the_answer_that_a_file_gives() {
    let bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    let ask = r#"{"kind":"question","from":"human","to":["claude"],"text":"How many?","thread":"team-a"}"#;
    let (answer, ()) = tokio::join!(
        bench.server.call("POST", "/v1/messages?wait=30s", Some(&bench.server.operator), ask),
        async {
            let path = bench.file_saying(&bench.path("channels/team-a"), "How many?").await;
            let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
            bench.post_draft(
                "team-a",
                &Draft { in_reply_to: Some(id), ..Draft::new("claude", "human", "Seven") },
            );
        }
    );
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.get("/reply/text").contains("Seven"), "{}", answer.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_known_yet_is_waited_for() {
    let bench = Bench::start().await;
    let posted = bench.post("team-a", "claude", "codex", "Are you there?");
    let row = bench.message(&posted.id).await;
    bench.message(&bench.post("team-a", "codex", "claude", "Yes").id).await;
    bench.stage(&text(&row, "/id"), "acknowledged").await;
    assert_eq!(fs::read_dir(bench.path("channels/team-a")).unwrap().count(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn presence_files_are_the_presence_of_their_agents() {
    let bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    let root = bench.root();
    let beat = |phase| Heartbeat::of("codex", phase, "team-a", Some(std::process::id()));
    for (phase, state) in [(Phase::Idle, "idle"), (Phase::Working, "busy"), (Phase::Offline, "offline")] {
        root.write_presence(&beat(phase), bench.server.node.wall().timestamp()).unwrap();
        let wait = async {
            loop {
                let shown =
                    bench.server.call("GET", "/v1/agents/codex", Some(&bench.server.operator), "").await;
                // Who watches is a member, as soon as the bus has seen its file.
                let is_member = shown.text.contains("channel:team-a");
                if shown.status == 200 && shown.get("/presence/state") == state && is_member {
                    return;
                }
                tokio::time::sleep(super::PAUSE).await;
            }
        };
        tokio::time::timeout(super::PATIENCE, wait).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_file_says_of_itself_gives_way_to_where_it_lies() {
    let bench = Bench::start().await;
    let folder = bench.path("channels/team-a");
    fs::create_dir_all(&folder).unwrap();
    let text =
        r#"{"from":"claude","to":"all","type":"chat","session_id":"elsewhere","content":{"text":"hi"}}"#;
    fs::write(folder.join("msg-20260111-120000-cl-0001.json"), text).unwrap();
    let row = bench.message("msg-20260111-120000-cl-0001").await;
    let to = row.get("to").and_then(Value::as_array).unwrap();
    assert_eq!(to[0].as_str(), Some("channel:team-a"));
    bench.stage(&super::text(&row, "/id"), "acknowledged").await;
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "it is not written once more");
    assert_eq!(bench.problems(), ["odd other_channel msg-20260111-120000-cl-0001.json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn how_an_agent_of_the_bus_is_is_shown_by_a_file() {
    let bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    let ann = bench.server.agent("ann", "{}").await;
    let joined =
        bench.server.call("PUT", "/v1/agents/ann/subscriptions/channel:team-a", Some(&ann), "").await;
    assert_eq!(joined.status, 200, "{}", joined.text);
    let path = bench.path("signals/presence/ann.json");
    for (state, words) in
        [("busy", r#""state":"AWAKE","substate":"WORKING""#), ("offline", r#""state":"OFFLINE""#)]
    {
        let beat = format!(
            r#"{{"kind":"agent.heartbeat","from":"ann","to":["system"],"presence":{{"state":"{state}"}}}}"#
        );
        let noted = bench.server.call("POST", "/v1/messages", Some(&ann), &beat).await;
        assert_eq!(noted.status, 202, "{}", noted.text);
        bench.until(state, || fs::read_to_string(&path).is_ok_and(|text| text.contains(words))).await;
    }
    // A file of the bus's own is no news, and claims to be nobody.
    assert_eq!(bench.problems(), [] as [String; 0]);
}
