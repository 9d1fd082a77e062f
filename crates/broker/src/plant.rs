//! Planted faults, by which the simulation shows that it would find them. Built only for it.

use crate::Broker;

/// A fault that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plant {
    /// Hands a message out again that may be handed out once.
    RedeliverAtMostOnce,
    /// Lets the messages of a task overtake each other.
    LaneOvertakes,
    /// Takes every repeat for something new.
    ForgetKnown,
    /// Hands out what is over.
    DeliverExpired,
    /// Tries again at once, whatever pause was asked for.
    LoseNackDelay,
    /// Leaves the last recipient of several out.
    DropOnFanOut,
    /// Hands out in the order of arrival alone.
    IgnorePriority,
    /// Never lets the oldest go first.
    StarveLow,
    /// Gives up without asking the fallbacks.
    SkipFallback,
    /// Forgets what was held when its recipient comes.
    LoseHeld,
    /// Tells no sender that its message died.
    NoNotice,
    /// Takes the acknowledgement of a delivery that was given to somebody else since.
    LateAckAfterRedelivery,
    /// Takes another document under the same id for a repeat.
    ConflictAsDuplicate,
    /// Delivers a reply as current after the wait for it has ended.
    AnswerLateReply,
    /// Gives a task that somebody has to the next one who claims it.
    TwoWinners,
    /// Takes a completion from somebody who does not have the task.
    AnybodyCompletes,
    /// Hands a task out before what it depends on is done.
    IgnoreDependencies,
    /// Lets a claim last for ever.
    ClaimsNeverEnd,
    /// Keeps what was set aside for a task when it is over.
    KeepReserve,
    /// Lets one agent cost more than it may.
    OverspendAgent,
    /// Never leaves an agent alone.
    BreakerNeverOpens,
    /// Hands work to an agent that is to be left alone.
    IgnoreBreaker,
    /// Takes a change of the shared state whatever version it names.
    AnyVersion,
    /// Lets a guarded message go at once.
    IgnoreGuard,
    /// Leaves work out of snapshots.
    ForgetWork,
    /// Tells nobody that a claim has lapsed.
    SilentLapse,
    /// Gives claims no grace after a sleep.
    NoGraceForClaims,
    /// Lets a sender claim in a role without joining it.
    ClaimWithoutJoin,
    /// Accepts a message and leaves out the change of the shared state that it carries.
    UpdateNotApplied,
    /// Removes a record and leaves its message where it waits.
    CommitKeepsMessage,
    /// Refuses a commit for one of its messages and leaves those that were sent before it.
    CommitHalfRefused,
    /// Forgets what an agent said of itself where it does not say it again.
    ForgetFitness,
    /// Does not find a task by the number that stands in for its name.
    LoseTaskNumber,
    /// Registers an agent though somebody else changed what is known of it.
    IgnoreProfileSwap,
    /// Leaves an agent in the roles of what it can do no more.
    KeepLostRoles,
    /// Gives an agent that asks for its next task the oldest, however urgent another is.
    NextTaskIgnoresPriority,
}

impl Plant {
    /// Every plant.
    pub const ALL: [Plant; 36] = [
        Plant::RedeliverAtMostOnce,
        Plant::LaneOvertakes,
        Plant::ForgetKnown,
        Plant::DeliverExpired,
        Plant::LoseNackDelay,
        Plant::DropOnFanOut,
        Plant::IgnorePriority,
        Plant::StarveLow,
        Plant::SkipFallback,
        Plant::LoseHeld,
        Plant::NoNotice,
        Plant::LateAckAfterRedelivery,
        Plant::ConflictAsDuplicate,
        Plant::AnswerLateReply,
        Plant::TwoWinners,
        Plant::AnybodyCompletes,
        Plant::IgnoreDependencies,
        Plant::ClaimsNeverEnd,
        Plant::KeepReserve,
        Plant::OverspendAgent,
        Plant::BreakerNeverOpens,
        Plant::IgnoreBreaker,
        Plant::AnyVersion,
        Plant::IgnoreGuard,
        Plant::ForgetWork,
        Plant::SilentLapse,
        Plant::NoGraceForClaims,
        Plant::ClaimWithoutJoin,
        Plant::UpdateNotApplied,
        Plant::CommitKeepsMessage,
        Plant::CommitHalfRefused,
        Plant::ForgetFitness,
        Plant::LoseTaskNumber,
        Plant::IgnoreProfileSwap,
        Plant::KeepLostRoles,
        Plant::NextTaskIgnoresPriority,
    ];

