//! The disk, the log and the history.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use log::{InspectError, RealDisk, Report};
use message::{Seq, Timestamp};

use super::Patient;
use super::finding::Finding;
use crate::failure::reason;

/// Segments that the log keeps for finishing what is under way on a full disk, with the one it writes.
const SEGMENTS_KEPT: u64 = 4;
/// By how much the time of a file may be ahead of the clock.
const AHEAD_MAX: Duration = Duration::from_secs(60);

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let log = patient.data.join("log");
    let mut findings: Vec<Finding> = disk(patient).into_iter().collect();
    if !log.is_dir() {
        findings.push(Finding::good("log", "there is none yet"));
        return findings;
    }
    findings.push(clock(&log, patient.now));
    if patient.holder.is_some() {
        findings.push(Finding::good(
            "log",
            "is in use; `convoke doctor` reads every record when the bus is stopped",
        ));
        findings.push(history(patient, None));
        return findings;
    }
    let (records, trimmed) = records(&log);
    findings.extend(records);
    findings.push(history(patient, trimmed));
    findings
}

/// Returns the room on the disk of the data folder, or of where it would be made.
fn disk(patient: &Patient) -> Option<Finding> {
    let place = patient.data.ancestors().find(|folder| folder.is_dir())?;
    let stat = rustix::fs::statvfs(place).ok()?;
    let (free, all) =
        (stat.f_bavail.saturating_mul(stat.f_frsize), stat.f_blocks.saturating_mul(stat.f_frsize));
    let (free_mib, needed) = (free >> 20, SEGMENTS_KEPT * patient.settings.log.segment_bytes);
    let finding = if free < needed {
        let what = format!("{free_mib} MiB are free, and the log needs {} to go on", needed >> 20);
        Finding::bad("disk", what).mend("make room; the bus goes on by itself when there is some")
    } else if free < all / 20 {
        Finding::odd("disk", format!("{free_mib} MiB are free, less than a twentieth"))
            .mend("make room before it is full")
    } else if stat.f_files > 0 && stat.f_favail == 0 {
        Finding::bad("disk", "there is no room for more files").mend("remove files; room for bytes is left")
    } else {
        Finding::good("disk", format!("{free_mib} MiB are free"))
    };
    Some(finding)
}

/// Compares the clock with the last time at which the log was written: it never goes back.
fn clock(log: &Path, now: Timestamp) -> Finding {
    let newest = fs::read_dir(log).into_iter().flatten().flatten();
    let newest =
        newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).filter_map(timestamp).max();
    match newest.and_then(|newest| newest.duration_since(now)) {
        Some(ahead) if ahead > AHEAD_MAX => {
            let what = format!(
                "the log was written {} s in the future: the clock of this machine was set back",
                ahead.as_secs()
            );
            Finding::bad("clock", what).mend("set the clock; the bus's own time never goes back, but expiry and deadlines follow the clock")
        }
        Some(_) | None => Finding::good("clock", "is not behind the log"),
    }
}

fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Timestamp::from_unix_micros(i64::try_from(since.as_micros()).ok()?).ok()
}

/// Reads every record; also returns the last one that was given up, if any was.
fn records(log: &Path) -> (Vec<Finding>, Option<Seq>) {
    let disk = match RealDisk::existing(log) {
        Ok(disk) => disk,
        Err(error) => {
            let what = format!("{} cannot be read: {}", log.display(), reason(&error));
            return (vec![Finding::bad("log", what)], None);
        }
    };
    match log::verify(&disk) {
        Ok(report) => (told(&report), report.trimmed.map(|trimmed| trimmed.range.last)),
        Err(InspectError::InUse) => (vec![Finding::good("log", "is in use since a moment ago")], None),
        Err(error) => {
            let finding = Finding::bad("log", format!("{}: {error}", log.display()));
            (vec![finding.mend("`convoke log verify` says more")], None)
        }
    }
}

fn told(report: &Report) -> Vec<Finding> {
    let mut findings = Vec::new();
    for damage in &report.damages {
        let finding = Finding::bad("log", format!("damaged: {damage}"));
        findings.push(
            finding.mend("`convoke log salvage` sets the damaged part aside and goes on with the rest"),
        );
    }
    for gap in &report.gaps {
        findings.push(Finding::odd("log", format!("records {gap} are missing since a salvage")));
    }
    if let Some(torn) = &report.torn {
        let what = format!("a write was interrupted: {torn}");
        findings.push(
            Finding::odd("log", what).mend("nothing: the next start cuts it, and it was never acknowledged"),
        );
    }
    if report.is_whole() {
        let begin = report.trimmed.as_ref().map(|trimmed| trimmed.range.last);
        let begin = begin.map_or(String::new(), |last| format!("; those up to {last} were trimmed"));
        findings.push(Finding::good("log", format!("{} records, all whole{begin}", report.records)));
    }
    findings
}

fn history(patient: &Patient, trimmed: Option<Seq>) -> Finding {
    let file = patient.settings.history(&patient.data).file;
    let (is_there, place) = (file.is_file(), file.display());
    match trimmed {
        Some(last) if is_there => Finding::good(
            "history",
            format!("{place} is there, and alone knows what was up to record {last}: back it up too"),
        ),
        Some(last) => Finding::odd(
            "history",
            format!("{place} is not there, and the log no longer tells what was up to record {last}"),
        )
        .mend("restore it from a backup before the bus is started, or do without that part"),
        None if is_there => Finding::good("history", format!("{place} is there")),
        None => Finding::odd("history", format!("{place} is not there"))
            .mend("nothing: a bus makes it from the log when it starts"),
    }
}
