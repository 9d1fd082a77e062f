//! Walking a segment batch by batch, checking everything: how recovery and verification read.

use std::io;

use crate::disk::DiskFile;
use crate::frame::{self, Binding, COMMIT_BYTES, Chain, Commit, FRAME_HEADER_BYTES, FrameHeader, Kind};
use crate::index::Index;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::segment::{HEADER_BYTES, SegmentHeader};
use crate::window::Window;

const PIECE_BYTES: usize = 1 << 20;

/// A walk through one segment.
pub(crate) struct Walk<'a, F> {
    pub(crate) file: &'a F,
    pub(crate) binding: Binding,
    /// Where the segment ends.
    pub(crate) end: u64,
    /// Where the next batch would begin.
    pub(crate) offset: u64,
    /// The number that the next record must have.
    pub(crate) next: u64,
    /// The chain so far, and whether the next batch must continue it: after a gap it starts anew.
    pub(crate) chain: Chain,
    pub(crate) chain_known: bool,
    pub(crate) index: Index,
    window: Window,
    #[cfg(any(test, feature = "plants"))]
    pub(crate) plant: Option<Plant>,
}

/// What the walk came upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A whole batch; `last < first` if it has no records and only notes what is durable.
    Batch { offset: u64, first: u64, last: u64, durable: u64 },
    /// Records that a salvage left out; none if `last < first`.
    Gap { first: u64, last: u64 },
    /// No whole batch begins here.
    End(Flaw),
}

/// Why no whole batch begins at a place, and which frame is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) offset: u64,
    /// The number that a record there would have.
    pub(crate) seq: u64,
    pub(crate) what: &'static str,
    /// Whether a frame stands there that says that another segment follows.
    pub(crate) continued: bool,
}

/// One frame that passed its own checks.
struct Checked {
    header: FrameHeader,
    end: u64,
}

impl<'a, F: DiskFile> Walk<'a, F> {
    /// Starts at the first batch of a segment.
    pub(crate) fn new(file: &'a F, header: &SegmentHeader) -> Self {
        Self {
            file,
            binding: header.binding(),
            end: header.bytes,
            offset: HEADER_BYTES as u64,
            next: header.first.0,
            chain: header.chain,
            chain_known: true,
            index: Index::default(),
            window: Window::new(PIECE_BYTES),
            #[cfg(any(test, feature = "plants"))]
            plant: None,
        }
    }

    /// Goes to the next batch.
    pub(crate) fn step(&mut self) -> io::Result<Step> {
        let step = self.step_from(self.offset)?;
        if let Step::End(flaw) = step {
            #[cfg(any(test, feature = "plants"))]
            if self.plant == Some(Plant::AckTornBatch) && flaw.seq > self.next {
                return Ok(self.accept_torn(flaw));
            }
            self.index.cut(flaw.offset.min(self.offset));
        }
        Ok(step)
    }

    /// Takes the records of a batch without its commit frame.
    #[cfg(any(test, feature = "plants"))]
    fn accept_torn(&mut self, flaw: Flaw) -> Step {
        let step = Step::Batch { offset: self.offset, first: self.next, last: flaw.seq - 1, durable: 0 };
        self.next = flaw.seq;
        self.offset = flaw.offset;
        step
    }

    /// Continues at another place, behind damage, where the chain is not known.
    pub(crate) fn resume(&mut self, offset: u64, next: u64) {
        self.offset = offset;
        self.next = next;
        self.chain_known = false;
    }

    /// Returns another walk through the same segment, at a place where the chain is not known.
    pub(crate) fn elsewhere(&self, offset: u64, next: u64) -> Self {
        Self {
            file: self.file,
            binding: self.binding,
            end: self.end,
            offset,
            next,
            chain: self.chain,
            chain_known: false,
            index: Index::default(),
            window: Window::new(PIECE_BYTES),
            #[cfg(any(test, feature = "plants"))]
            plant: None,
        }
    }

