//! Breakers: an agent that only makes errors is left alone for a while, then tried with one piece of work.

use message::{Kind, PresenceState};

use super::{Breaker, Fact};
use crate::broker::Broker;
use crate::{AgentKey, Context, EntryKey, Event, Mailbox};

impl Broker {
    /// Returns how an agent's breaker is after one more error.
    pub(super) fn error_of<'a>(&self, cx: &Context<'_>, agent: AgentKey) -> Vec<Fact<'a>> {
        let Some(rule) = self.work.policy().breaker else { return Vec::new() };
        if agent.is_machinery() || agent == AgentKey::HUMAN {
            return Vec::new();
        }
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::BreakerNeverOpens) {
            return Vec::new();
        }
        let until = cx.now.plus_ms(rule.reset_ms);
        let breaker = match self.breaker_of(agent) {
            Breaker::Closed if rule.errors > 1 => Breaker::Counting(1),
            Breaker::Counting(errors) if errors.saturating_add(1) < rule.errors => {
                Breaker::Counting(errors + 1)
            }
            Breaker::Closed | Breaker::Counting(_) | Breaker::HalfOpen | Breaker::Probing { .. } => {
                Breaker::Open { until }
            }
            // What was begun before it was left alone changes nothing.
            Breaker::Open { .. } => return Vec::new(),
        };
        vec![Fact::BreakerSet { agent, breaker }]
    }

    /// Returns how an agent's breaker is after work that went well.
    pub(super) fn success_of<'a>(&self, agent: AgentKey) -> Vec<Fact<'a>> {
        match self.breaker_of(agent) {
            Breaker::Closed | Breaker::Open { .. } => Vec::new(),
            Breaker::Counting(_) | Breaker::HalfOpen | Breaker::Probing { .. } => {
                vec![Fact::BreakerSet { agent, breaker: Breaker::Closed }]
            }
        }
    }

    /// Returns that an agent has the one piece of work by which it proves itself.
    pub(crate) fn probe<'a>(&self, cx: &Context<'_>, agent: AgentKey) -> Option<Fact<'a>> {
        let rule = self.work.policy().breaker;
        let is_due = self.breaker_of(agent) == Breaker::HalfOpen;
        let ms = rule.map_or(u64::MAX, |rule| rule.timeout_ms);
        let breaker = Breaker::Probing { until: cx.now.plus_ms(ms) };
        is_due.then_some(Fact::BreakerSet { agent, breaker })
    }

    /// Tells whether an agent is given work of a kind, and of how much more at once.
    pub(crate) fn work_room(&self, agent: AgentKey) -> Room {
        #[cfg(feature = "plants")]
        if self.has_plant(crate::plant::Plant::IgnoreBreaker) {
            return Room::Any;
        }
        match self.breaker_of(agent) {
            Breaker::Closed | Breaker::Counting(_) => Room::Any,
            Breaker::HalfOpen => Room::One,
            Breaker::Open { .. } | Breaker::Probing { .. } => Room::None,
        }
    }

    /// Tells whether an entry may leave for an agent that is given little or no work.
    pub(crate) fn may_work(&self, entry: EntryKey, room: Room) -> bool {
        let is_work = self.message_of(entry).is_some_and(|message| is_work(message.kind));
        !is_work || room != Room::None
    }

    /// Tells whether an agent takes work of its roles now: it is not in maintenance, and its time has come.
    pub(crate) fn serves_roles(&self, cx: &Context<'_>, agent: AgentKey) -> bool {
        let is_away = self.presence_of(agent) == Some(PresenceState::Maintenance);
        let is_later = self.work.worker(agent).is_some_and(|worker| worker.from > cx.wall);
        !is_away && !is_later
    }

    /// Tells whether an entry is work that waits for any member of a role.
    pub(crate) fn is_work_of_role(&self, entry: EntryKey) -> bool {
        let of_role = self.entry(entry).is_some_and(|entry| matches!(entry.mailbox, Mailbox::Group(_)));
        of_role && self.message_of(entry).is_some_and(|message| is_work(message.kind))
    }

    fn breaker_of(&self, agent: AgentKey) -> Breaker {
        self.work.worker(agent).map(|worker| worker.breaker).unwrap_or_default()
    }

    /// Tries an agent again that was left alone; or counts the piece of work that it did not end in time.
    pub(super) fn breaker_due<'a>(&self, cx: &mut Context<'_>, agent: AgentKey) -> Vec<Event<'a>> {
        let facts = match self.breaker_of(agent) {
            Breaker::Open { until } if until <= cx.now => {
                vec![Fact::BreakerSet { agent, breaker: Breaker::HalfOpen }]
            }
            // Without a rule nobody is left alone.
            Breaker::Probing { until } if until <= cx.now && self.work.policy().breaker.is_none() => {
                vec![Fact::BreakerSet { agent, breaker: Breaker::Closed }]
            }
            Breaker::Probing { until } if until <= cx.now => self.error_of(cx, agent),
            Breaker::Closed
            | Breaker::Counting(_)
            | Breaker::HalfOpen
            | Breaker::Open { .. }
            | Breaker::Probing { .. } => Vec::new(),
        };
        facts.into_iter().map(Event::Work).collect()
    }
}

/// How much work an agent is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Any,
    One,
    None,
}

/// Tells whether a message of this kind is work for whoever gets it.
pub(crate) fn is_work(kind: Kind) -> bool {
    matches!(kind, Kind::TaskRequest | Kind::HelpAsk | Kind::HandoffOffer)
}
