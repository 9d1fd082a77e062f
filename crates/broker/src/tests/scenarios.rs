//! The scenarios: one file for each behaviour. `UPDATE_VECTORS=1` rewrites what comes of the commands: read the diff.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tests::language::Stage;
use crate::tests::ledger;
use crate::tests::world::snapshot;

#[test]
fn every_scenario_ends_as_written() {
    let mut wrong = Vec::new();
    for file in files() {
        let written = fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let found = check(&name, &written, Stage::new());
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            fs::write(&file, &found).unwrap();
        } else if found != written {
            wrong.push(format!("{name}:\n{}", difference(&written, &found)));
        }
    }
    assert!(wrong.is_empty(), "UPDATE_VECTORS=1 rewrites them\n{}", wrong.join("\n"));
}

/// The scenarios can fail: each planted fault makes one of them end otherwise, or breaks it off.
#[cfg(feature = "plants")]
#[test]
fn every_planted_fault_shows_in_a_scenario() {
    let scenarios: Vec<String> = files().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for plant in crate::plant::Plant::ALL {
        let shows = |written: &String| {
            let mut stage = Stage::new();
            stage.world.broker.plant(Some(plant));
            let found = std::panic::catch_unwind(|| check(plant.name(), written, stage));
            !found.is_ok_and(|found| found == *written)
        };
        assert!(scenarios.iter().any(shows), "no scenario shows the fault `{}`", plant.name());
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let files = fs::read_dir(&folder).expect("there are scenarios");
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 20, "the scenarios are there");
    files
}

/// Runs a scenario and writes it again with what came of it.
fn check(name: &str, written: &str, mut stage: Stage) -> String {
    let mut found = String::new();
    for (number, line) in written.lines().enumerate() {
        if line.starts_with(' ') {
            continue;
        }
        found += &format!("{line}\n");
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = Place { name, number: number + 1, line };
        for told in stage.line(line) {
            found += &format!("    {told}\n");
        }
        // Every state in every scenario can be written and read again.
        stage.world.reload();
        std::mem::forget(place);
    }
    ledger::check(&stage.world.log);
    assert!(snapshot(&stage.world.replay(None)) == snapshot(&stage.world.broker), "{name}: a replay differs");
    found
}

/// Says where a scenario broke off, when a line of it panics.
struct Place<'a> {
    name: &'a str,
    number: usize,
    line: &'a str,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        eprintln!("{}:{}: {}", self.name, self.number, self.line);
    }
}

fn difference(written: &str, found: &str) -> String {
    let (written, found): (Vec<_>, Vec<_>) = (written.lines().collect(), found.lines().collect());
    let same = written.iter().zip(&found).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(3);
    let show = |lines: &[&str]| {
        lines.iter().skip(from).take(8).map(|line| format!("  |{line}\n")).collect::<String>()
    };
    format!(" written, from line {}:\n{} found:\n{}", from + 1, show(&written), show(&found))
}
