//! The database file: made, opened, checked, moved out of the way.

mod know;
mod load;
mod save;
mod schema;
mod topics;

use std::path::{Path, PathBuf};

use message::Seq;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use crate::error::HistoryError;
use crate::settings::Settings;

pub(crate) use load::{COLUMNS, Place, letter, word};
pub(crate) use save::Tally;

/// How many prepared statements a connection keeps.
const STATEMENTS: usize = 64;

/// How long a connection waits for another one.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// A connection and what is asked of it. The thread has one that writes; questions have others that only read.
pub(crate) struct Store {
    pub(crate) connection: Connection,
}

/// How far the tables have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// The last event in the tables.
    pub(crate) applied: Seq,
    /// The last event whose text can be searched.
    pub(crate) indexed: Seq,
    /// The first event from which on nothing is missing but what a salvage left out.
    pub(crate) since: Seq,
    /// What the last applied record was, to know the log again.
    pub(crate) fingerprint: Option<Vec<u8>>,
    /// How many dead letters the broker keeps.
    pub(crate) dead_max: u64,
    /// Whether the file was closed as it should be.
    pub(crate) is_closed: bool,
}

impl Store {
    /// Opens the file to write, and makes the tables if it is new. Says nothing about a file of another form.
    pub(crate) fn open(settings: &Settings) -> Result<Self, HistoryError> {
        let connection = Connection::open(&settings.file)?;
        let pages_kib = i64::try_from(settings.page_cache_bytes >> 10).unwrap_or(i64::MAX);
        let synchronous = if settings.outlives_log { "NORMAL" } else { "OFF" };
        // The other way round a new file would be synced four times before anything is in it.
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "cache_size", -pages_kib)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.pragma_update(None, "wal_autocheckpoint", 8_192)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let store = Store { connection };
        if store.is_empty()? {
            store.make_tables()?;
        }
        Ok(store)
    }

    /// Writes from now on so that a power loss cannot damage the file.
    pub(crate) fn be_careful(&self) -> Result<(), HistoryError> {
        Ok(self.connection.pragma_update(None, "synchronous", "NORMAL")?)
    }

    /// Makes everything that was committed safe from a power loss, without waiting for anybody; tells whether it is.
    pub(crate) fn secure(file: &Path) -> Result<bool, HistoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let (is_busy, frames, copied): (bool, i64, i64) =
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
        let failed = |source| HistoryError::File { file: file.to_owned(), source };
        // The file itself is in its folder since it was made, which nobody synced.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = std::fs::File::open(folder.unwrap_or(Path::new("."))).map_err(failed)?;
        folder.sync_all().map_err(failed)?;
        Ok(!is_busy && frames == copied)
    }

    /// Opens nothing, to stand where a store was.
    pub(crate) fn nowhere() -> Result<Self, HistoryError> {
        Ok(Store { connection: Connection::open_in_memory()? })
    }

    /// Opens the file to read.
    pub(crate) fn open_to_read(file: &Path) -> Result<Self, HistoryError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.busy_timeout(PATIENCE)?;
        Ok(Store { connection })
    }

    /// Looks whether every page is what it should be; for a file that was not closed.
    pub(crate) fn is_sound(&self) -> Result<bool, HistoryError> {
        let found: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok(found == "ok")
    }

    pub(crate) fn begin(&self) -> Result<(), HistoryError> {
        Ok(self.connection.execute_batch("BEGIN IMMEDIATE")?)
    }

    pub(crate) fn commit(&self) -> Result<(), HistoryError> {
        Ok(self.connection.execute_batch("COMMIT")?)
    }

    /// Undoes what was not committed. If even that fails, closing the connection does it.
    pub(crate) fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("ROLLBACK"));
        }
    }

    /// Closes the file, with everything in it and nothing beside it.
    pub(crate) fn close(self) -> Result<(), HistoryError> {
        self.connection.execute("UPDATE meta SET value = 1 WHERE name = 'closed'", [])?;
        self.connection.close().map_err(|(_, error)| error.into())
    }

    /// Runs a query that has one row or none.
    pub(crate) fn one<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl rusqlite::Params,
    ) -> Result<Option<T>, HistoryError> {
        Ok(self.connection.prepare_cached(sql)?.query_row(params, |row| row.get(0)).optional()?)
    }
}

/// Moves a file that is of no use out of the way, with what belongs to it, and returns where to.
pub(crate) fn set_aside(file: &Path, ending: &str) -> Result<PathBuf, HistoryError> {
    let with = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    // What was set aside before is not overwritten, so that nothing is lost in silence.
    let mut target = with(ending);
    for number in 2_u32.. {
        if !target.exists() {
            break;
        }
        target = with(&format!("{ending}.{number}"));
    }
    let failed = |source| HistoryError::File { file: file.to_owned(), source };
    if file.exists() {
        std::fs::rename(file, &target).map_err(failed)?;
    }
    for part in ["-wal", "-shm"] {
        let found = with(part);
        if found.exists() {
            let mut to = target.as_os_str().to_owned();
            to.push(part);
            std::fs::rename(&found, PathBuf::from(to)).map_err(failed)?;
        }
    }
    Ok(target)
}

/// A number as the database has it. Numbers of the log stay far below its limit.
pub(crate) fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number of the database as we have it.
pub(crate) fn number(sql: i64) -> u64 {
    u64::try_from(sql).unwrap_or(0)
}
