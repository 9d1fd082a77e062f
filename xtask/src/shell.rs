//! Running other programs from the root of the repository, with their output left alone.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the repository")
}

/// A cargo command that starts in the root.
///
/// It is found through `PATH`, since only the proxy of rustup understands `+nightly`.
pub(crate) fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(root());
    command
}

/// Shows the command, runs it with our own streams, and says whether it succeeded.
///
/// It is shown on stderr: what the program itself writes to stdout may be data.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<bool> {
    let shown = show(command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| format!("starting `{shown}`"))?;
    Ok(status.success())
}

/// Whether a command exists and succeeds; its output is dropped.
pub(crate) fn works(command: &mut Command) -> bool {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// What a command writes to stdout; an error if it fails.
pub(crate) fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let shown = show(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("starting `{shown}`"))?;
    anyhow::ensure!(output.status.success(), "`{shown}` failed");
    String::from_utf8(output.stdout).with_context(|| format!("reading the output of `{shown}`"))
}

/// Does the work and measures how long it took.
#[expect(clippy::disallowed_methods, reason = "people wait for these steps, so their real duration counts")]
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// The tests of the workspace, by nextest where it is installed; the text names the runner.
pub(crate) fn test_run() -> (&'static str, Command) {
    let nextest = works(&mut cargo(&["nextest", "--version"]));
    let (runner, mut command) = if nextest {
        ("cargo nextest", cargo(&["nextest", "run", "--workspace", "--locked"]))
    } else {
        ("cargo test (cargo-nextest is not installed)", cargo(&["test", "--workspace", "--locked"]))
    };
    // Snapshots are compared here, never rewritten.
    command.env("INSTA_UPDATE", "no").env("CI", "1");
    (runner, command)
}

/// The command as one would type it, with the variables that it is given.
pub(crate) fn show(command: &Command) -> String {
    let mut words = Vec::new();
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={}", key.display(), quoted(&value.to_string_lossy())));
        }
    }
    words.push(command.get_program().to_string_lossy().into_owned());
    words.extend(command.get_args().map(|arg| quoted(&arg.to_string_lossy())));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || "-_=+./,:@%".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
