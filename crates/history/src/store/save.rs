//! Into the tables: what a chunk of events has changed, each row once.

use message::{Kind, Seq, Stage};
use rusqlite::params;

use super::{Marks, Store, sql};
use crate::delivery::{Delivery, Mailbox};
use crate::error::HistoryError;
use crate::letter::{Change, Letter};
use crate::registry::{Changes, Registry};

/// By how much counts have changed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) kinds: Vec<i64>,
    pub(crate) stages: Vec<i64>,
}

impl Store {
    pub(crate) fn save_marks(&self, marks: &Marks) -> Result<(), HistoryError> {
        let mut statement =
            self.connection.prepare_cached("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)")?;
        let numbers = [
            ("applied", marks.applied.0),
            ("indexed", marks.indexed.0),
            ("since", marks.since.0),
            ("dead_max", marks.dead_max),
            ("closed", marks.is_closed.into()),
        ];
        for (name, value) in numbers {
            statement.execute((name, sql(value)))?;
        }
        statement.execute(("fingerprint", &marks.fingerprint))?;
        Ok(())
    }

    /// Writes a message and its deliveries as far as they differ from the tables.
    pub(crate) fn save_letter(&self, letter: &mut Letter, tally: &mut Tally) -> Result<(), HistoryError> {
        match letter.change {
            Change::New => self.insert_message(letter)?,
            Change::Message => self.update_message(letter)?,
            Change::Deliveries | Change::None => {}
        }
        let seq = letter.seq;
        for delivery in letter.deliveries.iter_mut().filter(|delivery| delivery.is_dirty) {
            self.save_delivery(seq, delivery)?;
            let stage = delivery.shown_stage();
            if stage != delivery.counted {
                tally.move_stage(delivery.counted, stage);
                delivery.counted = stage;
            }
            delivery.is_dirty = false;
        }
        let mut insert =
            self.connection.prepare_cached("INSERT OR IGNORE INTO participants VALUES (?1, ?2)")?;
        for who in letter.participants.drain(..) {
            insert.execute((who.code(), sql(seq.0)))?;
        }
        letter.change = Change::None;
        Ok(())
    }

