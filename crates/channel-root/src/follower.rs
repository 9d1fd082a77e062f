//! Following a channel: what is new in its folder, each file once.
//!
//! A poll of a folder that did not change is one look at it. Times of folders are coarse, and what happens within one
//! step of them does not show: so a listing counts as whole only if it was made some time after its stamp was seen
//! first. File systems of networks may show old stamps, so everything is listed now and then in any case.
//!
//! What is known is a set of names, not a highest name: clocks differ, and files of an earlier second may come later.
//! Of each name 16 bytes are kept, a keyed hash, so that a folder of 100,000 messages costs a few megabytes.

mod known;

use std::collections::VecDeque;
use std::time::Duration;

use dialect_channel::file_name::{self, FileName};
use json::Value;
use message::Timestamp;

use crate::folder::{Folder, Problem, Stamp};
use crate::{MESSAGE_BYTES_MAX, Root, RootError};

use known::Known;

/// How long after a change was seen a listing shows all of it.
const SETTLED_AFTER: Duration = Duration::from_secs(2);
/// How often everything is listed although nothing seems to have changed.
const LISTED_EVERY: Duration = Duration::from_secs(60);
/// Names that are remembered to be read by the next polls; the rest is listed again.
const WAITING_MAX: usize = 16_384;
/// Files that are read once more in the next poll.
const DOUBTFUL_MAX: usize = 1_024;

/// How much a poll may give.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a file.
    pub file_bytes_max: u64,
    /// Bytes of all files of a poll; one file is given in any case.
    pub poll_bytes_max: u64,
    /// Files of a poll.
    pub poll_files_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { file_bytes_max: MESSAGE_BYTES_MAX, poll_bytes_max: 16 << 20, poll_files_max: 1_000 }
    }
}

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// What stands in it: a JSON object.
    pub bytes: Vec<u8>,
    /// When its message was made, as it says itself, else as its name says.
    pub at: Timestamp,
}

/// A file that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Its name.
    pub name: String,
    /// Why.
    pub problem: Problem,
}

/// What a poll found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// New messages, by the time that they say and then by name.
    pub found: Vec<Found>,
    /// What looks like a message and is none, each once.
    pub unreadable: Vec<Unreadable>,
    /// Whether there is more, which the next poll gives at once.
    pub more: bool,
}

/// Follows one channel.
#[derive(Debug)]
pub struct Follower {
    root: Root,
    channel: String,
    limits: Limits,
    known: Known,
    /// The stamp that was seen last, and when it was seen first.
    pub(crate) seen: Option<(Stamp, Duration)>,
    /// When everything was listed last.
    listed: Option<Duration>,
    /// Whether the last listing was made after the stamp had settled.
    pub(crate) is_whole: bool,
    waiting: VecDeque<String>,
    /// Whether there were more names than may wait.
    is_cut: bool,
    doubtful: Vec<String>,
}

impl Follower {
    /// Starts to follow a channel from its beginning. The channel need not be there yet.
    pub fn new(root: &Root, channel: &str, limits: Limits) -> Result<Self, RootError> {
        crate::root::check_channel(channel)?;
        Ok(Follower {
            root: root.clone(),
            channel: channel.to_owned(),
            limits,
            known: Known::default(),
            seen: None,
            listed: None,
            is_whole: false,
            waiting: VecDeque::new(),
            is_cut: false,
            doubtful: Vec::new(),
        })
    }

    /// Returns the channel.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Skips everything that is there now without opening it, and says how much that is.
    pub fn skip_existing(&mut self) -> Result<usize, RootError> {
        let Some(folder) = self.root.folders().channels.child(&self.channel)? else { return Ok(0) };
        let before = self.known.len();
        folder.each(|name, _| {
            if is_candidate(name.to_bytes()) {
                self.known.add(name.to_bytes());
            }
        })?;
        Ok(self.known.len() - before)
    }

    /// Notes that a file is known, so that it is not given.
    pub fn mark(&mut self, name: &str) {
        self.known.add(name.as_bytes());
    }

    /// Forgets a file, so that the next polls give it once more.
    pub fn forget(&mut self, name: &str) {
        if self.known.remove(name.as_bytes()) {
            self.waiting.push_back(name.to_owned());
        }
    }

    /// Tells whether a file is known.
    pub fn knows(&self, name: &str) -> bool {
        self.known.has(name.as_bytes())
    }

    /// Returns how many names are known.
    pub fn known(&self) -> usize {
        self.known.len()
    }

    /// Looks for what is new. `now` is any time that never goes back.
    pub fn poll(&mut self, now: Duration) -> Result<Polled, RootError> {
        let doubtful = std::mem::take(&mut self.doubtful);
        if self.is_quiet(now)? && doubtful.is_empty() && self.waiting.is_empty() {
            return Ok(Polled::default());
        }
        let Some(folder) = self.root.folders().channels.child(&self.channel)? else {
            return Ok(Polled::default());
        };
        let mut polled = Polled::default();
        for name in doubtful {
            if let Some(found) = self.read(&folder, name, Chance::Last, &mut polled) {
                polled.found.push(found);
            }
        }
        if self.waiting.is_empty() && !self.is_listed(now) {
            self.list(&folder, now, &mut polled)?;
        }
        self.read_waiting(&folder, &mut polled);
        polled.found.sort_by(|left, right| file_name::order((left.at, &left.name), (right.at, &right.name)));
        polled.more = !self.waiting.is_empty() || self.is_cut;
        Ok(polled)
    }

