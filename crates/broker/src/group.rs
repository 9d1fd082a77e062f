//! Roles, topics, channels, and everyone.
//!
//! A role is a queue from which one member takes. In a topic or channel a message is one post, whatever the number of
//! members: each member has a cursor, and gets an entry of its own when it comes to take. What a member takes next is
//! decided among its own entries, so before it takes, the posts before its cursor become entries, a window at a time.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use message::{Address, MessageId};

use crate::broker::{Applied, Broker, Decided, Decision};
use crate::effect::{Effect, Effects};
use crate::entry::{End, Entry, State};
use crate::mailbox::{Mailbox, Queue};
use crate::ring::Ring;
use crate::{AgentKey, EntryKey, Event, GroupKey, MessageKey, Misfit, Of, Refusal, Time};

/// How many posts become entries at a time.
pub(crate) const WINDOW: u64 = 256;

pub(crate) struct Groups {
    groups: Vec<Group>,
    by_address: HashMap<Box<str>, GroupKey, std::hash::BuildHasherDefault<std::hash::DefaultHasher>>,
}

pub(crate) struct Group {
    pub(crate) address: Box<str>,
    pub(crate) kind: GroupKind,
    /// Each member's next post. A role's members have no use for it.
    pub(crate) members: BTreeMap<AgentKey, u64>,
    pub(crate) posts: Ring<Post>,
    /// What waits for any member of a role.
    pub(crate) queue: Queue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupKind {
    /// One member takes.
    Role,
    /// Each member gets it.
    Shared,
}

pub(crate) struct Post {
    /// The post's entry; nothing when the message is over.
    pub(crate) entry: Option<EntryKey>,
    pub(crate) order: u64,
    /// Members whose cursor has not passed it.
    pub(crate) pending: u32,
}

impl Groups {
    /// Makes the groups that every bus starts with: everyone.
    pub(crate) fn with_everyone() -> Self {
        let mut groups = Groups { groups: Vec::new(), by_address: HashMap::default() };
        groups.add("all");
        groups
    }

    pub(crate) fn add(&mut self, address: &str) -> GroupKey {
        let key = GroupKey(u32::try_from(self.groups.len()).unwrap_or(u32::MAX));
        let kind = if address.starts_with("roles.") { GroupKind::Role } else { GroupKind::Shared };
        self.by_address.insert(address.into(), key);
        self.groups.push(Group {
            address: address.into(),
            kind,
            members: BTreeMap::new(),
            posts: Ring::default(),
            queue: Queue::default(),
        });
        key
    }

    pub(crate) fn get(&self, key: GroupKey) -> Option<&Group> {
        self.groups.get(key.index())
    }

    pub(crate) fn get_mut(&mut self, key: GroupKey) -> Option<&mut Group> {
        self.groups.get_mut(key.index())
    }

    pub(crate) fn find(&self, address: &str) -> Option<GroupKey> {
        self.by_address.get(address).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupKey, &Group)> {
        (0..).map(GroupKey).zip(&self.groups)
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }
}

static NO_MEMBERS: BTreeMap<AgentKey, u64> = BTreeMap::new();

impl Broker {
    /// Finds a role, topic or channel, and tells the key that a new one would have.
    pub fn group(&self, address: &str) -> Option<GroupKey> {
        self.groups.find(address)
    }

    /// Tells whether an agent is a member.
    pub fn is_member(&self, agent: AgentKey, group: GroupKey) -> bool {
        self.groups.get(group).is_some_and(|group| group.members.contains_key(&agent))
    }

    /// Returns the members of a role, topic or channel.
    pub fn members(&self, group: GroupKey) -> impl ExactSizeIterator<Item = AgentKey> {
        let members = self.groups.get(group).map(|group| &group.members);
        members.unwrap_or(&NO_MEMBERS).keys().copied()
    }

