//! From the tables: messages with their deliveries, the registry, how far they have come.

use broker::{AgentKey, Door, EntryKey, GroupKey, Retention, SessionKey, Time};
use message::{Dialect, Guarantee, Kind, MessageId, Priority, Seq};
use rusqlite::types::FromSql;
use rusqlite::{OptionalExtension, Row};

use super::{Marks, Store, number, sql};
use crate::delivery::{Delivery, Ladder, Mailbox, State};
use crate::error::HistoryError;
use crate::letter::{Change, Flags, Letter};
use crate::registry::{Agent, Group, Registry, Session};

/// The columns of a message, in the order in which [`letter`] reads them.
pub(crate) const COLUMNS: &str = "seq, id, at, dialect, kind, priority, guarantee, sender, flags, recipients, \
    native_id, thread, task, reply_to, body, amended";

/// A delivery and the message that it is of.
pub(crate) type Place = (Seq, EntryKey);

impl Store {
    /// Reads how far the tables have come.
    pub(crate) fn marks(&self) -> Result<Marks, HistoryError> {
        let seq = |name: &str| -> Result<Option<i64>, HistoryError> { self.meta(name) };
        Ok(Marks {
            applied: Seq(number(seq("applied")?.unwrap_or(0))),
            indexed: Seq(number(seq("indexed")?.unwrap_or(0))),
            since: Seq(number(seq("since")?.unwrap_or(1))),
            fingerprint: self.meta("fingerprint")?,
            dead_max: number(seq("dead_max")?.unwrap_or_else(|| sql(Retention::USUAL.dead_max))),
            is_closed: seq("closed")?.unwrap_or(1) == 1,
        })
    }

    fn meta<T: FromSql>(&self, name: &str) -> Result<Option<T>, HistoryError> {
        // A value may be noted as unknown.
        let value: Option<Option<T>> = self.one("SELECT value FROM meta WHERE name = ?1", [name])?;
        Ok(value.flatten())
    }

    /// Reads a message and its deliveries.
    pub(crate) fn letter(&self, seq: Seq) -> Result<Option<Letter>, HistoryError> {
        let text = format!("SELECT {COLUMNS} FROM messages WHERE seq = ?1");
        let mut statement = self.connection.prepare_cached(&text)?;
        let Some(mut letter) = statement.query_row([sql(seq.0)], letter).optional()? else {
            return Ok(None);
        };
        letter.deliveries = self.deliveries(seq)?;
        Ok(Some(letter))
    }

    /// Reads the deliveries of a message, in the order in which they came to be.
    pub(crate) fn deliveries(&self, seq: Seq) -> Result<Vec<Delivery>, HistoryError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT entry, place, state, attempts, agent, session, grp, name, holder, number, died, ladder \
             FROM deliveries WHERE message = ?1",
        )?;
        let found = statement.query_map([sql(seq.0)], delivery)?;
        let mut deliveries = found.collect::<Result<Vec<_>, _>>()?;
        deliveries.sort_unstable_by_key(|delivery| delivery.place);
        Ok(deliveries)
    }

    /// Reads who is there.
    pub(crate) fn registry(&self) -> Result<Registry, HistoryError> {
        let mut registry = Registry::default();
        self.read_agents(&mut registry)?;
        self.each("SELECT grp, address, posts FROM groups", |row| {
            let group = Group { address: row.get(1)?, posts: number(row.get(2)?) };
            registry.groups.insert(GroupKey(row.get(0)?), group);
            Ok(())
        })?;
        self.each("SELECT grp, agent, cursor FROM members", |row| {
            let member = (GroupKey(row.get(0)?), AgentKey(row.get(1)?));
            registry.members.insert(member, number(row.get(2)?));
            Ok(())
        })?;
        self.each("SELECT session, agent, number, door, opened FROM sessions WHERE closed IS NULL", |row| {
            let session = Session {
                agent: AgentKey(row.get(1)?),
                number: row.get(2)?,
                door: word(row, 3, &Door::ALL)?,
                opened: Seq(number(row.get(4)?)),
            };
            registry.sessions.insert(SessionKey(row.get(0)?), session);
            Ok(())
        })?;
        if registry.agents.is_empty() {
            return Ok(Registry::initial());
        }
        Ok(registry)
    }

    fn read_agents(&self, registry: &mut Registry) -> Result<(), HistoryError> {
        self.each("SELECT agent, name, dialect, gone FROM agents", |row| {
            let (agent, name) = (AgentKey(row.get(0)?), row.get::<_, Box<str>>(1)?);
            registry.names.insert(name.clone(), agent);
            let (dialect, is_gone) = (word(row, 2, Dialect::ALL)?, row.get(3)?);
            registry.agents.insert(agent, Agent { name, aliases: Vec::new(), dialect, is_gone });
            Ok(())
        })?;
        self.each("SELECT alias, agent FROM aliases", |row| {
            let (alias, key) = (row.get::<_, Box<str>>(0)?, AgentKey(row.get(1)?));
            if let Some(agent) = registry.agents.get_mut(&key) {
                agent.aliases.push(alias.clone());
            }
            registry.names.insert(alias, key);
            Ok(())
        })
    }

    /// Reads what is held for names, in the order in which it came.
    pub(crate) fn held(&self) -> Result<Vec<(Box<str>, Place)>, HistoryError> {
        let mut held = Vec::new();
        let text = "SELECT name, message, entry FROM deliveries WHERE state = 1 ORDER BY message, place";
        self.each(text, |row| {
            let name: Option<Box<str>> = row.get(0)?;
            held.extend(name.map(|name| (name, place(row, 1))).map(|(name, place)| Ok((name, place?))));
            Ok(())
        })?;
        held.into_iter().collect::<rusqlite::Result<_>>().map_err(HistoryError::from)
    }

    /// Reads what is addressed to connections and not over, in the order in which it came.
    pub(crate) fn addressed(&self) -> Result<Vec<(SessionKey, Place)>, HistoryError> {
        let mut addressed = Vec::new();
        let text = "SELECT session, message, entry FROM deliveries \
                    WHERE session IS NOT NULL AND state < 20 ORDER BY message, place";
        self.each(text, |row| {
            addressed.push((SessionKey(row.get(0)?), place(row, 1)?));
            Ok(())
        })?;
        Ok(addressed)
    }

    /// Reads the dead letters with their order.
    pub(crate) fn dead(&self) -> Result<Vec<(i64, Place)>, HistoryError> {
        let mut dead = Vec::new();
        self.each("SELECT died, message, entry FROM deliveries WHERE died IS NOT NULL", |row| {
            dead.push((row.get(0)?, place(row, 1)?));
            Ok(())
        })?;
        Ok(dead)
    }

    /// Runs a query without parameters and visits its rows.
    pub(crate) fn each(
        &self,
        text: &str,
        mut visit: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), HistoryError> {
        let mut statement = self.connection.prepare_cached(text)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            visit(row)?;
        }
        Ok(())
    }
}

