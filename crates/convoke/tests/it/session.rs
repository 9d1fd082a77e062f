//! A folder with files, and the binary run in it; what it prints becomes a snapshot.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A place of its own for one test.
pub(crate) struct Session {
    folder: TempDir,
}

/// What a run of the binary left behind.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Session {
    pub(crate) fn new() -> Self {
        Session { folder: TempDir::new().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a file into the folder.
    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Runs the binary with words separated by spaces.
    pub(crate) fn run(&self, words: &str) -> Outcome {
        self.run_with_input(words, b"")
    }

    pub(crate) fn run_with_input(&self, words: &str, input: &[u8]) -> Outcome {
        let mut child = Command::new(env!("CARGO_BIN_EXE_convoke"))
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("COLUMNS", "100")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        drop(writer.join());
        Outcome {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs commands one after the other and shows the whole as a person would have seen it.
    pub(crate) fn transcript(&self, commands: &[&str]) -> String {
        let mut shown = String::new();
        for words in commands {
            let outcome = self.run(words);
            write!(shown, "$ convoke {words}\n{}", outcome.show()).unwrap();
        }
        shown
    }
}

impl Outcome {
    /// The codes of the errors of each answer that was printed as JSON.
    pub(crate) fn error_codes(&self) -> Vec<String> {
        let limits = json::Limits { bytes_max: usize::MAX, ..json::Limits::DOCUMENT };
        let codes = self.stdout.lines().map(|line| {
            let answer = json::parse_str(line, limits).unwrap();
            let errors = answer.get("errors").unwrap().as_array().unwrap();
            let codes: Vec<&str> =
                errors.iter().map(|error| error.get("code").unwrap().as_str().unwrap()).collect();
            codes.join(" ")
        });
        codes.collect()
    }

    pub(crate) fn show(&self) -> String {
        let mut shown = self.stdout.clone();
        for line in self.stderr.lines() {
            writeln!(shown, "! {line}").unwrap();
        }
        writeln!(shown, "[exit {}]", self.code).unwrap();
        shown
    }
}
