//! `convoke demo`: the whole of it, and what is left when it is interrupted.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::redact::Redactor;

fn demo(temporary: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_convoke"));
    command.arg("demo").env("NO_COLOR", "1").env("TMPDIR", temporary).stdin(Stdio::null());
    command
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// Processes whose command line names a folder.
fn processes_in(folder: &Path) -> usize {
    let name = folder.display().to_string();
    let lines = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(&name)).count()
}

#[test]
fn six_agents_talk() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{stdout}{stderr}");
    insta::assert_snapshot!(Redactor::default().redact(&stdout));
    assert!(is_empty(folder.path()) && processes_in(folder.path()) == 0);
}

#[test]
fn every_dialect_writes_and_reads() {
    let folder = tempfile::tempdir().unwrap();
    let output = demo(folder.path()).arg("--json").output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    let lines: Vec<_> =
        stdout.lines().map(|line| json::parse_str(line, json::Limits::DOCUMENT).unwrap()).collect();
    for dialect in ["comms", "coord", "bus", "channel", "wire", "convoke"] {
        for key in ["dialect", "received_dialect"] {
            let has = |line: &json::Value<'_>| {
                line.get("written").is_some() && line.get(key).and_then(json::Value::as_str) == Some(dialect)
            };
            assert!(lines.iter().any(has), "nobody has {key} {dialect}");
        }
    }
    let receipts = lines.iter().filter_map(|line| line.get("stage")).filter_map(json::Value::as_str);
    let stages: Vec<&str> = receipts.collect();
    assert_eq!(stages.len(), 9);
    assert!(stages.iter().all(|stage| ["acknowledged", "answered"].contains(stage)), "{stages:?}");
}

#[test]
fn who_interrupts_it_leaves_nothing_behind() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = demo(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.next().unwrap().unwrap();
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        child.wait().unwrap();
        assert!(is_empty(folder.path()), "{signal} leaves the folder");
        assert_eq!(processes_in(folder.path()), 0, "{signal} leaves the bus");
    }
}
