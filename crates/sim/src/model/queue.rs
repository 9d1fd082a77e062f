//! What may leave, and in which order.

use broker::{AgentKey, SessionKey, Time};
use message::Priority;

use super::state::{Is, Part, Place, State};

/// One in so many messages that an agent is handed is the oldest that may leave.
pub(crate) const OLDEST_EVERY: u64 = 8;

/// How sure it is that a part may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leave {
    Yes,
    /// Chance decides when its pause ends.
    Perhaps,
    No,
}

/// A part that may leave, with what decides when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) part: usize,
    pub(crate) level: Priority,
    pub(crate) order: u64,
    pub(crate) leave: Leave,
}

impl Candidate {
    /// Tells whether this one must leave before another.
    pub(crate) fn precedes(&self, other: &Candidate, is_oldest_turn: bool) -> bool {
        if is_oldest_turn {
            return self.order < other.order;
        }
        (std::cmp::Reverse(self.level), self.order) < (std::cmp::Reverse(other.level), other.order)
    }
}

impl State {
    /// Lists what an agent may be handed, over a connection or not.
    pub(crate) fn candidates(
        &self,
        agent: AgentKey,
        session: Option<SessionKey>,
        wall: Time,
    ) -> Vec<Candidate> {
        let mine = |place: &Place| match place {
            Place::Agent(owner) => *owner == agent,
            Place::Session(owner) => Some(*owner) == session,
            Place::Role(role) => self.is_member(agent, role),
            Place::Name(_) | Place::Post(_) => false,
        };
        let mut candidates = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let of_role = matches!(part.place, Place::Role(_));
            let is_given = self.is_given(agent, self.letter(part).sent.kind, of_role, wall);
            if !part.is_queued() || !mine(&part.place) || !is_given || self.would_be_twice(index, agent) {
                continue;
            }
            let leave = self.leave(index, wall);
            if leave != Leave::No {
                candidates.push(Candidate { part: index, level: self.level(part), order: part.order, leave });
            }
        }
        candidates
    }

    /// Tells whether an agent that takes from a role gets the message another way, where once must be enough.
    fn would_be_twice(&self, index: usize, agent: AgentKey) -> bool {
        let part = &self.parts[index];
        let letter = self.letter(part);
        let is_possible = letter.is_once && letter.ways > 1 && matches!(part.place, Place::Role(_));
        is_possible
            && self.parts_of(part.message).any(|(other, part)| other != index && self.has(part, agent))
    }

    /// Tells whether a part may leave: it waits, is wanted, and is the first of its lane.
    pub(crate) fn leave(&self, index: usize, wall: Time) -> Leave {
        let part = &self.parts[index];
        let leave = match part.is {
            Is::Waiting => Leave::Yes,
            Is::Maybe { .. } => Leave::Perhaps,
            Is::Pausing { .. } | Is::Parked | Is::Held | Is::Posted | Is::Out { .. } => Leave::No,
            Is::Stray | Is::Dead | Is::Ended(_) | Is::Gone => Leave::No,
        };
        let is_before = |other: &Part| other.order < part.order || (other.is_out() && !other.came_out);
        let is_first = !self.lane(part).any(is_before);
        if is_first && !self.is_over(part, wall) { leave } else { Leave::No }
    }

    /// Tells whether the time of a message is over.
    pub(crate) fn is_over(&self, part: &Part, wall: Time) -> bool {
        let letter = self.letter(part);
        if letter.sent.live_only { wall > letter.expires } else { wall >= letter.expires }
    }

    /// Returns the priority by which a part leaves: the highest that waits in its lane.
    fn level(&self, part: &Part) -> Priority {
        let waiting = self.lane(part).filter(|other| other.is_queued());
        waiting.map(|other| self.priority(other)).max().unwrap_or(Priority::Low)
    }

    /// Returns what keeps order with a part, itself included: the same recipient and task. Without a task, nothing
    /// but itself.
    fn lane<'s>(&'s self, part: &'s Part) -> impl Iterator<Item = &'s Part> {
        let task = &self.letter(part).sent.task;
        self.parts.iter().filter(move |other| {
            let in_queue = other.is_queued() || (other.is_out() && other.in_lane);
            let together = match task {
                Some(_) => other.place == part.place && self.letter(other).sent.task == *task,
                None => {
                    other.order == part.order && other.place == part.place && other.message == part.message
                }
            };
            in_queue && together
        })
    }
}
