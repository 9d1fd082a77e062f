//! The handle that reads.
//!
//! Every record is checked against its number, its segment and its checksum when it is read, so that a reader
//! who is overtaken by the recycling of a segment notices instead of reading something else.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError};

use message::Seq;

use super::shared::{Located, OpenFile, Segment, Shared};
use crate::api::{Entry, Reader};
use crate::disk::Disk;
use crate::error::{Damage, ReadError};
use crate::frame::{Chain, Commit, FLAG_LAST, FRAME_HEADER_BYTES, FrameHeader, Kind, parse_gap};
use crate::index::STRIDE_BYTES;
use crate::segment::HEADER_BYTES;
use crate::walk::{Step, Walk};
use crate::window::Window;

const READ_BYTES: usize = STRIDE_BYTES as usize;
/// What a scan reads at once, at first and at most: whoever follows the log scans again and again for a few records.
const SCAN_BYTES: usize = 16 << 10;
const SCAN_BYTES_MAX: usize = 1 << 20;

/// Reads a [`SegmentLog`](crate::SegmentLog).
pub struct LogReader<D: Disk> {
    shared: Arc<Shared<D>>,
}

impl<D: Disk> Clone for LogReader<D> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<D: Disk> Reader for LogReader<D> {
    fn read(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        let mut cursor = Cursor::new(&self.shared, Window::new(READ_BYTES));
        cursor.seek(seq)?;
        Ok(cursor.record(seq)?.0.to_vec())
    }

