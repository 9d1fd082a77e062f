//! What lies in the folder of a log, and whether the segments belong together.

use std::io;

use message::Seq;

use crate::disk::{Disk, DiskFile, read_full};
use crate::error::Damage;
use crate::segment::{
    HEADER_BYTES, HeaderFlaw, SegmentHeader, parse_segment_name, parse_spare_name, segment_name,
};
use crate::snapshot_file::parse_snapshot_name;

/// The files of a log, by what their names say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    /// The generations of the segments, in order.
    pub(crate) segments: Vec<u32>,
    pub(crate) spares: Vec<u32>,
    /// The records after which snapshots were taken, oldest first.
    pub(crate) snapshots: Vec<Seq>,
    /// Files that were not finished.
    pub(crate) unfinished: Vec<String>,
}

impl Folder {
    pub(crate) fn list<D: Disk>(disk: &D) -> io::Result<Self> {
        let mut folder = Self::default();
        for name in disk.list()? {
            if let Some(generation) = parse_segment_name(&name) {
                folder.segments.push(generation);
            } else if let Some(number) = parse_spare_name(&name) {
                folder.spares.push(number);
            } else if let Some(at) = parse_snapshot_name(&name) {
                folder.snapshots.push(at);
            } else if name.ends_with(".tmp") {
                folder.unfinished.push(name);
            }
        }
        folder.segments.sort_unstable();
        folder.spares.sort_unstable();
        folder.snapshots.sort_unstable();
        Ok(folder)
    }
}

/// Opens a segment file and reads its header.
pub(crate) fn open_segment<D: Disk>(
    disk: &D,
    generation: u32,
) -> io::Result<(D::File, Result<SegmentHeader, HeaderFlaw>)> {
    let file = disk.open(&segment_name(generation))?;
    let mut block = vec![0; HEADER_BYTES];
    let read = read_full(&file, &mut block, 0)?;
    let header = SegmentHeader::decode(&block[..read]);
    let size = file.size()?;
    let header = header.and_then(|header| {
        if header.generation != generation {
            Err(HeaderFlaw::Damaged("the header is that of another segment"))
        } else if header.bytes > size {
            Err(HeaderFlaw::Damaged("the file is shorter than its header says"))
        } else if header.bytes < size {
            Err(HeaderFlaw::Damaged("the file is longer than its header says"))
        } else {
            Ok(header)
        }
    });
    Ok((file, header))
}

/// Says what is wrong between two segments that follow each other, as far as their headers tell.
pub(crate) fn check_link(before: &SegmentHeader, after: &SegmentHeader) -> Option<Damage> {
    let file = segment_name(after.generation);
    if before.generation + 1 != after.generation {
        let missing = segment_name(before.generation + 1);
        let what = format!(
            "the segment before it, {missing}, is missing; records from {} on and those before the gap can be saved",
            after.first
        );
        return Some(Damage { file, offset: 0, what });
    }
    if after.first < before.first {
        let what = format!("it begins with record {}, before the segment in front of it", after.first);
        return Some(Damage { file, offset: 0, what });
    }
    None
}
