//! A copy is kept, read back and compared.

use std::sync::Arc;
use std::time::Duration;

use channel_root::{Draft, Heartbeat, Root};
use dialect_channel::presence::Phase;
use tokio::sync::Notify;

use super::{Place, mirror, now};
use crate::{Back, Ending, read_back};

#[tokio::test]
async fn what_is_in_the_root_comes_to_the_server_and_back() {
    let place = Place::new();
    for nth in 0..20 {
        place.say(if nth % 2 == 0 { "team-a" } else { "Team B.x" }, &format!("number {nth}"));
    }
    // Bytes that no writer of ours makes stay as they are.
    let odd =
        b"{ \"id\":\"msg-20260111-163315-claude-4c78\",\n\"n\":1.00,\"to\":\"all\",\"from\":\"cl.aude\" }\n";
    place.root.put("team-a", "msg-20260111-163315-claude-4c78", odd).unwrap();
    assert_eq!(place.differences(&place.root).await.1.len(), 21);
    let mirrored = place.mirror_once().await;
    assert_eq!((mirrored.published, mirrored.duplicates, mirrored.refused), (21, 0, 0));
    assert_eq!(place.differences(&place.root).await, (21, Vec::new()));
    assert_eq!(place.mirror_once().await.published, 0, "what is there is not published again");
    let other = place.other_root();
    let settings = place.settings();
    let back = read_back(&other, &settings, Ending::WhenDone, std::future::pending()).await.unwrap();
    assert_eq!(back, Back { written: 21, there: 0, refused: 0 });
    let back = read_back(&other, &settings, Ending::WhenDone, std::future::pending()).await.unwrap();
    assert_eq!(back, Back { written: 0, there: 21, refused: 0 });
    assert_eq!(other.read("team-a", "msg-20260111-163315-claude-4c78").unwrap().unwrap(), odd);
    assert_eq!(place.differences(&other).await, (21, Vec::new()));
}

