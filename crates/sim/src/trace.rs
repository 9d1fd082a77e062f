//! The trace of a run: everything that was seen, as a hash always and as lines when somebody wants to read it.

use std::fmt::{self, Write};

/// Gathers what was seen.
pub(crate) struct Trace {
    hash: u64,
    lines: Option<Vec<String>>,
}

impl Trace {
    /// Starts a trace of which only the hash is kept.
    pub(crate) fn hashed() -> Self {
        Trace { hash: HASH_START, lines: None }
    }

    /// Starts a trace whose lines are kept too.
    pub(crate) fn kept() -> Self {
        Trace { hash: HASH_START, lines: Some(Vec::new()) }
    }

    /// Notes something that was seen.
    pub(crate) fn note(&mut self, seen: fmt::Arguments<'_>) {
        if let Some(lines) = &mut self.lines {
            lines.push(seen.to_string());
        }
        Hashing(&mut self.hash).write_fmt(seen).expect("hashing does not fail");
        self.hash = mix(self.hash, b'\n');
    }

    /// Returns the hash of everything so far.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns the lines, if they were kept.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

/// Puts the hashes of several runs together; their order counts.
pub(crate) fn combine(hashes: impl Iterator<Item = u64>) -> u64 {
    hashes.fold(HASH_START, |all, hash| hash.to_le_bytes().into_iter().fold(all, mix))
}

const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a: no defence against anybody, and the same on every machine.
fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

struct Hashing<'h>(&'h mut u64);

impl Write for Hashing<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        *self.0 = text.bytes().fold(*self.0, mix);
        Ok(())
    }
}
