//! Counting instructions: this very program under callgrind, which does not mind what else the machine does.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

/// Passes of the short and the long run; what the long one has more is free of start-up and tear-down.
const PASSES: (u64, u64) = (10, 510);

/// Whether valgrind can be run.
pub(crate) fn is_installed() -> bool {
    let status =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Counts the instructions of one pass over a measure; the profile of the long run stays in the folder.
pub(crate) fn instructions_per_pass(area: &str, what: &str, folder: &Path) -> anyhow::Result<f64> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let profile = folder.join(format!("{area}-{what}.callgrind"));
    let (short, long) = PASSES;
    let few = instructions(area, what, short, &profile)?;
    let many = instructions(area, what, long, &profile)?;
    Ok(many.saturating_sub(few) as f64 / (long - short) as f64)
}

fn instructions(area: &str, what: &str, passes: u64, profile: &Path) -> anyhow::Result<u64> {
    let program = std::env::current_exe().context("finding our own program")?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command.arg(program).args([area, "--work", what, "--passes", &passes.to_string()]);
    let output = command.output().context("starting valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind failed: {}", said.trim());
    let text = fs::read_to_string(profile).with_context(|| format!("reading {}", profile.display()))?;
    total(&text).with_context(|| format!("{} has no total", profile.display()))
}

/// A command that counts the instructions of the program whose name and arguments follow, each thread's in a file of its
/// own.
pub(crate) fn counting(profile: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet", "--separate-threads=yes"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command
}

/// The sum that callgrind writes at the end of its profile.
pub(crate) fn total(profile: &str) -> Option<u64> {
    let line = profile.lines().rev().find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}
