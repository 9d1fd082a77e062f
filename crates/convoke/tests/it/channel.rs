//! Channels in folders, by the real binary: with a bus, without one, and by the names of the scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bus::Bus;
use crate::session::Session;
use crate::shell::Shell;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
#[expect(clippy::disallowed_methods, reason = "a test that hangs must end")]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| fs::read_to_string(entry.path()).unwrap_or_default()).collect()
}

#[test]
fn a_folder_without_a_bus() {
    let mut shell = Shell::new();
    shell.bus.take().unwrap().kill();
    let root = shell.path().join("collab");
    fs::create_dir_all(root.join("channels")).unwrap();
    fs::create_dir_all(root.join("signals/presence")).unwrap();
    let beat = |agent: &str, rest: &str| {
        let text = format!(r#"{{"agent_id":"{agent}","channel":"team-a",{rest}}}"#);
        fs::write(root.join(format!("signals/presence/{agent}.json")), text).unwrap();
    };
    beat("codex", r#""timestamp":"2099-01-01T00:00:00.000Z","state":"AWAKE","substate":"REVIEWING""#);
    beat("gemini", r#""timestamp":"2020-01-01T00:00:00.000Z","state":"OFFLINE","watcher_pid":1"#);
    let mut shown = shell.transcript(&[
        "channel post team-a --from claude --to codex --root collab Please review",
        "channel read team-a --root collab",
        "channel post team-a --root collab who am I",
        "channel post ../up --from claude --root collab x",
        "channel read team-b --root collab",
        "channel list --root elsewhere",
        "channel list --root collab",
        "channel links collab/scripts",
        "channel links collab/scripts",
    ]);
    let who = shell.yes("who --root collab").stdout;
    // How long ago that was depends on the day.
    shown.push_str(
        &who.lines().map(|line| format!("{}\n", line.split("d ago").next().unwrap())).collect::<String>(),
    );
    let shown: Vec<String> = shown.lines().map(without_chance).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// Takes the time and the digits out of ids and heads.
fn without_chance(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for word in &mut words {
        if let Some(at) = word.find("msg-2") {
            let suffix = if word.ends_with(".json") { ".json" } else { "" };
            *word = format!("{}msg-[id]{suffix}", &word[..at]);
        } else if word.len() == 10 && word.starts_with("202") && word.as_bytes()[4] == b'-' {
            *word = "[date]".to_owned();
        } else if word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':') {
            *word = "[time]".to_owned();
        } else if word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()) {
            *word = "[days]".to_owned();
        }
    }
    words.join(" ")
}

#[test]
fn the_scripts_by_their_names() {
    let session = Session::new();
    let root = session.path().join("collab");
    fs::create_dir_all(root.join("channels")).unwrap();
    assert_eq!(session.run("channel links collab/scripts").code, 0);
    let call = |script: &str, words: &[&str]| {
        let mut command = Command::new(root.join("scripts").join(script));
        command.args(words).env("COLLAB_SESSION", "team-a").env("COLLAB_AGENT", "claude");
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let sent =
        call("send-message.py", &["--agent", "qc-1", "--channel", "team-b", "--to", "all", "--text", "ok"]);
    let value = json::parse_str(sent.trim(), json::Limits::DOCUMENT).unwrap();
    let path = value.get("file_path").and_then(json::Value::as_str).unwrap();
    assert!(Path::new(path).is_file() && value.get("nats_ack").unwrap().is_null(), "{sent}");
    call("send-message", &["codex-1", "please", "look"]);
    call("send-message", &["-t", "human", "-c", "x = 1", "--type", "incident", "It", "broke"]);
    let read = call("read-messages", &["-j", "-a"]);
    let said: Vec<(String, String)> = read
        .lines()
        .map(|line| {
            let value = json::parse_str(line, json::Limits::DOCUMENT).unwrap();
            let text =
                |pointer: &str| value.pointer(pointer).and_then(json::Value::as_str).unwrap().to_owned();
            (text("/to"), text("/content/text"))
        })
        .collect();
    let expected = [("codex", "codex-1 please look"), ("human", "It broke")];
    assert_eq!(said, expected.map(|(to, text)| (to.to_owned(), text.to_owned())));
    assert_eq!(call("who", &[]), "");
}

#[test]
fn a_root_on_the_bus_survives_a_kill() {
    let mut shell = Shell::new();
    let config = "[channels]\nroots = [\"../collab\"]\npoll = \"20ms\"\n";
    shell.bus.take().unwrap().kill();
    fs::write(shell.data().join("convoke.toml"), config).unwrap();
    shell.bus = Some(Bus::start(&shell.data()));
    shell.yes("agent add ann");
    let posted = shell.ask("channel post team-a --from claude --to ann --root collab Hello", "/id");
    shell.yes("inbox --from ann --take --wait 30s");
    let folder = shell.path().join("collab/channels/team-a");
    shell.yes("channel post team-a --from ann Hello back");
    until("the post is a file", || files(&folder).iter().any(|text| text.contains("Hello back")));
    shell.file(
        "collab/channels/team-a/msg-20260101-000000-x-0001.json",
        "{\"from\":\"ann\",\"content\":{\"text\":\"no\"}}",
    );
    until("it is listed", || shell.yes("channel list --problems").stdout.contains("not_yours"));
    shell.bus.take().unwrap().kill();
    let meanwhile = shell.ask("channel post team-a --from claude --to all --root collab Meanwhile", "/id");
    shell.bus = Some(Bus::start(&shell.data()));
    until("what came meanwhile is there", || {
        shell.run("search Meanwhile --json").stdout.contains(&meanwhile)
    });
    assert!(shell.yes("search Hello --json").stdout.contains(&posted));
    let read = shell.yes("channel read team-a --json").stdout;
    assert_eq!(read.lines().count(), 2, "{read}");
    assert_eq!(files(&folder).len(), 4);
}

#[test]
fn a_shell_script_is_an_agent() {
    if Command::new("jq").arg("--version").output().is_err() {
        eprintln!("skipped: jq is not there");
        return;
    }
    let mut shell = Shell::new();
    shell.bus.take().unwrap().kill();
    let config = "[channels]\nroots = [\"../collab\"]\npoll = \"20ms\"\n";
    fs::write(shell.data().join("convoke.toml"), config).unwrap();
    shell.bus = Some(Bus::start(&shell.data()));
    shell.file("shelly.sh", SHELLY);
    let script = shell.path().join("shelly.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut agent =
        Command::new("bash").arg(&script).arg(shell.path().join("collab/channels/team-a")).spawn().unwrap();
    shell.yes("agent add ann");
    until("the script has said that it is there", || shell.run("who shelly").code == 0);
    let answered =
        shell.run("send --from ann --to shelly --thread team-a --type question --wait=60s 'One, two'");
    drop(agent.kill());
    drop(agent.wait());
    assert_eq!(answered.code, 0, "{}{}", answered.stdout, answered.stderr);
    assert!(answered.stdout.contains("You said: "), "{}", answered.stdout);
}

/// An agent of jq, mv and cat: it says that it is there, and answers each message that is for it.
const SHELLY: &str = r#"set -eu
mkdir -p "$1"; cd "$1"
post() {
  number=$(ls | wc -l)
  id=msg-$(date -u +%Y%m%d-%H%M%S)-shelly-$(printf %04x $number)
  cat > ".$id.tmp"
  jq -c --arg id "$id" '.id = $id' ".$id.tmp" > ".$id.tmp2"
  mv -n ".$id.tmp2" "$id.json"
}
echo '{"session_id":"team-a","from":"shelly","to":"all","type":"chat","content":{"text":"I am here"}}' | post
seen=""
while true; do
  for file in msg-*.json; do
    case "$seen" in *"$file"*) continue;; esac
    seen="$seen $file"
    [ "$(jq -r .to "$file")" = shelly ] || continue
    jq -c '{session_id, from: "shelly", to: .from, type: "chat", content: {text: ("You said: " + .content.text)},
      metadata: {in_reply_to: .id}}' "$file" | post
  done
  sleep 0.1
done
"#;

#[test]
fn the_doctor_looks_at_channel_roots() {
    let session = Session::new();
    let root = session.path().join("collab");
    fs::create_dir_all(root.join("channels/team-a")).unwrap();
    fs::write(session.path().join("file"), "").unwrap();
    let config = "[channels]\nroots = [\"collab\", \"missing\", \"file\"]\n";
    fs::write(session.path().join("convoke.toml"), config).unwrap();
    let told = session.run("doctor --data . --config convoke.toml");
    let told: Vec<&str> = told.stdout.lines().filter(|line| line.contains("channels")).collect();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].contains("collab has 1 channels"), "{told:?}");
    assert!(told[1].contains("no folder"), "{told:?}");
    assert!(told[2].contains("cannot open"), "{told:?}");
}
