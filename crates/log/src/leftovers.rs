//! What lies behind the last whole batch: nothing, what a power loss left, or proof of damage.

use std::io;

use crate::disk::DiskFile;
use crate::frame::{
    ALIGNMENT, Binding, COMMIT_BYTES, Commit, FRAME_HEADER_BYTES, FrameHeader, Kind, read_u32,
};
use crate::window::Window;

const PIECE_BYTES: usize = 1 << 20;

/// Frames of this use of the segment behind a place where no whole batch begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leftovers {
    /// Where the last thing that looks like one ends; 0 if there is none.
    pub(crate) end: u64,
    /// The whole commit frames.
    pub(crate) commits: Vec<FoundCommit>,
}

/// A whole commit frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundCommit {
    pub(crate) offset: u64,
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) durable: u64,
}

impl Leftovers {
    /// Says whether a whole commit frame knew a record to be durable: then its absence is damage.
    pub(crate) fn claim(&self, seq: u64) -> bool {
        self.commits.iter().any(|commit| commit.durable >= seq)
    }

    /// Searches everything from an offset to the end of the segment, whatever may be broken between.
    ///
    /// Only commit frames are checksummed, and they are small: a hostile record full of false headers costs
    /// no more than one look at each.
    pub(crate) fn search<F: DiskFile>(
        file: &F,
        from: u64,
        end: u64,
        next: u64,
        binding: Binding,
    ) -> io::Result<Self> {
        let mut window = Window::new(PIECE_BYTES);
        let mut found = Self::default();
        let mut start = from;
        while start < end {
            // Pieces overlap by one commit frame, so that none is missed where they meet.
            let piece = window.slice(file, start, PIECE_BYTES + COMMIT_BYTES, end)?;
            if piece.len() < FRAME_HEADER_BYTES {
                break;
            }
            for at in (0..piece.len().min(PIECE_BYTES)).step_by(ALIGNMENT) {
                let candidate = &piece[at..];
                if candidate.len() >= FRAME_HEADER_BYTES && read_u32(candidate, 16) == binding.tag {
                    found.consider(candidate, start + at as u64, end, next, binding);
                }
            }
            start += PIECE_BYTES as u64;
        }
        Ok(found)
    }

    fn consider(&mut self, candidate: &[u8], offset: u64, end: u64, next: u64, binding: Binding) {
        let Some(header) = FrameHeader::parse(candidate) else { return };
        let frame_end = offset + header.frame_bytes() as u64;
        // A commit of no records has the number of the record before it.
        if header.seq.saturating_add(1) < next || frame_end > end {
            return;
        }
        match header.kind {
            Kind::Record | Kind::Gap | Kind::Next => self.end = self.end.max(frame_end),
            Kind::Commit if header.frame_bytes() == COMMIT_BYTES => {
                self.end = self.end.max(frame_end);
                if header.is_whole(candidate, binding)
                    && let Some(commit) = Commit::parse(candidate)
                {
                    let Commit { first, durable, chain: _ } = commit;
                    self.commits.push(FoundCommit { offset, first, last: header.seq, durable });
                }
            }
            Kind::Commit => {}
        }
    }
}
