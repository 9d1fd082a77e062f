//! The peer: SQLite with a write-ahead log and a full sync for each transaction.

use std::path::Path;

use rusqlite::{Connection, params};

use super::append::RECORD_BYTES;

/// A database with one table of records.
pub(crate) struct Sqlite {
    connection: Connection,
    seq: i64,
}

impl Sqlite {
    pub(crate) fn make(folder: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(folder.join("records.db"))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute("CREATE TABLE record (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)", ())?;
        Ok(Sqlite { connection, seq: 0 })
    }

    /// Writes a batch in one transaction, durable when it is committed.
    pub(crate) fn write(&mut self, records: &[u8]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert = transaction.prepare_cached("INSERT INTO record (seq, body) VALUES (?1, ?2)")?;
            for record in records.chunks(RECORD_BYTES) {
                self.seq += 1;
                insert.execute(params![self.seq, record])?;
            }
        }
        transaction.commit()
    }
}

/// The version that is built in.
pub(crate) fn version() -> &'static str {
    rusqlite::version()
}
