//! A shell beside a bus: commands are written as a person would type them.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::bus::Bus;
use crate::redact::Redactor;
use crate::session::Outcome;

/// A bus, its data folder, and what the shell remembers.
pub(crate) struct Shell {
    folder: TempDir,
    pub(crate) bus: Option<Bus>,
    variables: HashMap<String, String>,
    redactor: Redactor,
}

impl Shell {
    /// Starts a bus in a folder of its own.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let bus = Bus::start(&folder.path().join("data"));
        Shell { folder, bus: Some(bus), variables: HashMap::new(), redactor: Redactor::default() }
    }

    /// Makes agents first, which the test is not about.
    pub(crate) fn with_agents(agents: &[&str]) -> Self {
        let shell = Shell::new();
        for agent in agents {
            shell.yes(&format!("agent add {agent}"));
        }
        shell
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Remembers something by a name; `$NAME` in a command stands for it.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Runs a command that must succeed, and returns a member of the JSON that it prints.
    pub(crate) fn ask(&self, line: &str, pointer: &str) -> String {
        let outcome = self.yes(&format!("{line} --json"));
        let first = outcome.stdout.lines().next().unwrap_or_default();
        let value = json::parse_str(first, json::Limits::DOCUMENT).unwrap();
        let found = value.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {first}"));
        found.as_str().map_or_else(|| found.to_json(), str::to_owned)
    }

    /// Runs a command that must succeed.
    pub(crate) fn yes(&self, line: &str) -> Outcome {
        let outcome = self.run(line);
        assert_eq!(outcome.code, 0, "{line}: {}{}", outcome.stdout, outcome.stderr);
        outcome
    }

    /// Runs a command.
    pub(crate) fn run(&self, line: &str) -> Outcome {
        let output = self.command(line).stdin(Stdio::null()).output().unwrap();
        Outcome {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Prepares a command.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_convoke"));
        command
            .args(words(&self.fill_in(line)))
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .env("CONVOKE_DATA", self.data())
            .env_remove("CONVOKE_TOKEN")
            .env_remove("CONVOKE_AGENT");
        match &self.bus {
            Some(bus) => command.env("CONVOKE_URL", format!("http://{}", bus.address)),
            None => command.env("CONVOKE_URL", "http://127.0.0.1:1"),
        };
        command
    }

    /// Runs commands and shows the whole as a person would have seen it, without what differs from run to run.
    pub(crate) fn transcript(&mut self, lines: &[&str]) -> String {
        let mut shown = String::new();
        for line in lines {
            let outcome = self.run(line);
            shown.push_str(&format!("$ convoke {line}\n{}", outcome.show()));
        }
        self.redact(&shown)
    }

    /// Takes out what differs from run to run.
    pub(crate) fn redact(&mut self, text: &str) -> String {
        let mut text = text.replace(&self.folder.path().display().to_string(), "[folder]");
        if let Some(bus) = &self.bus {
            text = text.replace(&bus.address, "[address]");
        }
        self.redactor.redact(&text)
    }

    fn fill_in(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (name, value) in &self.variables {
            line = line.replace(&format!("${name}"), value);
        }
        line
    }
}

/// Splits a command as a shell does: quotes hold words together.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if open == letter => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}