    fn step_from(&mut self, start: u64) -> io::Result<Step> {
        let (mut at, mut seq) = (start, self.next);
        loop {
            let checked = match self.frame(start, at)? {
                Ok(checked) => checked,
                Err(what) => return Ok(Step::End(Flaw { offset: at, seq, what, continued: false })),
            };
            match checked.header.kind {
                Kind::Record if checked.header.seq == seq => {
                    self.index.note(seq, at);
                    seq += 1;
                    at = checked.end;
                }
                Kind::Commit if checked.header.seq.wrapping_add(1) == seq => {
                    return self.commit(start, at, seq, checked.end);
                }
                Kind::Gap if at == start => return self.gap(at, &checked),
                Kind::Next if at == start && checked.header.seq == seq => {
                    let what = "the segment that follows is missing";
                    return Ok(Step::End(Flaw { offset: at, seq, what, continued: true }));
                }
                Kind::Record | Kind::Commit | Kind::Gap | Kind::Next => {
                    return Ok(Step::End(Flaw {
                        offset: at,
                        seq,
                        what: "a frame has the wrong number",
                        continued: false,
                    }));
                }
            }
        }
    }

    /// Checks the frame at an offset by itself, keeping the bytes of its batch in memory.
    fn frame(&mut self, start: u64, at: u64) -> io::Result<Result<Checked, &'static str>> {
        let before = usize::try_from(at - start).unwrap_or(usize::MAX);
        let bytes =
            self.window.slice(self.file, start, before.saturating_add(FRAME_HEADER_BYTES), self.end)?;
        let Some(header) = bytes.get(before..).and_then(FrameHeader::parse) else {
            return Ok(Err("there is no frame"));
        };
        if header.tag != self.binding.tag {
            return Ok(Err("the frame belongs to an earlier use of the file"));
        }
        let end = at + header.frame_bytes() as u64;
        if end > self.end {
            return Ok(Err("the frame is longer than the segment"));
        }
        let bytes = self.window.slice(self.file, start, before + header.frame_bytes(), self.end)?;
        let whole = bytes.get(before..).is_some_and(|frame| header.is_whole(frame, self.binding));
        Ok(if whole { Ok(Checked { header, end }) } else { Err("the checksum of a frame is wrong") })
    }

    fn commit(&mut self, start: u64, at: u64, seq: u64, end: u64) -> io::Result<Step> {
        let records = usize::try_from(at - start).unwrap_or(usize::MAX);
        let bytes = self.window.slice(self.file, start, records + COMMIT_BYTES, self.end)?;
        let Some(commit) = bytes.get(records..).and_then(Commit::parse) else {
            return Ok(Step::End(Flaw {
                offset: at,
                seq,
                what: "a commit frame is too short",
                continued: false,
            }));
        };
        if commit.first != self.next {
            return Ok(Step::End(Flaw {
                offset: at,
                seq,
                what: "a commit frame closes another batch",
                continued: false,
            }));
        }
        let chain = frame::chain_after(&self.chain, &bytes[..records], commit.first, commit.durable);
        if self.chain_known && chain != commit.chain {
            return Ok(Step::End(Flaw {
                offset: at,
                seq,
                what: "the batch does not continue the chain",
                continued: false,
            }));
        }
        self.chain = commit.chain;
        self.chain_known = true;
        self.next = seq;
        self.offset = end;
        Ok(Step::Batch { offset: start, first: commit.first, last: seq - 1, durable: commit.durable })
    }

    fn gap(&mut self, at: u64, checked: &Checked) -> io::Result<Step> {
        let bytes = self.window.slice(self.file, at, frame::GAP_BYTES, self.end)?;
        let last = checked.header.seq;
        let seq = self.next;
        match frame::parse_gap(bytes) {
            // A gap of no records stands where only a note of what is durable was lost.
            Some(first) if first == self.next && last.saturating_add(1) >= first => {
                self.index.note_gap(first, last);
                self.next = last + 1;
                self.offset = checked.end;
                self.chain_known = false;
                Ok(Step::Gap { first, last })
            }
            Some(_) | None => {
                Ok(Step::End(Flaw { offset: at, seq, what: "a gap has the wrong numbers", continued: false }))
            }
        }
    }
}
