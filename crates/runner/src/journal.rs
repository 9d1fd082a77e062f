//! What a watcher of a root has done: `.state/{agent}.seen`, one line an event, kept across whatever ends it.
//!
//! A line says that a message was passed over, that a command was started on it, that it was answered or that the
//! command failed. The line of a start is durable before the command runs, so no command is started twice; a start
//! without an end means that the watcher ended in the middle. Only the watcher that holds the lock writes; whoever wants
//! something tried again leaves a line in `.state/{agent}.retry`.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use channel_root::RootError;
use dialect_channel::is_channel_name;
use json::{Limits, Object, Value};
use message::Timestamp;

use crate::WatchError;

/// How much longer than after its last tidying a journal may become.
const GROWTH_BYTES_MAX: u64 = 4 << 20;
/// Bytes of a journal that are read.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Bytes of wishes to try again that are read.
const WISHES_BYTES_MAX: u64 = 1 << 20;

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It was passed over.
    Passed,
    /// A command was started on it.
    Started,
    /// It was answered, by that message.
    Answered(String),
    /// The command failed, for that reason.
    Failed(String),
}

/// A message and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The channel.
    pub channel: String,
    /// The name of the message's file.
    pub file: String,
    /// What became of it.
    pub state: State,
    /// When.
    pub at: String,
}

/// The journal of one agent on one root.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    agent: String,
    file: File,
    bytes: u64,
    bytes_tidy: u64,
    _lock: File,
}

impl Journal {
    /// Opens the journal of an agent for the one watcher that writes it, and returns what it holds.
    pub fn open(root: &Path, agent: &str) -> Result<(Self, Vec<Entry>), WatchError> {
        check(agent)?;
        let folder = root.join(".state");
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        let lock_path = folder.join(format!("{agent}.lock"));
        let lock = open(&lock_path, OpenOptions::new().create(true).append(true))
            .map_err(failed("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(WatchError::Busy { agent: agent.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &lock_path)(error)),
        }
        let path = seen_path(&folder, agent);
        let mut file = open(&path, OpenOptions::new().create(true).append(true).read(true))
            .map_err(failed("open", &path))?;
        let text = read(&mut file, FILE_BYTES_MAX).map_err(failed("read", &path))?;
        if !text.is_empty() && !text.ends_with('\n') {
            // Whoever wrote it ended in the middle of a line.
            file.write_all(b"\n").map_err(failed("write", &path))?;
        }
        let bytes = text.len() as u64;
        let entries = fold(&text);
        let journal =
            Journal { folder, agent: agent.to_owned(), file, bytes, bytes_tidy: bytes, _lock: lock };
        Ok((journal, entries))
    }

    /// Reads what became of messages, whether or not a watcher is at work; tells also whether one is.
    pub fn look(root: &Path, agent: &str) -> Result<(Vec<Entry>, bool), WatchError> {
        check(agent)?;
        let folder = root.join(".state");
        let path = seen_path(&folder, agent);
        let mut file = match open(&path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), false)),
            Err(error) => return Err(failed("open", &path)(error)),
        };
        let text = read(&mut file, FILE_BYTES_MAX).map_err(failed("read", &path))?;
        let lock = open(&folder.join(format!("{agent}.lock")), OpenOptions::new().read(true));
        let is_watched =
            lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)));
        Ok((fold(&text), is_watched))
    }

    /// Asks for a message to be tried again: by the watcher that is at work, else by the next one.
    pub fn wish(root: &Path, agent: &str, channel: &str, file: &str) -> Result<(), WatchError> {
        check(agent)?;
        let path = wishes_path(&root.join(".state"), agent);
        let line = Object::from_iter([("channel", Value::from(channel)), ("file", Value::from(file))]);
        let line = format!("{}\n", Value::Object(line).to_json());
        let write = || {
            let mut wishes = open(&path, OpenOptions::new().create(true).append(true))?;
            wishes.write_all(line.as_bytes())?;
            wishes.sync_data()
        };
        write().map_err(failed("write", &path))
    }

    /// Returns what is to be tried again, each as channel and file, and forgets it when `work` is done with it.
    pub fn wishes(&self) -> Result<Vec<(String, String)>, WatchError> {
        let (path, taken) = (wishes_path(&self.folder, &self.agent), self.taken_path());
        // One that is there already was taken by a watcher that ended before it was done.
        if !taken.exists() {
            match fs::rename(&path, &taken) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(failed("take", &path)(error)),
            }
        }
        let mut file = open(&taken, OpenOptions::new().read(true)).map_err(failed("open", &taken))?;
        let text = read(&mut file, WISHES_BYTES_MAX).map_err(failed("read", &taken))?;
        let wish = |line: &str| {
            let value = json::parse_str(line, Limits::DOCUMENT).ok()?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((text("channel")?, text("file")?))
        };
        Ok(text.lines().filter_map(wish).collect())
    }

    /// Forgets the wishes that were taken: they are done, or written down otherwise.
    pub fn wishes_are_done(&self) -> Result<(), WatchError> {
        let taken = self.taken_path();
        match fs::remove_file(&taken) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &taken)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes down that messages were passed over. Should it be lost they are passed over once more.
    pub fn pass(&mut self, channel: &str, files: &[String], now: Timestamp) -> Result<(), WatchError> {
        let lines: String = files.iter().map(|file| line(channel, file, &State::Passed, now)).collect();
        self.append(&lines)
    }

    /// Writes down what became of a message, and comes back when that is durable.
    pub fn write(
        &mut self,
        channel: &str,
        file: &str,
        state: &State,
        now: Timestamp,
    ) -> Result<(), WatchError> {
        self.append(&line(channel, file, state, now))?;
        let path = seen_path(&self.folder, &self.agent);
        self.file.sync_data().map_err(failed("sync", &path))
    }

    /// Writes the journal anew if it has grown: of every message that still matters only how it stands.
    pub fn tidy(&mut self, matters: impl Fn(&Entry) -> bool) -> Result<(), WatchError> {
        if self.bytes < self.bytes_tidy + GROWTH_BYTES_MAX {
            return Ok(());
        }
        let path = seen_path(&self.folder, &self.agent);
        let text = read(&mut self.file, FILE_BYTES_MAX).map_err(failed("read", &path))?;
        let kept: String = fold(&text).iter().filter(|entry| matters(entry)).map(Entry::line).collect();
        let unfinished = self.folder.join(format!("{}.seen.tmp", self.agent));
        let write = || {
            let mut file = open(&unfinished, OpenOptions::new().create(true).truncate(true).write(true))?;
            file.write_all(kept.as_bytes())?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            File::open(&self.folder)?.sync_all()?;
            open(&path, OpenOptions::new().append(true).read(true))
        };
        self.file = write().map_err(failed("rewrite", &path))?;
        (self.bytes, self.bytes_tidy) = (kept.len() as u64, kept.len() as u64);
        Ok(())
    }

    fn append(&mut self, lines: &str) -> Result<(), WatchError> {
        let path = seen_path(&self.folder, &self.agent);
        self.file.write_all(lines.as_bytes()).map_err(failed("write", &path))?;
        self.bytes += lines.len() as u64;
        Ok(())
    }

    fn taken_path(&self) -> PathBuf {
        self.folder.join(format!("{}.retry.taken", self.agent))
    }
}

