//! Programs and packages of others that tests and figures start: installed by us where they are missing, into one
//! folder below the build folder.
//!
//! It must not touch anything outside of that folder, and it names no registry: pip, npm and apt-get know theirs.

pub mod debian;
pub mod nats;
pub mod node;
pub mod pds;
mod pinned;
pub mod python;
pub mod strace;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something must be installed, or reached, by the caller.
#[derive(Debug)]
pub struct SetupError {
    what: String,
    /// What the caller can do about it.
    pub hint: String,
}

impl SetupError {
    /// Says what is missing and what to do about it.
    pub fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        SetupError { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for SetupError {}

/// Returns the folder for everything that we install or leave behind.
pub fn tools_folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    // An absolute folder replaces the root; a relative one is meant from there, as cargo sees it.
    root.join(target).join("tools")
}

/// Runs a program that installs something; what it says is shown only when it fails.
pub fn install(command: &mut Command, hint: &str) -> Result<(), SetupError> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_else(|| OsStr::new("the program"));
    let name = name.to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| SetupError::new(format!("cannot start {name}: {error}"), hint))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(SetupError::new(format!("{name} failed: {}", said.trim()), hint))
}

/// Tells on stderr what takes so long.
fn progress(line: impl fmt::Display) {
    eprintln!("setup: {line}");
}

/// Waits until nobody else installs the same thing; others wait until what is returned is dropped.
fn lock(tools: &Path, name: &str) -> Result<File, SetupError> {
    let path = tools.join(format!("{name}.lock"));
    let take = || {
        fs::create_dir_all(tools)?;
        let file = File::create(&path)?;
        file.lock()?;
        Ok(file)
    };
    take().map_err(|error: std::io::Error| {
        SetupError::new(format!("cannot lock {}: {error}", path.display()), "make the build folder writable")
    })
}
