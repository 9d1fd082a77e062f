//! Whom a message reaches: addresses become agents, connections, roles, topics and channels that exist.

use message::{Address, AgentRef};

use crate::broker::Broker;
use crate::group::GroupKind;
use crate::mailbox::Mailbox;
use crate::work::breaker::{Room, is_work};
use crate::{Accept, AgentKey, Caution, Door, EntryKey, Event, GroupKey, Refusal, Target, nearest};

/// Where a message goes.
pub(super) struct Targets<'a> {
    /// What must happen before it can: groups that are made, channels that their poster joins.
    pub(super) events: Vec<Event<'a>>,
    pub(super) list: Vec<Target<'a>>,
    /// Fallbacks that are there and not used already.
    pub(super) fallback: Vec<AgentKey>,
    /// Groups that are made for it.
    made: Vec<(String, GroupKey)>,
}

impl Broker {
    pub(super) fn resolve<'a>(
        &self,
        accept: &'a Accept,
        cautions: &mut Vec<Caution>,
    ) -> Result<Targets<'a>, Refusal> {
        let mut targets = Targets {
            events: Vec::with_capacity(1),
            list: Vec::with_capacity(accept.to.len()),
            fallback: self.fallbacks(&accept.fallback),
            made: Vec::new(),
        };
        let mut vacant = self.entries.vacant().map(EntryKey);
        for address in &accept.to {
            let entry = vacant.next().unwrap_or(EntryKey(u32::MAX));
            let target = match address {
                Address::Agent(agent) => self.to_agent(accept, agent, entry, &mut targets)?,
                Address::Session { agent, session } => {
                    self.to_session(agent.as_str(), *session, entry).map_err(|()| self.unknown(address))?
                }
                Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => {
                    self.to_group(accept, address, entry, &mut targets, cautions)?
                }
            };
            if !targets.list.iter().any(|other| same(other, &target)) {
                targets.list.push(target);
            }
        }
        let is_used =
            |agent: AgentKey| targets.list.iter().any(|target| super::recipient(target) == Some(agent));
        targets.fallback.retain(|agent| !is_used(*agent));
        for target in &targets.list {
            self.check_room(accept, target)?;
        }
        Ok(targets)
    }

    fn fallbacks(&self, wanted: &[AgentRef]) -> Vec<AgentKey> {
        let mut known = Vec::with_capacity(wanted.len());
        for agent in wanted.iter().filter_map(|agent| self.agent(agent.as_str())) {
            if !known.contains(&agent) {
                known.push(agent);
            }
        }
        known
    }

    fn to_agent<'a>(
        &self,
        accept: &'a Accept,
        wanted: &'a AgentRef,
        entry: EntryKey,
        targets: &mut Targets<'a>,
    ) -> Result<Target<'a>, Refusal> {
        let name = wanted.as_str();
        let known = self.agent(name);
        let is_left_alone = |agent: AgentKey| {
            let is_open = is_work(accept.kind) && self.work_room(agent) == Room::None;
            is_open && !targets.fallback.iter().all(|fallback| *fallback == agent)
        };
        if let Some(agent) = known.filter(|agent| !is_left_alone(*agent)) {
            return Ok(Target::Agent { entry, agent, session: None });
        }
        targets.fallback.retain(|fallback| Some(*fallback) != known);
        let used = targets.list.iter().find_map(|target| match target {
            Target::Instead { agent, .. } => Some(*agent),
            Target::Agent { .. } | Target::Group { .. } | Target::Held { .. } | Target::Waiter { .. } => None,
        });
        let next = (!targets.fallback.is_empty()).then(|| targets.fallback.remove(0));
        // One fallback may stand in for several who are not there; it gets the message once.
        if let Some(agent) = next.or(used) {
            return Ok(Target::Instead { entry, agent, name });
        }
        if !accept.hold {
            return Err(self.unknown(&Address::Agent(wanted.clone())));
        }
        let held: usize = self.held.values().map(Vec::len).sum();
        let here = targets.list.iter().filter(|target| matches!(target, Target::Held { .. })).count();
        let (count, count_max) = ((held + here) as u64, self.settings.limits.held_max);
        if count >= count_max {
            return Err(Refusal::TooMany { what: "messages held for agents to come", count, count_max });
        }
        Ok(Target::Held { entry, name })
    }

    fn to_session<'a>(&self, agent: &str, number: u32, entry: EntryKey) -> Result<Target<'a>, ()> {
        let agent = self.agent(agent).ok_or(())?;
        let sessions = self.agents.get(agent).map(|agent| agent.sessions.as_slice()).unwrap_or_default();
        let is_it = |key: u32| self.sessions.get(key).is_some_and(|session| session.number == number);
        let session = sessions.iter().copied().find(|session| is_it(session.0)).ok_or(())?;
        // Whoever comes by itself takes from the agent's own mailbox.
        let has_mailbox = self.sessions.get(session.0).is_some_and(|session| session.door != Door::Poll);
        Ok(Target::Agent { entry, agent, session: Some(session).filter(|_| has_mailbox) })
    }

    fn to_group<'a>(
        &self,
        accept: &'a Accept,
        address: &Address,
        entry: EntryKey,
        targets: &mut Targets<'a>,
        cautions: &mut Vec<Caution>,
    ) -> Result<Target<'a>, Refusal> {
        let text = address.to_string();
        let made = targets.made.iter().find(|(made, _)| *made == text).map(|(_, group)| *group);
        let group = match made {
            Some(group) => group,
            None => self.group_or_new(&text, targets.made.len(), &mut targets.events)?,
        };
        // Who posts in a channel is in it.
        let is_outside = matches!(address, Address::Channel(_)) && !self.is_member(accept.from, group);
        let joined = Event::Joined { agent: accept.from, group };
        if is_outside && !accept.from.is_machinery() && !targets.events.contains(&joined) {
            match self.may_join(accept.from) {
                Ok(()) => targets.events.push(joined),
                Err(refusal) => cautions
                    .push(Caution::now("not_joined", format!("you are not in `{address}`: {refusal}"))),
            }
        }
        if self.groups.get(group).is_none() {
            targets.made.push((text, group));
        }
        if !self.has_member_besides(group, accept.from) {
            cautions.push(Caution::now("no_recipient", format!("nobody else is in `{address}` yet")));
        }
        Ok(Target::Group { entry, group })
    }

    /// Tells whether a message reaches anybody, or may do so before it is over.
    pub(super) fn may_reach(&self, targets: &Targets<'_>, from: AgentKey) -> bool {
        targets.list.iter().any(|target| match target {
            Target::Group { group, .. } => {
                let made = targets.made.iter().find(|(_, made)| made == group);
                let is_new_role = made.is_some_and(|(address, _)| address.starts_with("roles."));
                let is_role = self.groups.get(*group).is_some_and(|group| group.kind == GroupKind::Role);
                is_new_role || is_role || self.has_member_besides(*group, from)
            }
            Target::Agent { .. } | Target::Held { .. } | Target::Instead { .. } | Target::Waiter { .. } => {
                true
            }
        })
    }

    fn has_member_besides(&self, group: GroupKey, agent: AgentKey) -> bool {
        self.groups.get(group).is_some_and(|group| match group.kind {
            GroupKind::Role => !group.members.is_empty(),
            GroupKind::Shared => group.members.keys().any(|member| *member != agent),
        })
    }

    /// Refuses what the recipient has no room for. A topic or channel has room: its oldest post makes place.
    fn check_room(&self, accept: &Accept, target: &Target<'_>) -> Result<(), Refusal> {
        let (mailbox, recipient) = match target {
            Target::Agent { agent, session: Some(session), .. } => (Mailbox::Session(*session), *agent),
            Target::Agent { agent, .. } | Target::Instead { agent, .. } => (Mailbox::Agent(*agent), *agent),
            Target::Group { group, .. } => (Mailbox::Group(*group), AgentKey::SYSTEM),
            Target::Held { .. } | Target::Waiter { .. } => return Ok(()),
        };
        let Some(queue) = self.queue(mailbox) else { return Ok(()) };
        let recipient = || match mailbox {
            Mailbox::Group(group) => {
                self.groups.get(group).map(|group| group.address.to_string()).unwrap_or_default()
            }
            Mailbox::Agent(_) | Mailbox::Session(_) | Mailbox::Nobody => self.name_of(recipient).to_owned(),
        };
        let limits = &self.settings.limits;
        if queue.count >= limits.queue_max {
            let (count, count_max) = (queue.count, limits.queue_max);
            return Err(Refusal::QueueFull { recipient: recipient(), count, count_max });
        }
        if queue.bytes + accept.body.len() as u64 > limits.queue_bytes_max {
            let (bytes, bytes_max) = (queue.bytes, limits.queue_bytes_max);
            return Err(Refusal::QueueBytesFull { recipient: recipient(), bytes, bytes_max });
        }
        Ok(())
    }

    fn unknown(&self, address: &Address) -> Refusal {
        let names = self.agents.iter().filter(|(_, agent)| !agent.is_gone).map(|(_, agent)| &*agent.name);
        let wanted = address.to_string();
        Refusal::UnknownRecipient { suggestions: nearest::names(&wanted, names), address: wanted }
    }
}

/// Tells whether two targets are one recipient.
fn same(one: &Target<'_>, other: &Target<'_>) -> bool {
    match (one, other) {
        (Target::Group { group: one, .. }, Target::Group { group: other, .. }) => one == other,
        (Target::Held { name: one, .. }, Target::Held { name: other, .. }) => one == other,
        (
            Target::Agent { agent: one, session: Some(first), .. },
            Target::Agent { agent: other, session: Some(second), .. },
        ) => one == other && first == second,
        (one, other) => super::recipient(one).is_some() && super::recipient(one) == super::recipient(other),
    }
}
