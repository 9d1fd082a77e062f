//! What a peer needs is installed by us, into one folder below the build folder.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Something must be installed, or reached, by the caller.
#[derive(Debug)]
pub(crate) struct SetupError {
    what: String,
    /// What the caller can do about it.
    pub(crate) hint: String,
}

impl SetupError {
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        SetupError { what: what.into(), hint: hint.into() }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for SetupError {}

/// The folder for everything that we install or leave behind.
pub(crate) fn tools_folder() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    // An absolute folder replaces the root; a relative one is meant from there, as cargo sees it.
    root.join(target).join("bench-tools")
}

/// Tells on stderr what takes so long.
pub(crate) fn progress(line: impl fmt::Display) {
    eprintln!("bench: {line}");
}

/// Runs a program that installs something; what it says is shown only when it fails.
pub(crate) fn install(command: &mut Command, hint: &str) -> Result<(), SetupError> {
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
