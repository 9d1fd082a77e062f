//! What must hold for a message, as a statement on its row and as a function on one that has no row yet.

use log::ReadError;
use message::{Kind, Seq};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::error::HistoryError;
use crate::letter::{Letter, Who};
use crate::query::{Query, Scope};
use crate::records::Records;
use crate::registry::Registry;
use crate::said::said;
use crate::store::{COLUMNS, Store, letter, sql};

/// Everything that must hold for a message but its words.
pub(crate) struct Check {
    pub(crate) scope: Scope,
    pub(crate) agent: Option<Who>,
    pub(crate) channel: Option<Who>,
    pub(crate) thread: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) kind: Option<Kind>,
    statement: String,
    /// The values of the statement behind the place.
    values: Vec<Value>,
}

impl Check {
    /// Prepares the check of a query; nothing if no message can pass it, because there is no such channel.
    pub(crate) fn new(
        store: &Store,
        registry: Option<&Registry>,
        query: &Query,
    ) -> Result<Option<Self>, HistoryError> {
        let channel = match &query.channel {
            None => None,
            Some(address) => match group(store, registry, address)? {
                Some(group) => Some(Who::Group(group)),
                None => return Ok(None),
            },
        };
        let agent = query.agent.map(Who::Agent);
        let (thread, task) = (query.thread.clone(), query.task.clone());
        Ok(Some(Check::of(query.scope, agent, channel, thread, task, query.kind)))
    }

    pub(crate) fn of(
        scope: Scope,
        agent: Option<Who>,
        channel: Option<Who>,
        thread: Option<String>,
        task: Option<String>,
        kind: Option<Kind>,
    ) -> Self {
        let mut statement = format!("SELECT {COLUMNS} FROM messages WHERE seq = ?1");
        let mut values: Vec<Value> = Vec::new();
        let takes_part = "EXISTS (SELECT 1 FROM participants WHERE message = seq AND who = ?)";
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            statement.push_str(" AND ");
            statement.push_str(&condition.replace('?', &format!("?{}", values.len() + 1)));
        };
        // The scope comes first: nothing else of a row is looked at before.
        if let Scope::Agent(agent) = scope {
            add(&format!("(flags & 1 OR {takes_part})"), Who::Agent(agent).code().into());
        }
        for who in [agent, channel].into_iter().flatten() {
            add(takes_part, who.code().into());
        }
        if let Some(thread) = &thread {
            add("thread = ?", thread.clone().into());
        }
        if let Some(task) = &task {
            add("task = ?", task.clone().into());
        }
        if let Some(kind) = kind {
            add("kind = ?", (kind as i64).into());
        }
        Check { scope, agent, channel, thread, task, kind, statement, values }
    }

    /// Fetches a message without its deliveries, if it passes.
    pub(crate) fn fetch(&self, store: &Store, seq: Seq) -> Result<Option<Letter>, HistoryError> {
        let mut statement = store.connection.prepare_cached(&self.statement)?;
        let values = std::iter::once(Value::from(sql(seq.0))).chain(self.values.iter().cloned());
        Ok(statement.query_row(params_from_iter(values), letter).optional()?)
    }

    /// Tells whether a message passes as it is in memory.
    pub(crate) fn allows(&self, letter: &Letter) -> bool {
        let takes_part = |who: &Who| letter.involves(*who);
        let is_visible = match self.scope {
            Scope::Everything => true,
            Scope::Agent(agent) => letter.flags.is_public || takes_part(&Who::Agent(agent)),
        };
        is_visible
            && self.agent.iter().chain(&self.channel).all(takes_part)
            && (self.thread.is_none() || self.thread == letter.thread)
            && (self.task.is_none() || self.task == letter.task)
            && self.kind.is_none_or(|kind| kind == letter.kind)
    }
}

/// Finds a group by its address.
fn group(
    store: &Store,
    registry: Option<&Registry>,
    address: &str,
) -> Result<Option<broker::GroupKey>, HistoryError> {
    if let Some(registry) = registry {
        let mut groups = registry.groups.iter();
        return Ok(groups.find(|(_, group)| &*group.address == address).map(|(key, _)| *key));
    }
    let found: Option<u32> = store.one("SELECT grp FROM groups WHERE address = ?1", [address])?;
    Ok(found.map(broker::GroupKey))
}

/// Reads a body from its place in the log; nothing if the log no longer has it.
pub(crate) fn body_at(records: &Records, seq: Seq) -> Result<Option<Vec<u8>>, HistoryError> {
    let bytes = match records.read(seq) {
        Ok(bytes) => bytes,
        Err(ReadError::Trimmed { .. } | ReadError::Missing { .. } | ReadError::Beyond { .. }) => {
            return Ok(None);
        }
        Err(error @ (ReadError::Damaged(_) | ReadError::Storage(_))) => return Err(error.into()),
    };
    Ok(said(seq, &bytes).map(|said| said.body.into_owned()))
}
