//! Recent bodies: what was just written, so that it is not read back from a file.

use std::collections::{HashMap, VecDeque};
use std::sync::{PoisonError, RwLock};

use bytes::Bytes;
use message::Seq;

/// The bodies that were written last, bounded in bytes.
pub struct RecentBodies {
    bytes_max: usize,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    bodies: HashMap<Seq, Bytes>,
    order: VecDeque<Seq>,
    bytes: usize,
}

impl RecentBodies {
    /// Makes an empty ring for so many bytes.
    pub fn new(bytes_max: usize) -> Self {
        RecentBodies { bytes_max, state: RwLock::default() }
    }

    /// Adds the bodies of a batch, under their places in the log. The oldest go when there are too many bytes.
    pub fn add(&self, bodies: &mut Vec<(Seq, Bytes)>) {
        if bodies.is_empty() {
            return;
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        for (seq, body) in bodies.drain(..) {
            state.bytes += body.len();
            state.order.push_back(seq);
            if let Some(before) = state.bodies.insert(seq, body) {
                state.bytes -= before.len();
            }
        }
        while state.bytes > self.bytes_max {
            let Some(oldest) = state.order.pop_front() else { break };
            if let Some(body) = state.bodies.remove(&oldest) {
                state.bytes -= body.len();
            }
        }
    }

    /// Returns bodies by their places, as far as they are here.
    pub fn get_many(&self, places: &[Seq]) -> Vec<Option<Bytes>> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        places.iter().map(|place| state.bodies.get(place).cloned()).collect()
    }

    /// Forgets everything, because the state was loaded again.
    pub fn clear(&self) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::default();
    }
}
