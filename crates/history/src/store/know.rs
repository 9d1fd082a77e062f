//! The part of the registry that a few messages need, for questions that do not need all of it.

use broker::{AgentKey, Door, GroupKey, SessionKey};
use message::{Dialect, Seq};
use rusqlite::OptionalExtension;

use super::{Store, number, word};
use crate::delivery::{Mailbox, State};
use crate::error::HistoryError;
use crate::letter::Letter;
use crate::registry::{Agent, Group, Registry, Session};

impl Store {
    /// Learns what it takes to show a message in a list.
    pub(crate) fn know_row(&self, letter: &Letter, registry: &mut Registry) -> Result<(), HistoryError> {
        self.know_agent(letter.from, registry)?;
        for delivery in &letter.deliveries {
            if let (Mailbox::Group(group), State::Post) = (&delivery.mailbox, delivery.state) {
                self.know_group(*group, registry)?;
            }
        }
        Ok(())
    }

    /// Learns what it takes to show what became of a message.
    pub(crate) fn know_receipt(&self, letter: &Letter, registry: &mut Registry) -> Result<(), HistoryError> {
        self.know_agent(letter.from, registry)?;
        for delivery in &letter.deliveries {
            if let Some(agent) = delivery.recipient() {
                self.know_agent(agent, registry)?;
            }
            if let Mailbox::Group(group) = delivery.mailbox {
                self.know_group(group, registry)?;
            }
        }
        let members: Vec<AgentKey> = registry.members.keys().map(|(_, agent)| *agent).collect();
        members.into_iter().try_for_each(|agent| self.know_agent(agent, registry))?;
        let agents: Vec<AgentKey> = registry.agents.keys().copied().collect();
        agents.into_iter().try_for_each(|agent| self.know_sessions(agent, registry))
    }

    /// Learns an agent's name.
    pub(crate) fn know_agent(&self, agent: AgentKey, registry: &mut Registry) -> Result<(), HistoryError> {
        if registry.agents.contains_key(&agent) {
            return Ok(());
        }
        let text = "SELECT name, dialect, gone FROM agents WHERE agent = ?1";
        let mut statement = self.connection.prepare_cached(text)?;
        let found = statement.query_row([agent.0], |row| {
            let (name, dialect) = (row.get(0)?, word(row, 1, Dialect::ALL)?);
            Ok(Agent { name, aliases: Vec::new(), dialect, is_gone: row.get(2)? })
        });
        if let Some(known) = found.optional()? {
            registry.agents.insert(agent, known);
        }
        Ok(())
    }

    /// Learns a group's address and its members.
    pub(crate) fn know_group(&self, group: GroupKey, registry: &mut Registry) -> Result<(), HistoryError> {
        if registry.groups.contains_key(&group) {
            return Ok(());
        }
        let mut statement =
            self.connection.prepare_cached("SELECT address, posts FROM groups WHERE grp = ?1")?;
        let found = statement
            .query_row([group.0], |row| Ok(Group { address: row.get(0)?, posts: number(row.get(1)?) }));
        let Some(known) = found.optional()? else { return Ok(()) };
        registry.groups.insert(group, known);
        let mut statement =
            self.connection.prepare_cached("SELECT agent, cursor FROM members WHERE grp = ?1")?;
        let mut rows = statement.query([group.0])?;
        while let Some(row) = rows.next()? {
            registry.members.insert((group, AgentKey(row.get(0)?)), number(row.get(1)?));
        }
        Ok(())
    }

    fn know_sessions(&self, agent: AgentKey, registry: &mut Registry) -> Result<(), HistoryError> {
        let text = "SELECT session, number, door, opened FROM sessions WHERE agent = ?1 AND closed IS NULL";
        let mut statement = self.connection.prepare_cached(text)?;
        let mut rows = statement.query([agent.0])?;
        while let Some(row) = rows.next()? {
            let (number_, door) = (row.get(1)?, word(row, 2, &Door::ALL)?);
            let session = Session { agent, number: number_, door, opened: Seq(number(row.get(3)?)) };
            registry.sessions.insert(SessionKey(row.get(0)?), session);
        }
        Ok(())
    }
}