impl Entry {
    fn line(&self) -> String {
        write_line(&self.channel, &self.file, &self.state, &self.at)
    }
}

fn line(channel: &str, file: &str, state: &State, now: Timestamp) -> String {
    write_line(channel, file, state, &now.to_string())
}

fn write_line(channel: &str, file: &str, state: &State, at: &str) -> String {
    let (is, more) = match state {
        State::Passed => ("passed", None),
        State::Started => ("started", None),
        State::Answered(reply) => ("answered", Some(("reply", reply.as_str()))),
        State::Failed(reason) => ("failed", Some(("reason", reason.as_str()))),
    };
    let mut members: Object<'_> = Object::new();
    for (key, value) in [("channel", channel), ("file", file), ("is", is), ("at", at)].into_iter().chain(more)
    {
        members.insert(key, Value::from(value));
    }
    format!("{}\n", Value::Object(members).to_json())
}

/// Returns how each message stands, in the order in which they were first written down.
fn fold(text: &str) -> Vec<Entry> {
    let mut places: HashMap<(String, String), usize> = HashMap::new();
    let mut entries: Vec<Entry> = Vec::new();
    for entry in text.lines().filter_map(read_line) {
        let place = *places.entry((entry.channel.clone(), entry.file.clone())).or_insert(entries.len());
        match entries.get_mut(place) {
            Some(there) => *there = entry,
            None => entries.push(entry),
        }
    }
    entries
}

fn read_line(line: &str) -> Option<Entry> {
    let value = json::parse_str(line, Limits::DOCUMENT).ok()?;
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let state = match text("is")?.as_str() {
        "passed" => State::Passed,
        "started" => State::Started,
        "answered" => State::Answered(text("reply").unwrap_or_default()),
        "failed" => State::Failed(text("reason").unwrap_or_default()),
        _ => return None,
    };
    Some(Entry { channel: text("channel")?, file: text("file")?, state, at: text("at").unwrap_or_default() })
}

/// Refuses a name that cannot name files.
fn check(agent: &str) -> Result<(), WatchError> {
    if is_channel_name(agent) && !agent.starts_with('.') {
        return Ok(());
    }
    Err(RootError::BadName { what: "watched agent", name: agent.to_owned() }.into())
}

/// Opens a file of the state folder; what others put there as a link or a pipe is refused.
fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = options.clone().custom_flags(flags.bits().cast_signed()).mode(0o600).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
}

fn read(file: &mut File, bytes_max: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn seen_path(folder: &Path, agent: &str) -> PathBuf {
    folder.join(format!("{agent}.seen"))
}

fn wishes_path(folder: &Path, agent: &str) -> PathBuf {
    folder.join(format!("{agent}.retry"))
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> WatchError {
    let path = path.display().to_string();
    move |error| WatchError::Journal { doing, path: path.clone(), error }
}