/// Reads a message without its deliveries from a row of [`COLUMNS`].
pub(crate) fn letter(row: &Row<'_>) -> rusqlite::Result<Letter> {
    let seq = Seq(number(row.get(0)?));
    Ok(Letter {
        seq,
        id: MessageId::from_bytes(row.get(1)?),
        at: Time(number(row.get(2)?)),
        dialect: word(row, 3, Dialect::ALL)?,
        kind: word(row, 4, Kind::ALL)?,
        priority: word(row, 5, Priority::ALL)?,
        guarantee: word(row, 6, Guarantee::ALL)?,
        from: AgentKey(row.get(7)?),
        flags: Flags::from_code(row.get(8)?),
        to: row.get(9)?,
        native_id: row.get(10)?,
        thread: row.get(11)?,
        task: row.get(12)?,
        reply_to: row.get(13)?,
        body: row.get::<_, Option<i64>>(14)?.map_or(seq, |body| Seq(number(body))),
        amended: row.get::<_, Option<i64>>(15)?.map(|amended| Seq(number(amended))),
        deliveries: Vec::new(),
        participants: Vec::new(),
        change: Change::None,
    })
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<Delivery> {
    let agent: Option<u32> = row.get(4)?;
    let session: Option<u32> = row.get(5)?;
    let group: Option<u32> = row.get(6)?;
    let name: Option<Box<str>> = row.get(7)?;
    let mailbox = match (agent.map(AgentKey), session.map(SessionKey), group, name) {
        (Some(agent), Some(session), ..) => Mailbox::Session(agent, session),
        (Some(agent), None, ..) => Mailbox::Agent(agent),
        (None, _, Some(group), _) => Mailbox::Group(GroupKey(group)),
        (None, _, None, name) => Mailbox::Name(name.unwrap_or_default()),
    };
    let state = row.get(2)?;
    let ladder: Option<Vec<u8>> = row.get(11)?;
    let ladder = ladder.map_or(Some(Ladder::default()), |bytes| Ladder::decode(&bytes));
    let mut delivery = Delivery {
        entry: EntryKey(row.get(0)?),
        place: row.get(1)?,
        mailbox,
        state: State::from_code(state).ok_or_else(|| odd(2))?,
        attempts: row.get(3)?,
        holder: row.get::<_, Option<u32>>(8)?.map(AgentKey),
        number: row.get::<_, Option<i64>>(9)?.map_or(0, number),
        died: row.get(10)?,
        ladder: ladder.ok_or_else(|| odd(11))?,
        is_dirty: false,
        counted: None,
    };
    delivery.counted = delivery.shown_stage();
    Ok(delivery)
}

fn place(row: &Row<'_>, column: usize) -> rusqlite::Result<Place> {
    Ok((Seq(number(row.get(column)?)), EntryKey(row.get(column + 1)?)))
}

/// Reads a word that stands as its number.
pub(crate) fn word<T: Copy>(row: &Row<'_>, column: usize, all: &[T]) -> rusqlite::Result<T> {
    let code: usize = row.get::<_, u32>(column)? as usize;
    all.get(code).copied().ok_or_else(|| odd(column))
}

/// Says that a column holds what we never write.
fn odd(column: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, "an unknown code".to_owned(), rusqlite::types::Type::Integer)
}
