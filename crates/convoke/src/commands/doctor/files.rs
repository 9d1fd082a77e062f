//! The data folder, who holds it, and the secrets in it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gateway::{SealKey, Token};
use rustix::fs::{Access, access};

use super::Patient;
use super::finding::Finding;
use crate::commands::up::{OPERATOR_TOKEN, ORIGIN_KEY, open_to_others};
use crate::failure::reason;

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let place = patient.data.display();
    match fs::metadata(&patient.data) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("there is no folder {place} yet");
            return vec![
                Finding::odd("folder", what).mend("`convoke up` makes it; or name another with --data"),
            ];
        }
        Err(error) => {
            let what = format!("{place} cannot be looked at: {}", reason(&error));
            return vec![
                Finding::bad("folder", what).mend("see who owns it: `ls -ld` on each part of the path"),
            ];
        }
        Ok(metadata) if !metadata.is_dir() => {
            let what = format!("{place} is not a folder");
            return vec![
                Finding::bad("folder", what).mend("move the file away, or name another with --data"),
            ];
        }
        Ok(_) => {}
    }
    let mut findings = vec![folder(patient), bus(patient)];
    findings.extend([
        secret(&patient.data.join(OPERATOR_TOKEN), |text| text.parse::<Token>().is_ok()),
        secret(&patient.data.join(ORIGIN_KEY), |text| text.parse::<SealKey>().is_ok()),
    ]);
    findings
}

fn folder(patient: &Patient) -> Finding {
    let place = patient.data.display();
    if let Err(error) = access(&patient.data, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK) {
        let what = format!("{place} cannot be written: {}", reason(&error.into()));
        return Finding::bad("folder", what).mend("make it yours with `chown`, or name another with --data");
    }
    match open_to_others(&patient.data) {
        Some(mode) => Finding::odd("folder", format!("others can look into {place} (mode {mode:o})"))
            .mend(format!("chmod 700 {place}")),
        None => Finding::good("folder", format!("{place} is there, and nobody else's")),
    }
}

fn bus(patient: &Patient) -> Finding {
    match (patient.holder, &patient.running) {
        (Some(pid), Some(running)) if running.pid == pid => {
            Finding::good("bus", format!("runs as process {pid} since {}", running.started))
        }
        (Some(pid), _) => {
            let what =
                format!("process {pid}{} holds the folder, and has not said that it is ready", name_of(pid));
            Finding::odd("bus", what).mend("wait: it starts, or another command works on the log")
        }
        (None, Some(running)) => {
            let what = format!("process {} ran here and ended without saying so", running.pid);
            Finding::odd("bus", what).mend("nothing was lost; `convoke up` starts it again")
        }
        (None, None) => Finding::good("bus", "does not run"),
    }
}

/// Returns the name of a process, in brackets, where the system tells.
pub(super) fn name_of(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .map_or_else(|_| String::new(), |name| format!(" ({})", name.trim()))
}

fn secret(path: &Path, is_one: impl Fn(&str) -> bool) -> Finding {
    let place = path.display();
    let mode = match fs::metadata(path) {
        Ok(metadata) => metadata.mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Finding::good("secrets", format!("{place} is made at the first start"));
        }
        Err(error) => return unreadable(path, &error),
    };
    if mode & 0o077 != 0 {
        return Finding::bad("secrets", format!("others can read {place} (mode {mode:o})")).mend(format!(
            "chmod 600 {place}; if somebody may have read it, move it away and start again to get a new one"
        ));
    }
    match fs::read_to_string(path) {
        Ok(text) if is_one(text.trim()) => Finding::good("secrets", format!("{place} is whole and private")),
        Ok(_) => Finding::bad("secrets", format!("{place} is damaged"))
            .mend("put it back from a backup, or move it away and start again to get a new one"),
        Err(error) => unreadable(path, &error),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Finding {
    Finding::bad("secrets", format!("{} cannot be read: {}", path.display(), reason(error)))
        .mend("run this as the user who runs the bus")
}
