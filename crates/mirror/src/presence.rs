//! Presence on its way to NATS: what has changed since it was told last.

use std::collections::HashMap;

use channel_root::{Root, RootError, Seen};
use dialect_channel::presence::words_of;
use json::{Object, Value};
use message::Timestamp;

use crate::subject::presence_subject;

/// A presence that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) subject: String,
    pub(crate) id: String,
    pub(crate) document: String,
}

/// What was told of each agent.
#[derive(Debug, Default)]
pub(crate) struct Told {
    documents: HashMap<String, String>,
}

impl Told {
    /// Returns what has changed. A heartbeat that says the same again is no change.
    pub(crate) fn changed(&mut self, root: &Root, now: Timestamp) -> Result<Vec<Changed>, RootError> {
        let mut changed = Vec::new();
        for seen in root.presences(now)? {
            let what = format!("{:?} {:?} {:?} {:?}", seen.state(), seen.substate, seen.channel, seen.pid);
            if self.documents.insert(seen.agent.clone(), what.clone()).as_ref() != Some(&what) {
                changed.push(Changed::of(&seen));
            }
        }
        Ok(changed)
    }

    /// Forgets what was told of an agent, to tell it again.
    pub(crate) fn forget(&mut self) {
        self.documents.clear();
    }
}

impl Changed {
    fn of(seen: &Seen) -> Self {
        let (state, substate) = words_of(seen.state(), seen.substate.as_deref());
        let at = seen.at.to_string();
        let mut members: Object<'_> = Object::new();
        members.insert("agent_id", Value::from(seen.agent.as_str()));
        members.insert("timestamp", Value::from(at.as_str()));
        members.insert("state", Value::from(state));
        members.insert("substate", Value::from(substate));
        if let Some(pid) = seen.pid {
            members.insert("watcher_pid", Value::from(u64::from(pid)));
        }
        if let Some(channel) = seen.channel.as_deref() {
            members.insert("channel", Value::from(channel));
        }
        let document = Value::Object(members).to_json();
        let id = format!("presence-{}-{at}-{state}-{substate}", seen.agent);
        Changed { subject: presence_subject(&seen.agent), id, document }
    }
}
