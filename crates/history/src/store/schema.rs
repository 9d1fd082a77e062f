//! The tables. Somebody may open the file with `sqlite3`; `docs/history.md` says what is in it.

use message::{Dialect, Guarantee, Kind, Priority, Stage};

use super::Store;
use crate::error::HistoryError;

/// The form of the tables; a file of another form is made anew.
pub(crate) const VERSION: i64 = 2;
/// Says that a database file is ours: `CVKH`.
pub(crate) const APPLICATION: i64 = 0x4356_4b48;

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE vocabulary (what TEXT, code INTEGER, word TEXT, PRIMARY KEY (what, code)) WITHOUT ROWID;
CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    at INTEGER NOT NULL,
    dialect INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    guarantee INTEGER NOT NULL,
    sender INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    recipients TEXT NOT NULL,
    native_id TEXT,
    thread TEXT,
    task TEXT,
    reply_to TEXT,
    body INTEGER,
    amended INTEGER
);
CREATE UNIQUE INDEX message_ids ON messages (id);
CREATE INDEX message_threads ON messages (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX message_tasks ON messages (task, seq) WHERE task IS NOT NULL;
CREATE INDEX message_amended ON messages (amended) WHERE amended IS NOT NULL;
CREATE TABLE deliveries (
    message INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    place INTEGER NOT NULL,
    state INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    agent INTEGER,
    session INTEGER,
    grp INTEGER,
    name TEXT,
    holder INTEGER,
    number INTEGER,
    died INTEGER,
    ladder BLOB,
    PRIMARY KEY (message, entry)
) WITHOUT ROWID;
CREATE INDEX delivery_sessions ON deliveries (session) WHERE session IS NOT NULL AND state < 20;
CREATE INDEX delivery_held ON deliveries (message) WHERE state = 1;
CREATE INDEX delivery_dead ON deliveries (died) WHERE died IS NOT NULL;
CREATE TABLE participants (
    who INTEGER NOT NULL,
    message INTEGER NOT NULL,
    PRIMARY KEY (who, message)
) WITHOUT ROWID;
CREATE TABLE agents (
    agent INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    dialect INTEGER NOT NULL,
    gone INTEGER NOT NULL
);
CREATE TABLE aliases (alias TEXT PRIMARY KEY, agent INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX alias_agents ON aliases (agent);
CREATE TABLE groups (grp INTEGER PRIMARY KEY, address TEXT NOT NULL, posts INTEGER NOT NULL);
CREATE TABLE members (
    grp INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    cursor INTEGER NOT NULL,
    PRIMARY KEY (grp, agent)
) WITHOUT ROWID;
CREATE TABLE sessions (
    opened INTEGER PRIMARY KEY,
    closed INTEGER,
    session INTEGER NOT NULL,
    agent INTEGER NOT NULL,
    number INTEGER NOT NULL,
    door INTEGER NOT NULL
);
CREATE INDEX session_keys ON sessions (session, opened);
CREATE INDEX session_open ON sessions (agent) WHERE closed IS NULL;
CREATE TABLE topics (
    topic TEXT NOT NULL,
    number INTEGER NOT NULL,
    message INTEGER NOT NULL,
    digest BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (topic, number)
) WITHOUT ROWID;
CREATE TABLE gaps (first INTEGER PRIMARY KEY, last INTEGER NOT NULL, why TEXT NOT NULL);
CREATE TABLE counts (
    what TEXT NOT NULL,
    code INTEGER NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (what, code)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE texts USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
CREATE VIEW readable AS
    SELECT m.seq,
        lower(hex(m.id)) AS id,
        strftime('%Y-%m-%dT%H:%M:%fZ', m.at / 1000.0, 'unixepoch') AS time,
        kinds.word AS kind,
        coalesce(agents.name, '?') AS sender,
        m.recipients,
        priorities.word AS priority,
        m.thread,
        m.task
    FROM messages m
    LEFT JOIN agents ON agents.agent = m.sender
    LEFT JOIN vocabulary kinds ON kinds.what = 'kind' AND kinds.code = m.kind
    LEFT JOIN vocabulary priorities ON priorities.what = 'priority' AND priorities.code = m.priority;
";

impl Store {
    pub(super) fn is_empty(&self) -> Result<bool, HistoryError> {
        let tables: i64 =
            self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok(tables == 0)
    }

    pub(super) fn make_tables(&self) -> Result<(), HistoryError> {
        self.begin()?;
        self.connection.execute_batch(TABLES)?;
        self.connection.pragma_update(None, "application_id", APPLICATION)?;
        self.connection.pragma_update(None, "user_version", VERSION)?;
        let kinds = Kind::ALL.iter().map(|kind| ("kind", kind.name()));
        let priorities = Priority::ALL.iter().map(|priority| ("priority", priority.name()));
        let dialects = Dialect::ALL.iter().map(|dialect| ("dialect", dialect.name()));
        let guarantees = Guarantee::ALL.iter().map(|guarantee| ("guarantee", guarantee.name()));
        let stages = Stage::ALL.iter().map(|stage| ("stage", stage.name()));
        let lists: [Vec<(&str, &str)>; 5] = [
            kinds.collect(),
            priorities.collect(),
            dialects.collect(),
            guarantees.collect(),
            stages.collect(),
        ];
        let mut insert = self.connection.prepare("INSERT INTO vocabulary VALUES (?1, ?2, ?3)")?;
        for list in lists {
            for (code, (what, word)) in (0_i64..).zip(list) {
                insert.execute((what, code, word))?;
            }
        }
        self.commit()
    }

    /// Tells whether the tables are of our form.
    pub(crate) fn is_of_this_form(&self) -> Result<bool, HistoryError> {
        let pragma = |name: &str| -> Result<i64, HistoryError> {
            Ok(self.connection.pragma_query_value(None, name, |row| row.get(0))?)
        };
        Ok(pragma("application_id")? == APPLICATION && pragma("user_version")? == VERSION)
    }
}
