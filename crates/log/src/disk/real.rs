//! A real folder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Disk, DiskFile};
#[cfg(target_os = "linux")]
use super::{PAGE_BYTES, PIECE_BYTES, write_again, write_zeros};

const LOCK: &str = "lock";

/// A folder of the file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    folder: PathBuf,
}

impl RealDisk {
    /// Uses a folder, which is made when it does not exist.
    pub fn new(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = std::path::absolute(folder.as_ref())?;
        make_folder(&folder)?;
        Ok(Self { folder })
    }

    /// Uses a folder that must exist: nobody wants a new log where one is to be verified.
    pub fn existing(folder: impl AsRef<Path>) -> io::Result<Self> {
        let folder = std::path::absolute(folder.as_ref())?;
        if fs::metadata(&folder)?.is_dir() {
            Ok(Self { folder })
        } else {
            Err(ErrorKind::NotADirectory.into())
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Disk for RealDisk {
    type File = File;
    type Lock = File;

    fn lock(&self) -> io::Result<Option<File>> {
        let path = self.folder.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file()
                && let Some(name) = entry.file_name().to_str()
                && name != LOCK
            {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    fn open(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.folder.join(name))
    }

    fn create(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.path_for_new(name)?)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.folder.join(from), self.path_for_new(to)?)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.folder.join(name))
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        self.folder.join(name).try_exists()
    }

    fn sync_folder(&self) -> io::Result<()> {
        File::open(&self.folder)?.sync_all()?;
        match File::open(self.folder.join("damaged")) {
            Ok(damaged) => damaged.sync_all(),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl RealDisk {
    fn path_for_new(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        if let Some(parent) = path.parent()
            && parent != self.folder
        {
            fs::create_dir_all(parent)?;
        }
        Ok(path)
    }
}

/// Makes a folder and those above it, each durable in the one that holds it.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().ok_or(ErrorKind::NotFound)?;
    make_folder(parent)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::open(parent)?.sync_all()
}

impl DiskFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, bytes, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        FileExt::write_at(self, bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    #[cfg(target_os = "linux")]
    fn fill(&self, bytes: u64) -> io::Result<()> {
        // Zeros that nobody reads need no room in the system's memory. Not every file system can do without.
        match fill_past_memory(self, bytes) {
            Err(error)
                if error.kind() == ErrorKind::InvalidInput || error.kind() == ErrorKind::Unsupported =>
            {
                write_zeros(self, 0, bytes)
            }
            filled => filled,
        }
    }

    #[cfg(target_os = "linux")]
    fn let_go(&self, from: u64, to: u64) {
        // No more than advice, which a file system may not understand.
        let length = std::num::NonZeroU64::new(to.saturating_sub(from));
        if length.is_some() {
            let _advised = rustix::fs::fadvise(self, from, length, rustix::fs::Advice::DontNeed);
        }
    }
}

/// Writes zeros straight to the disk.
#[cfg(target_os = "linux")]
fn fill_past_memory(file: &File, bytes: u64) -> io::Result<()> {
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    let flags = fcntl_getfl(file)?;
    let memory = vec![0; PIECE_BYTES + PAGE_BYTES];
    let begin = memory.as_ptr().align_offset(PAGE_BYTES);
    let zeros = memory.get(begin..begin + PIECE_BYTES).ok_or(ErrorKind::InvalidInput)?;
    fcntl_setfl(file, flags | OFlags::DIRECT)?;
    let filled = write_again(file, zeros, 0, bytes);
    fcntl_setfl(file, flags)?;
    filled
}
