//! Where a run happened: a figure without its machine means nothing.

use std::fs;
use std::process::Command;

/// The machine and what built us.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) kernel: String,
    pub(crate) rustc: String,
}

impl Machine {
    /// Asks the system; what it does not tell is `unknown`.
    pub(crate) fn look() -> Self {
        let unknown = || "unknown".to_owned();
        let cpuinfo = fs::read_to_string("/proc/cpuinfo");
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease");
        Machine {
            processor: cpuinfo.ok().as_deref().and_then(model_name).unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: kernel.map_or_else(|_| unknown(), |kernel| format!("Linux {}", kernel.trim())),
            rustc: rustc_version().unwrap_or_else(unknown),
        }
    }
}

/// The model of the first processor that the text describes.
pub(crate) fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The compiler on the path, which is the one that `cargo xtask bench` has just built with.
fn rustc_version() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.trim().trim_start_matches("rustc ").to_owned()).filter(|version| !version.is_empty())
}
