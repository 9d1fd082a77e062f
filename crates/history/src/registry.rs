//! Who is there: agents, groups, memberships and connections, as far as receipts need them.
//!
//! Small, so the writing thread has all of it in memory. What is unknown, because the log no longer tells, is shown
//! as `?` and never fails.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use broker::{AgentKey, Door, GroupKey, SessionKey};
use message::{Address, Dialect, Reachability, Seq};

/// What stands for a name that the log no longer tells.
pub(crate) const UNKNOWN: &str = "?";

#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    pub(crate) agents: BTreeMap<AgentKey, Agent>,
    /// Names and aliases of those who are there, names of those who are gone.
    pub(crate) names: HashMap<Box<str>, AgentKey>,
    pub(crate) groups: BTreeMap<GroupKey, Group>,
    /// The next post of each member.
    pub(crate) members: BTreeMap<(GroupKey, AgentKey), u64>,
    pub(crate) sessions: BTreeMap<SessionKey, Session>,
    pub(crate) changes: Changes,
}

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) name: Box<str>,
    pub(crate) aliases: Vec<Box<str>>,
    pub(crate) dialect: Dialect,
    pub(crate) is_gone: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) address: Box<str>,
    /// How many posts it has had.
    pub(crate) posts: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    pub(crate) agent: AgentKey,
    pub(crate) number: u32,
    pub(crate) door: Door,
    pub(crate) opened: Seq,
}

/// What differs from the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    pub(crate) agents: BTreeSet<AgentKey>,
    pub(crate) groups: BTreeSet<GroupKey>,
    pub(crate) members: BTreeSet<(GroupKey, AgentKey)>,
    pub(crate) opened: Vec<(SessionKey, Session)>,
    /// When a connection was opened and when it was closed.
    pub(crate) closed: Vec<(Seq, Seq)>,
}

impl Registry {
    /// Returns what every bus starts with.
    pub(crate) fn initial() -> Self {
        let mut registry = Registry::default();
        let reserved =
            [(AgentKey::HUMAN, "human"), (AgentKey::SYSTEM, "system"), (AgentKey::RUNNER, "runner")];
        for (agent, name) in reserved {
            registry.set_agent(agent, name, &[], Dialect::Convoke);
        }
        registry.make_group(GroupKey::ALL, "all");
        registry
    }

    pub(crate) fn name(&self, agent: AgentKey) -> &str {
        self.agents.get(&agent).map_or(UNKNOWN, |agent| &agent.name)
    }

    pub(crate) fn address(&self, group: GroupKey) -> &str {
        self.groups.get(&group).map_or(UNKNOWN, |group| &group.address)
    }

    /// Finds an agent that is there by name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<AgentKey> {
        let agent = *self.names.get(name)?;
        self.agents.get(&agent).filter(|agent| !agent.is_gone).map(|_| agent)
    }

    /// Tells whether every member gets what is sent to a group, and everybody may read it. A group of which nothing
    /// is known is not shown to everybody.
    pub(crate) fn is_shared(&self, group: GroupKey) -> bool {
        self.groups.get(&group).is_some_and(|group| !group.address.starts_with("roles."))
    }

    /// Makes an agent known or known differently; tells whether it was not there.
    pub(crate) fn set_agent(
        &mut self,
        agent: AgentKey,
        name: &str,
        aliases: &[&str],
        dialect: Dialect,
    ) -> bool {
        let comes = self.agents.get(&agent).is_none_or(|agent| agent.is_gone);
        self.forget_aliases(agent);
        self.names.insert(name.into(), agent);
        for alias in aliases {
            self.names.insert((*alias).into(), agent);
        }
        let aliases = aliases.iter().map(|alias| (*alias).into()).collect();
        self.agents.insert(agent, Agent { name: name.into(), aliases, dialect, is_gone: false });
        self.changes.agents.insert(agent);
        comes
    }

    /// Notes that an agent is gone. Its memberships and connections end before.
    pub(crate) fn remove_agent(&mut self, agent: AgentKey) {
        self.forget_aliases(agent);
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.is_gone = true;
        }
        self.changes.agents.insert(agent);
    }

    fn forget_aliases(&mut self, agent: AgentKey) {
        let Some(known) = self.agents.get_mut(&agent) else { return };
        for alias in std::mem::take(&mut known.aliases) {
            self.names.remove(&alias);
        }
    }

    pub(crate) fn make_group(&mut self, group: GroupKey, address: &str) {
        self.groups.insert(group, Group { address: address.into(), posts: 0 });
        self.changes.groups.insert(group);
    }

    /// Makes an agent a member, behind every post.
    pub(crate) fn join(&mut self, agent: AgentKey, group: GroupKey) {
        let posts = self.groups.get(&group).map_or(0, |group| group.posts);
        self.set_cursor(agent, group, posts);
    }

    pub(crate) fn set_cursor(&mut self, agent: AgentKey, group: GroupKey, cursor: u64) {
        self.members.insert((group, agent), cursor);
        self.changes.members.insert((group, agent));
    }

    pub(crate) fn leave(&mut self, agent: AgentKey, group: GroupKey) {
        self.members.remove(&(group, agent));
        self.changes.members.insert((group, agent));
    }

    pub(crate) fn leave_all(&mut self, agent: AgentKey) {
        let groups: Vec<GroupKey> =
            self.members.keys().filter(|(_, member)| *member == agent).map(|(group, _)| *group).collect();
        for group in groups {
            self.leave(agent, group);
        }
    }

    /// Counts a post and returns its number.
    pub(crate) fn post(&mut self, group: GroupKey) -> u64 {
        self.changes.groups.insert(group);
        let Some(group) = self.groups.get_mut(&group) else { return 0 };
        let number = group.posts;
        group.posts += 1;
        number
    }

    /// Returns the members of a topic whose turn to come for a post is still ahead.
    pub(crate) fn behind(&self, group: GroupKey, number: u64) -> impl Iterator<Item = AgentKey> + '_ {
        let all = (group, AgentKey(0))..=(group, AgentKey(u32::MAX));
        self.members.range(all).filter(move |(_, cursor)| **cursor <= number).map(|((_, agent), _)| *agent)
    }

    pub(crate) fn open(&mut self, key: SessionKey, session: Session) {
        self.sessions.insert(key, session);
        self.changes.opened.push((key, session));
    }

    pub(crate) fn close(&mut self, key: SessionKey, at: Seq) -> Option<Session> {
        let session = self.sessions.remove(&key)?;
        self.changes.closed.push((session.opened, at));
        Some(session)
    }

    /// Returns the connections of an agent in the order in which they were opened.
    pub(crate) fn sessions_of(&self, agent: AgentKey) -> Vec<SessionKey> {
        let mut sessions: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.agent == agent)
            .map(|(key, session)| (session.opened, *key))
            .collect();
        sessions.sort_unstable();
        sessions.into_iter().map(|(_, key)| key).collect()
    }

    /// Returns the most direct way to an agent.
    pub(crate) fn reachability(&self, agent: AgentKey) -> Reachability {
        let sessions = self.sessions.values().filter(|session| session.agent == agent);
        sessions.map(|session| session.door).min().map_or(Reachability::Nobody, |door| match door {
            Door::Socket => Reachability::Socket,
            Door::Watcher => Reachability::Watcher,
            Door::Runner => Reachability::Runner,
            Door::Poll => Reachability::Poll,
        })
    }

    /// Returns an agent's name as an address.
    pub(crate) fn agent_address(&self, agent: AgentKey) -> Address {
        self.name(agent).parse().unwrap_or(Address::All)
    }
}