    pub(crate) fn join<'a>(&self, agent: AgentKey, address: &Address) -> Decided<'a> {
        self.agent_at(agent)?;
        check_group(address)?;
        let text = address.to_string();
        let group = self.groups.find(&text);
        if group.is_some_and(|group| self.is_member(agent, group)) {
            return Ok(Decision::done(Vec::new()));
        }
        self.may_join(agent)?;
        let mut events = Vec::new();
        let group = self.group_or_new(&text, 0, &mut events)?;
        events.push(Event::Joined { agent, group });
        Ok(Decision::done(events))
    }

    /// Refuses one membership too many; that in everyone does not count.
    pub(crate) fn may_join(&self, agent: AgentKey) -> Result<(), Refusal> {
        let (count, count_max) = (self.membership_count(agent), self.settings.limits.memberships_max);
        if count >= count_max {
            return Err(Refusal::TooMany { what: "memberships of this agent", count, count_max });
        }
        Ok(())
    }

    /// Returns in how many groups an agent is; that in everyone does not count.
    pub(crate) fn membership_count(&self, agent: AgentKey) -> u64 {
        let groups = self.agents.get(agent).map(|agent| agent.groups.as_slice()).unwrap_or_default();
        groups.iter().filter(|group| **group != GroupKey::ALL).count() as u64
    }

    pub(crate) fn leave<'a>(&self, agent: AgentKey, address: &Address) -> Decided<'a> {
        self.agent_at(agent)?;
        check_group(address)?;
        let group = self.groups.find(&address.to_string()).filter(|group| self.is_member(agent, *group));
        Ok(Decision::done(group.map(|group| Event::Left { agent, group }).into_iter().collect()))
    }

    /// Returns a group, with the event that makes it if it is not there. `made` counts those made before it.
    pub(crate) fn group_or_new<'a>(
        &self,
        address: &str,
        made: usize,
        events: &mut Vec<Event<'a>>,
    ) -> Result<GroupKey, Refusal> {
        if let Some(group) = self.groups.find(address) {
            return Ok(group);
        }
        self.may_make_group(made)?;
        let count = self.groups.len() + made;
        let group = GroupKey(u32::try_from(count).unwrap_or(u32::MAX));
        events.push(Event::GroupMade { group, address: address.to_owned().into() });
        Ok(group)
    }

    /// Refuses one group too many, after so many that are made before it.
    pub(crate) fn may_make_group(&self, made: usize) -> Result<(), Refusal> {
        let count = (self.groups.len() + made) as u64;
        let count_max = self.settings.limits.groups_max;
        if count >= count_max {
            return Err(Refusal::TooMany { what: "roles, topics and channels", count, count_max });
        }
        Ok(())
    }

    /// Proposes that posts of an agent's n-th group become its entries, as many as the window lets.
    pub(crate) fn absorb<'a>(&self, agent: AgentKey, place: usize) -> Option<Event<'a>> {
        let key = *self.agents.get(agent)?.groups.get(place)?;
        let group = self.groups.get(key).filter(|group| group.kind == GroupKind::Shared)?;
        let cursor = *group.members.get(&agent)?;
        let from = cursor.max(group.posts.start());
        let upto = group.posts.end().min(from + WINDOW);
        if upto == cursor {
            return None;
        }
        let posts = (from..upto).filter_map(|number| group.posts.get(number)?.entry);
        let messages = posts.filter_map(|post| self.entry(post).map(|post| post.message));
        let news = messages.filter(|message| self.is_news_to(agent, *message));
        let entries = news
            .filter_map(|message| self.message(message).map(|message| message.seq))
            .zip(self.entries.vacant())
            .map(|(seq, entry)| Of { entry: EntryKey(entry), seq })
            .collect();
        Some(Event::Absorbed { agent, group: key, upto, entries })
    }

    /// Tells whether a member is to be given a post: not its author, and not whoever has the message another way.
    pub(crate) fn is_news_to(&self, agent: AgentKey, message: MessageKey) -> bool {
        let Some(posted) = self.message(message).filter(|message| message.from != agent) else {
            return false;
        };
        !posted.several || !self.entries_of(message).any(|(_, entry)| self.holder_of(entry) == Some(agent))
    }

