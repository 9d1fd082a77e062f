//! Several processes write one channel at once, and somebody reads meanwhile: nothing is lost, nothing is half.

use std::collections::BTreeSet;
use std::process::{Child, Command};
use std::time::Duration;

use json::Value;

use super::{noon, root};
use crate::{Draft, Follower, Limits, Root};

const ROOT: &str = "CHANNEL_ROOT_TEST_ROOT";
const WHO: &str = "CHANNEL_ROOT_TEST_WHO";

fn count() -> usize {
    if std::env::var("SLOW_TESTS").is_ok_and(|slow| slow == "1") { 10_000 } else { 500 }
}

/// A process of its own, which the test below starts: it posts and ends. As a test by itself it does nothing.
#[test]
fn writer() {
    let (Ok(path), Ok(who)) = (std::env::var(ROOT), std::env::var(WHO)) else { return };
    let root = Root::open(path).unwrap();
    for number in 0..count() {
        // Everybody has the same name and the same second: digits clash often.
        let draft = Draft::new("twin", "all", format!("{who} {number} {}", "x".repeat(2_000)));
        root.post("a", &draft, noon()).unwrap();
    }
}

fn start(root: &Root, who: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::writers::writer", "--quiet"]);
    command.env(ROOT, root.path()).env(WHO, who).stdout(std::process::Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn two_processes_write_and_a_reader_sees_every_message_whole() {
    let (_folder, root) = root();
    let mut writers = [start(&root, "left"), start(&root, "right")];
    let mut follower = Follower::new(&root, "a", Limits::default()).unwrap();
    let (mut texts, mut now, mut is_over) = (BTreeSet::new(), Duration::ZERO, false);
    loop {
        let ended = writers.iter_mut().all(|writer| writer.try_wait().unwrap().is_some());
        now += Duration::from_secs(1);
        let polled = follower.poll(now).unwrap();
        assert_eq!(polled.unreadable, []);
        for found in &polled.found {
            let document = json::parse(&found.bytes, json::Limits::DOCUMENT).unwrap();
            let text = document.pointer("/content/text").and_then(Value::as_str).unwrap();
            assert!(texts.insert(text.to_owned()), "twice: {text}");
        }
        if is_over && !polled.more {
            break;
        }
        is_over = ended;
    }
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(texts.len(), 2 * count());
    assert_eq!(root.messages("a").unwrap().len(), 2 * count());
    let mut left_over = 0;
    root.channel("a")
        .unwrap()
        .each(|name, _| left_over += usize::from(name.to_bytes().ends_with(b".tmp")))
        .unwrap();
    assert_eq!(left_over, 0);
}
