//! Packages of Debian, unpacked into a folder without being installed.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{SetupError, install};

/// Downloads packages of the version that the system's own lists name, and unpacks them.
pub fn unpack(packages: &[&str], folder: &Path, hint: &str) -> Result<(), SetupError> {
    let failed = |error: std::io::Error| SetupError::new(format!("{}: {error}", folder.display()), hint);
    fs::create_dir_all(folder).map_err(failed)?;
    let mut download = Command::new("apt-get");
    install(download.args(["download", "--quiet"]).args(packages).current_dir(folder), hint)?;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let package = entry.map_err(failed)?.path();
        if package.extension().is_some_and(|ending| ending == "deb") {
            install(Command::new("dpkg-deb").arg("-x").arg(&package).arg(folder), hint)?;
        }
    }
    Ok(())
}
