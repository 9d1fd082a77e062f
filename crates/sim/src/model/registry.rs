//! Agents, their names, memberships and connections.

use std::rc::Rc;

use broker::{AgentKey, Broker, ProfileSwap, Refusal, Reply, SessionKey, Time};
use message::{Address, MessageId, Stage};

use super::Outcome;
use super::state::{Agent, Is, Place, Session, State};
use crate::request::Registered;
use crate::violation::{Promise, Violation, broken, ensure};

/// How long leases last at least after the machine slept, in milliseconds.
const GRACE_MS: u64 = 15_000;
/// A gap in time that counts as sleep, in milliseconds.
const GAP_MS: u64 = 30_000;

impl State {
    pub(super) fn registered(&mut self, registered: &Registered, outcome: &Outcome) -> Result<(), Violation> {
        let name = registered.name.as_str();
        let known = self.agents.iter().find(|(_, agent)| &*agent.name == name).map(|(key, _)| *key);
        let there = known.filter(|key| self.is_there(*key));
        let is_stale = match &registered.swap {
            ProfileSwap::Anything => false,
            ProfileSwap::New => there.is_some(),
            ProfileSwap::Is(profile) => there.is_none_or(|key| self.agents[&key].profile[..] != profile[..]),
        };
        if is_stale {
            let refused = matches!(outcome, Err(Refusal::ProfileChanged { .. }));
            return ensure(refused, Promise::Versions, format_args!("{registered:?}: {outcome:?}"));
        }
        let count_max = self.settings.limits.agents_max;
        let present = self.agents.iter().filter(|(key, agent)| **key > AgentKey::RUNNER && !agent.is_gone);
        let is_full = there.is_none() && present.count() as u64 >= count_max;
        if is_full || !self.may_register_in(there, registered.join.as_ref()) {
            let refused = matches!(outcome, Err(Refusal::TooMany { .. }));
            return ensure(refused, Promise::Limits, format_args!("{registered:?}: {outcome:?}"));
        }
        let Ok(Reply::Agent(key)) = outcome else {
            return broken(Promise::Answers, format_args!("{name} is not registered: {outcome:?}"));
        };
        let what = format_args!("{name} had number {known:?} and gets {key}");
        ensure(known.is_none_or(|known| known == *key), Promise::Answers, what)?;
        let is_new = known.is_none() && self.agents.contains_key(key);
        ensure(!is_new, Promise::Answers, format_args!("{name} gets the number {key} of another"))?;
        let agent = self.agents.entry(*key).or_insert_with(|| Agent { is_gone: true, ..Agent::new(name) });
        agent.aliases = registered.aliases.iter().map(|alias| Rc::from(alias.as_str())).collect();
        agent.profile.clone_from(&registered.profile);
        if std::mem::replace(&mut agent.is_gone, false) {
            self.enter("all", *key);
        }
        self.let_go(*key);
        if let Some(address) = &registered.join {
            self.try_join(*key, address);
        }
        if let Some(capabilities) = &registered.capabilities {
            self.equip(*key, capabilities);
        }
        Ok(())
    }

    /// Tells whether an agent, or a new one, may be registered as a member of a group.
    fn may_register_in(&self, agent: Option<AgentKey>, address: Option<&Address>) -> bool {
        let Some(address) = address.map(Address::to_string) else { return true };
        if agent.is_some_and(|agent| self.is_member(agent, &address)) {
            return true;
        }
        let groups_full = self.groups.len() as u64 >= self.settings.limits.groups_max;
        let may_join = match agent {
            Some(agent) => self.may_join(agent),
            None => self.settings.limits.memberships_max > 0,
        };
        may_join && (self.groups.contains_key(address.as_str()) || !groups_full)
    }

