//! A window on a file: reads big pieces ahead and hands out small ones.

use std::io;

use crate::disk::{DiskFile, read_full};

/// The part of a file that is in memory. It moves forward as it is asked for bytes further on.
#[derive(Debug)]
pub(crate) struct Window {
    buffer: Vec<u8>,
    start: u64,
    /// How much is read at once, and at most later on.
    piece: usize,
    piece_max: usize,
}

impl Window {
    pub(crate) fn new(piece: usize) -> Self {
        Self::growing(piece, piece)
    }

    /// Reads more at once the further it goes: who wants little does not pay for much.
    pub(crate) fn growing(piece: usize, piece_max: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, piece, piece_max }
    }

    /// Forgets what is in memory, because the file changed or is another one.
    pub(crate) fn clear(&mut self) {
        self.buffer.clear();
        self.start = 0;
    }

    /// Returns the bytes of a range, fewer where the file (or what the caller allows, `end`) ends.
    ///
    /// What lies before `from` may be forgotten.
    pub(crate) fn slice<F: DiskFile>(
        &mut self,
        file: &F,
        from: u64,
        length: usize,
        end: u64,
    ) -> io::Result<&[u8]> {
        let length = length.min(usize::try_from(end.saturating_sub(from)).unwrap_or(usize::MAX));
        let held = self.start..=self.start + self.buffer.len() as u64;
        if !held.contains(&from) {
            self.buffer.clear();
            self.start = from;
        }
        let mut skip = offset_in(from, self.start);
        if skip + length > self.buffer.len() {
            self.buffer.drain(..skip);
            self.start = from;
            skip = 0;
            self.fill(file, length, end)?;
        }
        let until = (skip + length).min(self.buffer.len());
        Ok(&self.buffer[skip..until])
    }

    /// Reads on behind what is held, until at least `length` bytes are held or the file ends.
    fn fill<F: DiskFile>(&mut self, file: &F, length: usize, end: u64) -> io::Result<()> {
        let held = self.buffer.len();
        let left = usize::try_from(end.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let wanted = length.max(self.piece).min(left);
        if wanted > held {
            self.buffer.resize(wanted, 0);
            let read = read_full(file, &mut self.buffer[held..], self.start + held as u64)?;
            self.buffer.truncate(held + read);
            self.piece = self.piece.saturating_mul(4).min(self.piece_max);
        }
        Ok(())
    }
}

fn offset_in(at: u64, start: u64) -> usize {
    usize::try_from(at - start).expect("what is held in memory fits into its address space")
}
