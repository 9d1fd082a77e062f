//! Python: virtual environments with pinned packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{SetupError, install, lock, progress};

const HINT: &str = "install python3 with venv and pip, and let pip reach its index";

/// Returns the interpreter of an environment with the packages of a requirements file, made unless it is there.
pub fn with_requirements(tools: &Path, name: &str, requirements: &Path) -> Result<PathBuf, SetupError> {
    let _lock = lock(tools, name)?;
    let folder = tools.join(name);
    let python = folder.join("bin/python");
    let text = |error: std::io::Error| SetupError::new(error.to_string(), HINT);
    let wanted = fs::read_to_string(requirements).map_err(text)?;
    let stamp = folder.join("installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    progress(format_args!("installing the Python packages of {name}"));
    let packages: Vec<&str> = wanted.lines().filter(|line| !line.is_empty()).collect();
    venv(&folder, &packages, HINT)?;
    fs::write(&stamp, &wanted).map_err(text)?;
    Ok(python)
}

/// Makes an environment with packages, in place of whatever was there.
pub(crate) fn venv(folder: &Path, packages: &[&str], hint: &str) -> Result<(), SetupError> {
    install(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder), hint)?;
    let mut pip = Command::new(folder.join("bin/python"));
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install(pip.args(["--retries", "1", "--timeout", "20"]).args(packages), hint)
}
