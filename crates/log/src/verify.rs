//! Checking everything without changing anything.

use std::fmt::Write as _;
use std::io;

use message::Seq;

use crate::disk::Disk;
use crate::error::{Damage, InspectError};
use crate::folder::{Folder, check_link, open_segment};
use crate::frame::Chain;
use crate::report::{Range, Report, Trimmed};
use crate::segment::{HeaderFlaw, SegmentHeader, VERSION, segment_name};
use crate::snapshot_file::{self, snapshot_name};
use crate::survey::{Survey, survey};

/// Checks every header, record, snapshot and the whole chain of the log in a folder; changes nothing.
pub fn verify<D: Disk>(disk: &D) -> Result<Report, InspectError> {
    let _lock = lock(disk)?;
    let folder = Folder::list(disk)?;
    let mut check = Check { report: Report::default(), ends: Vec::new(), start: None, next: 1, chain: None };
    let mut headers = Vec::new();
    for generation in &folder.segments {
        headers.push((*generation, check.header(disk, *generation)?));
    }
    for (index, (generation, header)) in headers.iter().enumerate() {
        let after = headers.get(index + 1);
        match header {
            Some(header) => check.segment(disk, header, after.map(|(_, after)| after.as_ref()))?,
            None => check.chain = None,
        }
        if let Some((after, _)) = after {
            check.link(*generation, header.as_ref(), *after, headers[index + 1].1.as_ref());
        }
    }
    check.snapshots(disk, &folder)?;
    Ok(check.finish(folder.segments.len()))
}

/// Takes the folder, unless it cannot be written: then nobody else writes either.
pub(crate) fn lock<D: Disk>(disk: &D) -> Result<Option<D::Lock>, InspectError> {
    match disk.lock() {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(InspectError::InUse),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(InspectError::Storage(error)),
    }
}

/// Whether a segment is the last of those that are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Last,
}

struct Check {
    report: Report,
    /// Where batches ended, for the snapshots.
    ends: Vec<(u64, Chain)>,
    start: Option<Seq>,
    next: u64,
    chain: Option<Chain>,
}

impl Check {
    fn damage(&mut self, file: String, offset: u64, what: impl Into<String>) {
        self.report.damages.push(Damage { file, offset, what: what.into() });
    }

    fn header<D: Disk>(&mut self, disk: &D, generation: u32) -> Result<Option<SegmentHeader>, InspectError> {
        match open_segment(disk, generation)?.1 {
            Ok(header) => Ok(Some(header)),
            Err(HeaderFlaw::Damaged(what)) => {
                self.damage(segment_name(generation), 0, what);
                Ok(None)
            }
            Err(HeaderFlaw::Version(version)) => {
                Err(InspectError::Version { file: segment_name(generation), version, known: VERSION })
            }
        }
    }

    fn segment<D: Disk>(
        &mut self,
        disk: &D,
        header: &SegmentHeader,
        after: Option<Option<&SegmentHeader>>,
    ) -> io::Result<()> {
        let file = disk.open(&segment_name(header.generation))?;
        // Where the next header is unreadable, this segment is still not the last.
        let found = survey(&file, header, after.flatten())?;
        if self.start.is_none() {
            self.start = Some(header.first);
            self.report.trimmed = trimmed(header);
        }
        let place = if after.is_none() { Place::Last } else { Place::Before };
        self.note(&segment_name(header.generation), found, place);
        Ok(())
    }

    fn note(&mut self, name: &str, found: Survey, place: Place) {
        let report = &mut self.report;
        report.batches += found.batches;
        report.records += found.records;
        report.gaps.extend(found.gaps);
        for hole in &found.holes {
            let what = if hole.first <= hole.last {
                let range = Range { first: Seq(hole.first), last: Seq(hole.last) };
                format!("{}; the bytes up to {} held the records {range}", hole.flaw.what, hole.end)
            } else {
                format!("{}; the bytes up to {} held no record", hole.flaw.what, hole.end)
            };
            report.damages.push(Damage { file: name.to_owned(), offset: hole.flaw.offset, what });
        }
        if let Some(flaw) = found.continued.filter(|_| place == Place::Last) {
            let what = flaw.what.to_owned();
            report.damages.push(Damage { file: name.to_owned(), offset: flaw.offset, what });
        }
        report.torn = found.torn.map(|flaw| Damage {
            file: name.to_owned(),
            offset: flaw.offset,
            what: format!("{}; nothing behind it was ever acknowledged", flaw.what),
        });
        self.ends.extend(found.ends);
        self.next = found.next;
        self.chain = Some(found.chain);
    }

    fn link(
        &mut self,
        generation: u32,
        header: Option<&SegmentHeader>,
        after_generation: u32,
        after: Option<&SegmentHeader>,
    ) {
        if let (Some(header), Some(after)) = (header, after) {
            self.report.damages.extend(check_link(header, after));
        } else if generation + 1 != after_generation {
            let what = format!("the segment before it, {}, is missing", segment_name(generation + 1));
            self.damage(segment_name(after_generation), 0, what);
        }
    }

    fn snapshots<D: Disk>(&mut self, disk: &D, folder: &Folder) -> io::Result<()> {
        for at in &folder.snapshots {
            let name = snapshot_name(*at);
            match snapshot_file::open(disk, *at)? {
                Ok(file) if self.belongs(*at, &file.chain) => self.report.snapshots.push(*at),
                Ok(_) => self.damage(name, 0, "the snapshot does not belong to the records of the log"),
                Err(what) => self.damage(name, 0, what),
            }
        }
        if let (None, Some(at)) = (folder.segments.first(), folder.snapshots.last()) {
            self.damage(snapshot_name(*at), 0, "there is a snapshot, but no segment of the log");
        }
        let covered = self.report.snapshots.last().map_or(0, |at| at.0);
        if let Some(start) = self.start
            && start.0 > covered + 1
        {
            let what =
                format!("the log begins at record {start}, and no whole snapshot holds what came before");
            self.damage(segment_name(folder.segments[0]), 0, what);
        }
        Ok(())
    }

    /// Says whether a snapshot is one of this log, as far as the log still holds its place.
    fn belongs(&self, at: Seq, chain: &Chain) -> bool {
        let in_gap = self.report.gaps.iter().any(|gap| gap.first <= at && at <= gap.last);
        let trimmed = self.start.is_none_or(|start| at < start);
        let damaged = !self.report.damages.is_empty();
        match self.ends.binary_search_by_key(&at.0, |(last, _)| *last) {
            Ok(found) => self.ends[found].1 == *chain,
            Err(_) => in_gap || trimmed || (damaged && at.0 < self.next),
        }
    }

    fn finish(mut self, segments: usize) -> Report {
        self.report.segments = segments as u64;
        if let Some(first) = self.start
            && self.next > first.0
        {
            self.report.range = Some(Range { first, last: Seq(self.next - 1) });
        }
        self.report.chain = hex(&self.chain.unwrap_or_default());
        self.report
    }
}

/// Returns what is missing before the first segment.
fn trimmed(first: &SegmentHeader) -> Option<Trimmed> {
    let range = Range { first: Seq(1), last: Seq(first.first.0.checked_sub(1).filter(|last| *last > 0)?) };
    Some(Trimmed { range, chain: hex(&first.chain) })
}

fn hex(chain: &Chain) -> String {
    let mut text = String::with_capacity(2 * chain.len());
    for byte in chain {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text
}
