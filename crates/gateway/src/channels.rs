//! What is known of channel folders: how much came and went through each, and which files could not be taken in.
//!
//! The door of the files notes it, the native door shows it. All of it is bounded, and gone when the process is: a file
//! that could not be taken in is looked at again at the next start.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use message::Timestamp;

/// Problems that are kept; the oldest go first.
const PROBLEMS_MAX: usize = 1_000;
/// Channels of which is counted.
const CHANNELS_MAX: usize = 100_000;

/// What went through a channel's folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Files whose names are known.
    pub files: u64,
    /// Files that became messages, since the start.
    pub sent: u64,
    /// Messages that became files, since the start.
    pub written: u64,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The file is not on the bus.
    Refused,
    /// The file is on the bus, and something is odd about it.
    Odd,
}

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The root.
    pub root: String,
    /// The channel.
    pub channel: String,
    /// The file.
    pub file: String,
    /// How bad it is.
    pub severity: Severity,
    /// Why, for programs.
    pub code: String,
    /// Why, for people.
    pub detail: String,
    /// When that was found.
    pub at: Timestamp,
}

/// What is known of channel folders.
#[derive(Default)]
pub struct Channels {
    board: Mutex<Board>,
}

#[derive(Default)]
struct Board {
    traffic: BTreeMap<(String, String), Traffic>,
    problems: VecDeque<FileProblem>,
    problems_total: u64,
}

impl Severity {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Refused => "refused",
            Severity::Odd => "odd",
        }
    }
}

impl Channels {
    /// Changes what is counted of a channel in a root.
    pub fn count(&self, root: &str, channel: &str, change: impl FnOnce(&mut Traffic)) {
        self.with(|board| {
            let key = (root.to_owned(), channel.to_owned());
            if board.traffic.len() < CHANNELS_MAX || board.traffic.contains_key(&key) {
                change(board.traffic.entry(key).or_default());
            }
        });
    }

    /// Notes a problem.
    pub fn note(&self, problem: FileProblem) {
        self.with(|board| {
            if board.problems.len() >= PROBLEMS_MAX {
                board.problems.pop_front();
            }
            board.problems.push_back(problem);
            board.problems_total += 1;
        });
    }

    /// Returns what went through each channel, by root and name.
    pub fn traffic(&self) -> Vec<(String, String, Traffic)> {
        self.with(|board| {
            let rows = board.traffic.iter();
            rows.map(|((root, channel), traffic)| (root.clone(), channel.clone(), *traffic)).collect()
        })
    }

    /// Returns the problems that are kept, the newest first, and how many there were in all.
    pub fn problems(&self) -> (Vec<FileProblem>, u64) {
        self.with(|board| (board.problems.iter().rev().cloned().collect(), board.problems_total))
    }

    fn with<R>(&self, work: impl FnOnce(&mut Board) -> R) -> R {
        work(&mut self.board.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
