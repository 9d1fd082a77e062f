//! An open folder of a root: files are opened, made and listed from it, and no link is followed.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::RootError;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Others' files may be pipes: opening one must not wait for its writer.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
const MAKING: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const APPENDING: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::APPEND)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);
/// Bytes of a file to which lines are added before it is set aside.
const APPENDED_BYTES_MAX: i64 = 10 << 20;

/// Why a file cannot be read as a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Its name is not that of a message.
    #[error("its name is not `msg-YYYYMMDD-HHMMSS-agent-hex4.json`")]
    WrongName,
    /// It is a link.
    #[error("it is a link, and links are not followed")]
    Link,
    /// It is a folder, a pipe, a device.
    #[error("it is not a plain file")]
    NotAFile,
    /// It is larger than what is read.
    #[error("it has {bytes} bytes, and at most {bytes_max} are read")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        bytes_max: u64,
    },
    /// It holds no JSON object, also not some time later.
    #[error("it holds no JSON object: {0}")]
    Malformed(String),
    /// The file system says no.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

impl Problem {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Problem::WrongName => "wrong_name",
            Problem::Link => "link",
            Problem::NotAFile => "not_a_file",
            Problem::TooLarge { .. } => "too_large",
            Problem::Malformed(_) => "malformed",
            Problem::Unreadable(_) => "unreadable",
        }
    }
}

/// What tells whether a folder has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: (i64, i64),
    changed: (i64, i64),
    inode: u64,
    bytes: i64,
}

/// An open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    /// Its path, from the root, for errors.
    path: String,
}

impl Folder {
    /// Opens the folder in which everything else lies. Whoever names it may name a link.
    pub(crate) fn outermost(path: &std::path::Path) -> Result<Self, RootError> {
        let shown = path.display().to_string();
        let flags = FOLDER.difference(OFlags::NOFOLLOW);
        let fd = rustix::fs::open(path, flags, Mode::empty());
        let fd = fd.map_err(|error| RootError::storage("open", shown.clone(), error))?;
        Ok(Folder { fd, path: shown })
    }

    /// Opens a folder in this one; nothing if it is not there.
    pub(crate) fn child(&self, name: &str) -> Result<Option<Folder>, RootError> {
        let path = self.path_of(name);
        match rustix::fs::openat(&self.fd, name, FOLDER, Mode::empty()) {
            Ok(fd) => Ok(Some(Folder { fd, path })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(RootError::NotAFolder { path }),
            Err(error) => Err(RootError::storage("open", path, error)),
        }
    }

    /// Opens a folder in this one, and makes it if it is not there.
    pub(crate) fn make(&self, name: &str) -> Result<Folder, RootError> {
        if let Some(folder) = self.child(name)? {
            return Ok(folder);
        }
        match rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => self.sync()?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(RootError::storage("make", self.path_of(name), error)),
        }
        self.child(name)?.ok_or_else(|| RootError::NotAFolder { path: self.path_of(name) })
    }

    /// Calls something with the name of everything in the folder, and whether it can be a folder itself.
    pub(crate) fn each(&self, mut work: impl FnMut(&CStr, bool)) -> Result<(), RootError> {
        let failed = |error| RootError::storage("list", self.path.clone(), error);
        for entry in Dir::read_from(&self.fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let can_be_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            work(entry.file_name(), can_be_folder);
        }
        Ok(())
    }

