//! Where records lie in a segment: one mark every few KiB, the rest is found by walking from there.

/// How far apart marks are: one read of the disk covers the way from a mark to any record before the next.
pub(crate) const STRIDE_BYTES: u64 = 16 << 10;

/// The marks of one segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    marks: Vec<Mark>,
    gaps: Vec<Missing>,
}

/// A record and the offset of its frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) seq: u64,
    pub(crate) offset: u64,
}

/// Records that a salvage left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl Index {
    /// Notes a record, if the last mark is far enough behind.
    pub(crate) fn note(&mut self, seq: u64, offset: u64) {
        if self.marks.last().is_none_or(|mark| offset >= mark.offset + STRIDE_BYTES) {
            self.marks.push(Mark { seq, offset });
        }
    }

    /// Notes records that are missing.
    pub(crate) fn note_gap(&mut self, first: u64, last: u64) {
        if first <= last {
            self.gaps.push(Missing { first, last });
        }
    }

    /// Forgets the marks from an offset on.
    pub(crate) fn cut(&mut self, offset: u64) {
        let keep = self.marks.partition_point(|mark| mark.offset < offset);
        self.marks.truncate(keep);
    }

    /// Finds the last mark at or before a record.
    pub(crate) fn before(&self, seq: u64) -> Option<Mark> {
        let after = self.marks.partition_point(|mark| mark.seq <= seq);
        after.checked_sub(1).map(|at| self.marks[at])
    }

    /// Says whether a record is missing, and with which others.
    pub(crate) fn missing(&self, seq: u64) -> Option<Missing> {
        self.gaps.iter().copied().find(|gap| gap.first <= seq && seq <= gap.last)
    }
}
