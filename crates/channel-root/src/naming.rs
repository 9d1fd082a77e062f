//! Names for what we write: they grow within a second, so that they sort as they were written.

use std::sync::{Mutex, PoisonError};

use dialect_channel::addressing::base_id;
use dialect_channel::file_name::FileName;
use message::Timestamp;

/// Where the first name of a second lies at most; there is room behind it for a few tens of thousands.
const FIRST_MAX: u16 = 0x0fff;
/// How far one name lies behind the one before at most.
const STEP_MAX: u16 = 4;

/// The digits of the last name.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    last: Mutex<(i64, u16)>,
}

impl Naming {
    /// Returns the digits of the next name in a second. Other writers may have the same: whoever makes the file finds out.
    pub(crate) fn next(&self, second: i64) -> u16 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let step = 1 + random_u16() % STEP_MAX;
        let behind = if last.0 == second { last.1.checked_add(step) } else { None };
        // Should the digits of a second be used up, names start over and only sort by their timestamps.
        let digits = behind.unwrap_or_else(|| random_u16() % (FIRST_MAX + 1));
        *last = (second, digits);
        digits
    }
}

/// Draws the id of a message that an agent sends now, for whoever writes no file.
pub fn fresh_id(agent: &str, now: Timestamp) -> String {
    FileName::make(now, base_id(agent), random_u16()).to_string()
}

/// Returns a number that nobody can tell before; on a machine without chance always the same, and clashes are found.
pub(crate) fn random_u32() -> u32 {
    getrandom::u32().unwrap_or_default()
}

fn random_u16() -> u16 {
    (random_u32() & 0xffff) as u16
}
