//! Whom a message reaches, and why it may be refused.

use std::rc::Rc;

use broker::{AgentKey, Breaker, Refusal};
use message::{Address, AgentRef};

use super::state::{Is, Place, State};
use super::work::{No, is_work};
use crate::request::Sent;
use crate::violation::Promise;

/// Where a message goes.
#[derive(Default)]
pub(super) struct Route {
    pub(super) ways: Vec<Way>,
    pub(super) fallback: Vec<AgentKey>,
    /// Groups that exist only because of it.
    pub(super) made: Vec<Rc<str>>,
    /// Channels in which its sender is from now on.
    pub(super) joins: Vec<Rc<str>>,
}

/// One way that a message goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    To(Place, AgentKey),
    /// To a fallback at once, because nobody has the name.
    Instead(AgentKey, Rc<str>),
    Role(Rc<str>),
    Shared(Rc<str>),
    Held(Rc<str>),
}

/// Why a message may be refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    NoRecipient,
    TooManyRecipients,
    TooMany,
    TooLarge,
    Hops,
    BusFull,
    BusBytesFull,
    QueueFull,
    QueueBytesFull,
    Unknown,
    Expired,
    /// What it means for work cannot be.
    Work(No),
}

impl Way {
    pub(super) fn recipient(&self) -> Option<AgentKey> {
        match self {
            Way::To(_, agent) | Way::Instead(agent, _) => Some(*agent),
            Way::Role(_) | Way::Shared(_) | Way::Held(_) => None,
        }
    }

    fn is_same(&self, other: &Way) -> bool {
        match (self, other) {
            (Way::To(Place::Session(one), _), Way::To(Place::Session(other), _)) => one == other,
            (_, _) => self == other || (self.recipient().is_some() && self.recipient() == other.recipient()),
        }
    }
}

impl Reason {
    /// Tells whether a refusal says this.
    pub(super) fn fits(self, refusal: &Refusal) -> bool {
        match self {
            Reason::NoRecipient => matches!(refusal, Refusal::NoRecipient),
            Reason::TooManyRecipients => matches!(refusal, Refusal::TooManyRecipients { .. }),
            Reason::TooMany => matches!(refusal, Refusal::TooMany { .. }),
            Reason::TooLarge => matches!(refusal, Refusal::TooLarge { .. }),
            Reason::Hops => matches!(refusal, Refusal::TooManyHops { .. }),
            Reason::BusFull => matches!(refusal, Refusal::BusFull { .. }),
            Reason::BusBytesFull => matches!(refusal, Refusal::BusBytesFull { .. }),
            Reason::QueueFull => matches!(refusal, Refusal::QueueFull { .. }),
            Reason::QueueBytesFull => matches!(refusal, Refusal::QueueBytesFull { .. }),
            Reason::Unknown => matches!(refusal, Refusal::UnknownRecipient { .. }),
            Reason::Expired => matches!(refusal, Refusal::Expired),
            Reason::Work(no) => no.fits(refusal),
        }
    }

    /// Returns the promise that is broken when a message is accepted in spite of this.
    pub(super) fn promise(self) -> Promise {
        match self {
            Reason::Unknown => Promise::Unknown,
            Reason::Expired => Promise::NeverLate,
            Reason::Work(No::OverPolicy) => Promise::Budgets,
            Reason::Work(No::Missed | No::NotHolder | No::NotAsked) => Promise::Claims,
            Reason::Work(_) => Promise::Tasks,
            Reason::NoRecipient
            | Reason::TooManyRecipients
            | Reason::TooMany
            | Reason::TooLarge
            | Reason::Hops
            | Reason::BusFull
            | Reason::BusBytesFull
            | Reason::QueueFull
            | Reason::QueueBytesFull => Promise::Limits,
        }
    }

    /// Returns the promise that is broken when a message is refused so without reason.
    pub(super) fn promise_of(refusal: &Refusal) -> Promise {
        if matches!(refusal, Refusal::Conflict { .. }) {
            return Promise::Idempotent;
        }
        let reasons = [Reason::Unknown, Reason::Expired];
        reasons.into_iter().find(|reason| reason.fits(refusal)).map_or(Promise::Limits, Reason::promise)
    }
}

impl State {
    /// Finds where a message goes, and every reason not to take it in.
    pub(super) fn route(&self, sent: &Sent) -> (Route, Vec<Reason>) {
        let mut reasons = self.limits_broken(sent);
        let mut route = Route { fallback: self.fallbacks(&sent.fallback), ..Route::default() };
        for address in &sent.to {
            let Some(way) = self.way(sent, address, &mut route, &mut reasons) else { continue };
            if !route.ways.iter().any(|other| other.is_same(&way)) {
                route.ways.push(way);
            }
        }
        let used: Vec<AgentKey> = route.ways.iter().filter_map(Way::recipient).collect();
        route.fallback.retain(|agent| !used.contains(agent));
        for way in &route.ways {
            self.check_room(sent, way, &mut reasons);
        }
        (route, reasons)
    }

