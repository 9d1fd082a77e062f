//! What can go wrong with the history. None of it endangers a message: the log is the truth.

use std::path::PathBuf;

/// Why the history cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The file cannot be made or opened, nor moved out of the way.
    #[error("cannot open the history file {}", file.display())]
    File {
        /// Which file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The database refused.
    #[error("the history database failed")]
    Database(#[from] rusqlite::Error),
    /// The log could not be read.
    #[error("the history cannot read the log")]
    Log(#[from] log::ReadError),
    /// The file cannot be used, and only it knows what was before the log.
    #[error(
        "{} {why}, and only it knows what happened before record {first}, where the log begins now",
        file.display()
    )]
    Irreplaceable {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        why: &'static str,
        /// The first record of the log.
        first: message::Seq,
    },
    /// The thread could not be started.
    #[error("cannot start the thread of the history")]
    Thread(#[source] std::io::Error),
    /// The thread ended before it was ready.
    #[error("the history has stopped")]
    Stopped,
}

impl HistoryError {
    /// Tells whether the file is not what it should be, so that only making it anew helps.
    pub(crate) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            HistoryError::Database(error) => {
                let code = error.sqlite_error_code();
                let is_corrupt = matches!(code, Some(DatabaseCorrupt | NotADatabase));
                // What we wrote cannot be read as what we wrote.
                let is_odd = matches!(
                    error,
                    rusqlite::Error::FromSqlConversionFailure(..)
                        | rusqlite::Error::InvalidColumnType(..)
                        | rusqlite::Error::IntegralValueOutOfRange(..)
                );
                is_corrupt || is_odd
            }
            HistoryError::File { .. }
            | HistoryError::Irreplaceable { .. }
            | HistoryError::Log(_)
            | HistoryError::Thread(_)
            | HistoryError::Stopped => false,
        }
    }
}
