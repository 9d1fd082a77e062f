//! Setting damaged parts aside, so that the rest opens again. Nothing is ever deleted.

mod repair;

use std::io;

use message::Seq;

use crate::disk::Disk;
use crate::error::{Damage, InspectError};
use crate::folder::Folder;
use crate::frame::Chain;
use crate::report::{Range, Salvaged};
use crate::segment::{HEADER_BYTES, SegmentHeader, VERSION, segment_name};
use crate::snapshot_file::{self, snapshot_name};
use crate::survey::{Hole, survey};
use crate::verify::{lock, verify};
use repair::Found;

/// Sets the damaged parts of the log in a folder aside and makes the rest open again.
///
/// Every file that is changed or taken out is first copied or moved to the subfolder `damaged`. Batches that
/// cannot be read become gaps: their records are named in the answer, and reading them is an error from then
/// on. A log that is whole is not touched.
pub fn salvage<D: Disk>(disk: &D) -> Result<Salvaged, InspectError> {
    let report = verify(disk)?;
    let last = report.range.map_or(Seq(0), |range| range.last);
    let mut salvage = Salvage { disk, last, done: Salvaged::default() };
    if report.is_whole() {
        return Ok(salvage.done);
    }
    salvage.done.damages = report.damages;
    let _lock = lock(disk)?.ok_or(io::Error::from(io::ErrorKind::ReadOnlyFilesystem))?;
    let folder = Folder::list(disk)?;
    let snapshots = salvage.snapshots(&folder)?;
    salvage.segments(&folder, &snapshots)?;
    disk.sync_folder()?;
    Ok(salvage.done)
}

struct Salvage<'a, D: Disk> {
    disk: &'a D,
    /// The last record that was found.
    last: Seq,
    done: Salvaged,
}

/// Where the segments before a place end.
#[derive(Clone, Copy)]
struct End {
    generation: u32,
    next: u64,
    chain: Chain,
    chain_known: bool,
    /// Whether the last of them says that another follows.
    continued: bool,
}

