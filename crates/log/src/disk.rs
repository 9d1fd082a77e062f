//! The few file operations that the log needs, so that a faulty disk can stand in for the real one.

pub(crate) mod memory;
pub(crate) mod real;

use std::io::{self, ErrorKind};

/// What the system holds in memory as one piece. A write that ends where one ends needs nothing read before it.
pub(crate) const PAGE_BYTES: usize = 4096;

/// One folder of files.
pub trait Disk: Clone + Send + Sync + 'static {
    /// An open file.
    type File: DiskFile;
    /// Holds the folder for one process until it is dropped.
    type Lock: Send + Sync + 'static;

    /// Takes the folder for this process alone; `None` when another has it.
    fn lock(&self) -> io::Result<Option<Self::Lock>>;

    /// Lists the names of all files, in any order, those in `damaged/` left out.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Opens an existing file for reading and writing.
    fn open(&self, name: &str) -> io::Result<Self::File>;

    /// Makes a new, empty file; one of that name must not exist.
    fn create(&self, name: &str) -> io::Result<Self::File>;

    /// Renames a file, replacing one that has the new name; `damaged/…` names the subfolder, made when needed.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Says whether a file exists, also one in `damaged/`.
    fn exists(&self, name: &str) -> io::Result<bool>;

    /// Makes durable what was made, renamed and removed.
    fn sync_folder(&self) -> io::Result<()>;
}

/// An open file, read and written at offsets.
pub trait DiskFile: Send + Sync + 'static {
    /// Returns the size of the file.
    fn size(&self) -> io::Result<u64>;

    /// Reads some bytes; fewer than asked for is no error, none is the end.
    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes some bytes and says how many.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize>;

    /// Makes the contents durable.
    fn sync(&self) -> io::Result<()>;

    /// Writes zeros to a new file, of which nothing will be read soon.
    fn fill(&self, bytes: u64) -> io::Result<()>
    where
        Self: Sized,
    {
        write_zeros(self, 0, bytes)
    }

    /// Says that what the system holds in memory of a part of the contents is not soon wanted again: it may keep other
    /// things there. Changes nothing else.
    fn let_go(&self, _from: u64, _to: u64) {}
}

/// Reads until the buffer is full or the file ends, and says how much was read.
pub(crate) fn read_full<F: DiskFile>(file: &F, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// Writes everything, however many calls that takes.
pub(crate) fn write_full<F: DiskFile>(file: &F, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], offset + done as u64) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// How much of the same is written at once.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// Writes zeros from one offset to another, in pieces.
pub(crate) fn write_zeros<F: DiskFile>(file: &F, from: u64, to: u64) -> io::Result<()> {
    let bytes = to.saturating_sub(from).min(PIECE_BYTES as u64);
    write_again(file, &vec![0; usize::try_from(bytes).unwrap_or(PIECE_BYTES)], from, to)
}

/// Writes a piece again and again from one offset to another, the last time as much of it as fits.
pub(crate) fn write_again<F: DiskFile>(file: &F, piece: &[u8], from: u64, to: u64) -> io::Result<()> {
    let mut offset = from;
    while offset < to {
        let count = (to - offset).min(piece.len() as u64);
        write_full(file, &piece[..usize::try_from(count).unwrap_or(piece.len())], offset)?;
        offset += count;
    }
    Ok(())
}

/// Syncs; a call that was interrupted is made again, any other failure is final.
pub(crate) fn sync_file<F: DiskFile>(file: &F) -> io::Result<()> {
    loop {
        match file.sync() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}
