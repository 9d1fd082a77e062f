//! What takes so long, told on stderr.

use std::fmt;

/// Tells on stderr what takes so long.
pub(crate) fn progress(line: impl fmt::Display) {
    eprintln!("bench: {line}");
}
