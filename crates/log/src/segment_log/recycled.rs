//! The planted fault that takes the old frames of a recycled segment for new ones.

use std::io;

use message::Seq;

use super::writer::Writer;
use crate::api::Class;
use crate::batch::Batch;
use crate::disk::{Disk, DiskFile};
use crate::frame::{ALIGNMENT, FRAME_HEADER_BYTES, FrameHeader, Kind};
use crate::window::Window;

const PIECE_BYTES: usize = 1 << 16;

/// Appends the first old batch that lies behind the end of the log, as if it had been read there.
pub(super) fn accept<D: Disk>(writer: &mut Writer<D>) -> Seq {
    let last = writer.shared.last();
    let mut batch = Batch::new();
    if collect(&writer.open.file, writer.offset, writer.segment.header.bytes, &mut batch).is_err() {
        return last;
    }
    writer.append(last, &mut batch, Class::Normal).unwrap_or(last)
}

fn collect<F: DiskFile>(file: &F, from: u64, end: u64, batch: &mut Batch) -> io::Result<()> {
    let mut window = Window::new(PIECE_BYTES);
    let mut at = from;
    while at < end {
        let header = FrameHeader::parse(window.slice(file, at, FRAME_HEADER_BYTES, end)?);
        let fits = header.filter(|header| at + header.frame_bytes() as u64 <= end);
        match fits {
            Some(header) if header.kind == Kind::Record && header.tag != 0 => {
                let frame = window.slice(file, at, header.frame_bytes(), end)?;
                batch.push(&frame[FRAME_HEADER_BYTES..FRAME_HEADER_BYTES + header.length as usize]);
                at += header.frame_bytes() as u64;
            }
            Some(_) if !batch.is_empty() => break,
            Some(_) | None => at += ALIGNMENT as u64,
        }
    }
    Ok(())
}
