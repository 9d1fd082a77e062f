//! A blob on its way to the disk: written as it comes, hashed on the way, under its name when it is whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use atproto_syntax::Cid;
use axum::body::Bytes;
use gateway::Problem;
use message::AgentName;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};

use super::{BLOB_BYTES_MAX, Blobs, Stored, TYPE, UNFINISHED, internal};
use crate::refused::Refused;

/// Pieces that wait to be written.
const PIECES_MAX: usize = 4;

/// A blob that is being received.
pub(crate) struct Upload {
    pieces: mpsc::Sender<Piece>,
    task: JoinHandle<io::Result<Option<Stored>>>,
    size: u64,
}

enum Piece {
    Bytes(Bytes),
    /// All of it has come. Without this word the rest is missing.
    End,
}

/// A file that is removed unless it was given its name.
struct Draft {
    path: PathBuf,
    file: File,
}

impl Upload {
    pub(super) fn begin(blobs: Blobs, agent: AgentName, mime_type: String) -> Self {
        let (pieces, come) = mpsc::channel(PIECES_MAX);
        let task = spawn_blocking(move || blobs.write(&agent, mime_type, come));
        Upload { pieces, task, size: 0 }
    }

    /// Takes the next bytes; tells whether they still fit.
    pub(crate) async fn add(&mut self, bytes: Bytes) -> bool {
        self.size += bytes.len() as u64;
        if self.size > BLOB_BYTES_MAX {
            return false;
        }
        // If nobody takes them any more, the end will tell why.
        drop(self.pieces.send(Piece::Bytes(bytes)).await);
        true
    }

    /// Waits until it is durable.
    pub(crate) async fn finish(self) -> Result<Stored, Refused> {
        if self.size == 0 {
            return Err(Refused::invalid("a blob has at least one byte"));
        }
        drop(self.pieces.send(Piece::End).await);
        let stored = self.task.await.map_err(|error| internal(&error))?;
        let stored = stored.map_err(|error| failed(&error))?;
        stored.ok_or_else(|| Refused::invalid("the blob ended before all of it had come"))
    }
}

impl Blobs {
    fn write(
        &self,
        agent: &AgentName,
        mime_type: String,
        mut come: mpsc::Receiver<Piece>,
    ) -> io::Result<Option<Stored>> {
        let mut draft = Draft::new(&self.root().join(UNFINISHED))?;
        let mut hash = lexicon::data::BlobHash::new();
        let mut size = 0;
        loop {
            match come.blocking_recv() {
                Some(Piece::Bytes(bytes)) => {
                    hash.add(&bytes);
                    draft.file.write_all(&bytes)?;
                    size += bytes.len() as u64;
                }
                Some(Piece::End) => break,
                None => return Ok(None),
            }
        }
        draft.file.sync_all()?;
        self.keep(agent, hash.cid(), mime_type, size, draft).map(Some)
    }

    /// Gives a blob its name. The same bytes again are the same blob, and what it is was said the first time.
    fn keep(
        &self,
        agent: &AgentName,
        cid: Cid,
        mime_type: String,
        size: u64,
        draft: Draft,
    ) -> io::Result<Stored> {
        let _guard = self.inner.guard.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = self.find(agent, &cid) {
            found.touch(self.now())?;
            return Ok(found);
        }
        let folder = self.folder(agent);
        fs::create_dir_all(&folder)?;
        let path = folder.join(cid.as_str());
        let mut kind = Draft::new(&self.root().join(UNFINISHED))?;
        kind.file.write_all(mime_type.as_bytes())?;
        kind.file.sync_all()?;
        // What it is comes first: a blob that has its name is whole.
        kind.publish(&path.with_extension(TYPE))?;
        draft.file.set_modified(self.now())?;
        draft.publish(&path)?;
        sync(&folder)?;
        sync(self.root())?;
        self.inner.bytes.fetch_add(size, Ordering::Relaxed);
        Ok(Stored { cid, mime_type, size, file: None })
    }
}

impl Draft {
    fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let mut name = [0; 16];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(name);
        let file = File::create_new(&path)?;
        Ok(Draft { path, file })
    }

    fn publish(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.path.clear();
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // What is left behind is thrown away at the next start.
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Makes durable what a folder holds.
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

fn failed(error: &io::Error) -> Problem {
    if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return Problem::new(gateway::Code::NoRoom, "there is no room on the disk for the blob");
    }
    internal(error)
}
