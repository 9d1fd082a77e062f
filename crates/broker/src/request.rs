//! Requests: commands whose answer has a type of its own.

use message::{DeliveryId, MessageId, Stage};
use smol_str::SmolStr;

use crate::{
    Accept, AgentKey, Change, Claim, ClaimOutcome, Command, Commit, Committed, Delivery, Door, Nack,
    Receipted, Register, Reply, SessionKey, StateChange, Take, Time,
};

/// A command whose answer has a type of its own, so that nobody has to expect the answers of other commands.
pub trait Request: Send + 'static {
    /// What it is answered with.
    type Answer: Send + 'static;

    /// Returns the command that it is.
    fn into_command(self) -> Command;

    /// Takes the answer out of the reply to that command. Nothing if it is the reply to another.
    fn answer(reply: Reply) -> Option<Self::Answer>;
}

/// Any command; whatever it gives back.
impl Request for Command {
    type Answer = Reply;

    fn into_command(self) -> Command {
        self
    }

    fn answer(reply: Reply) -> Option<Reply> {
        Some(reply)
    }
}

impl Request for Register {
    type Answer = AgentKey;

    fn into_command(self) -> Command {
        Command::Register(Box::new(self))
    }

    fn answer(reply: Reply) -> Option<AgentKey> {
        if let Reply::Agent(agent) = reply { Some(agent) } else { None }
    }
}

impl Request for Box<Accept> {
    type Answer = Receipted;

    fn into_command(self) -> Command {
        Command::Accept(self)
    }

    fn answer(reply: Reply) -> Option<Receipted> {
        if let Reply::Accepted(receipted) = reply { Some(receipted) } else { None }
    }
}

impl Request for Claim {
    type Answer = ClaimOutcome;

    fn into_command(self) -> Command {
        Command::Claim(Box::new(self))
    }

    fn answer(reply: Reply) -> Option<ClaimOutcome> {
        if let Reply::Claimed(outcome) = reply { Some(*outcome) } else { None }
    }
}

impl Request for Take {
    type Answer = Vec<Delivery>;

    fn into_command(self) -> Command {
        Command::Take(self)
    }

    fn answer(reply: Reply) -> Option<Vec<Delivery>> {
        if let Reply::Taken(deliveries) = reply { Some(deliveries) } else { None }
    }
}

impl Request for StateChange {
    type Answer = Change;

    fn into_command(self) -> Command {
        Command::ChangeState(Box::new(self))
    }

    fn answer(reply: Reply) -> Option<Change> {
        if let Reply::Changed(change) = reply { Some(change) } else { None }
    }
}

impl Request for Commit {
    type Answer = Committed;

    fn into_command(self) -> Command {
        Command::Commit(Box::new(self))
    }

    fn answer(reply: Reply) -> Option<Committed> {
        if let Reply::Committed(committed) = reply { Some(committed) } else { None }
    }
}

/// Opens a session of an agent.
#[derive(Clone, Copy, Debug)]
pub struct OpenSession {
    /// Whose.
    pub agent: AgentKey,
    /// Over what.
    pub door: Door,
}

/// A session that was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedSession {
    /// Its key.
    pub session: SessionKey,
    /// Its number among the sessions of its agent.
    pub number: u32,
}

impl Request for OpenSession {
    type Answer = OpenedSession;

    fn into_command(self) -> Command {
        Command::OpenSession { agent: self.agent, door: self.door }
    }

    fn answer(reply: Reply) -> Option<OpenedSession> {
        if let Reply::Session { session, number } = reply {
            Some(OpenedSession { session, number })
        } else {
            None
        }
    }
}

/// Settles, refuses or prolongs a delivery.
#[derive(Clone, Debug)]
pub enum Settle {
    /// It was taken care of.
    Ack { agent: AgentKey, delivery: DeliveryId, by: SmolStr },
    /// It was put before a model.
    Surface { agent: AgentKey, delivery: DeliveryId, by: SmolStr },
    /// It is not wanted, or not now.
    Nack(Nack),
    /// The recipient needs more time.
    Extend { agent: AgentKey, delivery: DeliveryId, lease_ms: u64 },
    /// A message that waits for an agent was taken care of, whether or not it was handed out.
    Process { agent: AgentKey, message: MessageId, by: SmolStr },
}

/// How a delivery stands after it was settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The stage that it has reached.
    Stage(Stage),
    /// Until when its lease lasts.
    Lease(Time),
    /// Nothing to tell.
    Done,
}

impl Request for Settle {
    type Answer = Settled;

    fn into_command(self) -> Command {
        match self {
            Settle::Ack { agent, delivery, by } => Command::Ack { agent, delivery, by },
            Settle::Surface { agent, delivery, by } => Command::Surface { agent, delivery, by },
            Settle::Nack(nack) => Command::Nack(nack),
            Settle::Extend { agent, delivery, lease_ms } => Command::Extend { agent, delivery, lease_ms },
            Settle::Process { agent, message, by } => Command::Process { agent, message, by },
        }
    }

    fn answer(reply: Reply) -> Option<Settled> {
        match reply {
            Reply::Stage(stage) => Some(Settled::Stage(stage)),
            Reply::Lease(until) => Some(Settled::Lease(until)),
            Reply::Done => Some(Settled::Done),
            Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Accepted(_)
            | Reply::Taken(_)
            | Reply::Claimed(_)
            | Reply::Changed(_)
            | Reply::Committed(_) => None,
        }
    }
}
