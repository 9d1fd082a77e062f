//! Appends in flight: handed to the log, their outcome not known yet.

use std::collections::VecDeque;

use super::Appended;

/// Appends in the order in which the log was given them, which is that of their outcomes and of their completions.
#[derive(Default)]
pub struct InFlight {
    appends: VecDeque<Appended>,
    #[cfg(feature = "plants")]
    pub plant: Option<super::Plant>,
}

impl InFlight {
    /// Adds the newest.
    pub fn push(&mut self, appended: Appended) {
        self.appends.push_back(appended);
    }

    /// Takes the one whose outcome comes next: the oldest.
    pub fn pop(&mut self) -> Option<Appended> {
        #[cfg(feature = "plants")]
        if self.plant == Some(super::Plant::ReleaseOutOfOrder) {
            return self.appends.pop_back();
        }
        self.appends.pop_front()
    }

    /// Gives up all that are left, because they are behind one that the log does not have: their callers learn that.
    pub fn give_up(&mut self) {
        let behind = std::mem::take(&mut self.appends);
        #[cfg(feature = "plants")]
        if self.plant == Some(super::Plant::KeepBehindRefused) {
            return behind.into_iter().for_each(Appended::leak);
        }
        drop(behind);
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.appends.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.appends.is_empty()
    }
}
