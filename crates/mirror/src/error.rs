//! Why a message cannot be mirrored.

use channel_root::RootError;

/// Why a message cannot be mirrored.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The server cannot be reached or does not answer.
    #[error("the NATS server at {url} is away: {reason}")]
    Away {
        /// Where it is, without credentials.
        url: String,
        /// What was seen of that.
        reason: String,
    },
    /// The server answers and says no.
    #[error("the NATS server at {url} refuses to {doing}: {reason}")]
    Refused {
        /// Where it is, without credentials.
        url: String,
        /// What was tried.
        doing: &'static str,
        /// What it says.
        reason: String,
    },
    /// The credentials cannot be read.
    #[error("cannot read the credentials in {path}: {reason}")]
    Credentials {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A copy on the server is not what it should be.
    #[error("the copy of {id} on the server cannot be read: {reason}")]
    Copy {
        /// The message.
        id: String,
        /// Why not.
        reason: String,
    },
    /// What is to be published later cannot be kept.
    #[error("cannot {doing} the outbox {path}")]
    Outbox {
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
}

impl MirrorError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            MirrorError::Away { .. } => "nats_away",
            MirrorError::Refused { .. } => "nats_refused",
            MirrorError::Credentials { .. } => "nats_credentials",
            MirrorError::Copy { .. } => "nats_copy",
            MirrorError::Outbox { .. } => "outbox",
            MirrorError::Root(error) => error.code(),
        }
    }

    /// Says what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            MirrorError::Away { .. } => {
                "start the server, or check its address; what is missing is published later"
            }
            MirrorError::Refused { .. } => "is JetStream on, and may this user make streams and publish?",
            MirrorError::Credentials { .. } => "name a file that this user may read",
            MirrorError::Copy { .. } => "`convoke channel mirror --check` lists what differs",
            MirrorError::Outbox { .. } => {
                "check the folder `.state` of the root, its rights and the room on the disk"
            }
            MirrorError::Root(error) => error.hint(),
        }
    }
}