    fn insert_message(&self, letter: &Letter) -> Result<(), HistoryError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?;
        statement.execute(params![
            sql(letter.seq.0),
            letter.id.to_bytes(),
            sql(letter.at.0),
            letter.dialect as i64,
            letter.kind as i64,
            letter.priority as i64,
            letter.guarantee as i64,
            letter.from.0,
            letter.flags.code(),
            letter.to,
            letter.native_id,
            letter.thread,
            letter.task,
            letter.reply_to,
            (letter.body != letter.seq).then_some(sql(letter.body.0)),
            letter.amended.map(|amended| sql(amended.0)),
        ])?;
        Ok(())
    }

    fn update_message(&self, letter: &Letter) -> Result<(), HistoryError> {
        let mut statement = self.connection.prepare_cached(
            "UPDATE messages SET flags = ?2, body = ?3, amended = ?4, dialect = ?5 WHERE seq = ?1",
        )?;
        statement.execute(params![
            sql(letter.seq.0),
            letter.flags.code(),
            (letter.body != letter.seq).then_some(sql(letter.body.0)),
            letter.amended.map(|amended| sql(amended.0)),
            letter.dialect as i64,
        ])?;
        Ok(())
    }

    fn save_delivery(&self, message: Seq, delivery: &Delivery) -> Result<(), HistoryError> {
        let (agent, session, group, name) = match &delivery.mailbox {
            Mailbox::Agent(agent) => (Some(agent.0), None, None, None),
            Mailbox::Session(agent, session) => (Some(agent.0), Some(session.0), None, None),
            Mailbox::Group(group) => (None, None, Some(group.0), None),
            Mailbox::Name(name) => (None, None, None, Some(&**name)),
        };
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO deliveries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?;
        statement.execute(params![
            sql(message.0),
            delivery.entry.0,
            delivery.place,
            delivery.state.code(),
            delivery.attempts,
            agent,
            session,
            group,
            name,
            delivery.holder.map(|agent| agent.0),
            group.map(|_| sql(delivery.number)),
            delivery.died,
            delivery.ladder.encode(),
        ])?;
        Ok(())
    }

    /// Writes what has changed in the registry.
    pub(crate) fn save_registry(&self, registry: &mut Registry) -> Result<(), HistoryError> {
        let Changes { agents, groups, members, opened, closed } = std::mem::take(&mut registry.changes);
        let connection = &self.connection;
        for key in agents {
            connection.prepare_cached("DELETE FROM aliases WHERE agent = ?1")?.execute([key.0])?;
            let Some(agent) = registry.agents.get(&key) else { continue };
            let mut save =
                connection.prepare_cached("INSERT OR REPLACE INTO agents VALUES (?1, ?2, ?3, ?4)")?;
            save.execute((key.0, &*agent.name, agent.dialect as i64, agent.is_gone))?;
            for alias in &agent.aliases {
                let mut save = connection.prepare_cached("INSERT OR REPLACE INTO aliases VALUES (?1, ?2)")?;
                save.execute((&**alias, key.0))?;
            }
        }
        for key in groups {
            let Some(group) = registry.groups.get(&key) else { continue };
            let mut save = connection.prepare_cached("INSERT OR REPLACE INTO groups VALUES (?1, ?2, ?3)")?;
            save.execute((key.0, &*group.address, sql(group.posts)))?;
        }
        for (group, agent) in members {
            match registry.members.get(&(group, agent)) {
                Some(cursor) => connection
                    .prepare_cached("INSERT OR REPLACE INTO members VALUES (?1, ?2, ?3)")?
                    .execute((group.0, agent.0, sql(*cursor)))?,
                None => connection
                    .prepare_cached("DELETE FROM members WHERE grp = ?1 AND agent = ?2")?
                    .execute((group.0, agent.0))?,
            };
        }
        for (key, session) in opened {
            let mut save = connection
                .prepare_cached("INSERT OR REPLACE INTO sessions VALUES (?1, NULL, ?2, ?3, ?4, ?5)")?;
            let door = session.door as i64;
            save.execute((sql(session.opened.0), key.0, session.agent.0, session.number, door))?;
        }
        for (opened, closed) in closed {
            let mut save = connection.prepare_cached("UPDATE sessions SET closed = ?2 WHERE opened = ?1")?;
            save.execute((sql(opened.0), sql(closed.0)))?;
        }
        Ok(())
    }

    /// Notes records that are missing.
    pub(crate) fn save_gap(&self, first: Seq, last: Seq, why: &str) -> Result<(), HistoryError> {
        let mut save = self.connection.prepare_cached("INSERT OR REPLACE INTO gaps VALUES (?1, ?2, ?3)")?;
        save.execute((sql(first.0), sql(last.0), why))?;
        Ok(())
    }

    /// Adds to the counts.
    pub(crate) fn save_tally(&self, tally: &mut Tally) -> Result<(), HistoryError> {
        let mut save = self.connection.prepare_cached(
            "INSERT INTO counts VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        )?;
        for (what, numbers) in [("kind", &mut tally.kinds), ("stage", &mut tally.stages)] {
            for (code, number) in (0_i64..).zip(numbers.iter_mut()) {
                let added = std::mem::take(number);
                if added != 0 {
                    save.execute((what, code, added))?;
                }
            }
        }
        Ok(())
    }

    /// Puts the words of a message into the index.
    pub(crate) fn index(&self, seq: Seq, words: &str) -> Result<(), HistoryError> {
        let mut insert =
            self.connection.prepare_cached("INSERT INTO texts (rowid, words) VALUES (?1, ?2)")?;
        insert.execute((sql(seq.0), words))?;
        Ok(())
    }

    /// Takes the words of a message out of the index.
    pub(crate) fn unindex(&self, seq: Seq) -> Result<(), HistoryError> {
        self.connection.prepare_cached("DELETE FROM texts WHERE rowid = ?1")?.execute([sql(seq.0)])?;
        Ok(())
    }
}

impl Tally {
    pub(crate) fn new() -> Self {
        Tally { kinds: vec![0; Kind::ALL.len()], stages: vec![0; Stage::ALL.len()] }
    }

    pub(crate) fn add_kind(&mut self, kind: Kind) {
        if let Some(count) = self.kinds.get_mut(kind as usize) {
            *count += 1;
        }
    }

    fn move_stage(&mut self, from: Option<Stage>, to: Option<Stage>) {
        if let Some(count) = from.and_then(|stage| self.stages.get_mut(stage as usize)) {
            *count -= 1;
        }
        if let Some(count) = to.and_then(|stage| self.stages.get_mut(stage as usize)) {
            *count += 1;
        }
    }
}
