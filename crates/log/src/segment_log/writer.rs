//! The one writer: appends batches and begins segments.

use std::io;
use std::sync::{Arc, PoisonError};

use message::Seq;

use super::shared::{OpenFile, Segment, Shared, SyncFailure, hold};
use crate::api::{Class, Room};
use crate::batch::{Batch, Place};
use crate::disk::{Disk, sync_file, write_full};
use crate::error::AppendError;
use crate::frame::{Chain, NEXT_BYTES, next_frame};
use crate::index::{Index, STRIDE_BYTES};
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::segment::{HEADER_BYTES, SegmentHeader, segment_name, spare_name};

pub(crate) struct Writer<D: Disk> {
    pub(crate) shared: Arc<Shared<D>>,
    pub(crate) segment: Arc<Segment<D::File>>,
    pub(crate) open: Arc<OpenFile<D::File>>,
    /// Where the next batch goes.
    pub(crate) offset: u64,
    pub(crate) chain: Chain,
    /// What the batches so far have noted as durable.
    pub(crate) claimed: Seq,
    /// From which offset on the next record is marked in the index.
    pub(crate) mark_from: u64,
}

/// A segment that is written to.
type Active<F> = (Arc<Segment<F>>, Arc<OpenFile<F>>);

impl<D: Disk> Writer<D> {
    pub(crate) fn append(
        &mut self,
        expected: Seq,
        batch: &mut Batch,
        class: Class,
    ) -> Result<Seq, AppendError> {
        let last = self.shared.last();
        if self.shared.poisoned() {
            return Err(AppendError::Poisoned);
        }
        if expected != last {
            return Err(AppendError::Stale { expected, last });
        }
        if batch.is_empty() {
            return Ok(last);
        }
        self.check_size(batch)?;
        if batch.bytes() > self.free() {
            self.begin_segment(class, batch.bytes())?;
        }
        self.write(batch)
    }

