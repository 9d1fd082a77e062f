//! The batch: records that become visible together or not at all.

use message::Seq;

use crate::disk::PAGE_BYTES;
use crate::frame::{self, Binding, COMMIT_BYTES, Chain, FLAG_LAST, FRAME_HEADER_BYTES};

/// Where a batch goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// What binds its frames to the segment.
    pub(crate) binding: Binding,
    /// Where in the segment.
    pub(crate) offset: u64,
    /// Where the segment ends.
    pub(crate) end: u64,
}

/// Records to append together, encoded straight into the bytes that go to the disk.
///
/// Reusable: clearing it keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    buffer: Vec<u8>,
    /// Where the record frames end; a sealed batch has its commit frame behind.
    records_end: usize,
    count: u64,
    record_bytes_max: usize,
}

impl Batch {
    /// Makes an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty batch with memory for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Adds a record.
    pub fn push(&mut self, record: &[u8]) {
        self.push_with(|buffer| buffer.extend_from_slice(record));
    }

    /// Adds a record that `encode` appends to the buffer it is given; what is there already is not its own.
    pub fn push_with(&mut self, encode: impl FnOnce(&mut Vec<u8>)) {
        self.buffer.truncate(self.records_end);
        let start = frame::begin_record(&mut self.buffer);
        encode(&mut self.buffer);
        let length = self.buffer.len().checked_sub(start + FRAME_HEADER_BYTES);
        let length = length.expect("an encoder only appends to the buffer that it is given");
        self.record_bytes_max = self.record_bytes_max.max(length);
        frame::end_record(&mut self.buffer, start);
        self.records_end = self.buffer.len();
        self.count += 1;
    }

    /// Removes all records and keeps the memory.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.records_end = 0;
        self.count = 0;
        self.record_bytes_max = 0;
    }

    /// Returns how many records it has.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Says whether it has no record.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many bytes it takes in the log.
    pub fn bytes(&self) -> u64 {
        (self.records_end + COMMIT_BYTES) as u64
    }

    /// Returns the size of its largest record.
    pub fn record_bytes_max(&self) -> u64 {
        self.record_bytes_max as u64
    }

    /// Numbers, checksums and commits the frames for their place; returns the bytes and the chain after them. Zeros
    /// follow to the end of the page, so that the disk need not be asked what is there.
    pub(crate) fn seal(
        &mut self,
        last: Seq,
        durable: Seq,
        chain: &Chain,
        place: Place,
        mut placed: impl FnMut(u64, usize),
    ) -> (&[u8], Chain) {
        let binding = place.binding;
        self.buffer.truncate(self.records_end);
        let first = last.0 + 1;
        let (mut seq, mut start) = (last.0, 0);
        while start < self.records_end {
            let length = frame::read_u32(&self.buffer, start + 4) as usize;
            let end = start + (FRAME_HEADER_BYTES + length).next_multiple_of(frame::ALIGNMENT);
            seq += 1;
            let flags = if end == self.records_end { FLAG_LAST } else { 0 };
            frame::seal_record(&mut self.buffer[start..end], seq, flags, binding);
            placed(seq, start);
            start = end;
        }
        let chain = frame::push_commit(&mut self.buffer, first, seq, durable.0, chain, binding);
        let end = place.offset + self.buffer.len() as u64;
        let padding = end.next_multiple_of(PAGE_BYTES as u64).min(place.end.max(end)) - end;
        self.buffer.resize(self.buffer.len() + usize::try_from(padding).unwrap_or_default(), 0);
        (&self.buffer, chain)
    }
}
