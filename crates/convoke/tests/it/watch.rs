//! Watchers through a bus and on a root: real processes, stopped, killed and treated badly.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use json::{Limits, Value};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::bus::Bus;
use crate::session::Session;
use crate::shell::Shell;

/// How often something is looked for before a test fails; each takes some milliseconds.
const TRIES_MAX: u32 = 6_000;

#[test]
fn an_agent_of_any_dialect_is_answered_for() {
    let mut shell = Shell::with_agents(&["ann", "codex --dialect coord", "qc-1 --dialect wire"]);
    let asked = shell.ask("send --from ann --to codex --type question \"Which branch?\"", "/id");
    let reviewed = shell.ask("send --from ann --to qc-1 --type task.request --task t-7 \"Review it\"", "/id");
    shell.set("ASKED", &asked);
    shell.set("REVIEWED", &reviewed);
    let shown = shell.transcript(&[
        "watch --agent codex --once --exec sh -c \"tail -2 | head -1\"",
        "watch --agent qc-1 --once --json --exec echo done",
        "receipt $ASKED --from ann",
        "receipt $REVIEWED --from ann",
        "inbox --from ann",
        "who codex",
        "watch --agent codex --once --exec echo nothing to do",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn what_fails_is_a_dead_letter_until_it_is_tried_by_hand() {
    let mut shell = Shell::with_agents(&["ann", "codex"]);
    let id = shell.ask("send --from ann --to codex \"Try this\"", "/id");
    shell.set("ID", &id);
    let shown = shell.transcript(&[
        "watch --agent codex --once --exec sh -c \"echo no credit >&2; exit 7\"",
        "watch --agent codex --once --exec echo not again",
        "dead list --json",
        "dead retry $ID --json",
        "watch --agent codex --once --exec echo at last",
        "dead list",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn rooms_are_watched_and_only_what_is_meant_is_answered() {
    let shell = Shell::with_agents(&["ann", "codex"]);
    shell.yes("watch --agent codex --channel team-a --channel #deploys --once --exec echo first");
    for text in ["\"hello all\"", "\"@codex look\"", "\"mail me@codex.example\""] {
        shell.yes(&format!("send --from ann --to channel:team-a {text}"));
    }
    shell.yes("send --from ann --to #deploys \"codex: deploy\"");
    shell.yes("join channel:team-a --from ann");
    let tally = shell.yes("watch --agent codex --once --json --exec echo fine").stdout;
    assert_eq!(tally, "{\"answered\":2,\"failed\":0,\"passed\":2}\n");
    let inbox = shell.yes("inbox --from ann --json").stdout;
    assert!(inbox.contains("\"to\":[\"channel:team-a\"]") && inbox.contains("\"text\":\"fine\""), "{inbox}");
}

#[test]
fn wrong_use_says_what_to_do() {
    let session = Session::new().file("r/channels/a/x", "");
    let shown = session.transcript(&[
        "watch --root r --channel a --exec true",
        "watch --agent codex --root r --exec true",
        "watch --agent codex --root r --channel a",
        "watch --agent codex --root r --channel a --profile nobody",
        "watch --agent codex --root nowhere --channel a --exec true",
        "watch --agent ../codex --root r --channel a --exec true",
        "watch --agent codex --root r --channel ../a --exec true",
        "watch --agent codex --rate often --exec true",
        "watch --agent codex --extract regex:.* --exec true",
        "watch failed --root r --agent codex",
        "watch retry --root r --agent codex msg-20260111-163315-claude-4c78",
        "watch --profiles",
    ]);
    insta::assert_snapshot!(shown);
}

#[test]
fn signals_end_the_command_and_leave_the_agent_offline() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let root = Watched::new();
        root.start("true", &["--once"]).wait().unwrap();
        root.say("hello");
        let mut watcher = root.start("echo $$ > pid; sleep 1000", &[]);
        wait(|| root.presence().contains("\"state\":\"AWAKE\",\"substate\":\"WORKING\""));
        wait(|| root.pid().is_some());
        kill_process(Pid::from_raw(watcher.id() as i32).unwrap(), signal).unwrap();
        assert!(watcher.wait().unwrap().success());
        assert!(root.presence().contains("\"state\":\"OFFLINE\""), "{}", root.presence());
        wait(|| test_kill_process(root.pid().unwrap()).is_err());
        assert!(root.failed().contains("stopped: the watcher was stopped"), "{}", root.failed());
    }
}

#[test]
fn a_bus_is_told_that_the_agent_is_gone() {
    let shell = Shell::with_agents(&["ann", "codex"]);
    shell.yes("send --from ann --to codex hello");
    let mut watcher = spawn(&shell, "watch --agent codex --exec sleep 1000");
    let is = |state: &str| shell.yes("who codex --json").stdout.contains(&format!("\"state\":\"{state}\""));
    wait(|| is("busy"));
    kill_process(Pid::from_raw(watcher.id() as i32).unwrap(), Signal::TERM).unwrap();
    assert!(watcher.wait().unwrap().success());
    assert!(is("offline"));
    assert!(shell.yes("dead list").stdout.contains("stopped: the watcher was stopped"));
}

#[test]
fn a_watcher_outlives_a_bus_that_is_killed_and_comes_back() {
    let mut shell = Shell::with_agents(&["ann", "codex"]);
    let first = shell.ask("send --from ann --to codex first", "/id");
    let line =
        "watch --agent codex --exec sh -c \"touch started; until [ -e go ]; do sleep 0.01; done; echo fine\"";
    let mut watcher = spawn(&shell, line);
    wait(|| shell.path().join("started").exists());
    let bus = shell.bus.take().unwrap();
    let address = bus.address.clone();
    bus.kill();
    shell.file("go", "");
    shell.bus = Some(Bus::start_at(&shell.data(), &address));
    let second = shell.ask("send --from ann --to codex second", "/id");
    for id in [first, second] {
        wait(|| shell.ask(&format!("receipt {id} --from ann"), "/stage") == "answered");
    }
    watcher.kill().unwrap();
    watcher.wait().unwrap();
}

#[test]
fn killed_watchers_of_a_root_account_for_every_message() {
    let root = Watched::new();
    root.start("true", &["--once"]).wait().unwrap();
    let mut random = Random(7);
    let mut ids = Vec::new();
    for _ in 0..12 {
        for _ in 0..3 {
            ids.push(root.say("hello"));
        }
        let mut watcher =
            root.start("sleep 0.0$(($$ % 5)); echo fine", &["--concurrency", "2", "--poll", "5ms"]);
        std::thread::sleep(Duration::from_millis(random.below(60)));
        watcher.kill().unwrap();
        watcher.wait().unwrap();
    }
    assert!(root.start("echo fine", &["--once"]).wait().unwrap().success());
    let (answers, failed) = (root.answers(), root.failed());
    let mut interrupted = 0;
    for id in &ids {
        let answered = answers.iter().filter(|answer| *answer == id).count();
        let listed = failed.lines().filter(|line| line.contains(&format!("\"{id}\""))).count();
        assert_eq!(
            answered + listed,
            1,
            "{id} was answered {answered} times and listed {listed} times\n{failed}"
        );
        interrupted += listed;
    }
    assert_eq!(answers.len() + interrupted, ids.len(), "nothing else was answered");
    root.run(&["retry", "--all"]);
    assert!(root.start("echo fine", &["--once"]).wait().unwrap().success());
    let mut answers = root.answers();
    answers.sort();
    ids.sort();
    assert_eq!(answers, ids, "by hand all are answered, each once");
}

#[test]
fn killed_watchers_of_a_bus_account_for_every_message() {
    let shell = Shell::with_agents(&["ann", "codex"]);
    let mut random = Random(11);
    let mut ids = Vec::new();
    for _ in 0..5 {
        for _ in 0..3 {
            // Another text each time: the same one again would be taken for a repeat.
            ids.push(shell.ask(&format!("send --from ann --to codex \"number {}\"", ids.len()), "/id"));
        }
        let line = "watch --agent codex --lease 1s --concurrency 2 --exec sh -c \"sleep 0.02; echo fine\"";
        let mut watcher = spawn(&shell, line);
        std::thread::sleep(Duration::from_millis(20 + random.below(120)));
        watcher.kill().unwrap();
        watcher.wait().unwrap();
    }
    let stage = |id: &String| shell.ask(&format!("receipt {id} --from ann"), "/stage");
    let mut open = ids.clone();
    wait(|| {
        shell.yes("watch --agent codex --lease 1s --once --exec echo fine");
        open.retain(|id| !matches!(stage(id).as_str(), "answered" | "dead"));
        open.is_empty()
    });
    let inbox = shell.yes("inbox --from ann --max 100 --json").stdout;
    let mut replies: HashMap<String, usize> = HashMap::new();
    for line in inbox.lines() {
        let value = json::parse_str(line, Limits::DOCUMENT).unwrap();
        let messages =
            value.get("messages").and_then(Value::as_array).map(<[_]>::to_vec).unwrap_or(vec![value]);
        for message in messages {
            let text = |pointer: &str| message.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
            if text("/document/from") == "codex" {
                *replies.entry(text("/document/reply_to").to_owned()).or_default() += 1;
            }
        }
    }
    for id in &ids {
        let wanted = usize::from(stage(id) == "answered");
        assert_eq!(replies.get(id).copied().unwrap_or(0), wanted, "{id} is {}", stage(id));
    }
}

/// A root with a channel that `codex` watches.
struct Watched {
    session: Session,
}

impl Watched {
    fn new() -> Self {
        let session = Session::new();
        fs::create_dir_all(session.path().join("r/channels/team-a")).unwrap();
        Watched { session }
    }

    fn root(&self) -> PathBuf {
        self.session.path().join("r")
    }

    /// Starts a watcher that answers with a script.
    fn start(&self, script: &str, flags: &[&str]) -> Guarded {
        let mut command = self.command(&["--channel", "team-a"]);
        Guarded(command.args(flags).args(["--exec", "sh", "-c", script]).spawn().unwrap())
    }

    fn command(&self, first: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convoke"));
        command
            .arg("watch")
            .args(first)
            .args(["--agent", "codex", "--root", "r"])
            .current_dir(self.session.path())
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn run(&self, first: &[&str]) -> String {
        let output = self.command(first).arg("--json").output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }

    fn say(&self, text: &str) -> String {
        let words = format!("channel post team-a --from claude --to codex --root r --json {text}");
        let said = self.session.run(&words).stdout;
        said.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    }

    fn failed(&self) -> String {
        self.run(&["failed"])
    }

    fn presence(&self) -> String {
        fs::read_to_string(self.root().join("signals/presence/codex.json")).unwrap_or_default()
    }

    fn pid(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.session.path().join("pid")).ok()?;
        Pid::from_raw(text.trim().parse().ok()?)
    }

    /// Returns the messages that were answered, each as often as it was.
    fn answers(&self) -> Vec<String> {
        let channel = self.root().join("channels/team-a");
        let paths = fs::read_dir(&channel).unwrap().map(|entry| entry.unwrap().path());
        let is_ours = |path: &PathBuf| name(path).starts_with("msg-") && name(path).contains("-codex-");
        let reply = |path: PathBuf| {
            let text = fs::read_to_string(path).unwrap();
            text.split("\"in_reply_to\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        paths.filter(is_ours).map(reply).collect()
    }
}

/// A process that does not outlive a test that fails.
struct Guarded(Child);

impl Guarded {
    fn id(&self) -> u32 {
        self.0.id()
    }

    fn kill(&mut self) -> std::io::Result<()> {
        self.0.kill()
    }

    fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.0.wait()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Starts a watcher beside a bus.
fn spawn(shell: &Shell, line: &str) -> Guarded {
    Guarded(shell.command(line).stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Waits until something holds.
fn wait(mut holds: impl FnMut() -> bool) {
    for _ in 0..TRIES_MAX {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came to hold");
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
