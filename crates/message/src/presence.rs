//! Presence: how an agent is, as it says itself.

use json::{Object, Value};

use crate::limits::LIST_ITEMS_MAX;
use crate::members::Members;
use crate::read::{Fields, integer, parsed, string, word};
use crate::{TaskId, WrittenTimestamp};

words! {
    /// How an agent is.
    pub enum PresenceState {
        /// It waits for work.
        Idle = "idle",
        /// It works.
        Busy = "busy",
        /// Something is wrong with it.
        Error = "error",
        /// It is not there.
        Offline = "offline",
        /// It is not there on purpose.
        Maintenance = "maintenance",
    }
}

/// How an agent is, as it says itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Presence {
    /// How it is.
    pub state: PresenceState,
    /// The agent's own finer word, such as `REVIEWING`.
    pub sub: Option<String>,
    /// The process that watches for it.
    pub pid: Option<u32>,
    /// What it works on.
    pub tasks: Vec<TaskId>,
    /// When it is next available.
    pub next: Option<WrittenTimestamp>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Presence {
    pub(crate) const FIELDS: &[&str] = &["state", "sub", "pid", "tasks", "next"];

    /// Makes a presence of which only the state is known.
    pub fn new(state: PresenceState) -> Self {
        Presence { state, sub: None, pid: None, tasks: Vec::new(), next: None, extra: Object::new() }
    }

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        let state = fields.required("state", word);
        let sub = fields.optional("sub", string);
        let pid = fields.optional("pid", integer(0..=u32::MAX.into()));
        let tasks = fields.list("tasks", LIST_ITEMS_MAX, parsed);
        let next = fields.optional("next", parsed);
        Some(Presence { state: state?, sub, pid, tasks, next, extra: fields.rest() })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("state", self.state.name());
        members.maybe("sub", self.sub.as_deref());
        members.maybe("pid", self.pid.map(u64::from));
        members.list("tasks", self.tasks.iter().map(TaskId::as_str));
        members.maybe("next", self.next.as_ref().map(WrittenTimestamp::text));
        members.with(&self.extra, Self::FIELDS)
    }
}
