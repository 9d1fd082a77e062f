//! The broker: who is there, what waits for whom, and what became of it.
//!
//! A state machine and nothing else. [`Broker::decide`] reads the state and proposes events, [`Broker::apply`] folds
//! one event into the state, [`Broker::due`] names what the clock has made due, and [`Broker::execute`] puts them
//! together for whoever drives it. State is a fold over the events: the same events give the same state, bit for bit.
//!
//! It does no I/O, reads no clock and draws no random numbers; all of that comes in with the [`Context`]. It knows no
//! dialect: a message is a few fields to route by and a body of bytes, which stays in the log. The state holds the
//! place of a body there, never the body.

mod accept;
mod amend;
mod broker;
mod clock;
mod codec;
mod command;
mod context;
mod dead;
mod due;
mod effect;
mod entry;
mod event;
mod fold;
mod group;
mod key;
mod known;
mod lane;
mod limits;
mod look;
mod mailbox;
mod nearest;
mod notice;
#[cfg(feature = "plants")]
pub mod plant;
pub mod query;
mod receipt;
mod records;
mod refusal;
mod registration;
mod registry;
mod reply;
mod request;
mod retry;
mod ring;
mod session;
mod settle;
mod slab;
mod snapshot;
mod store;
mod take;
#[cfg(test)]
mod tests;
mod timers;
mod turns;
mod upkeep;
mod wait;
mod word;
mod work;

pub use accept::is_answer;
pub use broker::{Broker, Decision};
pub use clock::Time;
pub use codec::DecodeError;
pub use command::{Accept, Claim, Command, Commit, Delay, Due, Identity, Nack};
pub use command::{ProfileSwap, RecordChange, RecordWrite, Register, Sign, Swap, Take, WithRecipients};
pub use context::{Context, Random};
pub use effect::{Effect, Effects};
pub use event::{Accepted, Event, Failed, Marks, Next, Of, Park, RecordSet, Target};
pub use fold::{Fold, FoldError};
pub use key::{AgentKey, Digest, EntryKey, Fingerprint, GroupKey, MessageKey, SessionKey, TaskKey};
pub use limits::{Limits, Retention, Retries, Settings};
pub use look::{AgentView, Counts, DeadView, MessageView, WaitingView};
pub use mailbox::Mailbox;
pub use query::{At, Query, Totals};
pub use records::{RecordName, RecordView, RepoView, WrittenRecord, tid_of};
pub use refusal::{Misfit, Refusal};
pub use reply::{Caution, ClaimOutcome, Committed, Delivery, Head, Receipted, Reply, Tried};
pub use request::{OpenSession, OpenedSession, Request, Settle, Settled};
pub use session::Door;
pub use upkeep::{Holder, Living, LivingBodies, LookFrom};
pub use work::{
    AgentWork, AllotmentView, Allotted, Anew, Ask, Asked, Blocker, Breaker, BreakerRule, Change, Changed,
    Entity, Fact, GateRaised, GateView, HandoffReason, HelpAnswer, Hold, Judged, JudgedGate, Lapse, Micros,
    Moved, NoteView, OfTask, OfferView, Operation, Outcome, Over, Policy, PolicyView, Resource, StateChange,
    Step, TaskIntent, TaskRequest, TaskView, Unjudged, Verdict, WorkDue, after, is_over, share,
};