    fn limits_broken(&self, sent: &Sent) -> Vec<Reason> {
        let limits = &self.settings.limits;
        let bytes = sent.body.len() as u64;
        let (count, bytes_held) = self.open();
        let checks = [
            (sent.to.is_empty(), Reason::NoRecipient),
            (sent.to.len() > limits.recipients_max, Reason::TooManyRecipients),
            (sent.fallback.len() > limits.fallbacks_max, Reason::TooMany),
            (bytes > limits.body_bytes_max, Reason::TooLarge),
            (sent.hops > limits.hops_max, Reason::Hops),
            (count >= limits.messages_max, Reason::BusFull),
            (bytes_held + bytes > limits.bytes_max, Reason::BusBytesFull),
        ];
        checks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, reason)| reason).collect()
    }

    /// Lists the messages that are not over.
    pub(super) fn open_messages(&self) -> Vec<message::MessageId> {
        let mut open: Vec<message::MessageId> =
            self.parts.iter().filter(|part| part.is_open()).map(|part| part.message).collect();
        open.extend(
            self.messages.iter().filter(|(_, letter)| letter.wait_until.is_some()).map(|(id, _)| *id),
        );
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Counts the messages that are not over, and their bytes.
    pub(super) fn open(&self) -> (u64, u64) {
        let open = self.open_messages();
        let bytes = open.iter().map(|id| self.messages[id].body.len() as u64).sum();
        (open.len() as u64, bytes)
    }

    fn fallbacks(&self, wanted: &[AgentRef]) -> Vec<AgentKey> {
        let mut known = Vec::new();
        for agent in wanted.iter().filter_map(|agent| self.agent(agent.as_str())) {
            if !known.contains(&agent) {
                known.push(agent);
            }
        }
        known
    }

    fn way(
        &self,
        sent: &Sent,
        address: &Address,
        route: &mut Route,
        reasons: &mut Vec<Reason>,
    ) -> Option<Way> {
        match address {
            Address::Agent(agent) => self.way_to_agent(sent, agent, route, reasons),
            Address::Session { agent, session } => {
                let agent = self.agent(agent.as_str());
                let mut open = self.sessions.iter();
                let found = open.find(|(_, it)| Some(it.agent) == agent && it.number == *session);
                if found.is_none() {
                    reasons.push(Reason::Unknown);
                }
                found.map(|(key, it)| Way::To(Place::Session(*key), it.agent))
            }
            Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => {
                let group: Rc<str> = address.to_string().into();
                let is_new = !self.groups.contains_key(&group) && !route.made.contains(&group);
                if is_new && (self.groups.len() + route.made.len()) as u64 >= self.settings.limits.groups_max
                {
                    reasons.push(Reason::TooMany);
                } else if is_new {
                    route.made.push(Rc::clone(&group));
                }
                let is_ours = matches!(sent.from, AgentKey::SYSTEM | AgentKey::RUNNER);
                let may_join = !is_ours && self.may_join(sent.from);
                if matches!(address, Address::Channel(_)) && may_join {
                    route.joins.push(Rc::clone(&group));
                }
                let is_role = matches!(address, Address::Role(_));
                Some(if is_role { Way::Role(group) } else { Way::Shared(group) })
            }
        }
    }

    fn way_to_agent(
        &self,
        sent: &Sent,
        wanted: &AgentRef,
        route: &mut Route,
        reasons: &mut Vec<Reason>,
    ) -> Option<Way> {
        let name: Rc<str> = wanted.as_str().into();
        let known = self.agent(&name);
        // Work for somebody who is left alone goes to the next, if there is one.
        let is_left_alone = |agent: AgentKey| {
            let is_open = matches!(self.work.breaker(agent), Breaker::Open { .. } | Breaker::Probing { .. });
            is_open && is_work(sent.kind) && route.fallback.iter().any(|fallback| *fallback != agent)
        };
        if let Some(agent) = known.filter(|agent| !is_left_alone(*agent)) {
            return Some(Way::To(Place::Agent(agent), agent));
        }
        route.fallback.retain(|fallback| Some(*fallback) != known);
        if !route.fallback.is_empty() {
            return Some(Way::Instead(route.fallback.remove(0), name));
        }
        if !sent.hold {
            reasons.push(Reason::Unknown);
            return None;
        }
        let held = self.parts.iter().filter(|part| part.is == Is::Held).count();
        let more = route.ways.iter().filter(|way| matches!(way, Way::Held(_))).count();
        if (held + more) as u64 >= self.settings.limits.held_max {
            reasons.push(Reason::TooMany);
        }
        Some(Way::Held(name))
    }

    fn check_room(&self, sent: &Sent, way: &Way, reasons: &mut Vec<Reason>) {
        let place = match way {
            Way::To(place, _) => place.clone(),
            Way::Instead(agent, _) => Place::Agent(*agent),
            Way::Role(role) => Place::Role(Rc::clone(role)),
            Way::Shared(_) | Way::Held(_) => return,
        };
        let limits = &self.settings.limits;
        let queued =
            || self.parts.iter().filter(|part| part.is_queued() && !part.unclaimed && part.place == place);
        if queued().count() as u64 >= limits.queue_max {
            reasons.push(Reason::QueueFull);
        }
        let bytes: u64 = queued().map(|part| self.letter(part).body.len() as u64).sum();
        if bytes + sent.body.len() as u64 > limits.queue_bytes_max {
            reasons.push(Reason::QueueBytesFull);
        }
    }
}
