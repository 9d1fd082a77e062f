//! The end of the log: the last segment, the only one that can have a torn tail.

use std::collections::VecDeque;
use std::io;
use std::sync::PoisonError;

use message::Seq;

use super::open::{Check, Cut, End};
use super::shared::{OpenFile, Segment};
use crate::disk::{DiskFile, sync_file, write_full, write_zeros};
use crate::error::{Damage, OpenError};
use crate::leftovers::Leftovers;
use crate::options::Options;
#[cfg(any(test, feature = "plants"))]
use crate::plant::Plant;
use crate::walk::{Flaw, Step, Walk};
use crate::window::Window;

const PIECE_BYTES: usize = 1 << 20;

/// Walks the last segment, cuts a torn tail and makes sure that what is left is durable.
pub(super) fn check_last<F: DiskFile>(
    segment: &Segment<F>,
    open: &OpenFile<F>,
    options: &Options,
    snapshot: &mut Check,
) -> Result<End, OpenError> {
    let mut walk = Walk::new(&open.file, &segment.header);
    #[cfg(any(test, feature = "plants"))]
    {
        walk.plant = options.plant;
    }
    let mut doubtful = Doubtful::default();
    let mut records = 0;
    let flaw = loop {
        match walk.step().map_err(OpenError::Storage)? {
            Step::Batch { offset, first, last, durable } => {
                records += last + 1 - first;
                // A mark has no record of its own: only the record behind it, noted as durable, covers it.
                doubtful.pass(offset, last.max(first), durable);
                snapshot.pass(&segment.name, first, last, &walk.chain)?;
            }
            Step::Gap { first, last } => snapshot.pass_gap(first, last),
            Step::End(flaw) => break flaw,
        }
    };
    let found = Leftovers::search(walk.file, walk.offset, walk.end, walk.next, walk.binding)
        .map_err(OpenError::Storage)?;
    // Nothing is changed before it is certain that the log opens.
    check_claims(segment, &walk, flaw, &found, options)?;
    snapshot.finish(walk.next)?;
    let cut = cut(segment, &walk, &found).map_err(OpenError::Storage)?;
    let rewrite_from = doubtful.start().unwrap_or(walk.offset);
    settle(&open.file, rewrite_from, walk.offset, options).map_err(OpenError::Storage)?;
    let end = End {
        offset: walk.offset,
        chain: walk.chain,
        next: walk.next,
        claimed: doubtful.claimed,
        records,
        cut,
    };
    *open.index.write().unwrap_or_else(PoisonError::into_inner) = Some(walk.index);
    Ok(end)
}

/// Refuses a log of which a record is gone that was durable once, or a segment.
fn check_claims<F: DiskFile>(
    segment: &Segment<F>,
    walk: &Walk<'_, F>,
    flaw: Flaw,
    found: &Leftovers,
    options: &Options,
) -> Result<(), OpenError> {
    let what = if flaw.continued {
        format!("{}; records up to {} can be saved", flaw.what, walk.next - 1)
    } else if found.claim(walk.next) && !cut_anyway(options) {
        let next = walk.next;
        format!("{}; record {next} was durable once and cannot be read, but later ones are there", flaw.what)
    } else {
        return Ok(());
    };
    Err(OpenError::Damaged(Damage { file: segment.name.clone(), offset: flaw.offset, what }))
}

/// Overwrites what was never acknowledged behind the last whole batch.
fn cut<F: DiskFile>(segment: &Segment<F>, walk: &Walk<'_, F>, found: &Leftovers) -> io::Result<Option<Cut>> {
    if found.end <= walk.offset {
        return Ok(None);
    }
    write_zeros(walk.file, walk.offset, found.end)?;
    Ok(Some(Cut {
        file: segment.name.clone(),
        offset: walk.offset,
        bytes: found.end - walk.offset,
        last: Seq(walk.next - 1),
    }))
}

#[cfg(any(test, feature = "plants"))]
fn cut_anyway(options: &Options) -> bool {
    options.plant == Some(Plant::CutAnyHole)
}

#[cfg(not(any(test, feature = "plants")))]
fn cut_anyway(_options: &Options) -> bool {
    false
}

/// Makes the end of the log durable, which it may not be if the last process was killed.
///
/// After a failed sync the kernel may hold pages that are on no disk and that it counts as written; so what
/// nobody has noted as durable is written once more before it is synced.
fn settle<F: DiskFile>(file: &F, from: u64, to: u64, options: &Options) -> io::Result<()> {
    #[cfg(any(test, feature = "plants"))]
    if options.plant == Some(Plant::SkipReopenSync) {
        return Ok(());
    }
    #[cfg(not(any(test, feature = "plants")))]
    let _ = options;
    let mut window = Window::new(PIECE_BYTES);
    let mut at = from;
    while at < to {
        let piece = window.slice(file, at, PIECE_BYTES, to)?;
        if piece.is_empty() {
            break;
        }
        write_full(file, piece, at)?;
        at += piece.len() as u64;
    }
    sync_file(file)
}

/// The batches that no later batch has noted as durable.
#[derive(Default)]
struct Doubtful {
    batches: VecDeque<(u64, u64)>,
    claimed: u64,
}

impl Doubtful {
    fn pass(&mut self, offset: u64, last: u64, durable: u64) {
        self.claimed = self.claimed.max(durable);
        self.batches.push_back((offset, last));
        while self.batches.front().is_some_and(|(_, last)| *last <= self.claimed) {
            self.batches.pop_front();
        }
    }

    /// Returns where the first of them begins.
    fn start(&self) -> Option<u64> {
        self.batches.front().map(|(offset, _)| *offset)
    }
}
