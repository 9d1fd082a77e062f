//! Watchers on real roots, with a script in the place of an agent's program.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use channel_root::{Draft, Root};
use json::Value;
use message::{PresenceState, Timestamp};

use super::script;
use crate::{History, Invocation, Journal, Reading, State, Tally, Watching, stopping, watch_root};

const CHANNEL: &str = "team-a";

struct Place {
    _folder: tempfile::TempDir,
    root: Root,
}

impl Place {
    /// Makes a root that was watched before, so that nothing in it is history.
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::create(folder.path().join("collab")).unwrap();
        let place = Place { _folder: folder, root };
        place.watch(watching("true")).await;
        place
    }

    fn post(&self, draft: &Draft) -> String {
        self.root.post(CHANNEL, draft, now()).unwrap().id
    }

    fn say(&self, to: &str, text: &str) -> String {
        self.post(&Draft::new("claude", to, text))
    }

    async fn watch(&self, watching: Watching) -> Tally {
        let (_stopper, stop) = stopping();
        let channels = vec![CHANNEL.to_owned()];
        let watched = watch_root(self.root.clone(), channels, History::Skipped, Arc::new(watching), stop);
        watched.await.unwrap()
    }

    /// Returns what the agent posted: to whom, in reply to what, how many hops, and the text.
    fn answers(&self) -> Vec<(String, String, i64, String)> {
        let mut answers = Vec::new();
        for name in self.root.messages(CHANNEL).unwrap() {
            let bytes = self.root.read(CHANNEL, &name).unwrap().unwrap();
            let Ok(document) = json::parse(&bytes, json::Limits::DOCUMENT) else { continue };
            let text = |pointer: &str| {
                document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            if text("/from") == "codex" {
                assert_eq!(text("/metadata/mode"), "watcher");
                let hops = document.pointer("/metadata/hops").and_then(Value::as_integer).unwrap();
                answers.push((text("/to"), text("/metadata/in_reply_to"), hops, text("/content/text")));
            }
        }
        answers
    }

    fn state(&self, id: &str) -> State {
        let (entries, _) = Journal::look(self.root.path(), "codex").unwrap();
        let file = format!("{id}.json");
        entries.into_iter().find(|entry| entry.file == file).unwrap().state
    }

    fn presence(&self) -> (PresenceState, String) {
        let seen = self.root.presences(now()).unwrap();
        let seen = seen.into_iter().find(|seen| seen.agent == "codex").unwrap();
        (seen.stated, seen.substate.unwrap())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.root.path().join("logs/codex-watch.log")).unwrap_or_default()
    }
}

fn watching(text: &str) -> Watching {
    Watching {
        agent: "codex".to_owned(),
        reading: Reading::Strict,
        invocation: script(text),
        earlier_count: 5,
        state: None,
        memory: None,
        role: None,
        concurrency: 1,
        per_minute: None,
        is_once: true,
        poll_every: Duration::from_millis(20),
        lease: Duration::from_secs(30),
        posted: None,
        now,
    }
}

#[allow(clippy::disallowed_methods, reason = "somebody must read the clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_unix_micros(i64::try_from(since.as_micros()).unwrap()).unwrap()
}

#[tokio::test]
async fn messages_are_answered_where_they_were_said() {
    let place = Place::new().await;
    let direct = place.say("codex", "hello");
    place.say("all", "nobody in particular");
    let called = place.say("all", "@codex and others");
    let tally = place.watch(watching("cat > /dev/null; echo fine")).await;
    assert_eq!((tally.answered, tally.failed), (2, 0));
    let mut answers = place.answers();
    answers.sort();
    let answer = |to: &str, id: &str| (to.to_owned(), id.to_owned(), 1, "fine".to_owned());
    assert_eq!(answers, [answer("all", &called), answer("claude", &direct)]);
    assert_eq!(place.watch(watching("echo again")).await.answered, 0);
    assert_eq!(place.presence(), (PresenceState::Offline, "OFFLINE".to_owned()));
}

#[tokio::test]
async fn history_is_skipped_at_first_unless_it_is_wanted() {
    for (history, wanted) in [(History::Skipped, 0), (History::Answered, 1)] {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::create(folder.path()).unwrap();
        root.post(CHANNEL, &Draft::new("claude", "codex", "old"), now()).unwrap();
        let (_stopper, stop) = stopping();
        let channels = vec![CHANNEL.to_owned()];
        let tally = watch_root(root, channels, history, Arc::new(watching("echo yes")), stop).await.unwrap();
        assert_eq!(tally.answered, wanted);
    }
}

#[tokio::test]
async fn a_failed_command_is_told_and_tried_again_by_hand_only() {
    let place = Place::new().await;
    let id = place.say("codex", "hello");
    let tally = place.watch(watching("echo 'no credit' >&2; exit 7")).await;
    assert_eq!((tally.answered, tally.failed), (0, 1));
    assert!(place.answers().is_empty());
    let State::Failed(reason) = place.state(&id) else { panic!("{:?}", place.state(&id)) };
    assert!(reason.starts_with("failed: it ended with exit status: 7; it said: no credit"), "{reason}");
    assert!(place.log().contains(&reason), "{}", place.log());
    assert_eq!(place.watch(watching("echo yes")).await, Tally::default());
    Journal::wish(place.root.path(), "codex", CHANNEL, &format!("{id}.json")).unwrap();
    Journal::wish(place.root.path(), "codex", CHANNEL, &format!("{id}.json")).unwrap();
    Journal::wish(place.root.path(), "codex", CHANNEL, "../../../etc/passwd").unwrap();
    assert_eq!(place.watch(watching("echo yes")).await.answered, 1);
    assert!(matches!(place.state(&id), State::Answered(_)));
    Journal::wish(place.root.path(), "codex", CHANNEL, &format!("{id}.json")).unwrap();
    assert_eq!(place.watch(watching("echo twice")).await.answered, 0, "what is answered stays so");
}

