//! Words that are said again and again: the names of gateways, adapters and reasons in receipts.
//!
//! The same few stand in every receipt, so a receipt shares them instead of having its own copy.

use std::sync::Arc;

/// How many words are at hand.
const SHELF: usize = 8;

/// The words that were said last.
#[derive(Default)]
pub(crate) struct Words {
    shelf: [Option<Arc<str>>; SHELF],
    next: usize,
}

impl Words {
    /// Returns a word, shared with whoever has it, if it was said a moment ago.
    pub(crate) fn say(&mut self, word: &str) -> Arc<str> {
        if let Some(said) = self.shelf.iter().flatten().find(|said| &***said == word) {
            return Arc::clone(said);
        }
        let new: Arc<str> = word.into();
        self.shelf[self.next] = Some(Arc::clone(&new));
        self.next = (self.next + 1) % SHELF;
        new
    }
}
