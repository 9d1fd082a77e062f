//! Bodies that were carried: where they are now, for those who learnt of the old place before.

use std::collections::{HashMap, VecDeque};
use std::sync::{PoisonError, RwLock};

use message::Seq;

/// How many moves are remembered. Whoever comes later than that is told that the place is trimmed, and what it was
/// handed goes back.
const MOVES_MAX: usize = 1 << 18;

/// The last moves.
#[derive(Default)]
pub struct Moved {
    moves: RwLock<Moves>,
}

#[derive(Default)]
struct Moves {
    to: HashMap<Seq, Seq>,
    order: VecDeque<Seq>,
}

impl Moved {
    /// Notes moves, from a place to another.
    pub fn note(&self, moves: &[(Seq, Seq)]) {
        let mut known = self.moves.write().unwrap_or_else(PoisonError::into_inner);
        for (from, to) in moves {
            // What two needed was carried for each of them, from one place to two.
            if known.to.insert(*from, *to).is_some() {
                continue;
            }
            if known.order.len() == MOVES_MAX
                && let Some(oldest) = known.order.pop_front()
            {
                known.to.remove(&oldest);
            }
            known.order.push_back(*from);
        }
    }

    /// Returns where bodies are now that were at these places; what did not move stays.
    pub fn now(&self, places: &[Seq]) -> Vec<Seq> {
        let known = self.moves.read().unwrap_or_else(PoisonError::into_inner);
        let now = |mut place: Seq| {
            // A body only ever moves towards the end of the log.
            while let Some(next) = known.to.get(&place).filter(|next| **next > place) {
                place = *next;
            }
            place
        };
        places.iter().map(|place| now(*place)).collect()
    }
}
