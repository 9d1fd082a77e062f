//! What is not taken in, and that it is told.

use std::fs;

use channel_root::Draft;

use super::Bench;

#[tokio::test(flavor = "multi_thread")]
async fn a_file_speaks_only_for_whom_its_root_may_speak_for() {
    let bench = Bench::start().await;
    bench.server.agent("ann", "{}").await;
    let forged = bench.post("team-a", "ann", "all", "I am ann");
    let human = bench.post("team-a", "human", "all", "I am the operator");
    let own = bench
        .root()
        .post("team-a", &Draft::new("files.collab", "all", "I am the root"), forged_at(&bench))
        .unwrap();
    bench.message(&bench.post("team-a", "claude", "all", "I am new").id).await;
    bench.until("all three are refused", || bench.problems().len() == 3).await;
    let expected = [&forged, &human, &own].map(|posted| format!("refused not_yours {}.json", posted.id));
    let mut problems = bench.problems();
    problems.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    assert_eq!(problems, expected);
    assert_eq!(bench.rows().await.len(), 1);
}

fn forged_at(bench: &Bench) -> message::Timestamp {
    bench.server.node.wall().timestamp()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_root_may_be_told_for_whom_it_speaks() {
    let mut bench = Bench::start().await;
    bench.server.agent("ann", "{}").await;
    bench.open(&[("collab", "ann")]).await;
    let posted = bench.post("team-a", "ann", "all", "I am ann");
    bench.message(&posted.id).await;
    bench.post("team-a", "claude", "all", "I am not on the list");
    bench.until("it is refused", || bench.problems().len() == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_one_root_are_not_spoken_for_by_another() {
    let mut bench = Bench::start().await;
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    bench.open(&[("collab", ""), ("other", "")]).await;
    let at = bench.server.node.wall().timestamp();
    bench.root_at("other").post("team-b", &Draft::new("claude", "all", "it is me"), at).unwrap();
    bench.until("it is refused", || bench.problems().len() == 1).await;
    assert!(bench.problems()[0].starts_with("refused not_yours"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_told_once_and_the_rest_goes_on() {
    let bench = Bench::start().await;
    let folder = bench.path("channels/team-a");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("msg-20260111-120000-a-0001.json"), "{").unwrap();
    fs::write(folder.join("msg-20260111-120000-a-0002.json"), r#"{"from":"claude"}"#).unwrap();
    fs::write(folder.join("msg-20260111-120000-a-0003.json"), r#"{"content":{"text":"who?"}}"#).unwrap();
    fs::write(folder.join("msg-late.json"), "{}").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("msg-20260111-120000-a-0004.json")).unwrap();
    bench.message(&bench.post("team-a", "claude", "all", "hi").id).await;
    bench.until("all five are told", || bench.problems().len() == 5).await;
    let mut problems = bench.problems();
    problems.sort();
    assert_eq!(
        problems,
        [
            "refused invalid msg-20260111-120000-a-0002.json",
            "refused invalid msg-20260111-120000-a-0003.json",
            "refused link msg-20260111-120000-a-0004.json",
            "refused malformed msg-20260111-120000-a-0001.json",
            "refused wrong_name msg-late.json",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_writes_what_another_role_writes_is_told() {
    let bench = Bench::start().await;
    let registry = bench.path("registry/agents");
    fs::create_dir_all(&registry).unwrap();
    fs::write(registry.join("boss.json"), r#"{"id":"boss","model":"m","provider":"p","role":"supervisor"}"#)
        .unwrap();
    fs::write(registry.join("dev.json"), r#"{"id":"dev","model":"m","provider":"p","role":"worker"}"#)
        .unwrap();
    fs::write(registry.join("qc-1.json"), r#"{"id":"qc-1","model":"m","provider":"p","role":"verifier"}"#)
        .unwrap();
    let post = |from: &str, kind: &str| {
        bench.post_draft("team-a", &Draft { kind: kind.to_owned(), ..Draft::new(from, "all", "x") }).id
    };
    let odd = [post("dev", "task_assign"), post("dev", "review_vote"), post("qc-1", "task_result")];
    let fine = [post("boss", "task_assign"), post("qc-1", "review_vote"), post("dev", "task_result")];
    for id in odd.iter().chain(&fine) {
        bench.message(id).await;
    }
    let mut problems = bench.problems();
    problems.sort();
    let mut expected = odd.map(|id| format!("odd sender_role {id}.json"));
    expected.sort();
    assert_eq!(problems, expected);
}
