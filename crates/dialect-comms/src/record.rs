//! The five record types, and which of them says what.

use message::{Address, Kind, Message};

use crate::words::DRIFTED_REQUEST;

/// A record type of the lexicons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// `agent.comms.message`: from one agent to another.
    Message,
    /// `agent.comms.broadcast`: to many.
    Broadcast,
    /// `agent.comms.request`: something to be done.
    Request,
    /// `agent.comms.response`: what became of it.
    Response,
    /// `agent.comms.handoff`: work passed on.
    Handoff,
}

impl Record {
    /// Every record type.
    pub const ALL: [Record; 5] =
        [Record::Message, Record::Broadcast, Record::Request, Record::Response, Record::Handoff];

    /// Returns its NSID, which is also the name of its collection.
    pub fn name(self) -> &'static str {
        match self {
            Record::Message => "agent.comms.message",
            Record::Broadcast => "agent.comms.broadcast",
            Record::Request => "agent.comms.request",
            Record::Response => "agent.comms.response",
            Record::Handoff => "agent.comms.handoff",
        }
    }

    /// Finds the record type of an NSID.
    pub fn from_name(name: &str) -> Option<Self> {
        Record::ALL.into_iter().find(|record| record.name() == name)
    }

    /// Finds the record type of an NSID that the running network writes, too.
    pub(crate) fn from_drifted_name(name: &str) -> Option<Self> {
        if name == DRIFTED_REQUEST { Some(Record::Request) } else { Record::from_name(name) }
    }

    /// Returns the record type in which a message is written.
    ///
    /// What is said to one agent is a message. What is said to several, or only to those who listen now, is a
    /// broadcast with an audience, because a message has one recipient and no time to live.
    pub fn of(message: &Message) -> Self {
        match message.kind {
            Kind::Note | Kind::Question | Kind::Gate => {
                let live_only = message.delivery.as_deref().is_some_and(|delivery| delivery.live_only);
                let one = matches!(&message.to[..], [Address::Agent(_) | Address::Session { .. }]);
                if one && !live_only { Record::Message } else { Record::Broadcast }
            }
            Kind::Announce
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::ErrorReport
            | Kind::StateSync
            | Kind::Report => Record::Broadcast,
            Kind::TaskRequest | Kind::HelpAsk => Record::Request,
            Kind::TaskClaim
            | Kind::TaskProgress
            | Kind::TaskDone
            | Kind::TaskFailed
            | Kind::TaskRejected
            | Kind::TaskBlocked
            | Kind::HelpReply
            | Kind::HandoffReply
            | Kind::ReviewVerdict => Record::Response,
            Kind::HandoffOffer => Record::Handoff,
        }
    }

    /// Returns the field that holds the record's payload and, in it, the one that holds the data.
    pub(crate) fn payload(self) -> &'static str {
        match self {
            Record::Message | Record::Broadcast => "content",
            Record::Request => "params",
            Record::Response => "result",
            Record::Handoff => "state",
        }
    }

    /// Returns the field of the message that a plain payload is.
    pub(crate) fn payload_meaning(self) -> &'static str {
        match self {
            Record::Message | Record::Broadcast | Record::Request => "/data",
            Record::Response => "/result",
            Record::Handoff => "/handoff/state",
        }
    }
}
