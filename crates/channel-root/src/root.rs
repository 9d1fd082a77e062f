//! The root: its layout, its channels, and writing into them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use dialect_channel::file_name::FileName;
use dialect_channel::is_channel_name;
use message::Timestamp;

use crate::draft::Draft;
use crate::folder::{Folder, Problem};
use crate::naming::Naming;
use crate::{MESSAGE_BYTES_MAX, RootError};

/// How often a name is drawn before we believe that something else is wrong.
const DRAWS_MAX: usize = 1_000;
/// Bytes of a message that was made elsewhere; it may carry its origin.
const PUT_BYTES_MAX: u64 = 8 << 20;

/// A channel root. Copies are the same root.
#[derive(Clone, Debug)]
pub struct Root {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    folders: RwLock<Arc<Folders>>,
    naming: Naming,
}

/// The folders that are kept open.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) root: Folder,
    pub(crate) channels: Folder,
}

/// A message that was posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// Its id, which is the stem of its file's name.
    pub id: String,
    /// Where its file lies.
    pub path: PathBuf,
    /// What stands in it.
    pub document: String,
}

/// What became of a file whose name was fixed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It was written.
    Written,
    /// It was there already, the same to the byte.
    WasThere,
}

impl Root {
    /// Opens a root that is there.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RootError> {
        let path = path.into();
        let folders = RwLock::new(Arc::new(Folders::open(&path)?));
        Ok(Root { inner: Arc::new(Inner { path, folders, naming: Naming::default() }) })
    }

    /// Opens the folders anew if others lie there now: a drive was mounted again, or somebody moved them.
    pub fn refresh(&self) -> Result<(), RootError> {
        let now = Folders::open(&self.inner.path)?;
        if now.channels.is_same(&self.folders().channels)? {
            return Ok(());
        }
        *self.inner.folders.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(now);
        Ok(())
    }

    /// Opens a root, and makes what of it is not there.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, RootError> {
        let path = path.into();
        let failed = |error| RootError::storage("make", path.display().to_string(), error);
        std::fs::create_dir_all(&path).map_err(failed)?;
        let folder = Folder::outermost(&path)?;
        folder.make("channels")?;
        folder.make("signals")?.make("presence")?;
        folder.make("logs")?;
        Root::open(path)
    }

    /// Returns where the root lies.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Lists the channels, by name. What is a link, hidden or of a name that cannot be one is none.
    pub fn channels(&self) -> Result<Vec<String>, RootError> {
        let mut names = Vec::new();
        self.folders().channels.each(|name, can_be_folder| {
            if let Ok(name) = name.to_str()
                && can_be_folder
                && is_channel_name(name)
                && !name.starts_with('.')
            {
                names.push(name.to_owned());
            }
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Posts a message: draws its id, writes it, and gives it back when it is durable. Makes the channel if need be.
    pub fn post(&self, channel: &str, draft: &Draft, now: Timestamp) -> Result<Posted, RootError> {
        let folder = self.make_channel(channel)?;
        for _ in 0..DRAWS_MAX {
            let digits = self.inner.naming.next(now.unix_micros().div_euclid(1_000_000));
            let agent = dialect_channel::addressing::base_id(&draft.agent);
            let name = FileName::make(now, agent, digits);
            let (id, file) = (name.to_string(), name.file());
            let document = draft.document(&id, channel, now);
            check_size(document.len(), MESSAGE_BYTES_MAX)?;
            if folder.publish(&file, document.as_bytes())? {
                folder.sync()?;
                return Ok(Posted { id, path: self.path_of(channel, &file), document });
            }
        }
        Err(RootError::Clash { id: draft.agent.clone() })
    }

    /// Writes a message whose id was fixed before. Its file is never changed: one that is there must be the same.
    pub fn put(&self, channel: &str, id: &str, bytes: &[u8]) -> Result<Put, RootError> {
        let put = self.put_before_sync(channel, id, bytes)?;
        self.sync(channel)?;
        Ok(put)
    }

    /// Makes durable which files a channel has.
    pub fn sync(&self, channel: &str) -> Result<(), RootError> {
        self.channel(channel)?.sync()
    }

    /// Does what [`Root::put`] does, for whoever writes many and then calls [`Root::sync`] once: until then nothing
    /// must be said of it. What is in the file is durable before it has its name.
    pub fn put_before_sync(&self, channel: &str, id: &str, bytes: &[u8]) -> Result<Put, RootError> {
        let name = FileName::parse(id).filter(|name| name.to_string() == id);
        let name = name.ok_or_else(|| RootError::BadName { what: "message", name: id.to_owned() })?;
        check_size(bytes.len(), PUT_BYTES_MAX)?;
        let folder = self.make_channel(channel)?;
        let file = name.file();
        if self.is_there(&folder, &file, bytes, id)? {
            return Ok(Put::WasThere);
        }
        if folder.publish(&file, bytes)? {
            return Ok(Put::Written);
        }
        match self.is_there(&folder, &file, bytes, id)? {
            true => Ok(Put::WasThere),
            false => Err(RootError::Clash { id: id.to_owned() }),
        }
    }

    /// Reads a message by its id; nothing if it is not there.
    pub fn read(&self, channel: &str, id: &str) -> Result<Option<Vec<u8>>, Problem> {
        let name = FileName::parse(id).ok_or(Problem::WrongName)?;
        let folder = self.channel(channel).map_err(|error| Problem::Unreadable(error.to_string()))?;
        folder.read(&name.file(), PUT_BYTES_MAX)
    }

    /// Lists the files of a channel that are called like messages, in the order of their names.
    pub fn messages(&self, channel: &str) -> Result<Vec<String>, RootError> {
        let mut names = Vec::new();
        self.channel(channel)?.each(|name, _| {
            if let Ok(name) = name.to_str()
                && name.ends_with(".json")
                && FileName::parse(name).is_some()
            {
                names.push(name.to_owned());
            }
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Adds a line to a file in `logs/`.
    pub fn log(&self, name: &str, line: &str) -> Result<(), RootError> {
        check_file_part("log", name)?;
        let logs = self.folders().root.make("logs")?;
        logs.append(&format!("{name}.log"), line)
    }

    /// Returns the folders that are open now.
    pub(crate) fn folders(&self) -> Arc<Folders> {
        Arc::clone(&self.inner.folders.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a channel that is there.
    pub(crate) fn channel(&self, name: &str) -> Result<Folder, RootError> {
        check_channel(name)?;
        let folder = self.folders().channels.child(name)?;
        folder.ok_or_else(|| RootError::NoSuchChannel { name: name.to_owned() })
    }

    fn make_channel(&self, name: &str) -> Result<Folder, RootError> {
        check_channel(name)?;
        self.folders().channels.make(name)
    }

    fn path_of(&self, channel: &str, file: &str) -> PathBuf {
        self.inner.path.join("channels").join(channel).join(file)
    }

    fn is_there(&self, folder: &Folder, file: &str, bytes: &[u8], id: &str) -> Result<bool, RootError> {
        match folder.read(file, PUT_BYTES_MAX) {
            Ok(None) => Ok(false),
            Ok(Some(there)) if there == bytes => Ok(true),
            Ok(Some(_)) | Err(_) => Err(RootError::Clash { id: id.to_owned() }),
        }
    }
}

impl Folders {
    fn open(path: &Path) -> Result<Self, RootError> {
        let root = Folder::outermost(path)?;
        let channels = root.child("channels")?;
        let channels = channels.ok_or_else(|| RootError::NotARoot { path: path.display().to_string() })?;
        Ok(Folders { root, channels })
    }
}

/// Refuses what cannot be the name of a channel's folder; hidden ones are nobody's.
pub(crate) fn check_channel(name: &str) -> Result<(), RootError> {
    let is_good = is_channel_name(name) && !name.starts_with('.');
    if is_good { Ok(()) } else { Err(RootError::BadName { what: "channel", name: name.to_owned() }) }
}

/// Refuses what cannot be the stem of a file's name.
pub(crate) fn check_file_part(what: &'static str, name: &str) -> Result<(), RootError> {
    let is_good = is_channel_name(name) && !name.starts_with('.') && name.len() <= 200;
    if is_good { Ok(()) } else { Err(RootError::BadName { what, name: name.to_owned() }) }
}

fn check_size(bytes: usize, bytes_max: u64) -> Result<(), RootError> {
    let bytes = bytes as u64;
    if bytes > bytes_max { Err(RootError::TooLarge { bytes, bytes_max }) } else { Ok(()) }
}