    /// Returns what tells whether a folder in this one has changed, by one look; nothing if it is not there.
    pub(crate) fn stamp(&self, name: &str) -> Result<Option<Stamp>, RootError> {
        let stat = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(RootError::storage("look at", self.path_of(name), error)),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(RootError::NotAFolder { path: self.path_of(name) });
        }
        let part = |seconds: i64, nanos| (seconds, i64::try_from(nanos).unwrap_or(0));
        Ok(Some(Stamp {
            modified: part(stat.st_mtime, stat.st_mtime_nsec),
            changed: part(stat.st_ctime, stat.st_ctime_nsec),
            inode: stat.st_ino,
            bytes: stat.st_size,
        }))
    }

    /// Tells whether two open folders are one and the same.
    pub(crate) fn is_same(&self, other: &Folder) -> Result<bool, RootError> {
        let id = |folder: &Folder| {
            let stat = rustix::fs::fstat(&folder.fd);
            stat.map(|stat| (stat.st_dev, stat.st_ino))
        };
        let now = id(self).map_err(|error| RootError::storage("look at", self.path.clone(), error))?;
        // One that is no longer there can be looked at by nobody.
        Ok(id(other).is_ok_and(|before| before == now))
    }

    /// Reads a plain file of at most so many bytes; nothing if it is not there.
    pub(crate) fn read(&self, name: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, Problem> {
        let fd = match rustix::fs::openat(&self.fd, name, READING, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::STALE) => return Ok(None),
            Err(Errno::LOOP) => return Err(Problem::Link),
            Err(Errno::NXIO) => return Err(Problem::NotAFile),
            Err(error) => return Err(unreadable(error.into())),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|error| unreadable(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Problem::NotAFile);
        }
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if bytes > bytes_max {
            return Err(Problem::TooLarge { bytes, bytes_max });
        }
        let mut read = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1);
        // It may grow while it is read.
        let got = File::from(fd).take(bytes_max + 1).read_to_end(&mut read).map_err(unreadable)? as u64;
        if got > bytes_max { Err(Problem::TooLarge { bytes: got, bytes_max }) } else { Ok(Some(read)) }
    }

    /// Makes a file with a name that nobody else has yet; false if the name is taken. What is in it is durable, its name
    /// is when the folder is synced.
    pub(crate) fn publish(&self, name: &str, bytes: &[u8]) -> Result<bool, RootError> {
        let unfinished = self.write_unfinished(name, bytes)?;
        let published = self.give_name(&unfinished, name);
        match published {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => {
                self.remove(&unfinished);
                Ok(false)
            }
            Err(error) => {
                self.remove(&unfinished);
                Err(RootError::storage("name", self.path_of(name), error))
            }
        }
    }

    /// Makes a file, or takes the place of one that is there.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), RootError> {
        let unfinished = self.write_unfinished(name, bytes)?;
        rustix::fs::renameat(&self.fd, &unfinished, &self.fd, name).map_err(|error| {
            self.remove(&unfinished);
            RootError::storage("name", self.path_of(name), error)
        })
    }

    /// Adds a line to a file. One that has become large is set aside first, and takes the place of the one before.
    pub(crate) fn append(&self, name: &str, line: &str) -> Result<(), RootError> {
        let failed = |error: io::Error| RootError::storage("write", self.path_of(name), error);
        let open = || rustix::fs::openat(&self.fd, name, APPENDING, Mode::from_raw_mode(0o666));
        let mut fd = open().map_err(|error| failed(error.into()))?;
        let stat = rustix::fs::fstat(&fd).map_err(|error| failed(error.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(failed(io::Error::other("it is not a plain file")));
        }
        if stat.st_size > APPENDED_BYTES_MAX {
            let aside = format!("{name}.1");
            let renamed = rustix::fs::renameat(&self.fd, name, &self.fd, &aside);
            renamed.map_err(|error| failed(error.into()))?;
            fd = open().map_err(|error| failed(error.into()))?;
        }
        // One write, so that lines of several writers do not mix.
        File::from(fd).write_all(format!("{line}\n").as_bytes()).map_err(failed)
    }

    /// Writes a file under a name that no reader looks at: `.{stem}.tmp`.
    ///
    /// One that a dead process left, or that a live one is writing, is left alone: another name is as good.
    fn write_unfinished(&self, name: &str, bytes: &[u8]) -> Result<String, RootError> {
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let mut unfinished = format!(".{stem}.tmp");
        let mode = Mode::from_raw_mode(0o666);
        let mut made = rustix::fs::openat(&self.fd, &unfinished, MAKING, mode);
        if matches!(made, Err(Errno::EXIST)) {
            unfinished = format!(".{stem}.{:08x}.tmp", crate::naming::random_u32());
            made = rustix::fs::openat(&self.fd, &unfinished, MAKING, mode);
        }
        let fd = made.map_err(|error| RootError::storage("make", self.path_of(&unfinished), error))?;
        let mut file = File::from(fd);
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.map_err(|error| {
            self.remove(&unfinished);
            RootError::storage("write", self.path_of(&unfinished), error)
        })?;
        Ok(unfinished)
    }

    /// Gives a file its name unless that is taken. Where the file system cannot rename so, a link does the same.
    fn give_name(&self, unfinished: &str, name: &str) -> Result<(), Errno> {
        #[cfg(target_os = "linux")]
        match rustix::fs::renameat_with(&self.fd, unfinished, &self.fd, name, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            renamed => return renamed,
        }
        rustix::fs::linkat(&self.fd, unfinished, &self.fd, name, AtFlags::empty())?;
        self.remove(unfinished);
        Ok(())
    }

    /// Removes a file that nobody has seen. One that stays is in nobody's way.
    fn remove(&self, unfinished: &str) {
        let _stays = rustix::fs::unlinkat(&self.fd, unfinished, AtFlags::empty()).is_err();
    }

    /// Makes durable which names the folder has.
    pub(crate) fn sync(&self) -> Result<(), RootError> {
        rustix::fs::fsync(&self.fd).map_err(|error| RootError::storage("sync", self.path.clone(), error))
    }

    /// Returns the path of something in the folder.
    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }
}

fn unreadable(error: io::Error) -> Problem {
    Problem::Unreadable(error.to_string())
}