    /// Notes what an agent can do: it is in a role for each, and in none for what it can do no more.
    pub(super) fn equip(&mut self, agent: AgentKey, capabilities: &[&'static str]) {
        let worker = self.work.workers.entry(agent).or_default();
        let before = std::mem::replace(&mut worker.capabilities, capabilities.to_vec());
        for capability in capabilities {
            if let Ok(role) = format!("roles.can.{capability}").parse() {
                self.try_join(agent, &role);
            }
        }
        for capability in before.iter().filter(|capability| !capabilities.contains(capability)) {
            self.exit(&format!("roles.can.{capability}"), agent);
        }
    }

    /// Compares in which groups everybody is.
    pub(super) fn check_memberships(&self, broker: &Broker) -> Result<(), Violation> {
        for (key, agent) in self.agents.iter().filter(|(_, agent)| !agent.is_gone) {
            let mut found: Vec<&str> = broker.look_at(*key).map(|view| view.memberships).unwrap_or_default();
            let groups =
                self.groups.iter().filter(|(name, group)| &***name != "all" && group.members.contains(key));
            let mut wanted: Vec<&str> = groups.map(|(name, _)| &**name).collect();
            found.sort_unstable();
            wanted.sort_unstable();
            let what = format_args!("{} is in {found:?}, expected {wanted:?}", agent.name);
            ensure(found == wanted, Promise::Answers, what)?;
        }
        Ok(())
    }

    pub(super) fn removed(&mut self, agent: AgentKey, outcome: &Outcome) -> Result<(), Violation> {
        if self.refused_unknown(agent, outcome)? {
            return Ok(());
        }
        let sessions: Vec<SessionKey> =
            self.sessions.iter().filter(|(_, session)| session.agent == agent).map(|(key, _)| *key).collect();
        for session in sessions {
            self.close(session);
        }
        let groups: Vec<Rc<str>> = self.groups.keys().cloned().collect();
        for group in groups {
            self.exit(&group, agent);
        }
        if let Some(agent) = self.agents.get_mut(&agent) {
            agent.is_gone = true;
            agent.presence = None;
            agent.aliases.clear();
        }
        Ok(())
    }

    pub(super) fn joined(
        &mut self,
        agent: AgentKey,
        address: &Address,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        if self.refused_unknown(agent, outcome)? {
            return Ok(());
        }
        if !self.try_join(agent, address) {
            let refused = matches!(outcome, Err(Refusal::TooMany { .. }));
            return ensure(refused, Promise::Limits, format_args!("joins {address}: {outcome:?}"));
        }
        ensure(outcome.is_ok(), Promise::Answers, format_args!("does not join {address}: {outcome:?}"))
    }

    /// Makes an agent a member, and tells whether it is one now.
    pub(super) fn try_join(&mut self, agent: AgentKey, address: &Address) -> bool {
        // Nobody joins everyone: agents are in it while they are registered.
        if *address == Address::All {
            return false;
        }
        let address = address.to_string();
        if self.is_member(agent, &address) {
            return true;
        }
        let is_new = !self.groups.contains_key(address.as_str());
        let groups_full = self.groups.len() as u64 >= self.settings.limits.groups_max;
        if !self.may_join(agent) || (is_new && groups_full) {
            return false;
        }
        self.groups.entry(Rc::from(address.as_str())).or_default();
        self.enter(&address, agent);
        true
    }

    /// Tells whether an agent may have another membership; that in everyone does not count.
    pub(super) fn may_join(&self, agent: AgentKey) -> bool {
        let groups =
            self.groups.iter().filter(|(name, group)| &***name != "all" && group.members.contains(&agent));
        (groups.count() as u64) < self.settings.limits.memberships_max
    }

    pub(super) fn left(
        &mut self,
        agent: AgentKey,
        address: &Address,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        if self.refused_unknown(agent, outcome)? {
            return Ok(());
        }
        self.exit(&address.to_string(), agent);
        ensure(outcome.is_ok(), Promise::Answers, format_args!("does not leave {address}: {outcome:?}"))
    }

    pub(super) fn connected(&mut self, agent: AgentKey, outcome: &Outcome) -> Result<(), Violation> {
        if self.refused_unknown(agent, outcome)? {
            return Ok(());
        }
        let numbers: Vec<u32> = self
            .sessions
            .values()
            .filter(|session| session.agent == agent)
            .map(|session| session.number)
            .collect();
        if numbers.len() as u64 >= self.settings.limits.sessions_max {
            let refused = matches!(outcome, Err(Refusal::TooMany { .. }));
            return ensure(refused, Promise::Limits, format_args!("one connection too many: {outcome:?}"));
        }
        let Ok(Reply::Session { session, number }) = outcome else {
            return broken(Promise::Answers, format_args!("not connected: {outcome:?}"));
        };
        let is_free = !numbers.contains(number) && !self.sessions.contains_key(session);
        ensure(
            is_free,
            Promise::Answers,
            format_args!("connection {session} is number {number}, which is taken"),
        )?;
        self.sessions.insert(*session, Session { agent, number: *number });
        Ok(())
    }

    pub(super) fn disconnected(&mut self, session: SessionKey, outcome: &Outcome) -> Result<(), Violation> {
        let known = self.sessions.contains_key(&session);
        let what = format_args!("connection {session} ends: {outcome:?}");
        ensure(outcome.is_ok() == known, Promise::Answers, what)?;
        self.close(session);
        Ok(())
    }

    /// The process has started again.
    pub(super) fn restarted(&mut self, now: Time) {
        let sessions: Vec<SessionKey> = self.sessions.keys().copied().collect();
        for session in sessions {
            self.close(session);
        }
        for index in 0..self.parts.len() {
            let is_lost = self.is_once(index) || self.parts[index].to_waiter;
            if matches!(self.parts[index].is, Is::Out { .. }) && is_lost {
                self.parts[index].is = Is::Stray;
            }
        }
        if now.ms_since(self.time) > GAP_MS {
            self.graced(now);
        }
    }

    /// Leases last a while longer after a sleep.
    pub(super) fn graced(&mut self, now: Time) {
        for part in &mut self.parts {
            if let Is::Out { until, .. } = &mut part.is {
                *until = (*until).max(now.plus_ms(GRACE_MS));
            }
        }
        self.grace_work(now.plus_ms(GRACE_MS));
    }

    /// Checks the answer to somebody who may be unknown; says whether it is.
    pub(super) fn refused_unknown(&self, agent: AgentKey, outcome: &Outcome) -> Result<bool, Violation> {
        let refused = matches!(outcome, Err(Refusal::UnknownAgent));
        let what = format_args!("agent {agent} ({}): {outcome:?}", self.name(agent));
        ensure(refused != self.is_there(agent), Promise::Answers, what)?;
        Ok(refused)
    }

    pub(super) fn is_once(&self, index: usize) -> bool {
        self.letter(&self.parts[index]).is_once
    }

    fn close(&mut self, session: SessionKey) {
        let Some(closed) = self.sessions.get(&session).copied() else { return };
        let mut addressed: Vec<usize> = Vec::new();
        for (index, part) in self.parts.iter_mut().enumerate() {
            if matches!(part.is, Is::Out { session: Some(over), .. } if over == session) {
                part.is = Is::Stray;
            }
            if part.place == Place::Session(session) {
                if part.is_open() {
                    addressed.push(index);
                } else {
                    part.place = Place::Agent(closed.agent);
                }
            }
        }
        addressed.sort_by_key(|index| self.parts[*index].order);
        // What waited for this connection alone now waits for its agent, behind what waits there, unless the agent
        // gets it another way.
        for index in addressed {
            if self.parts[index].is_queued() && self.comes_another_way(index, closed.agent) {
                self.parts[index].is = Is::Gone;
            } else {
                self.parts[index].order = self.next_order();
                self.parts[index].place = Place::Agent(closed.agent);
                self.parts[index].came_out = self.parts[index].is_out();
            }
        }
        self.sessions.remove(&session);
    }

    fn comes_another_way(&self, index: usize, agent: AgentKey) -> bool {
        self.parts_of(self.parts[index].message)
            .any(|(other, part)| other != index && part.is_way() && self.has(part, agent))
    }

    pub(super) fn enter(&mut self, group: &str, agent: AgentKey) {
        if let Some(group) = self.groups.get_mut(group)
            && !group.members.contains(&agent)
        {
            group.members.push(agent);
        }
    }

    /// Ends a membership; what the member has not come to take is no longer its own.
    fn exit(&mut self, group: &str, agent: AgentKey) {
        if let Some(group) = self.groups.get_mut(group) {
            group.members.retain(|member| *member != agent);
        }
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            let Some(post) = part.post.filter(|_| part.unclaimed && part.is == Is::Waiting) else { continue };
            let is_here = matches!(&self.parts[post].place, Place::Post(of) if &**of == group);
            if is_here && part.place == Place::Agent(agent) {
                self.parts[index].is = Is::Gone;
                self.close_post(post);
            }
        }
    }