    /// Returns the name by which it is switched on.
    pub fn name(self) -> &'static str {
        match self {
            Plant::RedeliverAtMostOnce => "redeliver-at-most-once",
            Plant::LaneOvertakes => "lane-overtakes",
            Plant::ForgetKnown => "forget-known",
            Plant::DeliverExpired => "deliver-expired",
            Plant::LoseNackDelay => "lose-nack-delay",
            Plant::DropOnFanOut => "drop-on-fan-out",
            Plant::IgnorePriority => "ignore-priority",
            Plant::StarveLow => "starve-low",
            Plant::SkipFallback => "skip-fallback",
            Plant::LoseHeld => "lose-held",
            Plant::NoNotice => "no-notice",
            Plant::LateAckAfterRedelivery => "late-ack-after-redelivery",
            Plant::ConflictAsDuplicate => "conflict-as-duplicate",
            Plant::AnswerLateReply => "answer-late-reply",
            Plant::TwoWinners => "two-winners",
            Plant::AnybodyCompletes => "anybody-completes",
            Plant::IgnoreDependencies => "ignore-dependencies",
            Plant::ClaimsNeverEnd => "claims-never-end",
            Plant::KeepReserve => "keep-reserve",
            Plant::OverspendAgent => "overspend-agent",
            Plant::BreakerNeverOpens => "breaker-never-opens",
            Plant::IgnoreBreaker => "ignore-breaker",
            Plant::AnyVersion => "any-version",
            Plant::IgnoreGuard => "ignore-guard",
            Plant::ForgetWork => "forget-work",
            Plant::SilentLapse => "silent-lapse",
            Plant::NoGraceForClaims => "no-grace-for-claims",
            Plant::ClaimWithoutJoin => "claim-without-join",
            Plant::UpdateNotApplied => "update-not-applied",
            Plant::CommitKeepsMessage => "commit-keeps-message",
            Plant::CommitHalfRefused => "commit-half-refused",
            Plant::ForgetFitness => "forget-fitness",
            Plant::LoseTaskNumber => "lose-task-number",
            Plant::IgnoreProfileSwap => "ignore-profile-swap",
            Plant::KeepLostRoles => "keep-lost-roles",
            Plant::NextTaskIgnoresPriority => "next-task-ignores-priority",
        }
    }

    /// Says what it does.
    pub fn summary(self) -> &'static str {
        match self {
            Plant::RedeliverAtMostOnce => "hands out again what may be handed out once",
            Plant::LaneOvertakes => "lets the messages of a task overtake each other",
            Plant::ForgetKnown => "takes every repeat for something new",
            Plant::DeliverExpired => "hands out what is over",
            Plant::LoseNackDelay => "tries again at once, whatever pause was asked for",
            Plant::DropOnFanOut => "leaves the last recipient of several out",
            Plant::IgnorePriority => "hands out in the order of arrival alone",
            Plant::StarveLow => "never lets the oldest go first",
            Plant::SkipFallback => "gives up without asking the fallbacks",
            Plant::LoseHeld => "forgets what was held when its recipient comes",
            Plant::NoNotice => "tells no sender that its message died",
            Plant::LateAckAfterRedelivery => {
                "takes an acknowledgement after the message was handed out again"
            }
            Plant::ConflictAsDuplicate => "takes another document under the same id for a repeat",
            Plant::AnswerLateReply => "delivers a reply as current after the wait for it has ended",
            Plant::TwoWinners => "gives a task that somebody has to the next one who claims it",
            Plant::AnybodyCompletes => "takes a completion from somebody who does not have the task",
            Plant::IgnoreDependencies => "hands a task out before what it depends on is done",
            Plant::ClaimsNeverEnd => "lets a claim last for ever",
            Plant::KeepReserve => "keeps what was set aside for a task when it is over",
            Plant::OverspendAgent => "lets one agent cost more than it may",
            Plant::BreakerNeverOpens => "never leaves an agent alone",
            Plant::IgnoreBreaker => "hands work to an agent that is to be left alone",
            Plant::AnyVersion => "takes a change of the shared state whatever version it names",
            Plant::IgnoreGuard => "lets a guarded message go at once",
            Plant::ForgetWork => "leaves work out of snapshots: claims, budgets, gates",
            Plant::SilentLapse => "tells nobody that a claim has lapsed",
            Plant::NoGraceForClaims => "gives claims no grace after a sleep",
            Plant::ClaimWithoutJoin => "lets a sender claim in a role without joining it",
            Plant::UpdateNotApplied => "accepts a message and leaves out the state change that it carries",
            Plant::CommitKeepsMessage => "removes a record and leaves its message where it waits",
            Plant::CommitHalfRefused => "refuses a commit and leaves the messages that it has sent before",
            Plant::ForgetFitness => "forgets what an agent said of itself and does not say again",
            Plant::LoseTaskNumber => "does not find a task by the number that stands in for its name",
            Plant::IgnoreProfileSwap => "registers an agent over what somebody else changed of it",
            Plant::KeepLostRoles => "leaves an agent in the roles of what it can do no more",
            Plant::NextTaskIgnoresPriority => {
                "gives the oldest task as the next one, however urgent another is"
            }
        }
    }
}

impl Broker {
    /// Switches a fault on, or all off.
    pub fn plant(&mut self, plant: Option<Plant>) {
        self.plant = plant;
    }
}
