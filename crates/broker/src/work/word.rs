//! The words of work: how far a task is, what happens to it, why it stops.

use message::TaskStatus;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// Every one, in the order of their codes in the log: new ones go to the end.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// Returns the word that people and documents use.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)+ }
            }

            /// Finds one by its word.
            pub fn find(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == word)
            }
        }
    };
}
pub(crate) use words;

words! {
    /// What happens to a task.
    Step {
        /// Somebody asked for it.
        Requested = "requested",
        /// Its requester asked again, or somebody else asks for something within it.
        Added = "added",
        /// Somebody took it.
        Claimed = "claimed",
        /// Its holder keeps it for longer.
        Renewed = "renewed",
        /// Work on it began, or goes on.
        Started = "started",
        /// It cannot go on.
        Blocked = "blocked",
        /// What stopped it is gone.
        Unblocked = "unblocked",
        /// It is done.
        Done = "done",
        /// It came to nothing.
        Failed = "failed",
        /// Whoever was asked does not do it.
        Rejected = "rejected",
        /// Nobody wants it any more.
        Cancelled = "cancelled",
        /// Its holder was silent for too long.
        Lapsed = "claim_timed_out",
        /// Its holder offers it to another.
        Offered = "handoff_offered",
        /// Another took it over.
        HandedOver = "handed_over",
        /// Another does not take it over.
        Declined = "handoff_declined",
        /// Another did not say in time whether it takes it over.
        OfferLapsed = "handoff_timed_out",
        /// Everything that it depends on is done.
        Freed = "dependencies_done",
        /// Something that it depends on will not be done.
        DependencyLost = "dependency_lost",
        /// It waits for a human.
        Gated = "gate_raised",
        /// A human said yes, or nobody said no in time.
        Passed = "gate_approved",
        /// A human said no, or nobody said yes in time.
        Barred = "gate_rejected",
        /// It is wanted again after it was over.
        Reopened = "reopened",
        /// It goes to somebody else before anybody has begun.
        Reassigned = "reassigned",
        /// It is not done by the time that was wanted.
        Late = "deadline_passed",
        /// It takes longer than the policy allows before that counts as an error.
        Slow = "too_slow",
        /// Somebody said what it thinks of it.
        Voted = "voted",
        /// Enough have said what they think of it.
        Reviewed = "reviewed",
        /// The operator put it where its own words would not have.
        Overridden = "overridden",
        /// What is known of it was changed.
        Described = "described",
    }
}

words! {
    /// Why a task cannot go on.
    Blocker {
        /// The brief does not say enough.
        SpecGap = "spec_gap",
        /// Something else must be done first.
        Dependency = "dependency",
        /// A tool does not work.
        ToolFailure = "tool_failure",
        /// The brief can be read in two ways.
        Ambiguity = "ambiguity",
        /// What came out did not pass.
        VerificationFail = "verification_fail",
        /// Something that is needed is used up.
        Resource = "resource",
    }
}

words! {
    /// Why work is handed over.
    HandoffReason {
        CapabilityLimit = "CAPABILITY_LIMIT",
        RateLimit = "RATE_LIMIT",
        ErrorRecovery = "ERROR_RECOVERY",
        Escalation = "ESCALATION",
        LoadBalancing = "LOAD_BALANCING",
    }
}

words! {
    /// How help is answered.
    HelpAnswer {
        DirectAnswer = "DIRECT_ANSWER",
        ResourceProvision = "RESOURCE_PROVISION",
        CollaborativeSession = "COLLABORATIVE_SESSION",
        Escalation = "ESCALATION",
        UnableToHelp = "UNABLE_TO_HELP",
    }
}

/// Returns where a step takes a task, if it can be taken from there. What leaves the task where it is can be taken
/// from everywhere but the end.
pub fn after(from: TaskStatus, step: Step) -> Option<TaskStatus> {
    use TaskStatus::{Blocked, Cancelled, Claimed, Done, Failed, Pending, Rejected, Running};
    let is_over = is_over(from);
    let is_held = matches!(from, Claimed | Running | Blocked);
    match step {
        Step::Requested => None,
        Step::Reopened => is_over.then_some(Pending),
        Step::Overridden => Some(from),
        // What is said of work that is over is remembered, and changes nothing.
        Step::Voted | Step::Reviewed | Step::Described => Some(from),
        _ if is_over => None,
        Step::Claimed => (from == Pending).then_some(Claimed),
        Step::Reassigned => (from == Pending).then_some(Pending),
        Step::Freed if from == Blocked => Some(Claimed),
        Step::Freed => Some(from),
        Step::Renewed | Step::Offered | Step::Declined | Step::OfferLapsed | Step::Slow => {
            is_held.then_some(from)
        }
        Step::HandedOver => is_held.then_some(Claimed),
        Step::Lapsed => is_held.then_some(Pending),
        Step::Started => Some(Running),
        Step::Blocked => Some(Blocked),
        Step::Unblocked => (from == Blocked).then_some(Claimed),
        Step::Done => Some(Done),
        Step::Failed => Some(Failed),
        Step::Rejected => Some(Rejected),
        Step::Cancelled => Some(Cancelled),
        Step::Added | Step::DependencyLost | Step::Gated | Step::Passed | Step::Barred | Step::Late => {
            Some(from)
        }
    }
}

/// Tells whether nothing more happens to a task by itself.
pub fn is_over(status: TaskStatus) -> bool {
    match status {
        TaskStatus::Done | TaskStatus::Failed | TaskStatus::Rejected | TaskStatus::Cancelled => true,
        TaskStatus::Pending | TaskStatus::Claimed | TaskStatus::Running | TaskStatus::Blocked => false,
    }
}
