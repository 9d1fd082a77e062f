//! What a verification or a salvage found, to be shown to a human or a script.

use std::fmt;

use message::Seq;

use crate::error::Damage;

/// The outcome of [`verify`](crate::verify).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many segments there are.
    pub segments: u64,
    /// How many whole batches there are.
    pub batches: u64,
    /// How many records there are in them.
    pub records: u64,
    /// The oldest and the last record, if there is any.
    pub range: Option<Range>,
    /// What was given up behind snapshots, if anything was.
    pub trimmed: Option<Trimmed>,
    /// The head of the chain, in hex: two logs with the same head hold the same.
    pub chain: String,
    /// The records after which whole snapshots were taken.
    pub snapshots: Vec<Seq>,
    /// Records that an earlier salvage left out.
    pub gaps: Vec<Range>,
    /// A tail that the next opening will cut, because nothing in it was ever acknowledged.
    pub torn: Option<Damage>,
    /// What is not as it was written.
    pub damages: Vec<Damage>,
}

/// Records from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first one.
    pub first: Seq,
    /// The last one.
    pub last: Seq,
}

/// Records that were given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trimmed {
    /// Which.
    pub range: Range,
    /// The chain after the last of them, in hex: from there on it is checked.
    pub chain: String,
}

/// The outcome of [`salvage`](crate::salvage).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Files that were copied or moved to `damaged/` before anything was changed.
    pub set_aside: Vec<String>,
    /// What was wrong.
    pub damages: Vec<Damage>,
    /// The records that are missing now and stay so.
    pub missing: Vec<Range>,
    /// Whether an unknown number of records at the end is gone as well.
    pub end_unknown: bool,
}

impl Report {
    /// Says whether everything is as it was written.
    pub fn is_whole(&self) -> bool {
        self.damages.is_empty()
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{} to {}", self.first, self.last)
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "segments   {}", self.segments)?;
        writeln!(f, "batches    {}", self.batches)?;
        writeln!(f, "records    {}", self.records)?;
        if let Some(range) = &self.range {
            writeln!(f, "range      {range}")?;
        }
        if let Some(Trimmed { range, chain }) = &self.trimmed {
            writeln!(f, "trimmed    {range} (given up behind a snapshot, with the chain at {chain})")?;
        }
        writeln!(f, "chain      {}", self.chain)?;
        for at in &self.snapshots {
            writeln!(f, "snapshot   {at}")?;
        }
        for gap in &self.gaps {
            writeln!(f, "missing    {gap} (left out by a salvage)")?;
        }
        if let Some(torn) = &self.torn {
            writeln!(f, "torn tail  {torn}")?;
        }
        for damage in &self.damages {
            writeln!(f, "damaged    {damage}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Salvaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.damages.is_empty() {
            writeln!(f, "nothing is damaged, nothing was changed")?;
        }
        for damage in &self.damages {
            writeln!(f, "damaged    {damage}")?;
        }
        for file in &self.set_aside {
            writeln!(f, "set aside  {file}")?;
        }
        for range in &self.missing {
            writeln!(f, "missing    {range}")?;
        }
        if self.end_unknown {
            writeln!(f, "missing    an unknown number of records at the end")?;
        }
        Ok(())
    }
}