    fn read_many(
        &self,
        seqs: &[Seq],
        visit: &mut dyn FnMut(Seq, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let mut cursor = Cursor::new(&self.shared, Window::new(4 * READ_BYTES));
        for seq in seqs {
            cursor.seek(*seq)?;
            if visit(*seq, cursor.record(*seq)?.0).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn scan(
        &self,
        from: Seq,
        to: Seq,
        visit: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        let to = to.min(self.shared.last());
        let mut cursor = Cursor::new(&self.shared, Window::growing(SCAN_BYTES, SCAN_BYTES_MAX));
        let mut seq = from.max(Seq(1));
        while seq <= to {
            let entry = match cursor.seek(seq).and_then(|()| cursor.record(seq)) {
                Ok((bytes, last_of_batch)) => Entry::Record { seq, bytes, last_of_batch },
                Err(ReadError::Missing { seq: _, first, last }) => Entry::Gap { first, last },
                Err(error) => return Err(error),
            };
            seq = match entry {
                Entry::Record { seq, .. } => Seq(seq.0 + 1),
                Entry::Gap { last, .. } => Seq(last.0 + 1),
            };
            if visit(entry).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl<D: Disk> LogReader<D> {
    pub(super) fn new(shared: Arc<Shared<D>>) -> Self {
        Self { shared }
    }

    /// Returns the chain after the batch that ends with a record; `None` if none ends there.
    pub(super) fn chain_at(&self, seq: Seq) -> Result<Option<Chain>, ReadError> {
        let mut cursor = Cursor::new(&self.shared, Window::new(READ_BYTES));
        cursor.seek(seq)?;
        let (_, last_of_batch) = cursor.record(seq)?;
        if last_of_batch { cursor.commit(seq).map(Some) } else { Ok(None) }
    }
}

/// A place in the log from which frames are read forward.
struct Cursor<'a, D: Disk> {
    shared: &'a Shared<D>,
    window: Window,
    place: Option<Place<D>>,
}

struct Place<D: Disk> {
    segment: Arc<Segment<D::File>>,
    open: Arc<OpenFile<D::File>>,
    /// The first record of the next segment, or the one after the last when the place was sought.
    until: Seq,
    offset: u64,
    /// The record whose frame is at the offset, or the next one behind it.
    seq: Seq,
}

impl<'a, D: Disk> Cursor<'a, D> {
    fn new(shared: &'a Shared<D>, window: Window) -> Self {
        Self { shared, window, place: None }
    }

    /// Goes to a record or to the mark before it.
    fn seek(&mut self, seq: Seq) -> Result<(), ReadError> {
        if let Some(place) = &self.place
            && place.seq == seq
            && seq < place.until
        {
            return Ok(());
        }
        self.seek_by_index(seq)
    }

    fn seek_by_index(&mut self, seq: Seq) -> Result<(), ReadError> {
        let (first, last) = (self.shared.first(), self.shared.last());
        if seq > last {
            return Err(ReadError::Beyond { seq, last });
        }
        let Some(Located { segment, next }) = self.shared.segment_of(seq) else {
            return Err(ReadError::Trimmed { seq, first });
        };
        let open = self.shared.file(&segment).map_err(|error| self.storage(seq, error))?;
        // What is appended to the last segment meanwhile is behind what is asked for.
        let until = next.unwrap_or(Seq(last.0 + 1));
        // The first record of a segment is where it begins: a scan needs no index.
        if seq != segment.header.first {
            self.make_index(seq, &segment, &open, until)?;
        }
        let (mark, missing) = {
            let index = open.index.read().unwrap_or_else(PoisonError::into_inner);
            let index = index.as_ref();
            (index.and_then(|index| index.before(seq.0)), index.and_then(|index| index.missing(seq.0)))
        };
        if let Some(missing) = missing {
            return Err(ReadError::Missing { seq, first: Seq(missing.first), last: Seq(missing.last) });
        }
        let (at, offset) =
            mark.map_or((segment.header.first, HEADER_BYTES as u64), |mark| (Seq(mark.seq), mark.offset));
        let same = self.place.as_ref().filter(|place| {
            // What was read ahead before something was appended shows nothing of it.
            Arc::ptr_eq(&place.segment, &segment) && place.until == until
        });
        match same {
            Some(place) if place.seq <= seq && place.offset >= offset => return Ok(()),
            Some(_) => {}
            None => self.window.clear(),
        }
        self.place = Some(Place { segment, open, until, offset, seq: at });
        Ok(())
    }

    /// Makes the index of a segment that nobody has read or written since the log was opened.
    fn make_index(
        &self,
        seq: Seq,
        segment: &Segment<D::File>,
        open: &OpenFile<D::File>,
        until: Seq,
    ) -> Result<(), ReadError> {
        if open.index.read().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Ok(());
        }
        let mut walk = Walk::new(&open.file, &segment.header);
        while walk.next < until.0 {
            match walk.step().map_err(|error| self.storage(seq, error))? {
                Step::Batch { .. } | Step::Gap { .. } => {}
                // Records before the damage can be read; those behind it say so when they are.
                Step::End(_) => break,
            }
        }
        *open.index.write().unwrap_or_else(PoisonError::into_inner) = Some(walk.index);
        Ok(())
    }

    /// Reads the record that was sought, and whether it is the last of its batch.
    fn record(&mut self, seq: Seq) -> Result<(&[u8], bool), ReadError> {
        loop {
            let (header, offset) = self.header(seq)?;
            let place = self.place.as_mut().expect("a cursor is read only after it was sought");
            place.offset = offset + header.frame_bytes() as u64;
            match header.kind {
                Kind::Record => {}
                Kind::Commit | Kind::Next => continue,
                Kind::Gap => {
                    self.pass_gap(seq, &header, offset)?;
                    continue;
                }
            }
            place.seq = Seq(header.seq.saturating_add(1));
            if header.seq == seq.0 {
                let bytes = self.whole(seq, &header, offset)?;
                let payload = &bytes[FRAME_HEADER_BYTES..FRAME_HEADER_BYTES + header.length as usize];
                return Ok((payload, header.flags & FLAG_LAST != 0));
            }
            if header.seq > seq.0 {
                return Err(self.damaged(seq, offset, "a frame has the wrong number"));
            }
        }
    }

    /// Goes past records that are missing, unless the one that was sought is among them.
    fn pass_gap(&mut self, seq: Seq, header: &FrameHeader, offset: u64) -> Result<(), ReadError> {
        let first = parse_gap(self.whole(seq, header, offset)?).unwrap_or(header.seq);
        if first <= seq.0 && seq.0 <= header.seq {
            return Err(ReadError::Missing { seq, first: Seq(first), last: Seq(header.seq) });
        }
        Ok(())
    }

    /// Reads the commit frame behind a record that was just read.
    fn commit(&mut self, seq: Seq) -> Result<Chain, ReadError> {
        let (header, offset) = self.header(seq)?;
        if header.kind != Kind::Commit || header.seq != seq.0 {
            return Err(self.damaged(seq, offset, "the commit frame of a batch is missing"));
        }
        let commit = Commit::parse(self.whole(seq, &header, offset)?);
        match commit {
            Some(commit) => Ok(commit.chain),
            None => Err(self.damaged(seq, offset, "a commit frame is too short")),
        }
    }

    fn header(&mut self, seq: Seq) -> Result<(FrameHeader, u64), ReadError> {
        let place = self.place.as_ref().expect("a cursor is read only after it was sought");
        let (segment, offset) = (Arc::clone(&place.segment), place.offset);
        let bytes = self.window.slice(&place.open.file, offset, FRAME_HEADER_BYTES, segment.header.bytes);
        let header = match bytes {
            Ok(bytes) => FrameHeader::parse(bytes),
            Err(error) => return Err(self.storage(seq, error)),
        };
        let known = header.filter(|header| {
            header.tag == segment.header.binding().tag
                && offset + header.frame_bytes() as u64 <= segment.header.bytes
        });
        match known {
            Some(header) => Ok((header, offset)),
            None => Err(self.damaged(seq, offset, "there is no frame")),
        }
    }

    fn whole(&mut self, seq: Seq, header: &FrameHeader, offset: u64) -> Result<&[u8], ReadError> {
        let place = self.place.as_ref().expect("a cursor is read only after it was sought");
        let (segment, open) = (Arc::clone(&place.segment), Arc::clone(&place.open));
        let (end, binding) = (segment.header.bytes, segment.header.binding());
        let bytes = header.frame_bytes();
        let whole = self.window.slice(&open.file, offset, bytes, end);
        match whole.map(|frame| header.is_whole(frame, binding)) {
            Ok(true) => self.window.slice(&open.file, offset, bytes, end).map_err(ReadError::Storage),
            Ok(false) => Err(self.damaged(seq, offset, "the checksum of a frame is wrong")),
            Err(error) => Err(self.storage(seq, error)),
        }
    }

    /// What looks like damage is none if the segment was set free meanwhile.
    fn damaged(&self, seq: Seq, offset: u64, what: &str) -> ReadError {
        let first = self.shared.first();
        if seq < first {
            return ReadError::Trimmed { seq, first };
        }
        let file = self.place.as_ref().map(|place| place.segment.name.clone()).unwrap_or_default();
        ReadError::Damaged(Damage { file, offset, what: format!("{what} where record {seq} should be") })
    }

    /// Nor is it a failure then that the file has gone.
    fn storage(&self, seq: Seq, error: io::Error) -> ReadError {
        let first = self.shared.first();
        if seq < first { ReadError::Trimmed { seq, first } } else { ReadError::Storage(error) }
    }
}
