//! A message as the history keeps it: what its envelope of metadata says, and its deliveries. Never its body.

use broker::{AgentKey, GroupKey, Time};
use message::{Dialect, Guarantee, Kind, MessageId, Priority, Seq};

use crate::delivery::{Delivery, Mailbox, State};

/// A message with its deliveries.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) seq: Seq,
    pub(crate) id: MessageId,
    pub(crate) at: Time,
    pub(crate) dialect: Dialect,
    pub(crate) kind: Kind,
    pub(crate) priority: Priority,
    pub(crate) guarantee: Guarantee,
    pub(crate) from: AgentKey,
    /// Addresses with a space between; no address has one inside.
    pub(crate) to: String,
    pub(crate) native_id: Option<String>,
    pub(crate) thread: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) reply_to: Option<String>,
    /// Where its body lies now.
    pub(crate) body: Seq,
    /// Where it got another body last.
    pub(crate) amended: Option<Seq>,
    pub(crate) flags: Flags,
    pub(crate) deliveries: Vec<Delivery>,
    /// Who else has to do with it since the tables were written.
    pub(crate) participants: Vec<Who>,
    pub(crate) change: Change,
}

/// What is true of some messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// Everybody may read it.
    pub(crate) is_public: bool,
    /// It goes several ways, so that somebody might get it twice.
    pub(crate) is_several: bool,
    /// It was only for those who were connected.
    pub(crate) is_live_only: bool,
    /// Its sender took it back.
    pub(crate) is_withdrawn: bool,
}

/// How a message differs from what the tables have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Not at all.
    None,
    /// Only its deliveries.
    Deliveries,
    /// The message itself.
    Message,
    /// The tables do not have it.
    New,
}

/// Who has to do with a message: an agent, a group, or everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Everybody,
    Agent(AgentKey),
    Group(GroupKey),
}

impl Letter {
    pub(crate) fn is_open(&self) -> bool {
        self.deliveries.iter().any(|delivery| !matches!(delivery.state, State::Done(_)))
    }

    /// Notes somebody who has to do with it.
    pub(crate) fn involve(&mut self, who: Who) {
        if !self.participants.contains(&who) {
            self.participants.push(who);
        }
    }

    /// Tells whether somebody has to do with it, as far as can be told without the tables.
    pub(crate) fn involves(&self, who: Who) -> bool {
        let mut deliveries = self.deliveries.iter();
        let is_theirs = match who {
            Who::Everybody => self.flags.is_public,
            Who::Agent(agent) => {
                self.from == agent || deliveries.any(|delivery| delivery.recipient() == Some(agent))
            }
            Who::Group(group) => deliveries.any(|delivery| delivery.mailbox == Mailbox::Group(group)),
        };
        is_theirs || self.participants.contains(&who)
    }

    /// Notes that it differs from the tables; tells whether it did not before.
    pub(crate) fn touch(&mut self, change: Change) -> bool {
        let was_clean = self.change == Change::None;
        self.change = match (self.change, change) {
            (Change::New, _) => Change::New,
            (Change::Message, Change::None | Change::Deliveries) => Change::Message,
            (Change::Deliveries, Change::None) => Change::Deliveries,
            (Change::None | Change::Deliveries | Change::Message, change) => change,
        };
        was_clean
    }
}

impl Flags {
    pub(crate) fn code(self) -> i64 {
        i64::from(self.is_public)
            | i64::from(self.is_several) << 1
            | i64::from(self.is_live_only) << 2
            | i64::from(self.is_withdrawn) << 3
    }

    pub(crate) fn from_code(code: i64) -> Self {
        Flags {
            is_public: code & 1 != 0,
            is_several: code & 2 != 0,
            is_live_only: code & 4 != 0,
            is_withdrawn: code & 8 != 0,
        }
    }
}

impl Who {
    /// Returns the number that stands for it in the table: agents have their own, the others are below zero.
    pub(crate) fn code(self) -> i64 {
        match self {
            Who::Everybody => -1,
            Who::Agent(agent) => agent.0.into(),
            Who::Group(group) => -2 - i64::from(group.0),
        }
    }
}