impl<D: Disk> Salvage<'_, D> {
    /// Moves damaged snapshots away and returns the whole ones, oldest first.
    fn snapshots(&mut self, folder: &Folder) -> Result<Vec<(Seq, Chain)>, InspectError> {
        let mut whole = Vec::new();
        for at in &folder.snapshots {
            let name = snapshot_name(*at);
            let foreign = self.done.damages.iter().any(|damage| damage.file == name);
            match snapshot_file::open(self.disk, *at)? {
                Ok(file) if !foreign => whole.push((*at, file.chain)),
                // One that is ahead of the log proves how far the log went, and is all that is left of it.
                Ok(file) if *at > self.last => whole.push((*at, file.chain)),
                Ok(_) | Err(_) => self.move_aside(&name)?,
            }
        }
        Ok(whole)
    }

    fn segments(&mut self, folder: &Folder, snapshots: &[(Seq, Chain)]) -> Result<(), InspectError> {
        let covered = snapshots.last().map_or(0, |(at, _)| at.0);
        let mut end: Option<End> = None;
        for (index, generation) in folder.segments.iter().enumerate() {
            let found = self.read_header(*generation, end)?;
            let Found::Header(header) = found else {
                self.move_aside(&segment_name(*generation))?;
                self.done.end_unknown |= index + 1 == folder.segments.len();
                continue;
            };
            // What a snapshot covers may have been trimmed, unless the very first segment was just moved away.
            let first_lost = index > 0 && folder.segments[0] <= 1;
            self.bridge(end, &header, if first_lost { 1 } else { covered + 1 })?;
            let after = self.next_header(folder, index + 1)?;
            end = Some(self.repair(&header, after.as_ref())?);
        }
        self.reach(end, snapshots)
    }

    /// Returns the header of the next segment that has one which can be read.
    fn next_header(&self, folder: &Folder, from: usize) -> Result<Option<SegmentHeader>, InspectError> {
        for generation in &folder.segments[from..] {
            if let Found::Header(header) = repair::read(self.disk, *generation)? {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    /// Reads the header of a segment; one that is damaged is made anew if what follows it proves it right.
    fn read_header(&mut self, generation: u32, end: Option<End>) -> Result<Found, InspectError> {
        match repair::read(self.disk, generation)? {
            Found::Version(version) => {
                Err(InspectError::Version { file: segment_name(generation), version, known: VERSION })
            }
            Found::Nothing => {
                let Some(end) = end.filter(|end| end.generation + 1 == generation && end.chain_known) else {
                    return Ok(Found::Nothing);
                };
                let bytes = repair::size(self.disk, generation)?;
                let header = SegmentHeader { generation, first: Seq(end.next), bytes, chain: end.chain };
                if !repair::proves(self.disk, &header)? {
                    return Ok(Found::Nothing);
                }
                self.copy_aside(&segment_name(generation))?;
                repair::write_header(self.disk, &header)?;
                Ok(Found::Header(header))
            }
            Found::WrongSize(header) => {
                self.copy_aside(&segment_name(generation))?;
                repair::resize(self.disk, &header)?;
                Ok(Found::Header(header))
            }
            Found::Header(header) => Ok(Found::Header(header)),
        }
    }

    /// Fills the place of missing segments before one with gaps; nothing is missing before the record `start`.
    fn bridge(&mut self, end: Option<End>, header: &SegmentHeader, start: u64) -> Result<(), InspectError> {
        let last = header.first.0.saturating_sub(1);
        let Some(end) = end else {
            return match header.generation.checked_sub(1) {
                Some(before) if last >= start => self.fill(before, start, last, [0; 32]),
                Some(_) | None => Ok(()),
            };
        };
        let (mut next, mut chain) = (end.next, end.chain);
        for generation in end.generation + 1..header.generation {
            self.fill(generation, next, last, chain)?;
            (next, chain) = (header.first.0, header.chain);
        }
        Ok(())
    }

    /// Turns the holes of a segment into gaps and returns where the segment ends.
    fn repair(&mut self, header: &SegmentHeader, after: Option<&SegmentHeader>) -> Result<End, InspectError> {
        let name = segment_name(header.generation);
        let follows = after.filter(|after| after.generation == header.generation + 1);
        let found = survey(&self.disk.open(&name)?, header, follows)?;
        if !found.holes.is_empty() && !self.done.set_aside.contains(&aside(&name)) {
            self.copy_aside(&name)?;
        }
        for hole in &found.holes {
            self.close(header, hole)?;
        }
        Ok(End {
            generation: header.generation,
            next: found.next,
            chain: found.chain,
            chain_known: found.chain_known,
            continued: found.continued.is_some(),
        })
    }

    fn close(&mut self, header: &SegmentHeader, hole: &Hole) -> Result<(), InspectError> {
        if !repair::write_gap(self.disk, header, hole)? {
            return Err(InspectError::Hopeless(Damage {
                file: segment_name(header.generation),
                offset: hole.offset,
                what: format!("{}, and there is no room to say so", hole.flaw.what),
            }));
        }
        self.missing(hole.first, hole.last);
        Ok(())
    }

    /// Makes the log reach as far as the newest snapshot, which proves how far it went.
    fn reach(&mut self, end: Option<End>, snapshots: &[(Seq, Chain)]) -> Result<(), InspectError> {
        let newest = snapshots.last();
        match (end, newest) {
            (None, Some((at, chain))) => self.fill(1, at.0 + 1, at.0, *chain),
            (Some(end), Some((at, _))) if at.0 >= end.next => {
                self.fill(end.generation + 1, end.next, at.0, end.chain)
            }
            // An empty one in the place of the lost one: how many records it held, nobody knows.
            (Some(end), _) if end.continued => {
                self.done.end_unknown = true;
                self.fill(end.generation + 1, end.next, end.next - 1, end.chain)
            }
            (_, _) => Ok(()),
        }
    }

    /// Makes a small segment that holds nothing but a gap.
    fn fill(&mut self, generation: u32, first: u64, last: u64, chain: Chain) -> Result<(), InspectError> {
        let bytes = 2 * HEADER_BYTES as u64;
        let header = SegmentHeader { generation, first: Seq(first), bytes, chain };
        repair::make_gap_segment(self.disk, &header, last)?;
        self.missing(first, last);
        Ok(())
    }

    fn missing(&mut self, first: u64, last: u64) {
        if first <= last {
            self.done.missing.push(Range { first: Seq(first), last: Seq(last) });
        }
    }

    fn copy_aside(&mut self, name: &str) -> io::Result<()> {
        let to = self.free_name(name)?;
        repair::copy(self.disk, name, &to)?;
        self.done.set_aside.push(to);
        Ok(())
    }

    fn move_aside(&mut self, name: &str) -> io::Result<()> {
        let to = self.free_name(name)?;
        self.disk.rename(name, &to)?;
        self.disk.sync_folder()?;
        self.done.set_aside.push(to);
        Ok(())
    }

    /// Finds a name in the subfolder that no earlier salvage has used.
    fn free_name(&self, name: &str) -> io::Result<String> {
        let mut to = aside(name);
        let mut number = 1;
        while self.disk.exists(&to)? {
            number += 1;
            to = format!("{}.{number}", aside(name));
        }
        Ok(to)
    }
}

fn aside(name: &str) -> String {
    format!("damaged/{name}")
}
