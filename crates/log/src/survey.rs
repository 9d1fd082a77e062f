//! Reading a damaged segment as far as it goes, and on behind the damage.

use std::io;

use crate::disk::DiskFile;
use crate::frame::{ALIGNMENT, Chain, FRAME_HEADER_BYTES, FrameHeader, Kind};
use crate::leftovers::{FoundCommit, Leftovers};
use crate::report::Range;
use crate::segment::SegmentHeader;
use crate::walk::{Flaw, Step, Walk};
use crate::window::Window;
use message::Seq;

const PIECE_BYTES: usize = 1 << 20;

/// What is in one segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    pub(crate) batches: u64,
    pub(crate) records: u64,
    /// What an earlier salvage left out.
    pub(crate) gaps: Vec<Range>,
    /// Where each batch with records ended: its last record and the chain after it.
    pub(crate) ends: Vec<(u64, Chain)>,
    /// What cannot be read and was durable once.
    pub(crate) holes: Vec<Hole>,
    /// What cannot be read and was never durable; only in the last segment.
    pub(crate) torn: Option<Flaw>,
    /// Whether a segment should follow that is not there.
    pub(crate) continued: Option<Flaw>,
    /// The number of the next record behind the segment.
    pub(crate) next: u64,
    pub(crate) chain: Chain,
    /// Whether what follows must continue that chain.
    pub(crate) chain_known: bool,
}

/// Damaged bytes between whole batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hole {
    /// Where they begin and end.
    pub(crate) offset: u64,
    pub(crate) end: u64,
    /// The records that were in them; none if `last < first`.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// The first thing that is wrong.
    pub(crate) flaw: Flaw,
}

/// Reads one segment; `after` is the header of the next one.
pub(crate) fn survey<F: DiskFile>(
    file: &F,
    header: &SegmentHeader,
    after: Option<&SegmentHeader>,
) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let mut walk = Walk::new(file, header);
    loop {
        match walk.step()? {
            Step::Batch { first, last, .. } => {
                survey.batches += 1;
                survey.records += last + 1 - first;
                if first <= last {
                    survey.ends.push((last, walk.chain));
                }
            }
            Step::Gap { first, last } => {
                if first <= last {
                    survey.gaps.push(Range { first: Seq(first), last: Seq(last) });
                }
            }
            Step::End(flaw) => {
                let whole = after.is_some_and(|after| ends_well(&walk, after));
                if flaw.continued && after.is_none() {
                    survey.continued = Some(flaw);
                    break;
                }
                if whole || !survey.pass_hole(&mut walk, flaw, after)? {
                    break;
                }
            }
        }
    }
    survey.next = walk.next;
    survey.chain = walk.chain;
    survey.chain_known = walk.chain_known;
    Ok(survey)
}

/// Says whether a segment that ends here is continued by the next one.
fn ends_well<F>(walk: &Walk<'_, F>, after: &SegmentHeader) -> bool {
    walk.next == after.first.0 && (!walk.chain_known || walk.chain == after.chain)
}

impl Survey {
    /// Notes what cannot be read, and goes on behind it; says whether there is something behind it.
    fn pass_hole<F: DiskFile>(
        &mut self,
        walk: &mut Walk<'_, F>,
        flaw: Flaw,
        after: Option<&SegmentHeader>,
    ) -> io::Result<bool> {
        let found = Leftovers::search(walk.file, walk.offset, walk.end, walk.next, walk.binding)?;
        if after.is_none() && !found.claim(walk.next) {
            self.torn = Some(flaw).filter(|_| found.end > walk.offset);
            return Ok(false);
        }
        let (offset, first) = (walk.offset, walk.next);
        if let Some((start, next)) = next_batch(walk, &found.commits)? {
            self.holes.push(Hole { offset, end: start, first, last: next - 1, flaw });
            walk.resume(start, next);
            return Ok(true);
        }
        let known = found.commits.iter().map(|commit| commit.last.max(commit.durable)).max();
        let last = after.map_or(known.unwrap_or(first).max(first), |after| after.first.0.saturating_sub(1));
        self.holes.push(Hole { offset, end: walk.end, first, last, flaw });
        walk.next = walk.next.max(last + 1);
        walk.chain_known = false;
        Ok(false)
    }
}

/// Finds the first whole batch behind a flaw: where it begins, and its first record.
fn next_batch<F: DiskFile>(walk: &Walk<'_, F>, commits: &[FoundCommit]) -> io::Result<Option<(u64, u64)>> {
    let mut from = walk.offset + ALIGNMENT as u64;
    for commit in commits {
        if commit.first >= walk.next {
            let empty = commit.last.wrapping_add(1) == commit.first && commit.offset >= from;
            let start = if empty { Some(commit.offset) } else { start_of(walk, from, commit)? };
            if let Some(start) = start {
                return Ok(Some((start, commit.first)));
            }
        }
        from = from.max(commit.offset + ALIGNMENT as u64);
    }
    Ok(None)
}

/// Finds where the records begin that a commit frame closes, if all of them are whole.
fn start_of<F: DiskFile>(walk: &Walk<'_, F>, from: u64, commit: &FoundCommit) -> io::Result<Option<u64>> {
    let mut window = Window::new(PIECE_BYTES);
    let mut at = from;
    while at < commit.offset {
        let header = FrameHeader::parse(window.slice(walk.file, at, FRAME_HEADER_BYTES, commit.offset)?);
        let candidate = header.is_some_and(|header| {
            header.kind == Kind::Record && header.tag == walk.binding.tag && header.seq == commit.first
        });
        if candidate {
            let mut trial = walk.elsewhere(at, commit.first);
            if let Step::Batch { first, last, .. } = trial.step()?
                && (first, last) == (commit.first, commit.last)
            {
                return Ok(Some(at));
            }
        }
        at += ALIGNMENT as u64;
    }
    Ok(None)
}
