//! Looking at the state without changing it: agents, inboxes, dead letters.

use std::ops::Bound;

use message::{Dialect, Guarantee, Kind, MessageId, PresenceState, Priority, Reachability, Seq, Stage};

use crate::broker::Broker;
use crate::entry::{Entry, NONE, State};
use crate::group::GroupKind;
use crate::known::accepted;
use crate::mailbox::{Mailbox, Queue, picks};
use crate::registry::Agent;
use crate::{AgentKey, EntryKey, Time, Tried};

/// An agent as others see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentView<'b> {
    /// Its number.
    pub agent: AgentKey,
    /// Its name.
    pub name: &'b str,
    /// Its other names.
    pub aliases: Vec<&'b str>,
    /// The language that it speaks.
    pub dialect: Dialect,
    /// What the doors keep of it.
    pub profile: &'b [u8],
    /// How it can be reached now.
    pub reachability: Reachability,
    /// How it said that it is, when, and what else it said.
    pub presence: Option<(PresenceState, Time, &'b [u8])>,
    /// How many messages wait for it.
    pub waiting: u64,
    /// The roles, topics and channels in which it is.
    pub memberships: Vec<&'b str>,
}

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingView {
    /// The message.
    pub id: MessageId,
    /// Where its body lies.
    pub body: Seq,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// How urgent it is.
    pub priority: Priority,
    /// How far it has come.
    pub stage: Stage,
}

/// A message that the state remembers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageView {
    /// Its id.
    pub id: MessageId,
    /// Where it was accepted.
    pub accepted: Seq,
    /// Where its body lies.
    pub body: Seq,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// How urgent it is.
    pub priority: Priority,
    /// How hard the bus tries.
    pub guarantee: Guarantee,
    /// The agents that have it or are to get it by themselves.
    pub agents: Vec<AgentKey>,
    /// Whether it was posted where everybody may read it.
    pub is_post: bool,
}

/// A dead letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadView<'b> {
    /// By which it is retried or dropped.
    pub entry: EntryKey,
    /// The message.
    pub id: MessageId,
    /// Where its body lies.
    pub body: Seq,
    /// Who sent it.
    pub from: AgentKey,
    /// What it means.
    pub kind: Kind,
    /// To whom it went.
    pub to: String,
    /// How it ended.
    pub stage: Stage,
    /// When.
    pub at: Time,
    /// Why.
    pub reason: &'b str,
    /// How often it was handed out.
    pub attempts: u32,
    /// Who was tried before.
    pub tried: Vec<&'b Tried>,
}

