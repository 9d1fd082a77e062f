//! Where blobs lie: files under their CIDs, one folder for each agent, outside of the log.
//!
//! A blob is durable before it is answered. One to which no record refers is kept for an hour and then collected;
//! writing a record that refers to it counts as using it, so that it cannot vanish in between.

mod collect;
mod upload;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use atproto_syntax::Cid;
use axum::body::Bytes;
use futures_util::Stream;
use gateway::repo::Blob;
use gateway::{Code, Problem};
use message::AgentName;
use node::Node;
use tokio::task::spawn_blocking;

use crate::refused::Refused;

pub(crate) use collect::collect;
pub(crate) use upload::Upload;

/// Bytes of a blob at most.
pub(crate) const BLOB_BYTES_MAX: u64 = 10 << 20;
/// Bytes that are read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// How the file ends that says what a blob is.
const TYPE: &str = "type";
/// The folder for what is not whole yet; no agent has this name.
const UNFINISHED: &str = "_unfinished";

/// All blobs. Copies are the same.
#[derive(Clone)]
pub(crate) struct Blobs {
    inner: Arc<Inner>,
}

struct Inner {
    root: PathBuf,
    bytes: AtomicU64,
    bytes_max: u64,
    /// Held while a blob is used, added or collected, so that none of these happens to one at the same time.
    guard: Mutex<()>,
    /// Whose clock it is.
    node: Node,
}

/// A blob that was found.
pub(crate) struct Stored {
    pub(crate) cid: Cid,
    pub(crate) mime_type: String,
    pub(crate) size: u64,
    file: Option<File>,
}

impl Blobs {
    /// Opens the folder; what was not whole when the last process ended is thrown away.
    pub(crate) fn new(root: PathBuf, bytes_max: u64, node: Node) -> Self {
        // There may be none.
        drop(fs::remove_dir_all(root.join(UNFINISHED)));
        let inner = Inner { root, bytes: AtomicU64::new(0), bytes_max, guard: Mutex::new(()), node };
        let blobs = Blobs { inner: Arc::new(inner) };
        let sizes = blobs.list().into_iter().map(|listed| listed.size).sum();
        blobs.inner.bytes.store(sizes, Ordering::Relaxed);
        blobs
    }

    /// Begins to receive a blob of an agent.
    pub(crate) fn receive(&self, agent: AgentName, mime_type: String) -> Result<Upload, Problem> {
        let (bytes, bytes_max) = (self.inner.bytes.load(Ordering::Relaxed), self.inner.bytes_max);
        if bytes >= bytes_max {
            return Err(Problem::new(Code::NoRoom, format!("blobs have {bytes_max} bytes together already")));
        }
        Ok(Upload::begin(self.clone(), agent, mime_type))
    }

    /// Sees to it that blobs are there for a record that refers to them, and that they are what it says.
    pub(crate) async fn claim(&self, agent: &AgentName, wanted: Vec<Blob>) -> Result<(), Refused> {
        if wanted.is_empty() {
            return Ok(());
        }
        let (blobs, agent) = (self.clone(), agent.clone());
        let claimed =
            spawn_blocking(move || wanted.iter().try_for_each(|blob| blobs.claim_one(&agent, blob)));
        claimed.await.unwrap_or_else(|error| Err(internal(&error).into()))
    }

    fn claim_one(&self, agent: &AgentName, blob: &Blob) -> Result<(), Refused> {
        let _guard = self.inner.guard.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.find(agent, &blob.cid);
        let missing = || Refused::named("BlobNotFound", format!("Could not find blob: {}", blob.cid));
        let found = found.filter(|found| found.touch(self.now()).is_ok()).ok_or_else(missing)?;
        if found.mime_type != blob.mime_type {
            let (expected, got) = (&found.mime_type, &blob.mime_type);
            let message =
                format!("Referenced Mimetype does not match stored blob. Expected: {expected}, Got: {got}");
            return Err(Refused::named("InvalidMimeType", message));
        }
        if found.size != blob.size {
            let (expected, got) = (found.size, blob.size);
            let message =
                format!("Referenced Size does not match stored blob. Expected: {expected}, Got: {got}");
            return Err(Refused::named("InvalidSize", message));
        }
        Ok(())
    }

    /// Opens a blob to read it.
    pub(crate) async fn open(&self, agent: &AgentName, cid: &str) -> Option<Stored> {
        let (blobs, agent, cid) = (self.clone(), agent.clone(), cid.parse().ok()?);
        spawn_blocking(move || blobs.find(&agent, &cid)).await.ok()?
    }

    fn find(&self, agent: &AgentName, cid: &Cid) -> Option<Stored> {
        // What is not in the form in which we write it names no file of ours.
        if !cid.is_blessed() {
            return None;
        }
        let path = self.folder(agent).join(cid.as_str());
        let file = File::options().read(true).write(true).open(&path).ok()?;
        let size = file.metadata().ok()?.len();
        let mime_type = fs::read_to_string(path.with_extension(TYPE)).ok()?;
        Some(Stored { cid: cid.clone(), mime_type, size, file: Some(file) })
    }

    fn folder(&self, agent: &AgentName) -> PathBuf {
        self.inner.root.join(agent.as_str())
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.inner.node.wall().0)
    }

    fn root(&self) -> &Path {
        &self.inner.root
    }
}

impl Stored {
    /// Notes when it is used.
    fn touch(&self, now: SystemTime) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| file.set_modified(now))
    }

    /// Reads it piece by piece.
    pub(crate) fn pieces(self) -> impl Stream<Item = io::Result<Bytes>> {
        futures_util::stream::unfold(self.file, |file| async move {
            let mut file = file?;
            let read = spawn_blocking(move || {
                let mut piece = Vec::with_capacity(PIECE_BYTES);
                let read = (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece);
                read.map(|_| (piece, file))
            });
            match read.await.unwrap_or_else(|error| Err(io::Error::other(error))) {
                Ok((piece, _)) if piece.is_empty() => None,
                Ok((piece, file)) => Some((Ok(Bytes::from(piece)), Some(file))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }
}

fn internal(error: &dyn std::error::Error) -> Problem {
    tracing::error!("a blob: {error}");
    Problem::new(Code::Internal, "the blob could not be stored or read")
}