#[tokio::test]
async fn differences_are_named() {
    let place = Place::new();
    let (same, gone, changed) = (place.say("a", "same"), place.say("a", "gone"), place.say("a", "changed"));
    place.mirror_once().await;
    let channel = place.root.path().join("channels/a");
    std::fs::remove_file(channel.join(format!("{gone}.json"))).unwrap();
    std::fs::write(channel.join(format!("{changed}.json")), "{\"id\":\"x\"}").unwrap();
    let new = place.say("a", "new");
    let (count, mut found) = place.differences(&place.root).await;
    assert_eq!(count, 1, "{same}");
    found.sort();
    let mut wanted = vec![
        format!("missing_in_root a {gone}"),
        format!("other_bytes a {changed}"),
        format!("missing_on_nats a {new}"),
    ];
    wanted.sort();
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn the_same_id_in_two_channels_is_two_messages() {
    let place = Place::new();
    let id = place.say("a", "hello");
    let bytes = place.root.read("a", &id).unwrap().unwrap();
    place.root.put("b", &id, &bytes).unwrap();
    assert_eq!(place.mirror_once().await.published, 2);
    assert_eq!(place.differences(&place.root).await, (2, Vec::new()));
    assert_eq!(place.mirror_once().await.published, 0);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_an_object_with_a_reference() {
    let place = Place::with("max_payload: 65536");
    let id = place.root.post("a", &Draft::new("claude", "codex", "x".repeat(300_000)), now()).unwrap().id;
    place.say("a", "small");
    assert_eq!(place.mirror_once().await.published, 2);
    assert_eq!(place.differences(&place.root).await, (2, Vec::new()));
    let other = place.other_root();
    read_back(&other, &place.settings(), Ending::WhenDone, std::future::pending()).await.unwrap();
    assert_eq!(other.read("a", &id).unwrap(), place.root.read("a", &id).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_goes_and_comes_back_gets_everything_in_order() {
    let mut place = Place::new();
    let stop = Arc::new(Notify::new());
    let (mirror, stopped) = (mirror(&place.root, place.hasty()), Arc::clone(&stop));
    let running = tokio::spawn(async move { mirror.run(Ending::Never, stopped.notified()).await });
    let mut ids = Vec::new();
    for round in 0..4 {
        for nth in 0..10 {
            ids.push(place.say("team-a", &format!("{round} {nth}")));
            if nth == 5 && round % 2 == 0 {
                place.server.stop();
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        place.server.stop();
        place.server.again().unwrap();
        wait_until_same(&place, ids.len() as u64).await;
    }
    stop.notify_one();
    let mirrored = running.await.unwrap().unwrap();
    assert_eq!(mirrored.refused, 0);
    assert_eq!(place.differences(&place.root).await, (ids.len() as u64, Vec::new()));
    let mut there = order_on_server(&place).await;
    there.retain(|id| ids.contains(id));
    assert_eq!(there, ids, "in the order in which they were posted");
}

/// Reads the ids of all messages in the order in which the server has them.
async fn order_on_server(place: &Place) -> Vec<String> {
    let nats = crate::Nats::connect(&place.settings()).await.unwrap();
    let mut ids = Vec::new();
    let mut walk = nats.walk(crate::nats::Reading { after: 0, headers_only: true }).await.unwrap();
    while let Some((label, _)) = walk.next().await.unwrap() {
        ids.push(label.unwrap().id);
    }
    ids
}

async fn wait_until_same(place: &Place, count: u64) {
    for _ in 0..600 {
        if let Ok((same, differences)) = crate::compare(&place.root, &place.settings()).await
            && same == count
            && differences.is_empty()
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?}", place.differences(&place.root).await);
}

#[tokio::test]
async fn a_stream_that_is_there_is_used_as_it_is() {
    let place = Place::new();
    let client = async_nats::connect(place.server.url()).await.unwrap();
    let jetstream = async_nats::jetstream::new(client);
    let config = async_nats::jetstream::stream::Config {
        name: "CHAT".to_owned(),
        subjects: vec!["chat.>".to_owned(), "more.>".to_owned()],
        duplicate_window: Duration::from_secs(60),
        max_messages: 3,
        ..Default::default()
    };
    jetstream.create_stream(config).await.unwrap();
    for nth in 0..5 {
        place.say("a", &format!("number {nth}"));
    }
    assert_eq!(place.mirror_once().await.published, 5);
    let info = jetstream.get_stream("CHAT").await.unwrap().cached_info().clone();
    assert_eq!((info.config.subjects.len(), info.config.max_messages, info.state.messages), (2, 3, 3));
    assert_eq!(info.config.duplicate_window, Duration::from_secs(60));
    let made = jetstream.get_stream("EVT").await.unwrap().cached_info().config.clone();
    assert_eq!(made.duplicate_window, Duration::from_secs(24 * 60 * 60));
}

#[tokio::test]
async fn presence_and_broken_files_are_events() {
    let place = Place::new();
    let heartbeat = Heartbeat::of("codex", Phase::Working, "a", Some(std::process::id()));
    place.root.write_presence(&heartbeat, now()).unwrap();
    place.say("a", "hello");
    let channel = place.root.path().join("channels/a");
    std::fs::write(channel.join("msg-20260111-163315-gemini-4c78.json"), "half").unwrap();
    assert_eq!(place.mirror_once().await.refused, 1);
    let client = async_nats::connect(place.server.url()).await.unwrap();
    let stream = async_nats::jetstream::new(client).get_stream("EVT").await.unwrap();
    let presence = stream.get_last_raw_message_by_subject("evt.presence.codex").await.unwrap();
    let text = String::from_utf8(presence.payload.to_vec()).unwrap();
    assert!(text.contains("\"state\":\"AWAKE\",\"substate\":\"WORKING\""), "{text}");
    let error = stream.get_last_raw_message_by_subject("evt.error.gemini").await.unwrap();
    assert!(String::from_utf8(error.payload.to_vec()).unwrap().contains("holds no JSON object"));
}

#[tokio::test]
async fn hostile_messages_on_the_server_do_not_leave_the_root() {
    let place = Place::new();
    place.mirror_once().await;
    let client = async_nats::connect(place.server.url()).await.unwrap();
    let jetstream = async_nats::jetstream::new(client);
    let bodies = [
        r#"{"id":"../../evil","session_id":"a"}"#,
        r#"{"id":"msg-20260111-163315-x-4c78","session_id":"../up"}"#,
        r#"{"id":"msg-20260111-163315-x-4c78","session_id":".hidden"}"#,
        "not json",
        r#"{"id":"msg-20260111-163315-x-4c79","session_id":"a","text":"good"}"#,
    ];
    for body in bodies {
        jetstream.publish("chat.a.all.x", body.into()).await.unwrap().await.unwrap();
    }
    let other: Root = place.other_root();
    let back = read_back(&other, &place.settings(), Ending::WhenDone, std::future::pending()).await.unwrap();
    assert_eq!(back, Back { written: 1, there: 0, refused: 4 });
    assert_eq!(other.channels().unwrap(), ["a"]);
}