impl Broker {
    /// Returns an agent as others see it.
    pub fn look_at(&self, key: AgentKey) -> Option<AgentView<'_>> {
        let agent = self.agent_at(key).ok()?;
        Some(AgentView {
            agent: key,
            name: &agent.name,
            aliases: agent.aliases.iter().map(|alias| &**alias).collect(),
            dialect: agent.dialect,
            profile: &agent.profile,
            reachability: self.reachability(key),
            presence: agent.presence.as_ref().map(|note| (note.state, note.at, &*note.detail)),
            waiting: self.waiting(key),
            memberships: self.memberships(agent).collect(),
        })
    }

    /// Returns the roles, topics and channels in which an agent is.
    pub(crate) fn memberships<'b>(&'b self, agent: &'b Agent) -> impl Iterator<Item = &'b str> {
        let groups = agent.groups.iter().filter_map(|group| self.groups.get(*group));
        groups.map(|group| &*group.address).filter(|address| *address != "all")
    }

    /// Returns every agent.
    pub fn agents(&self) -> impl Iterator<Item = AgentView<'_>> {
        self.agents.iter().filter_map(|(key, _)| self.look_at(key))
    }

    /// Counts what waits for an agent: its own entries, what any member of its roles may take, and the posts that it
    /// has not come for.
    fn waiting(&self, key: AgentKey) -> u64 {
        let Some(agent) = self.agents.get(key) else { return 0 };
        let groups = agent.groups.iter().filter_map(|group| self.groups.get(*group));
        let of_roles: u64 = groups.map(|group| group.queue.count).sum();
        agent.queue.count + of_roles + self.posts_for(key).count() as u64
    }

    /// Returns what an agent would be handed next, in order, and how many more there are. What still stands in a
    /// topic or channel is behind what the agent has of its own.
    pub fn inbox(&self, key: AgentKey, wall: Time, max: usize) -> (Vec<WaitingView>, u64) {
        let Some(agent) = self.agents.get(key) else { return (Vec::new(), 0) };
        let roles = agent.groups.iter().filter_map(|group| self.groups.get(*group)).map(|group| &group.queue);
        let queues: Vec<_> = std::iter::once(&agent.queue).chain(roles).collect();
        let mut picks = picks(&queues, agent.picked);
        let is_current =
            |entry: EntryKey| self.message_of(entry).is_some_and(|message| !message.is_over(wall));
        let mut views = Vec::new();
        while views.len() < max {
            let Some(entry) = picks.next(is_current) else { break };
            views.extend(self.entry(entry).and_then(|entry| self.view(entry)));
        }
        views.extend(self.posts_for(key).take(max - views.len()));
        let more = self.waiting(key).saturating_sub(views.len() as u64);
        (views, more)
    }

    /// Returns what waits for an agent, behind others of its task too, the most urgent first and then the oldest, and
    /// how many more there are. What waits behind something that is handed out is counted and not shown.
    pub fn unread(&self, key: AgentKey, wall: Time, max: usize) -> (Vec<WaitingView>, u64) {
        let Some(agent) = self.agents.get(key) else { return (Vec::new(), 0) };
        let roles = agent.groups.iter().filter_map(|group| self.groups.get(*group)).map(|group| &group.queue);
        let heads = std::iter::once(&agent.queue).chain(roles).flat_map(Queue::ready);
        let of_lane = heads.flat_map(|head| {
            let next = |key: &EntryKey| self.entry(*key).map(|entry| EntryKey(entry.lane_after));
            std::iter::successors(Some(head), next).take_while(|key| key.0 != NONE)
        });
        let is_current = |key: &EntryKey| {
            self.entry(*key).is_some_and(|entry| entry.state == State::Waiting)
                && self.message_of(*key).is_some_and(|message| !message.is_over(wall))
        };
        let own = of_lane.filter(is_current).filter_map(|key| self.view(self.entry(key)?));
        let mut views: Vec<WaitingView> = own.chain(self.posts_for(key)).take(max).collect();
        views.sort_by_key(|view| (std::cmp::Reverse(view.priority), accepted(view.id), view.body));
        let more = self.waiting(key).saturating_sub(views.len() as u64);
        (views, more)
    }

    fn posts_for(&self, key: AgentKey) -> impl Iterator<Item = WaitingView> + '_ {
        let groups = self.agents.get(key).map(|agent| agent.groups.as_slice()).unwrap_or_default();
        groups.iter().filter_map(|group| self.groups.get(*group)).flat_map(move |group| {
            let cursor = group.members.get(&key).copied().unwrap_or(u64::MAX).max(group.posts.start());
            (cursor..group.posts.end())
                .filter_map(|number| self.entry(group.posts.get(number)?.entry?))
                .filter(move |post| self.message(post.message).is_some_and(|message| message.from != key))
                .filter_map(|post| self.view(post))
        })
    }

    fn view(&self, entry: &Entry) -> Option<WaitingView> {
        let message = self.message(entry.message)?;
        Some(WaitingView {
            id: message.id,
            body: message.body,
            from: message.from,
            kind: message.kind,
            priority: message.priority,
            stage: entry.stage(),
        })
    }

    /// Returns a message, while it is remembered.
    pub fn look_into(&self, id: MessageId) -> Option<MessageView> {
        let key = self.find(id)?;
        let message = self.message(key)?;
        let is_shared = |group| self.groups.get(group).is_some_and(|group| group.kind == GroupKind::Shared);
        let is_post = |entry: &Entry| matches!(entry.mailbox, Mailbox::Group(group) if is_shared(group));
        Some(MessageView {
            id,
            accepted: message.seq,
            body: message.body,
            from: message.from,
            kind: message.kind,
            priority: message.priority,
            guarantee: message.guarantee,
            agents: self.entries_of(key).filter_map(|(_, entry)| self.holder_of(entry)).collect(),
            is_post: self.entries_of(key).any(|(_, entry)| is_post(entry)),
        })
    }

    /// Returns the dead letters, the oldest first.
    pub fn dead_letters(&self) -> impl Iterator<Item = DeadView<'_>> {
        self.dead_behind(None).map(|(_, dead)| dead)
    }

    /// Returns the dead letters behind a place with their places, the oldest first.
    pub(crate) fn dead_behind(&self, after: Option<u64>) -> impl Iterator<Item = (u64, DeadView<'_>)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let dead = self.dead.range((from, Bound::Unbounded));
        dead.filter_map(|(place, key)| Some((*place, self.dead_view(*key)?)))
    }

    /// Returns the dead letters of a message.
    pub(crate) fn dead_of(&self, id: MessageId) -> impl Iterator<Item = DeadView<'_>> {
        let entries = self.find(id).into_iter().flat_map(|key| self.entries_of(key));
        let dead = entries.filter(|(_, entry)| matches!(entry.state, State::Dead(_)));
        dead.filter_map(|(key, _)| self.dead_view(key))
    }

    fn dead_view(&self, key: EntryKey) -> Option<DeadView<'_>> {
        let entry = self.entry(key)?;
        let message = self.message(entry.message)?;
        let ended = entry.ladder.as_ref()?.ended.as_ref()?;
        Some(DeadView {
            entry: key,
            id: message.id,
            body: message.body,
            from: message.from,
            kind: message.kind,
            to: self.address_of(entry),
            stage: entry.stage(),
            at: ended.at,
            reason: &ended.by,
            attempts: entry.attempts.into(),
            tried: message.tried(key).collect(),
        })
    }

    /// Counts what the state holds, for figures and for those who watch it.
    pub fn counts(&self) -> Counts {
        Counts {
            agents: self.agents.present,
            messages: self.open_messages,
            bytes: self.open_bytes,
            remembered: self.messages.len() as u64,
            known: self.known.len(),
            dead: self.dead.len() as u64,
            handed_out: self.handed_out,
            waits: self.waits.len() as u64,
        }
    }

    /// Returns since when the oldest message waits that an agent of its own could be handed now.
    pub fn waits_since(&self, key: AgentKey) -> Option<Time> {
        let heads = self.agents.get(key)?.queue.heads();
        heads.filter_map(|entry| self.message_of(entry)).map(|message| accepted(message.id)).min()
    }

    /// Tells whether an entry waits in a mailbox.
    pub fn has_ready(&self, mailbox: Mailbox) -> bool {
        self.queue(mailbox).is_some_and(crate::mailbox::Queue::is_ready)
    }
}

/// What the state holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Agents that are there.
    pub agents: u64,
    /// Messages that are not settled.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Messages whose receipts are at hand.
    pub remembered: u64,
    /// Ids that are known again.
    pub known: u64,
    /// Dead letters.
    pub dead: u64,
    /// Deliveries that are handed out.
    pub handed_out: u64,
    /// Senders that wait for a reply.
    pub waits: u64,
}