    /// Makes a member's what stands in its topics and channels.
    pub(super) fn claim(&mut self, agent: AgentKey) {
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            if part.unclaimed && part.is == Is::Waiting && part.place == Place::Agent(agent) {
                let post = part.post;
                let born = self.next_birth();
                let is_news = self.is_news(self.parts[index].message, agent);
                let part = &mut self.parts[index];
                if is_news {
                    (part.unclaimed, part.born) = (false, born);
                    self.wait(index);
                } else {
                    part.is = Is::Gone;
                }
                if let Some(post) = post {
                    self.close_post(post);
                }
            }
        }
    }

    /// Tells whether a message stands in a topic or channel of an agent, to whom it is news.
    pub(super) fn is_posted_to(&self, message: MessageId, agent: AgentKey) -> bool {
        let is_mine = self.messages.get(&message).is_some_and(|letter| letter.sent.from == agent);
        let is_posted = self.parts_of(message).any(|(_, part)| {
            part.is == Is::Posted && matches!(&part.place, Place::Post(group) if self.is_member(agent, group))
        });
        is_posted && !is_mine && self.is_news(message, agent)
    }

    /// Tells whether a member has not got a message another way.
    pub(super) fn is_news(&self, message: MessageId, agent: AgentKey) -> bool {
        let is_single = self.messages[&message].ways <= 1;
        is_single || !self.parts_of(message).any(|(_, part)| self.has(part, agent))
    }

    /// Ends a post of which every member has its own.
    pub(super) fn close_post(&mut self, post: usize) {
        let is_pending =
            self.parts.iter().any(|part| part.post == Some(post) && part.unclaimed && part.is == Is::Waiting);
        if !is_pending && self.parts[post].is == Is::Posted {
            self.parts[post].is = Is::Ended(Stage::Acknowledged);
        }
    }

    /// Lets go what was held for the names of an agent.
    fn let_go(&mut self, agent: AgentKey) {
        let known = self.agents[&agent].clone();
        let names: Vec<Rc<str>> = std::iter::once(&known.name).chain(&known.aliases).cloned().collect();
        for name in names {
            for index in 0..self.parts.len() {
                let is_held = self.parts[index].is == Is::Held;
                if !is_held || self.parts[index].place != Place::Name(Rc::clone(&name)) {
                    continue;
                }
                if self.comes_another_way(index, agent) {
                    self.parts[index].is = Is::Gone;
                } else {
                    self.parts[index].order = self.next_order();
                    self.parts[index].place = Place::Agent(agent);
                    self.wait(index);
                }
            }
        }
    }
}
