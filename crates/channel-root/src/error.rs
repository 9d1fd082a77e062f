//! What can go wrong with a root.

use std::io;

/// Why something cannot be done in a root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The folder has no `channels/`.
    #[error("{path} is no channel root: it has no folder `channels`")]
    NotARoot {
        /// The folder.
        path: String,
    },
    /// Something that should be a folder of the root is a link or no folder.
    #[error("{path} is a link or no folder, and nothing outside the root is opened")]
    NotAFolder {
        /// What it is called, from the root.
        path: String,
    },
    /// A name that cannot be that of a file or folder here.
    #[error("{name:?} cannot be the name of a {what} in a channel root")]
    BadName {
        /// What it would be.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// There is no such channel.
    #[error("there is no channel {name:?}")]
    NoSuchChannel {
        /// Its name.
        name: String,
    },
    /// There is another message of that id.
    #[error("{id} is the id of another message, and messages are never overwritten")]
    Clash {
        /// The id.
        id: String,
    },
    /// A message that is larger than others would read.
    #[error("the message has {bytes} bytes, and {bytes_max} are allowed")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        bytes_max: u64,
    },
    /// The file system says no.
    #[error("cannot {doing} {path}")]
    Storage {
        /// What was tried.
        doing: &'static str,
        /// With what, from the root.
        path: String,
        /// What it says.
        #[source]
        error: io::Error,
    },
}

impl RootError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            RootError::NotARoot { .. } => "not_a_root",
            RootError::NotAFolder { .. } => "not_a_folder",
            RootError::BadName { .. } => "bad_name",
            RootError::NoSuchChannel { .. } => "no_such_channel",
            RootError::Clash { .. } => "id_clash",
            RootError::TooLarge { .. } => "too_large",
            RootError::Storage { .. } => "storage",
        }
    }

    /// Says what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            RootError::NotARoot { .. } => "make one with `mkdir channels` in it, or name another folder",
            RootError::NotAFolder { .. } => "replace it by a real folder",
            RootError::BadName { .. } => "use letters, digits, `.`, `_` and `-`",
            RootError::NoSuchChannel { .. } => "post to it to make it, or look at the list of channels",
            RootError::Clash { .. } => "post the message under a new id",
            RootError::TooLarge { .. } => "put the large part into a file and name it in `artifacts`",
            RootError::Storage { .. } => {
                "check the folder, its owner and its rights, and the room on the disk"
            }
        }
    }

    pub(crate) fn storage(doing: &'static str, path: impl Into<String>, error: impl Into<io::Error>) -> Self {
        RootError::Storage { doing, path: path.into(), error: error.into() }
    }
}
