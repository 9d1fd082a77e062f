//! What changed of the shared state lately, for those who follow it. It follows from the events and stands in no
//! snapshot: after a restart only what came behind the snapshot is remembered.

use std::collections::VecDeque;

use message::Seq;

use super::{Entity, Fact, Operation};
use crate::Time;
use crate::broker::Broker;

/// Changes that are remembered.
const CHANGES_MAX: usize = 4_096;

/// A change of the shared state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The event that made it.
    pub seq: Seq,
    /// When.
    pub at: Time,
    /// What was done.
    pub operation: Operation,
    /// To what kind of thing.
    pub entity: Entity,
    /// To which.
    pub id: Box<str>,
    /// The version that it made.
    pub version: u32,
}

/// The changes that are remembered, the oldest first.
#[derive(Default)]
pub(crate) struct Recent {
    list: VecDeque<Changed>,
    /// Behind this event all changes are remembered.
    since: Seq,
}

impl Recent {
    /// Returns the memory of a state that begins at an event.
    pub(crate) fn since(since: Seq) -> Self {
        Recent { list: VecDeque::new(), since }
    }

    /// Returns what changed behind an event; nothing where that is no longer remembered.
    pub(crate) fn behind(&self, after: Seq) -> Option<impl Iterator<Item = &Changed>> {
        let from = self.list.partition_point(|changed| changed.seq <= after);
        (self.since <= after).then(|| self.list.range(from..))
    }

    /// Returns the last event that changed something, or that behind which none did.
    pub(crate) fn last(&self) -> Seq {
        self.list.back().map_or(self.since, |changed| changed.seq)
    }

    /// Remembers a change.
    pub(crate) fn note(&mut self, changed: Changed) {
        self.list.push_back(changed);
        while self.list.len() > CHANGES_MAX {
            self.since = self.list.pop_front().map_or(self.since, |gone| gone.seq);
        }
    }
}

impl Broker {
    /// Returns what changed of the shared state behind an event, the oldest first; nothing where that is no longer
    /// remembered, or the event has not happened.
    pub fn changes_behind(&self, after: Seq) -> Option<impl Iterator<Item = &Changed>> {
        if after > self.last { None } else { self.work.recent.behind(after) }
    }

    /// Remembers what a fact is about to change of the shared state.
    pub(super) fn note_change(&mut self, fact: &Fact<'_>, at: Time) {
        let (operation, entity, id, version): (_, _, Box<str>, _) = match fact {
            Fact::Asked(asked) => (Operation::Create, Entity::Task, (*asked.id).into(), 1),
            Fact::Moved(moved) => {
                let Some(task) = self.work.task(moved.of.task) else { return };
                (Operation::Update, Entity::Task, task.id.clone(), task.version.saturating_add(1))
            }
            Fact::AgentDescribed { agent, version, .. } => {
                (Operation::Update, Entity::Agent, self.name_of(*agent).into(), *version)
            }
            Fact::Allotted(allotted) => {
                let operation = if allotted.version == 1 { Operation::Create } else { Operation::Update };
                (operation, Entity::Resource, allotted.id.into(), allotted.version)
            }
            Fact::AllotmentGone { id, version } => {
                (Operation::Delete, Entity::Resource, (*id).into(), *version)
            }
            Fact::PolicySet { version, document, .. } => {
                let operation = match (document.is_empty(), version) {
                    (true, _) => Operation::Delete,
                    (false, 1) => Operation::Create,
                    (false, _) => Operation::Update,
                };
                (operation, Entity::Policy, "policy".into(), *version)
            }
            Fact::Offered { .. }
            | Fact::Voted { .. }
            | Fact::Described { .. }
            | Fact::GateRaised(_)
            | Fact::GateJudged { .. }
            | Fact::GateRenewed { .. }
            | Fact::HelpAsked { .. }
            | Fact::HelpOver { .. }
            | Fact::Consumed { .. }
            | Fact::BreakerSet { .. }
            | Fact::Equipped { .. }
            | Fact::Fitness { .. }
            | Fact::Judged(_) => return,
        };
        let seq = self.last;
        self.work.recent.note(Changed { seq, at, operation, entity, id, version });
    }
}
