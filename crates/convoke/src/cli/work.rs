//! The commands about work: tasks, the shared state, the policy, gates.

use std::time::Duration;

use clap::{Args, Subcommand};
use message::parse_duration;

use super::remote::{RemoteArgs, SpeakerArgs};

#[derive(Subcommand, Debug)]
pub(crate) enum TaskCommand {
    /// List tasks
    #[command(after_help = "Examples:
  convoke task list --open
  convoke task list --holder bob --json")]
    List {
        /// Only tasks that are not over
        #[arg(long)]
        open: bool,
        /// Only tasks whose deadline has passed
        #[arg(long)]
        late: bool,
        /// Only tasks that are this far: pending, claimed, running, blocked, done, failed, rejected, cancelled
        #[arg(long)]
        status: Option<String>,
        /// Only tasks that this agent has
        #[arg(long, value_name = "AGENT")]
        holder: Option<String>,
        /// Only tasks that this agent asked for
        #[arg(long, value_name = "AGENT")]
        requester: Option<String>,
        /// Only tasks of this role
        #[arg(long)]
        role: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N")]
        max: Option<u32>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Show a task: how far it is, its history, what was asked for
    #[command(after_help = "Example:
  convoke task show build-7")]
    Show {
        /// The task
        id: String,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Claim a task: the one that is named, else the most urgent one that you may have
    #[command(after_help = "Prints claimed, no_tasks, missed or rejected; exit status 1 unless claimed.

Examples:
  convoke task claim --role developer
  convoke task claim build-7 --lease 1h")]
    Claim {
        /// The task
        id: Option<String>,
        /// Only tasks of this role
        #[arg(long)]
        role: Option<String>,
        /// For how long; more with `task renew`
        #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
        lease: Option<Duration>,
        /// A repeat with the same key gives the same task
        #[arg(long)]
        key: Option<String>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Keep a task for longer
    #[command(after_help = "Example:
  convoke task renew build-7 --lease 1h")]
    Renew(WordArgs),
    /// Say how a task goes
    #[command(after_help = "Example:
  convoke task update build-7 \"tests are green, docs are next\"")]
    Update(WordArgs),
    /// Say that a task is done
    #[command(after_help = "Example:
  convoke task complete build-7 --cost 0.25 --tokens 1200 --artifact https://example.org/pr/7 \"parser is in\"")]
    Complete(WordArgs),
    /// Say that a task came to nothing
    #[command(after_help = "Example:
  convoke task fail build-7 \"the compiler crashes\"")]
    Fail(WordArgs),
    /// Refuse a task; one of a role goes back to the others
    #[command(after_help = "Example:
  convoke task reject build-7 \"I do not know COBOL\"")]
    Reject(WordArgs),
    /// Say that a task cannot go on; whoever can help is told
    #[command(
        after_help = "Blockers: spec_gap, dependency, tool_failure, ambiguity, verification_fail, resource.

Examples:
  convoke task block build-7 --blocker spec_gap \"which encoding?\"
  convoke task block build-7 --blocker dependency --on build-6"
    )]
    Block(WordArgs),
    /// Offer a task to another agent
    #[command(after_help = "Example:
  convoke task handoff build-7 --to cyd --reason RATE_LIMIT \"half of the tests are written\"")]
    Handoff(WordArgs),
    /// Take over a task that is offered
    Accept(WordArgs),
    /// Leave a task that is offered with whoever has it
    Decline(WordArgs),
    /// Say whether the work is good
    #[command(after_help = "Example:
  convoke task review build-7 --approve \"reads well\"")]
    Review(WordArgs),
    /// Take the wish for a task back
    #[command(after_help = "Example:
  convoke task cancel build-7 \"no longer needed\"")]
    Cancel(WordArgs),
}

/// What is said about a task.
#[derive(Args, Debug)]
pub(crate) struct WordArgs {
    /// The task
    pub(crate) id: String,
    /// In words, or - for standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// What goes with it, as JSON
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,
    /// Why; for a handoff one of CAPABILITY_LIMIT, RATE_LIMIT, ERROR_RECOVERY, ESCALATION, LOAD_BALANCING
    #[arg(long)]
    pub(crate) reason: Option<String>,
    /// What it has cost, in dollars
    #[arg(long, value_name = "USD")]
    pub(crate) cost: Option<String>,
    /// How many tokens it has used
    #[arg(long, value_name = "N")]
    pub(crate) tokens: Option<u64>,
    /// Why it cannot go on
    #[arg(long)]
    pub(crate) blocker: Option<String>,
    /// A task that must be done before
    #[arg(long = "on", value_name = "TASK")]
    pub(crate) waits_for: Vec<String>,
    /// To whom it is handed over
    #[arg(long, value_name = "AGENT")]
    pub(crate) to: Option<String>,
    /// The work is good
    #[arg(long, conflicts_with = "disapprove")]
    pub(crate) approve: bool,
    /// The work is not good
    #[arg(long)]
    pub(crate) disapprove: bool,
    /// For how long it is kept
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) lease: Option<Duration>,
    /// Where its outcome lies
    #[arg(long = "artifact", value_name = "URI")]
    pub(crate) artifacts: Vec<String>,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Subcommand, Debug)]
pub(crate) enum StateCommand {
    /// Print the shared state: tasks, agents, allotments, policy, versions
    #[command(after_help = "Example:
  convoke state get | jq .task_registry")]
    Get {
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Apply StateUpdate documents: JSON, or one a line
    #[command(
        after_help = "Each names the version that it makes. Exit status 1 when one is stale or leaves a gap.

Example:
  echo '{\"operation\":\"UPDATE\",\"entity_type\":\"TASK\",\"entity_id\":\"build-7\",\"changes\":{\"status\":\"cancelled\"},
  \"version\":3,\"timestamp\":\"2026-11-15T10:00:00Z\"}' | convoke state apply -"
    )]
    Apply {
        /// The documents, or - for standard input
        #[arg(default_value = "-")]
        file: String,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum PolicyCommand {
    /// Show the policy in force, and what was spent under it
    #[command(after_help = "Example:
  convoke policy show --json")]
    Show {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Put a policy in force: JSON (a PolicyState) or TOML
    #[command(
        after_help = "--dry-run shows which of the last decisions would have been others, and changes nothing.

Examples:
  convoke policy set policy.toml --dry-run
  convoke policy set policy.json"
    )]
    Set {
        /// The policy, or - for standard input
        file: String,
        /// Only show what would have been decided otherwise
        #[arg(long)]
        dry_run: bool,
        /// Look at so many of the last decisions
        #[arg(long, value_name = "N", requires = "dry_run")]
        last: Option<u32>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum GateCommand {
    /// List what waits for a human's yes or no
    #[command(after_help = "Example:
  convoke gate list")]
    List {
        /// Also what was decided
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Say yes
    #[command(after_help = "Example:
  convoke gate approve 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --reason \"looks fine\"")]
    Approve(GateArgs),
    /// Say no
    #[command(after_help = "Example:
  convoke gate reject 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --reason \"not on a Friday\"")]
    Reject(GateArgs),
}

#[derive(Args, Debug)]
pub(crate) struct GateArgs {
    /// What waits
    pub(crate) id: String,
    /// Why
    #[arg(long)]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}
