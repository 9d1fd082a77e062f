//! Collecting blobs to which nothing refers.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use atproto_syntax::Cid;
use broker::query::records::AreReferredTo;
use broker::{AgentKey, Digest};
use gateway::Hub;
use tokio::task::spawn_blocking;

use super::{Blobs, TYPE};
use crate::Door;

/// How long a blob is kept to which nothing refers.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// How often is looked.
const PAUSE: Duration = Duration::from_secs(10 * 60);
/// Blobs that are asked about at a time.
const ASKED_MAX: usize = 1_000;

/// A blob as its file shows it.
pub(super) struct Listed {
    agent: String,
    cid: Cid,
    path: PathBuf,
    pub(super) size: u64,
}

/// Collects now and from time to time, until the bus stops.
pub(crate) fn collect(hub: &Hub, door: &Arc<Door>) {
    let (hub, blobs, mut stopping) = (hub.clone(), door.blobs.clone(), hub.stopping());
    tokio::spawn(async move {
        loop {
            blobs.collect(&hub, KEPT).await;
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                _ = stopping.wait_for(|stops| *stops) => return,
            }
        }
    });
}

impl Blobs {
    /// Removes what was not used for a while and to which no record refers.
    pub(crate) async fn collect(&self, hub: &Hub, kept: Duration) {
        let blobs = self.clone();
        let (now, listed) = (self.now(), spawn_blocking(move || blobs.list()).await);
        let Ok(listed) = listed else { return };
        let mut old: Vec<Listed> = listed.into_iter().filter(|listed| listed.is_old(now, kept)).collect();
        while !old.is_empty() {
            let some: Vec<Listed> = old.drain(..old.len().min(ASKED_MAX)).collect();
            let blobs = self.clone();
            let Some(unused) = unused(hub, some).await else { return };
            let removed = spawn_blocking(move || unused.iter().for_each(|listed| blobs.remove(listed, kept)));
            if removed.await.is_err() {
                return;
            }
        }
    }

    /// Lists every blob there is.
    pub(super) fn list(&self) -> Vec<Listed> {
        let folders = fs::read_dir(self.root()).into_iter().flatten().flatten();
        let files = folders.flat_map(|folder| {
            let agent = folder.file_name().to_string_lossy().into_owned();
            let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            files.map(move |file| (agent.clone(), file))
        });
        let blobs = files.filter_map(|(agent, file)| {
            let cid: Cid = file.file_name().to_str()?.parse().ok()?;
            let size = file.metadata().ok()?.len();
            cid.is_blessed().then(|| Listed { agent, cid, path: file.path(), size })
        });
        blobs.collect()
    }

    fn remove(&self, listed: &Listed, kept: Duration) {
        let _guard = self.inner.guard.lock().unwrap_or_else(PoisonError::into_inner);
        // A record may have come to refer to it.
        if !listed.is_old(self.now(), kept) {
            return;
        }
        if let Err(error) = fs::remove_file(&listed.path) {
            tracing::warn!("a blob that nobody needs stays: {error}");
            return;
        }
        // Without its blob it says nothing.
        drop(fs::remove_file(listed.path.with_extension(TYPE)));
        self.inner.bytes.fetch_sub(listed.size, Ordering::Relaxed);
    }
}

impl Listed {
    fn is_old(&self, now: SystemTime, kept: Duration) -> bool {
        let used = fs::metadata(&self.path).and_then(|metadata| metadata.modified());
        used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age >= kept))
    }
}

/// Leaves out the blobs to which records refer, and those of agents who are gone: their records are still there.
async fn unused(hub: &Hub, listed: Vec<Listed>) -> Option<Vec<Listed>> {
    let asked: Vec<Option<(AgentKey, Digest)>> = listed
        .iter()
        .map(|listed| {
            let digest = listed.cid.decode().ok()?.digest.try_into().ok().map(Digest)?;
            Some((hub.key_of(&listed.agent)?, digest))
        })
        .collect();
    let blobs = asked.iter().copied().flatten().collect();
    let mut are_used = hub.query(AreReferredTo { blobs }).await.ok()?.into_iter();
    let is_unused = asked.iter().map(|asked| asked.is_some() && are_used.next() == Some(false));
    Some(
        listed
            .into_iter()
            .zip(is_unused)
            .filter(|(_, is_unused)| *is_unused)
            .map(|(listed, _)| listed)
            .collect(),
    )
}
