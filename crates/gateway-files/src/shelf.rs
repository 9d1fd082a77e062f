//! The shelf: what of a root's files is known, in memory and in the journal.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use channel_root::{Follower, Limits, Polled, Root, RootError};
use message::{MessageId, Seq, Sha256};

use crate::journal::{Doubts, Journal, Line};
use crate::site::CHANNELS_MAX;

/// Files that we wrote of which the message is remembered, so that who answers the file answers the message.
const WRITTEN_MAX: usize = 50_000;
/// Refused files that are remembered as such.
const REFUSED_MAX: usize = 10_000;

/// A file: its channel and its name.
pub(crate) type Place = (String, String);

/// What of a root's files is known.
pub(crate) struct Shelf {
    root: Root,
    limits: Limits,
    followers: BTreeMap<String, Follower>,
    journal: Journal,
    written: Written,
    refused: HashSet<Place>,
}

/// Messages by the files that were written for them, the newest.
#[derive(Default)]
struct Written {
    by_place: HashMap<Place, MessageId>,
    order: VecDeque<Place>,
}

impl Shelf {
    /// Reads what is known. A root that is seen for the first time has a past, which is skipped or imported.
    pub(crate) fn open(
        root: &Root,
        state: &Path,
        limits: Limits,
        import: bool,
    ) -> io::Result<(Self, Doubts)> {
        let path = journal_of(root.path(), state);
        let (mut known, mut written, mut doubts) = (Vec::new(), Written::default(), Doubts::default());
        let (journal, is_new) = Journal::open(path, |line| {
            doubts.follow(&line);
            match line {
                Line::Known { channel, file } => known.push((channel, file)),
                Line::Writing { id, channel, file } => {
                    known.push((channel.clone(), file.clone()));
                    written.note((channel, file), id);
                }
                Line::Sending { .. } | Line::Refused { .. } => {}
            }
        })?;
        let mut shelf = Shelf {
            root: root.clone(),
            limits,
            followers: BTreeMap::new(),
            journal,
            written,
            refused: HashSet::new(),
        };
        for (channel, file) in known {
            if let Ok(follower) = shelf.follower(&channel) {
                follower.mark(&file);
            }
        }
        if is_new && !import {
            shelf.skip_past().map_err(io::Error::other)?;
        }
        // Also an empty journal says that the root was seen: from now on nothing is skipped.
        shelf.rewrite()?;
        Ok((shelf, doubts))
    }

    /// Lists the channels, at most so many as are watched.
    pub(crate) fn channels(&self) -> Result<Vec<String>, RootError> {
        let mut channels = self.root.channels()?;
        channels.truncate(CHANNELS_MAX);
        Ok(channels)
    }

    /// Looks for what is new in a channel.
    pub(crate) fn poll(&mut self, channel: &str, now: std::time::Duration) -> Result<Polled, RootError> {
        self.follower(channel)?.poll(now)
    }

    /// Returns how many files of a channel are known.
    pub(crate) fn known(&self, channel: &str) -> u64 {
        self.followers.get(channel).map_or(0, |follower| follower.known() as u64)
    }

    /// Notes that files are about to be sent.
    pub(crate) fn sending(&mut self, after: Seq, channel: &str, files: &[String]) -> io::Result<()> {
        let line = |file: &String| Line::Sending { after, channel: channel.to_owned(), file: file.clone() };
        self.journal.add_durable(&files.iter().map(line).collect::<Vec<_>>())
    }

    /// Notes that a file is on the bus.
    pub(crate) fn sent(&mut self, (channel, file): Place) -> io::Result<()> {
        if let Ok(follower) = self.follower(&channel) {
            follower.mark(&file);
        }
        self.journal.add(&[Line::Known { channel, file }])
    }

    /// Notes that a file is not taken in; it is looked at again at the next start.
    pub(crate) fn refuse(&mut self, place: Place) -> io::Result<()> {
        let (channel, file) = place.clone();
        if self.refused.len() < REFUSED_MAX {
            self.refused.insert(place);
        }
        self.journal.add(&[Line::Refused { channel, file }])
    }

    /// Lets a file be found once more.
    pub(crate) fn put_off(&mut self, channel: &str, file: &str) {
        if let Some(follower) = self.followers.get_mut(channel) {
            follower.forget(file);
        }
    }

    /// Notes that files are about to be written for messages, so that they are nobody's news.
    pub(crate) fn writing(&mut self, files: &[(MessageId, Place)]) -> io::Result<()> {
        let mut lines = Vec::new();
        for (id, (channel, file)) in files {
            let Ok(follower) = self.follower(channel) else { continue };
            if !follower.knows(file) {
                follower.mark(file);
                self.written.note((channel.clone(), file.clone()), *id);
                lines.push(writing_line(*id, (channel.clone(), file.clone())));
            }
        }
        if lines.is_empty() { Ok(()) } else { self.journal.add_durable(&lines) }
    }

    /// Returns the message for which a file was written.
    pub(crate) fn message_of(&self, channel: &str, id: &str) -> Option<MessageId> {
        let place = (channel.to_owned(), format!("{id}.json"));
        self.written.by_place.get(&place).copied()
    }

    /// Writes the journal anew if it has become long.
    pub(crate) fn tidy(&mut self) -> io::Result<()> {
        if self.journal.is_long() { self.rewrite() } else { Ok(()) }
    }

    fn rewrite(&mut self) -> io::Result<()> {
        let Shelf { root, followers, journal, written, refused, .. } = self;
        // What is about to be written is not there yet, and stays noted all the same.
        let mut writing = written.by_place.clone();
        let mut lines = Vec::new();
        for (channel, follower) in followers.iter() {
            // A channel whose folder is gone has no files.
            let files = root.messages(channel).unwrap_or_default();
            for file in files.into_iter().filter(|file| follower.knows(file)) {
                let place = (channel.clone(), file);
                match writing.remove(&place) {
                    Some(id) => lines.push(writing_line(id, place)),
                    None if refused.contains(&place) => {}
                    None => lines.push(Line::Known { channel: place.0, file: place.1 }),
                }
            }
        }
        journal
            .replace(lines.into_iter().chain(writing.into_iter().map(|(place, id)| writing_line(id, place))))
    }

    fn skip_past(&mut self) -> Result<(), RootError> {
        for channel in self.channels()? {
            self.follower(&channel)?.skip_existing()?;
        }
        Ok(())
    }

    fn follower(&mut self, channel: &str) -> Result<&mut Follower, RootError> {
        if !self.followers.contains_key(channel) {
            let follower = Follower::new(&self.root, channel, self.limits)?;
            self.followers.insert(channel.to_owned(), follower);
        }
        self.followers.get_mut(channel).ok_or(RootError::NoSuchChannel { name: channel.to_owned() })
    }
}

impl Written {
    fn note(&mut self, place: Place, id: MessageId) {
        if self.by_place.insert(place.clone(), id).is_none() {
            self.order.push_back(place);
        }
        while self.order.len() > WRITTEN_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.by_place.remove(&oldest);
            }
        }
    }
}

/// Returns where the journal of a root lies.
pub(crate) fn journal_of(root: &Path, state: &Path) -> PathBuf {
    let id = Sha256::of(root.as_os_str().as_encoded_bytes()).to_string();
    state.join(format!("{}.journal", id.get(..16).unwrap_or(&id)))
}

fn writing_line(id: MessageId, (channel, file): Place) -> Line {
    Line::Writing { id, channel, file }
}
