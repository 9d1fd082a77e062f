//! Who writes what, by the specification's table: whoever writes another's type of message is told.

use std::collections::HashMap;

use channel_root::Registered;
use dialect_channel::types::{self, Sender};

/// Roles of agents, as the root's registry has them.
#[derive(Default)]
pub(crate) struct Roles {
    by_agent: HashMap<String, String>,
}

impl Roles {
    pub(crate) fn new(registered: Vec<Registered>) -> Self {
        let roles = registered.into_iter().filter_map(|it| Some((it.agent, it.role?)));
        Roles { by_agent: roles.collect() }
    }

    /// Says what is odd about an agent writing a type of message.
    pub(crate) fn oddity(&self, agent: &str, message_type: &str) -> Option<String> {
        let known = types::find(message_type)?;
        let role = self.by_agent.get(agent).map(String::as_str);
        let (fits, wanted) = match known.sender {
            Sender::Any => return None,
            Sender::Worker => (role.is_none_or(|role| role != "verifier"), "a worker"),
            Sender::Verifier => (role.is_none_or(|role| role == "verifier"), "a verifier"),
            Sender::Role(wanted) => (known.sender.may_be(agent) || role == Some(wanted), wanted),
        };
        let is_a = role.map_or_else(String::new, |role| format!(", which the registry calls a {role}"));
        (!fits).then(|| format!("{message_type:?} comes from {wanted}, not from {agent}{is_a}"))
    }
}
