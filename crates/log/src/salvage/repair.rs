//! The single changes of a salvage. Each is durable before the next one.

use std::io;

use crate::disk::{Disk, DiskFile, read_full, sync_file, write_full, write_zeros};
use crate::frame::{GAP_BYTES, gap_frame};
use crate::segment::{HEADER_BYTES, HeaderFlaw, SegmentHeader, segment_name};
use crate::survey::Hole;
use crate::walk::{Step, Walk};

const UNFINISHED: &str = "salvage.tmp";
const PIECE_BYTES: usize = 1 << 20;

/// What the header of a segment file says.
pub(super) enum Found {
    Header(SegmentHeader),
    /// The header is whole, but the file is not as long as it says.
    WrongSize(SegmentHeader),
    Version(u32),
    Nothing,
}

pub(super) fn read<D: Disk>(disk: &D, generation: u32) -> io::Result<Found> {
    let file = disk.open(&segment_name(generation))?;
    let mut block = vec![0; HEADER_BYTES];
    let count = read_full(&file, &mut block, 0)?;
    match SegmentHeader::decode(&block[..count]) {
        Ok(header) if header.generation != generation => Ok(Found::Nothing),
        Ok(header) if header.bytes != file.size()? => Ok(Found::WrongSize(header)),
        Ok(header) => Ok(Found::Header(header)),
        Err(HeaderFlaw::Version(version)) => Ok(Found::Version(version)),
        Err(HeaderFlaw::Damaged(_)) => Ok(Found::Nothing),
    }
}

pub(super) fn size<D: Disk>(disk: &D, generation: u32) -> io::Result<u64> {
    disk.open(&segment_name(generation))?.size()
}

/// Says whether the frames behind a lost header prove what it must have said.
pub(super) fn proves<D: Disk>(disk: &D, header: &SegmentHeader) -> io::Result<bool> {
    let file = disk.open(&segment_name(header.generation))?;
    match Walk::new(&file, header).step()? {
        Step::Batch { .. } => Ok(true),
        Step::Gap { .. } | Step::End(_) => Ok(false),
    }
}

pub(super) fn write_header<D: Disk>(disk: &D, header: &SegmentHeader) -> io::Result<()> {
    let file = disk.open(&segment_name(header.generation))?;
    write_full(&file, &header.encode(), 0)?;
    sync_file(&file)
}

/// Puts a gap in the place of damaged bytes; says whether there was room for it.
pub(super) fn write_gap<D: Disk>(disk: &D, header: &SegmentHeader, hole: &Hole) -> io::Result<bool> {
    if hole.end - hole.offset < GAP_BYTES as u64 {
        return Ok(false);
    }
    let file = disk.open(&segment_name(header.generation))?;
    // Up to the end of the segment, the gap itself is short and the rest is empty.
    let open = hole.end == header.bytes;
    let bytes = if open { GAP_BYTES as u64 } else { hole.end - hole.offset };
    let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
    write_full(&file, &gap_frame(hole.first, hole.last, bytes, header.binding()), hole.offset)?;
    if open {
        write_zeros(&file, hole.offset + bytes as u64, hole.end)?;
    }
    sync_file(&file)?;
    Ok(true)
}

/// Makes a segment with nothing but a gap from its first record to `last`, or with nothing at all.
pub(super) fn make_gap_segment<D: Disk>(disk: &D, header: &SegmentHeader, last: u64) -> io::Result<()> {
    let mut contents = header.encode();
    if header.first.0 <= last {
        contents.extend_from_slice(&gap_frame(header.first.0, last, GAP_BYTES, header.binding()));
    }
    contents.resize(usize::try_from(header.bytes).map_err(|_| io::ErrorKind::FileTooLarge)?, 0);
    let file = begin(disk)?;
    write_full(&file, &contents, 0)?;
    finish(disk, &file, &segment_name(header.generation))
}

/// Gives a segment the length that its header says, with zeros where something is missing.
pub(super) fn resize<D: Disk>(disk: &D, header: &SegmentHeader) -> io::Result<()> {
    let name = segment_name(header.generation);
    let file = begin(disk)?;
    let copied = copy_bytes(&disk.open(&name)?, &file, header.bytes)?;
    write_zeros(&file, copied, header.bytes)?;
    finish(disk, &file, &name)
}

pub(super) fn copy<D: Disk>(disk: &D, from: &str, to: &str) -> io::Result<()> {
    let file = begin(disk)?;
    copy_bytes(&disk.open(from)?, &file, u64::MAX)?;
    finish(disk, &file, to)
}

fn begin<D: Disk>(disk: &D) -> io::Result<D::File> {
    if disk.exists(UNFINISHED)? {
        disk.remove(UNFINISHED)?;
    }
    disk.create(UNFINISHED)
}

fn finish<D: Disk>(disk: &D, file: &D::File, name: &str) -> io::Result<()> {
    sync_file(file)?;
    disk.rename(UNFINISHED, name)?;
    disk.sync_folder()
}

fn copy_bytes<F: DiskFile>(from: &F, to: &F, bytes_max: u64) -> io::Result<u64> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut done = 0;
    while done < bytes_max {
        let wanted = usize::try_from(bytes_max - done).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        let count = read_full(from, &mut piece[..wanted], done)?;
        if count == 0 {
            break;
        }
        write_full(to, &piece[..count], done)?;
        done += count as u64;
    }
    Ok(done)
}