    /// Tells whether a message stands in a topic or channel of an agent, who has not made it its own.
    pub(crate) fn is_posted_to(&self, agent: AgentKey, id: MessageId) -> bool {
        let Some(message) = self.find(id) else { return false };
        let is_there = |entry: &Entry| match entry.mailbox {
            Mailbox::Group(group) => entry.state == State::Post && self.is_member(agent, group),
            Mailbox::Agent(_) | Mailbox::Session(_) | Mailbox::Nobody => false,
        };
        self.is_news_to(agent, message) && self.entries_of(message).any(|(_, entry)| is_there(entry))
    }

    /// Returns the order of the oldest post that a member has not made its own; everything behind it must wait if
    /// it has a lane.
    pub(crate) fn unabsorbed(&self, agent: AgentKey) -> u64 {
        let groups = self.agents.get(agent).map(|agent| agent.groups.as_slice()).unwrap_or_default();
        let orders = groups.iter().filter_map(|group| {
            let group = self.groups.get(*group).filter(|group| group.kind == GroupKind::Shared)?;
            let cursor = (*group.members.get(&agent)?).max(group.posts.start());
            group.posts.get(cursor).map(|post| post.order)
        });
        orders.min().unwrap_or(u64::MAX)
    }

    pub(crate) fn group_made(&mut self, group: GroupKey, address: &str) -> Applied {
        let seq = self.last;
        if group.index() != self.groups.len() || self.groups.find(address).is_some() {
            return Err(Misfit::Taken { seq, what: "a group" });
        }
        self.groups.add(address);
        Ok(())
    }

    pub(crate) fn joined(&mut self, agent: AgentKey, key: GroupKey, effects: &mut Effects) -> Applied {
        let seq = self.last;
        self.agent_at(agent).map_err(|_| Misfit::Missing { seq, what: "an agent" })?;
        let group = self.groups.get_mut(key).ok_or(Misfit::Missing { seq, what: "a group" })?;
        let end = group.posts.end();
        if group.members.insert(agent, end).is_some() {
            return Err(Misfit::Taken { seq, what: "a membership" });
        }
        let known = self.agents.get_mut(agent).ok_or(Misfit::Missing { seq, what: "an agent" })?;
        known.groups.push(key);
        if self.groups.get(key).is_some_and(|group| group.queue.is_ready()) {
            effects.push(Effect::Ready(Mailbox::Group(key)));
        }
        Ok(())
    }

    pub(crate) fn left(&mut self, agent: AgentKey, key: GroupKey, effects: &mut Effects) -> Applied {
        let seq = self.last;
        let group = self.groups.get_mut(key).ok_or(Misfit::Missing { seq, what: "a group" })?;
        let cursor = group.members.get(&agent).ok_or(Misfit::Missing { seq, what: "a membership" })?;
        let (from, end) = ((*cursor).max(group.posts.start()), group.posts.end());
        self.pass(key, agent, from, end, effects);
        if let Some(group) = self.groups.get_mut(key) {
            group.members.remove(&agent);
        }
        if let Some(known) = self.agents.get_mut(agent) {
            known.groups.retain(|group| *group != key);
        }
        Ok(())
    }

    /// Adds a post; who may take it is told.
    pub(crate) fn post(&mut self, key: GroupKey, entry: EntryKey, from: AgentKey, effects: &mut Effects) {
        let order = self.entry(entry).map_or(0, |entry| entry.order);
        let Some(group) = self.groups.get_mut(key) else { return };
        let others = group.members.len() - usize::from(group.members.contains_key(&from));
        let pending = u32::try_from(others).unwrap_or(u32::MAX);
        group.posts.push(Post { entry: Some(entry), order, pending });
        effects.push(Effect::Ready(Mailbox::Group(key)));
        if pending == 0 {
            self.end_post(key, entry, effects);
        }
        self.trim_posts(key);
    }

