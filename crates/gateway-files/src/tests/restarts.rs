//! What is on the bus stays known: across restarts, and whatever was half done when the process ended.

use std::fs;
use std::path::PathBuf;

use super::Bench;
use crate::{Files, SiteError};

fn journal(bench: &Bench) -> PathBuf {
    fs::read_dir(bench.folder.path().join("state")).unwrap().next().unwrap().unwrap().path()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_past_is_skipped_unless_it_is_wanted_and_what_came_meanwhile_is_not() {
    let folder = tempfile::TempDir::new().unwrap();
    let root = channel_root::Root::create(folder.path().join("collab")).unwrap();
    let at = "2026-01-11T12:00:00Z".parse().unwrap();
    let old = root.post("team-a", &channel_root::Draft::new("claude", "all", "long ago"), at).unwrap();
    let mut bench = Bench::start_on(folder).await;
    bench.message(&bench.post("team-a", "claude", "all", "now").id).await;
    assert_eq!(bench.rows().await.len(), 1, "{} is of the past", old.id);
    bench.close().await;
    let meanwhile = bench.post("team-a", "claude", "all", "while nobody looked");
    let elsewhere = bench.post("team-new", "claude", "all", "in a new channel");
    bench.open(&[("collab", "")]).await;
    bench.message(&meanwhile.id).await;
    bench.message(&elsewhere.id).await;
    assert_eq!(bench.rows().await.len(), 3);
    fs::remove_file(journal(&bench)).unwrap();
    bench.open_with(&[("collab", "")], |settings| settings.import = true).await;
    bench.message(&old.id).await;
    assert_eq!(bench.rows().await.len(), 4, "what the bus knows still is not sent twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_doubt_is_neither_missed_nor_sent_twice() {
    let mut bench = Bench::start().await;
    let after = bench.server.node.durable();
    let sent = bench.post("team-a", "claude", "all", "it came through");
    bench.message(&sent.id).await;
    bench.close().await;
    let lost = bench.post("team-a", "claude", "all", "it did not");
    // As if the process had ended in the middle: the journal only says what was about to happen.
    let doubt = |id: &str| format!("> {} team-a/{id}.json\n", after.0);
    fs::write(journal(&bench), format!("{}{}> 99 team-a/msg-torn", doubt(&sent.id), doubt(&lost.id)))
        .unwrap();
    bench.open(&[("collab", "")]).await;
    bench.message(&lost.id).await;
    let rows = bench.rows().await;
    assert_eq!(rows.len(), 2);
    let journal = fs::read_to_string(journal(&bench)).unwrap();
    let lines: Vec<&str> = journal.lines().filter(|line| line.contains(&sent.id)).collect();
    assert_eq!(lines, [format!("= team-a/{}.json", sent.id)], "it was not even tried again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_the_bus_wrote_is_never_taken_for_new() {
    let mut bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    let sent =
        bench.send(r#"{"kind":"note","from":"human","to":["channel:team-a"],"text":"from the bus"}"#).await;
    let path = bench.file_saying(&bench.path("channels/team-a"), "from the bus").await;
    bench.stage(&sent.get("/id"), "acknowledged").await;
    for _ in 0..3 {
        bench.open(&[("collab", "")]).await;
        bench.message(&bench.post("team-a", "claude", "all", "again").id).await;
    }
    assert_eq!(bench.rows().await.len(), 5);
    assert_eq!(bench.problems(), [] as [String; 0], "{}", path.display());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_refused_is_looked_at_again_at_the_next_start() {
    let mut bench = Bench::start().await;
    bench.server.agent("ann", "{}").await;
    let posted = bench.post("team-a", "ann", "all", "let me in");
    bench.until("it is refused", || bench.problems().len() == 1).await;
    bench.open(&[("collab", "ann")]).await;
    bench.message(&posted.id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_goes_and_comes_back_is_watched_again() {
    let bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "before").id).await;
    let (path, aside) = (bench.folder.path().join("collab"), bench.folder.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    let sent =
        bench.send(r#"{"kind":"note","from":"human","to":["channel:team-a"],"text":"into nowhere"}"#).await;
    assert_eq!(sent.status, 201, "{}", sent.text);
    // A copy, as another machine's drive would be.
    let copied = std::process::Command::new("cp").arg("-r").arg(&aside).arg(&path).status().unwrap();
    assert!(copied.success());
    let back = bench.post("team-a", "claude", "all", "back again");
    bench.message(&back.id).await;
    assert_eq!(bench.rows().await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_that_was_there_before_is_not_made_anew() {
    let mut bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "before").id).await;
    bench.close().await;
    let (path, aside) = (bench.folder.path().join("collab"), bench.folder.path().join("aside"));
    for is_mount_point in [false, true] {
        fs::rename(&path, &aside).unwrap();
        if is_mount_point {
            fs::create_dir(&path).unwrap();
        }
        let settings = bench.settings(&[("collab", "")]);
        assert!(matches!(Files::open(&bench.server.hub, &settings).await, Err(SiteError::Root { .. })));
        drop(fs::remove_dir(&path));
        fs::rename(&aside, &path).unwrap();
    }
    bench.open(&[("collab", "")]).await;
    bench.message(&bench.post("team-a", "claude", "all", "after").id).await;
}
