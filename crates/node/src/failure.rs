//! What can go wrong with a node.

use std::sync::Arc;

use broker::{DecodeError, Misfit, Refusal};
use log::{OpenError, ReadError, SnapshotError, SyncError};
use message::Seq;

use crate::driver::CommitError;

/// Why something that was asked was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The state says no.
    #[error("{0}")]
    Refused(Refusal),
    /// The disk is full: nothing new is taken in, what is there can be finished.
    #[error("there is no room on the disk for new messages")]
    NoRoom,
    /// The node has stopped, or stops.
    #[error("the node has stopped")]
    Stopped,
    /// The reply is that of another command: an internal error.
    #[error("internal error: the reply does not fit the command")]
    Unexpected,
}

/// Why a node does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The log does not open.
    #[error("cannot open the log")]
    Log(#[source] OpenError),
    /// A snapshot cannot be read.
    #[error("cannot read the snapshots")]
    Snapshots(#[source] SnapshotError),
    /// A snapshot is none of ours.
    #[error("the snapshot after record {at} cannot be understood")]
    Snapshot {
        /// After which record it was taken.
        at: Seq,
        /// What is wrong with it.
        #[source]
        source: DecodeError,
    },
    /// A record cannot be read.
    #[error("cannot read the log")]
    Read(#[source] ReadError),
    /// A record is none of ours.
    #[error("record {seq} cannot be understood")]
    Record {
        /// Which.
        seq: Seq,
        /// What is wrong with it.
        #[source]
        source: DecodeError,
    },
    /// The log holds what cannot have happened.
    #[error("the log does not fit the state that it was folded to")]
    Misfit(#[source] Misfit),
    /// Reading or writing the folder failed.
    #[error("cannot prepare the folder of the log")]
    Folder(#[source] std::io::Error),
}

/// Why a node stopped by itself. The process must stop too: what was written and not synced is promised to nobody.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fatal {
    #[error("{0}")]
    Commit(Arc<str>),
    #[error("the log cannot be made durable: {0}")]
    Sync(Arc<str>),
    #[error("internal error: a panic left the state inconsistent; restart to recover from the log")]
    Panicked,
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        CallError::Refused(refusal)
    }
}

impl From<CommitError> for Fatal {
    fn from(error: CommitError) -> Self {
        Fatal::Commit(error.to_string().into())
    }
}

impl From<SyncError> for Fatal {
    fn from(error: SyncError) -> Self {
        Fatal::Sync(describe(&error).into())
    }
}

/// Puts an error and what caused it into one line.
pub(crate) fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
