//! `convoke export` and `convoke import`: everything leaves a bus and comes into another.

use std::fs;

use crate::shell::Shell;

/// Fills a bus with agents, memberships and messages of some dialects and stages.
fn filled() -> Shell {
    let shell = Shell::with_agents(&[
        "ann --uri codex://ann --framework codex",
        "bob --dialect wire --uri codex://bob --did did:web:bob.example --role reviewer",
    ]);
    shell.yes("join '#deploys' --from bob");
    let bus = r#"{"message_id":"m-1", "timestamp":"2026-11-16T10:00:00Z","sender":{"agent_id":"codex://ann","framework":"codex"},"recipient":{"agent_id":"codex://bob","framework":"codex"},"message_type":"task_request","priority":"high","payload":{"task_type":"review","description":"Look"},"routing":{"timeout":"300s","retry_policy":{"max_retries":2,"backoff":"linear"},"delivery_mode":"async"}}"#;
    shell.file("one.json", bus);
    shell.yes("send --dialect bus --file one.json --from ann");
    let delivery = shell.ask("inbox --from bob --take", "/deliveries/0/delivery");
    shell.yes(&format!("ack {delivery} --from bob"));
    shell.yes("send --from ann --to bob Hello");
    shell.yes("send --from ann --to '#deploys' 'Version 7 is out'");
    shell.yes("send --from human --to ann 'Well done'");
    shell.file("review.json", REVIEW);
    shell.yes("lexicon add review.json");
    shell
}

const REVIEW: &str = r#"{"lexicon":1,"id":"com.example.review","description":"What somebody thinks of it.","defs":{"main":{"type":"record","key":"tid","record":{"type":"object","required":["stars"],"properties":{"stars":{"type":"integer"}}}}}}"#;

#[test]
fn lexicons_are_added_listed_and_kept_from_breaking() {
    let mut shell = Shell::new();
    shell.file("review.json", REVIEW);
    shell.file("other.json", REVIEW.replace("integer", "string"));
    shell.file("broken.json", "{\"lexicon\":1}");
    let shown = shell.transcript(&[
        "lexicon add review.json",
        "lexicon add review.json",
        "lexicon add other.json",
        "lexicon add other.json --force --json",
        "lexicon add broken.json",
        "lexicon list",
        "lexicon list --json",
    ]);
    insta::assert_snapshot!(shown);
}

/// The lines of an export without what a new bus gives anew.
fn essence(shell: &Shell) -> Vec<String> {
    let exported = shell.yes("export").stdout;
    let lines = exported.lines().map(|line| {
        let mut value = json::parse_str(line, json::Limits::DOCUMENT).unwrap().into_owned();
        let members = value.as_object_mut().unwrap();
        for key in ["seq", "id", "at", "receipt"] {
            members.remove(key);
        }
        value.to_json()
    });
    lines.collect()
}

#[test]
fn an_export_is_read_back_into_a_fresh_bus() {
    let old = filled();
    let exported = old.yes("export").stdout;
    assert_eq!(exported.lines().filter(|line| line.contains("\"type\":\"message\"")).count(), 4);
    assert!(!exported.contains('~'), "a token was exported");

    let mut new = Shell::new();
    fs::write(new.path().join("bus.jsonl"), &exported).unwrap();
    let shown = new.transcript(&[
        "import bus.jsonl --dry-run",
        "who",
        "import bus.jsonl",
        "import bus.jsonl --json",
        "import bus.jsonl --unsettled --dry-run --json",
        "agent show bob",
        "inbox --from bob",
    ]);
    insta::assert_snapshot!(shown);
    assert_eq!(essence(&old), essence(&new));
}

#[test]
fn what_is_no_export_is_refused() {
    let mut shell = Shell::new();
    shell.file("empty", "");
    shell.file("other", "{\"a\":1}\n");
    shell.file("headless", "{\"type\":\"agent\",\"agent\":\"ann\"}\n");
    shell.file("newer", "{\"type\":\"convoke.export\",\"version\":2}\n");
    shell.file(
        "stranger",
        "{\"type\":\"convoke.export\",\"version\":1}\n{\"type\":\"message\",\"id\":\"0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071\",\"from\":\"ann\",\"dialect\":\"convoke\",\"document\":{}}\n",
    );
    let shown = shell.transcript(&[
        "import nowhere",
        "import empty",
        "import other",
        "import headless",
        "import newer",
        "import stranger",
    ]);
    insta::assert_snapshot!(shown);
}
