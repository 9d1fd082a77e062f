//! Why a watcher cannot go on.

use channel_root::RootError;
use client::ClientError;

/// Why a watcher cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// Another watcher of the same agent works on the same root.
    #[error("another watcher of {agent} is at work on this root")]
    Busy {
        /// The agent.
        agent: String,
    },
    /// What was done cannot be kept.
    #[error("cannot {doing} {path}")]
    Journal {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: String,
        /// Why not.
        #[source]
        error: std::io::Error,
    },
    /// The root says no.
    #[error(transparent)]
    Root(#[from] RootError),
    /// The bus says no.
    #[error(transparent)]
    Bus(#[from] Box<ClientError>),
}

impl WatchError {
    /// Returns the stable code.
    pub fn code(&self) -> &str {
        match self {
            WatchError::Busy { .. } => "watcher_busy",
            WatchError::Journal { .. } => "journal",
            WatchError::Root(error) => error.code(),
            WatchError::Bus(error) => error.code(),
        }
    }

    /// Says what to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            WatchError::Busy { .. } => Some("stop the other one, or watch for another agent"),
            WatchError::Journal { .. } => {
                Some("check the folder `.state` of the root, its rights and the room on the disk")
            }
            WatchError::Root(error) => Some(error.hint()),
            WatchError::Bus(_) => None,
        }
    }
}

impl From<ClientError> for WatchError {
    fn from(error: ClientError) -> Self {
        WatchError::Bus(Box::new(error))
    }
}