    pub(crate) fn mark(&mut self) -> Result<(), AppendError> {
        if self.shared.poisoned() {
            return Err(AppendError::Poisoned);
        }
        if self.claimed >= self.shared.durable() {
            return Ok(());
        }
        let mut nothing = Batch::new();
        if nothing.bytes() > self.free() {
            match self.begin_segment(Class::Normal, nothing.bytes()) {
                Ok(()) => {}
                Err(AppendError::NoRoom { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.write(&mut nothing).map(|_| ())
    }

    pub(crate) fn room(&self) -> Room {
        let options = &self.shared.options;
        let pool = hold(&self.shared.pool);
        let room = |class| {
            let spares = pool.available(class, options) as u64;
            self.free() + spares * capacity(options.segment_bytes)
        };
        Room {
            normal: room(Class::Normal),
            reserve: room(Class::Reserve),
            batch_bytes_max: capacity(options.segment_bytes),
        }
    }

    fn check_size(&self, batch: &Batch) -> Result<(), AppendError> {
        let options = &self.shared.options;
        let record_bytes_max = u64::from(options.record_bytes_max);
        if batch.record_bytes_max() > record_bytes_max {
            let bytes = batch.record_bytes_max();
            return Err(AppendError::RecordTooLarge { bytes, bytes_max: record_bytes_max });
        }
        let bytes_max = capacity(options.segment_bytes);
        if batch.bytes() > bytes_max {
            return Err(AppendError::BatchTooLarge { bytes: batch.bytes(), bytes_max });
        }
        Ok(())
    }

    /// Returns how much room for batches is left in the segment that is written to.
    fn free(&self) -> u64 {
        self.segment.header.bytes.saturating_sub(self.offset + NEXT_BYTES as u64)
    }

    fn write(&mut self, batch: &mut Batch) -> Result<Seq, AppendError> {
        let last = self.shared.last();
        let durable = self.shared.durable();
        let mut marks = Vec::new();
        let (offset, mut mark_from) = (self.offset, self.mark_from);
        let count = batch.count();
        let place = Place { binding: self.segment.header.binding(), offset, end: self.segment.header.bytes };
        let (bytes, chain) = batch.seal(last, durable, &self.chain, place, |seq, at| {
            let at = offset + at as u64;
            if at >= mark_from {
                marks.push((seq, at));
                mark_from = at + STRIDE_BYTES;
            }
        });
        if let Err(error) = write_full(&self.open.file, bytes, offset) {
            self.shared.poison();
            return Err(AppendError::Storage(error));
        }
        self.offset += batch.bytes();
        self.chain = chain;
        self.claimed = durable;
        self.mark_from = mark_from;
        self.note(&marks);
        let last = Seq(last.0 + count);
        self.shared.appended(last, self.offset);
        Ok(last)
    }

    fn note(&self, marks: &[(u64, u64)]) {
        if marks.is_empty() {
            return;
        }
        let mut index = self.open.index.write().unwrap_or_else(PoisonError::into_inner);
        let index = index.get_or_insert_with(Index::default);
        for (seq, offset) in marks {
            index.note(*seq, *offset);
        }
    }

    /// Goes on in a new segment; refused, with nothing changed, when there is no room for one.
    fn begin_segment(&mut self, class: Class, bytes: u64) -> Result<(), AppendError> {
        let storage = |error| {
            self.shared.poison();
            AppendError::Storage(error)
        };
        let number = match self.take_spare(class).map_err(storage)? {
            Some(number) => number,
            None => return Err(AppendError::NoRoom { bytes }),
        };
        // From here on everything before the new segment is durable, so only the last one can have a torn tail.
        self.sync_before_new_segment()?;
        let (segment, open) = self.activate(number).map_err(storage)?;
        // Not synced: it is there to notice, later, that a whole file has gone.
        let frame = next_frame(segment.header.first.0, self.segment.header.binding());
        write_full(&self.open.file, &frame, self.offset).map_err(storage)?;
        self.offset = HEADER_BYTES as u64;
        self.mark_from = 0;
        self.segment = Arc::clone(&segment);
        self.open = Arc::clone(&open);
        self.shared.push_segment(segment, open);
        Ok(())
    }

    #[cfg(any(test, feature = "plants"))]
    fn sync_before_new_segment(&self) -> Result<(), AppendError> {
        if self.shared.planted(Plant::SkipRollSync) { Ok(()) } else { self.sync_all() }
    }

    #[cfg(not(any(test, feature = "plants")))]
    fn sync_before_new_segment(&self) -> Result<(), AppendError> {
        self.sync_all()
    }

    fn sync_all(&self) -> Result<(), AppendError> {
        match self.shared.sync() {
            Ok(_) => Ok(()),
            Err(SyncFailure::Earlier) => Err(AppendError::Poisoned),
            Err(SyncFailure::Now(error)) => Err(AppendError::Storage(error)),
        }
    }

    fn take_spare(&self, class: Class) -> io::Result<Option<u32>> {
        let take = || hold(&self.shared.pool).take(class, &self.shared.options);
        if let Some(number) = take() {
            return Ok(Some(number));
        }
        self.shared.make_for(class)?;
        Ok(take())
    }

    /// Turns a spare into the next segment. Its header is durable before its name is, and its name before
    /// any frame is written: whoever finds frames of a generation finds its header too.
    fn activate(&self, number: u32) -> io::Result<Active<D::File>> {
        let shared = &self.shared;
        let spare = spare_name(number);
        let header = SegmentHeader {
            generation: self.segment.header.generation + 1,
            first: Seq(shared.last().0 + 1),
            bytes: shared.options.segment_bytes,
            chain: self.chain,
        };
        let name = segment_name(header.generation);
        let file = shared.disk.open(&spare)?;
        write_full(&file, &header.encode(), 0)?;
        sync_file(&file)?;
        shared.disk.rename(&spare, &name)?;
        shared.sync_folder()?;
        let segment = Arc::new(Segment::new(name, header));
        let open = segment.opened(file, Some(Index::default()));
        Ok((segment, open))
    }
}

/// Returns how many bytes of batches a segment takes.
pub(crate) fn capacity(segment_bytes: u64) -> u64 {
    segment_bytes.saturating_sub((HEADER_BYTES + NEXT_BYTES) as u64)
}