    pub(crate) fn absorbed(
        &mut self,
        agent: AgentKey,
        key: GroupKey,
        upto: u64,
        entries: &[Of],
        effects: &mut Effects,
    ) -> Applied {
        let seq = self.last;
        let group = self.groups.get(key).ok_or(Misfit::Missing { seq, what: "a group" })?;
        let cursor = group.members.get(&agent).ok_or(Misfit::Missing { seq, what: "a membership" })?;
        let from = (*cursor).max(group.posts.start());
        if upto < from || upto > group.posts.end() {
            return Err(Misfit::State { seq, what: "a topic" });
        }
        let posts: Vec<EntryKey> = (from..upto).filter_map(|number| group.posts.get(number)?.entry).collect();
        let mut entries = entries.iter();
        for post in posts {
            let Some(message_key) = self.entry(post).map(|entry| entry.message) else { continue };
            if !self.is_news_to(agent, message_key) {
                continue;
            }
            let Some(message) = self.message(message_key) else { continue };
            let of = entries.next().ok_or(Misfit::State { seq, what: "a topic" })?;
            if of.seq != message.seq {
                return Err(Misfit::State { seq, what: "a topic" });
            }
            let order = self.entry(post).map_or(0, |post| post.order);
            let mut entry = Entry::new(message_key, Mailbox::Agent(agent), State::Waiting);
            entry.order = order;
            self.insert_entry(of.entry, entry, effects)
                .map_err(|_| Misfit::Taken { seq, what: "an entry" })?;
        }
        if entries.next().is_some() {
            return Err(Misfit::State { seq, what: "a topic" });
        }
        self.pass(key, agent, from, upto, effects);
        Ok(())
    }

    /// Moves a member's cursor over posts; a post that every member has passed is over.
    fn pass(&mut self, key: GroupKey, agent: AgentKey, from: u64, upto: u64, effects: &mut Effects) {
        for number in from..upto {
            let author = self.groups.get(key).and_then(|group| group.posts.get(number)?.entry);
            let author = author.and_then(|entry| self.message_of(entry)).map(|message| message.from);
            let Some(post) = self.groups.get_mut(key).and_then(|group| group.posts.get_mut(number)) else {
                continue;
            };
            if author == Some(agent) {
                continue;
            }
            post.pending = post.pending.saturating_sub(1);
            if let Some(entry) = post.entry.filter(|_| post.pending == 0) {
                self.end_post(key, entry, effects);
            }
        }
        if let Some(cursor) = self.groups.get_mut(key).and_then(|group| group.members.get_mut(&agent)) {
            *cursor = upto;
        }
        self.trim_posts(key);
    }

    fn end_post(&mut self, key: GroupKey, entry: EntryKey, effects: &mut Effects) {
        self.drop_post(key, entry);
        self.advance(entry, State::Done(End::Shared), Time::NEVER, effects);
    }

    /// Takes a post out of its group, whoever has not had it.
    pub(crate) fn drop_post(&mut self, key: GroupKey, entry: EntryKey) {
        let order = self.entry(entry).map_or(0, |entry| entry.order);
        let Some(group) = self.groups.get_mut(key) else { return };
        // Posts are in the order of their entries.
        let (mut low, mut high) = (group.posts.start(), group.posts.end());
        while low < high {
            let middle = low + (high - low) / 2;
            match group.posts.get(middle) {
                Some(post) if post.order < order => low = middle + 1,
                Some(_) | None => high = middle,
            }
        }
        if let Some(post) = group.posts.get_mut(low).filter(|post| post.order == order) {
            post.entry = None;
        }
        self.trim_posts(key);
    }

    fn trim_posts(&mut self, key: GroupKey) {
        let posts_max = self.settings.limits.queue_max;
        let Some(group) = self.groups.get_mut(key) else { return };
        while group.posts.front().is_some_and(|post| post.entry.is_none()) {
            group.posts.pop();
        }
        if group.posts.len() > posts_max {
            self.crowded.insert(key);
        } else {
            self.crowded.remove(&key);
        }
    }
}

pub(crate) fn check_group(address: &Address) -> Result<(), Refusal> {
    match address {
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) => Ok(()),
        Address::Agent(_) | Address::Session { .. } | Address::All => {
            Err(Refusal::NotAGroup { address: address.to_string() })
        }
    }
}