#[tokio::test]
async fn watchers_of_watchers_stop_and_broken_files_are_told_once() {
    let place = Place::new().await;
    let mut far = Draft::new("gemini", "codex", "and again");
    far.mode = "watcher".to_owned();
    far.metadata.push(("hops".to_owned(), Value::from(8_u64)));
    place.post(&far);
    far.metadata = vec![("hops".to_owned(), Value::from(7_u64))];
    place.post(&far);
    let channel = place.root.path().join("channels").join(CHANNEL);
    std::fs::write(channel.join("msg-20260111-163315-claude-4c78.json"), "{\"to\":").unwrap();
    place.watch(watching("echo fine")).await;
    let tally = place.watch(watching("echo fine")).await;
    assert_eq!(tally.answered, 0);
    assert_eq!(place.answers().iter().map(|answer| answer.2).collect::<Vec<_>>(), [8]);
    for told in ["often enough", "skipped, it holds no JSON object"] {
        assert_eq!(place.log().matches(told).count(), 1, "{}", place.log());
    }
}

#[tokio::test]
async fn an_answer_that_was_posted_before_the_end_counts() {
    let place = Place::new().await;
    let (answered, open) = (place.say("codex", "one"), place.say("codex", "two"));
    let (mut journal, _) = Journal::open(place.root.path(), "codex").unwrap();
    for id in [&answered, &open] {
        journal.write(CHANNEL, &format!("{id}.json"), &State::Started, now()).unwrap();
    }
    drop(journal);
    let mut reply = Draft::new("codex", "claude", "done");
    (reply.mode, reply.in_reply_to) = ("watcher".to_owned(), Some(answered.clone()));
    reply.metadata.push(("hops".to_owned(), Value::from(1_u64)));
    let reply = place.post(&reply);
    let tally = place.watch(watching("echo twice")).await;
    assert_eq!((tally.answered, tally.failed), (0, 1));
    assert_eq!(place.state(&answered), State::Answered(reply));
    assert!(matches!(place.state(&open), State::Failed(reason) if reason.starts_with("interrupted")));
}

#[tokio::test]
async fn presence_follows_the_work_and_stopping_ends_it() {
    let place = Place::new().await;
    let id = place.say("codex", "hello");
    let (stopper, stop) = stopping();
    let mut watching = watching("sleep 1000");
    watching.is_once = false;
    let root = place.root.clone();
    let watcher = tokio::spawn(async move {
        watch_root(root, vec![CHANNEL.to_owned()], History::Skipped, Arc::new(watching), stop).await
    });
    while place.presence() != (PresenceState::Busy, "WORKING".to_owned()) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stopper.stop();
    let tally = watcher.await.unwrap().unwrap();
    assert_eq!((tally.answered, tally.failed), (0, 1));
    assert_eq!(place.presence(), (PresenceState::Offline, "OFFLINE".to_owned()));
    assert!(matches!(place.state(&id), State::Failed(reason) if reason.starts_with("stopped")));
}

#[tokio::test]
async fn several_run_at_once_only_if_that_is_wanted() {
    for concurrency in [1, 3] {
        let place = Place::new().await;
        for nth in 0..6 {
            place.say("codex", &format!("number {nth}"));
        }
        let folder = tempfile::tempdir().unwrap();
        let count = "cd $0; touch started-$$ running-$$; \
                     while [ $(ls started-* | wc -l) -lt $1 ]; do sleep 0.01; done; \
                     ls running-* | wc -l; rm running-$$";
        let mut watching = watching("");
        let here = folder.path().display().to_string();
        watching.invocation = Invocation {
            argv: vec!["sh".to_owned(), "-c".to_owned(), count.to_owned(), here, concurrency.to_string()],
            ..script("")
        };
        watching.concurrency = concurrency;
        let tally = place.watch(watching).await;
        assert_eq!((tally.answered, tally.failed), (6, 0));
        let most = place.answers().iter().map(|answer| answer.3.parse::<usize>().unwrap()).max().unwrap();
        assert!(most <= concurrency, "{most} of {concurrency}");
    }
}

/// A clock that breaks once, in the middle of the work.
fn breaking() -> Timestamp {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    assert_ne!(LOOKS.fetch_add(1, Ordering::Relaxed), 6, "the clock breaks");
    now()
}

#[tokio::test]
async fn a_fault_leaves_the_agent_offline_and_the_message_listed() {
    let place = Place::new().await;
    let id = place.say("codex", "hello");
    let broken = Watching { now: breaking, ..watching("echo fine") };
    let (_stopper, stop) = stopping();
    let channels = vec![CHANNEL.to_owned()];
    let watched =
        tokio::spawn(watch_root(place.root.clone(), channels, History::Skipped, Arc::new(broken), stop));
    assert!(watched.await.unwrap_err().is_panic());
    assert_eq!(place.presence(), (PresenceState::Offline, "OFFLINE".to_owned()));
    let tally = place.watch(watching("echo again")).await;
    let is_answered = matches!(place.state(&id), State::Answered(_));
    assert_eq!(place.answers().len(), usize::from(is_answered));
    assert_eq!(tally.failed, u64::from(!is_answered));
}
