//! `convoke tail` and `convoke search`: what happened, also when the bus was killed meanwhile.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use crate::bus::Bus;
use crate::shell::Shell;

/// A `tail` that runs.
struct Tail {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Tail {
    fn start(shell: &Shell, line: &str) -> Self {
        let mut command = shell.command(line);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let following = stderr.next().unwrap().unwrap();
        assert!(following.starts_with("following "), "{following}");
        Tail { child, stdout, stderr }
    }

    /// Reads lines until one holds a text, and returns that one.
    fn until(&mut self, wanted: &str) -> String {
        let mut lines = self.stdout.by_ref().map(Result::unwrap);
        lines.find(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{wanted:?} never came"))
    }

    fn told(&mut self) -> String {
        self.stderr.next().unwrap().unwrap()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn a_tail_goes_on_after_the_bus_was_killed() {
    let mut shell = Shell::with_agents(&["ann", "bob"]);
    let mut tail = Tail::start(&shell, "tail --json");
    shell.yes("send --from ann --to bob before");
    let before = tail.until("\"accepted\"");
    assert!(before.contains("before"), "{before}");

    let bus = shell.bus.take().unwrap();
    let address = bus.address.clone();
    bus.kill();
    let lost = tail.told();
    assert!(lost.starts_with("lost the bus: "), "{lost}");
    shell.bus = Some(Bus::start_at(&shell.data(), &address));
    shell.yes("send --from ann --to bob after");
    assert_eq!(tail.told(), "found the bus again, going on where it was");

    let after = tail.until("\"accepted\"");
    assert!(after.contains("after"), "nothing is told twice or left out: {after}");
    let seq = |line: &str| {
        let value = json::parse_str(line, json::Limits::DOCUMENT).unwrap();
        value.get("seq").unwrap().as_integer().unwrap()
    };
    assert!(seq(&before) < seq(&after));
}

#[test]
fn a_tail_for_people() {
    let mut shell = Shell::with_agents(&["ann", "bob"]);
    shell.yes("send --from ann --to bob --task t-7 --priority high 'Look at this'");
    let delivery = shell.ask("inbox --from bob --take", "/deliveries/0/delivery");
    shell.yes(&format!("ack {delivery} --from bob"));
    let mut tail = Tail::start(&shell, "tail --after 0 --task t-7");
    let mut shown = String::new();
    for wanted in ["accepted", "dispatched", "acknowledged"] {
        shown.push_str(&tail.until(wanted));
        shown.push('\n');
    }
    insta::assert_snapshot!(shell.redact(&shown));
}

#[test]
fn what_was_said_is_found() {
    let mut shell = Shell::with_agents(&["ann", "bob", "cyd"]);
    shell.yes("send --from ann --to bob 'The parser loops'");
    shell.yes("send --from bob --to ann 'Which parser?'");
    let shown = shell.transcript(&[
        "search parser",
        "search parser --json",
        "search loops --agent ann --max 1",
        "search parser --from cyd",
        "search nothing like it",
    ]);
    insta::assert_snapshot!(shown);
}