    /// Looks at the folder, and tells whether there can be nothing new.
    fn is_quiet(&mut self, now: Duration) -> Result<bool, RootError> {
        let Some(stamp) = self.root.folders().channels.stamp(&self.channel)? else {
            self.seen = None;
            return Ok(true);
        };
        if self.seen.map(|(seen, _)| seen) != Some(stamp) {
            self.seen = Some((stamp, now));
            self.is_whole = false;
        }
        Ok(self.is_listed(now))
    }

    fn is_listed(&self, now: Duration) -> bool {
        let is_recent = self.listed.is_some_and(|at| now.saturating_sub(at) < LISTED_EVERY);
        self.is_whole && is_recent && !self.is_cut
    }

    /// Lists the folder, and lets every name wait that is not known.
    fn list(&mut self, folder: &Folder, now: Duration, polled: &mut Polled) -> Result<(), RootError> {
        let (mut new, mut there) = (Vec::new(), 0);
        let known = &mut self.known;
        folder.each(|name, _| {
            let name = name.to_bytes();
            if !is_candidate(name) {
                return;
            }
            there += 1;
            if known.has(name) {
                return;
            }
            match std::str::from_utf8(name).ok().filter(|name| FileName::parse(name).is_some()) {
                Some(good) => new.push(good.to_owned()),
                None => {
                    known.add(name);
                    let name = String::from_utf8_lossy(name).into_owned();
                    polled.unreadable.push(Unreadable { name, problem: Problem::WrongName });
                }
            }
        })?;
        if self.known.len() > 2 * there + WAITING_MAX {
            self.known.retain_listed(folder)?;
        }
        new.sort_unstable();
        self.is_cut = new.len() > WAITING_MAX;
        new.truncate(WAITING_MAX);
        self.waiting = new.into();
        self.listed = Some(now);
        self.is_whole = self.seen.is_some_and(|(_, first)| now.saturating_sub(first) >= SETTLED_AFTER);
        Ok(())
    }

    fn read_waiting(&mut self, folder: &Folder, polled: &mut Polled) {
        let (mut bytes, mut files) = (0, 0);
        while files < self.limits.poll_files_max && bytes < self.limits.poll_bytes_max {
            let Some(name) = self.waiting.pop_front() else { return };
            files += 1;
            if self.known.has(name.as_bytes()) {
                continue;
            }
            if let Some(found) = self.read(folder, name, Chance::First, polled) {
                bytes += found.bytes.len() as u64;
                polled.found.push(found);
            }
        }
    }

    /// Reads a file. One that holds no JSON may still be written by somebody who does not rename: it has one more chance.
    fn read(&mut self, folder: &Folder, name: String, chance: Chance, polled: &mut Polled) -> Option<Found> {
        let problem = match folder.read(&name, self.limits.file_bytes_max) {
            // It went before it was read; should it come back, it is new.
            Ok(None) => {
                self.known.remove(name.as_bytes());
                return None;
            }
            Ok(Some(bytes)) => match time_of(&name, &bytes, self.limits.file_bytes_max) {
                Ok(at) => {
                    self.known.add(name.as_bytes());
                    return Some(Found { name, bytes, at });
                }
                Err(reason) => Problem::Malformed(reason),
            },
            Err(problem) => problem,
        };
        self.known.add(name.as_bytes());
        let is_doubtful = matches!(problem, Problem::Malformed(_)) && chance == Chance::First;
        if is_doubtful && self.doubtful.len() < DOUBTFUL_MAX {
            self.doubtful.push(name);
        } else {
            polled.unreadable.push(Unreadable { name, problem });
        }
        None
    }
}

/// Whether a file that holds no JSON is read once more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chance {
    First,
    Last,
}

/// Tells whether readers of the specification would take a name for that of a message: `msg-*.json`.
fn is_candidate(name: &[u8]) -> bool {
    name.starts_with(b"msg-") && name.ends_with(b".json")
}

/// Returns when a message was made; why it is none, if it is none.
fn time_of(name: &str, bytes: &[u8], bytes_max: u64) -> Result<Timestamp, String> {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    let limits = json::Limits { bytes_max, ..json::Limits::DOCUMENT };
    let document = json::parse(bytes, limits).map_err(|error| error.to_string())?;
    if document.as_object().is_none() {
        return Err(format!("it holds {}", document.type_name()));
    }
    let said = document.get("timestamp").and_then(Value::as_str).and_then(|text| text.parse().ok());
    Ok(said.or_else(|| named_time(name)).unwrap_or(Timestamp::MIN))
}

/// Returns the second that a file's name states.
fn named_time(name: &str) -> Option<Timestamp> {
    let name = FileName::parse(name)?;
    let (date, time) = (name.date, name.time);
    let [year, month, day] = [date.get(..4)?, date.get(4..6)?, date.get(6..)?];
    let [hour, minute, second] = [time.get(..2)?, time.get(2..4)?, time.get(4..)?];
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse().ok()
}
