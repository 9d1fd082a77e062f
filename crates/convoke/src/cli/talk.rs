//! The commands that speak to a bus, as their users type them.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use dialect::Name;
use message::{Kind, Priority, parse_duration};

use super::remote::{RemoteArgs, SpeakerArgs};
use super::work::{GateCommand, PolicyCommand, StateCommand, TaskCommand};
use super::{DialectChoice, parse_choice, parse_dialect};

#[derive(Subcommand, Debug)]
pub(crate) enum TalkCommand {
    /// Make agents known to the bus, and give them tokens
    #[command(subcommand, arg_required_else_help = true)]
    Agent(AgentCommand),
    /// Show who is there and how each can be reached
    #[command(after_help = "Examples:
  convoke who
  convoke who bob --json
  convoke who --root /srv/collab")]
    Who {
        /// One agent, by any of its names
        agent: Option<String>,
        /// Show who is there by the presence files of this channel root, without a bus
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Send a message, or documents of any dialect
    #[command(
        after_help = "Prints the receipt in one line, with how each recipient can be reached. With --wait it
prints the reply; exit status 1 when none came.

Examples:
  convoke send --to bob \"Please review the parser\"
  convoke send --to roles.reviewer --type task.request --task t-7 --attach fix.diff \"Review this\"
  convoke send --to bob --type question --wait=60s \"Which branch?\"
  convoke send --dialect bus --file message.json"
    )]
    Send(Box<SendArgs>),
    /// Look into an inbox, or take what waits in it
    #[command(
        after_help = "Looking changes nothing. What was taken is this reader's until its lease ends: acknowledge
it with `convoke ack`, give it back with `convoke nack`.

Examples:
  convoke inbox
  convoke inbox --take --max 5 --wait 30s
  convoke inbox --take --dialect wire --json"
    )]
    Inbox(InboxArgs),
    /// Answer a message
    #[command(
        after_help = "The reply goes to whoever sent the message, in the same conversation and about the same task.

Example:
  convoke reply 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 \"Looks good, merge it\""
    )]
    Reply {
        /// The message that is answered
        id: String,
        /// What to say, or - for standard input
        #[arg(required = true)]
        text: Vec<String>,
        /// What the reply means
        #[arg(long = "type", value_name = "KIND", value_parser = parse_kind)]
        kind: Option<Kind>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Take a message back: who has not got it never will, who has is told
    #[command(after_help = "Example:
  convoke unsend 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Unsend(MessageArgs),
    /// Replace what a message says by another document of the same dialect
    #[command(after_help = "Example:
  convoke amend 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --file better.json")]
    Amend {
        /// The document, or - for standard input
        #[arg(long, value_name = "FILE")]
        file: String,
        /// The dialect of the document, or auto
        #[arg(long, value_name = "DIALECT", default_value = "auto", value_parser = parse_choice)]
        dialect: DialectChoice,
        #[command(flatten)]
        message: MessageArgs,
    },
    /// Join a topic, a channel or the queue of a role
    #[command(after_help = "Examples:
  convoke join '#deploys'
  convoke join channel:team-a
  convoke join roles.reviewer")]
    Join(MembershipArgs),
    /// Leave a topic, a channel or the queue of a role
    #[command(after_help = "Example:
  convoke leave '#deploys'")]
    Leave(MembershipArgs),
    /// Say that deliveries are done with
    #[command(after_help = "Example:
  convoke ack 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Ack(DeliveryArgs),
    /// Give deliveries back, to be handed out again
    #[command(after_help = "Examples:
  convoke nack 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --reason \"busy\" --delay 5m
  convoke nack 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --reason \"not my work\" --final")]
    Nack {
        /// Why
        #[arg(long)]
        reason: Option<String>,
        /// After how long they may be handed out again
        #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
        delay: Option<Duration>,
        /// Never hand them out again
        #[arg(long = "final")]
        last: bool,
        #[command(flatten)]
        deliveries: DeliveryArgs,
    },
    /// Say that a model was shown deliveries
    #[command(after_help = "Example:
  convoke surfaced 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Surfaced(DeliveryArgs),
    /// Keep deliveries for longer
    #[command(after_help = "Example:
  convoke extend 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071 --lease 1h")]
    Extend {
        /// For how long from now
        #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
        lease: Option<Duration>,
        #[command(flatten)]
        deliveries: DeliveryArgs,
    },
    /// Tell what became of a message
    #[command(after_help = "Example:
  convoke receipt 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Receipt(MessageArgs),
    /// Follow everything that happens
    #[command(
        after_help = "Goes on across restarts of the bus, from where it was. A gap is said, never passed over.

Examples:
  convoke tail
  convoke tail --task t-7 --json
  convoke tail --after 0"
    )]
    Tail {
        /// Only what concerns this agent
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// Only this conversation
        #[arg(long)]
        thread: Option<String>,
        /// Only this task
        #[arg(long)]
        task: Option<String>,
        /// Begin after this sequence number; 0 is the beginning
        #[arg(long, value_name = "SEQ")]
        after: Option<u64>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Search what was said
    #[command(after_help = "Examples:
  convoke search parser
  convoke search 'parser review' --agent bob --json")]
    Search {
        /// The words
        #[arg(required = true)]
        query: Vec<String>,
        /// Only what this agent sent or got
        #[arg(long, value_name = "AGENT")]
        agent: Option<String>,
        /// How many at most
        #[arg(long, value_name = "N")]
        max: Option<u64>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Look after dead letters: what the bus promised to deliver and could not
    #[command(subcommand, arg_required_else_help = true)]
    Dead(DeadCommand),
    /// Look after tasks: what work there is, who has it, how it goes
    #[command(subcommand, arg_required_else_help = true)]
    Task(TaskCommand),
    /// Look at the shared state, and change it
    #[command(subcommand, arg_required_else_help = true)]
    State(StateCommand),
    /// Look at the policy, and put another in force
    #[command(subcommand, arg_required_else_help = true)]
    Policy(PolicyCommand),
    /// Say yes or no to what waits for a human
    #[command(subcommand, arg_required_else_help = true)]
    Gate(GateCommand),
    /// Write everything as JSON Lines: agents, memberships, messages, receipts
    #[command(after_help = "Tokens are not part of it.

Example:
  convoke export > bus.jsonl")]
    Export {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Read an export back: agents are made, messages are sent again
    #[command(
        after_help = "Messages keep the ids of their senders, so what is already there is not sent twice. New
agents get new tokens, which are kept in the data folder of a local bus.

Examples:
  convoke import bus.jsonl --dry-run
  convoke import bus.jsonl"
    )]
    Import {
        /// The export, or - for standard input
        #[arg(default_value = "-")]
        file: String,
        /// Say what would be done and do nothing
        #[arg(long)]
        dry_run: bool,
        /// Leave out messages that were settled when they were exported
        #[arg(long)]
        unsettled: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Watch six small agents, one of each dialect, have a conversation
    #[command(after_help = "Starts a bus of its own in a temporary folder, which is gone afterwards.

Example:
  convoke demo")]
    Demo {
        /// Print JSON, one step a line
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum AgentCommand {
    /// Make an agent, or change what is known of it
    #[command(
        after_help = "Prints the token once, the exports that make a shell speak as the agent, and a block for
CLAUDE.md or AGENTS.md that tells a coding agent how to use the bus.

Examples:
  convoke agent add bob
  convoke agent add ann --dialect wire --role reviewer --json"
    )]
    Add {
        /// Its name: small letters, digits, dots, dashes
        name: String,
        /// A role whose queue it serves
        #[arg(long = "role", value_name = "ROLE")]
        roles: Vec<String>,
        /// The dialect in which it gets documents
        #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
        dialect: Option<Name>,
        /// What it runs on
        #[arg(long, value_name = "NAME")]
        framework: Option<String>,
        /// Its DID
        #[arg(long)]
        did: Option<String>,
        /// Its handle
        #[arg(long)]
        handle: Option<String>,
        /// Its URI, such as codex://ann
        #[arg(long)]
        uri: Option<String>,
        /// Another name that its tokens speak for
        #[arg(long = "speaks-for", value_name = "NAME")]
        speaks_for: Vec<String>,
        /// What it can do; tasks may ask for it
        #[arg(long = "capability", value_name = "WHAT")]
        capabilities: Vec<String>,
        /// How long its token is good
        #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
        expires: Option<Duration>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// List the agents
    #[command(after_help = "Example:
  convoke agent list --json")]
    List {
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Show one agent with the labels of its tokens
    #[command(after_help = "Example:
  convoke agent show bob")]
    Show {
        /// The agent
        name: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Forget an agent; what waits for it goes to its fallback or becomes a dead letter
    #[command(after_help = "Example:
  convoke agent rm bob")]
    Rm {
        /// The agent
        name: String,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Make one more token for an agent
    #[command(after_help = "Example:
  convoke agent token bob --expires 30d")]
    Token {
        /// The agent
        name: String,
        /// How long it is good
        #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
        expires: Option<Duration>,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Revoke a token of an agent, or all of them
    #[command(after_help = "Examples:
  convoke agent revoke bob 5f0c12ab
  convoke agent revoke bob --all")]
    Revoke {
        /// The agent
        name: String,
        /// The label of the token, as `convoke agent show` prints it
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        label: Option<String>,
        /// Every token
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum DeadCommand {
    /// List dead letters
    #[command(after_help = "Example:
  convoke dead list --json")]
    List {
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Show a dead letter and what it says
    #[command(after_help = "Example:
  convoke dead show 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Show(MessageArgs),
    /// Send the dead letters of a message once more
    #[command(after_help = "Example:
  convoke dead retry 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Retry(MessageArgs),
    /// Drop the dead letters of a message
    #[command(after_help = "Example:
  convoke dead drop 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071")]
    Drop(MessageArgs),
}

#[derive(Args, Debug)]
pub(crate) struct SendArgs {
    /// To whom: an agent, roles.NAME, #topic, channel:NAME, all, human
    #[arg(long, value_name = "ADDRESS", required_unless_present = "file")]
    pub(crate) to: Vec<String>,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    /// What the message means
    #[arg(long = "type", value_name = "KIND", value_parser = parse_kind, conflicts_with = "file")]
    pub(crate) kind: Option<Kind>,
    /// How urgent it is
    #[arg(long, value_parser = parse_priority, conflicts_with = "file")]
    pub(crate) priority: Option<Priority>,
    /// The task about which it speaks
    #[arg(long, conflicts_with = "file")]
    pub(crate) task: Option<String>,
    /// The conversation to which it belongs
    #[arg(long, conflicts_with = "file")]
    pub(crate) thread: Option<String>,
    /// The message that it answers
    #[arg(long, value_name = "ID", conflicts_with = "file")]
    pub(crate) reply_to: Option<String>,
    /// After how long it is no longer to be handed out
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "file")]
    pub(crate) ttl: Option<Duration>,
    /// Structured content
    #[arg(long, value_name = "JSON", conflicts_with = "file")]
    pub(crate) data: Option<String>,
    /// A file to go with it; a small one travels inside
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    pub(crate) attach: Vec<String>,
    /// Wait for the reply, 30s unless said otherwise
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true,
          default_missing_value = "30s", value_parser = parse_duration)]
    pub(crate) wait: Option<Duration>,
    /// Keep it for recipients that nobody knows yet
    #[arg(long)]
    pub(crate) hold: bool,
    /// The dialect of the documents in --file, or auto
    #[arg(long, value_name = "DIALECT", requires = "file", value_parser = parse_choice)]
    pub(crate) dialect: Option<DialectChoice>,
    /// Send documents from a file, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "to")]
    pub(crate) file: Option<String>,
    /// What to say, or - for standard input
    #[arg(conflicts_with = "file")]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Args, Debug)]
pub(crate) struct InboxArgs {
    /// Take instead of look
    #[arg(long)]
    pub(crate) take: bool,
    /// How many messages at most
    #[arg(long, value_name = "N")]
    pub(crate) max: Option<u64>,
    /// How many tokens of a model they may fill together
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// How long to wait for the first
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "take")]
    pub(crate) wait: Option<Duration>,
    /// For how long they are handed out
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, requires = "take")]
    pub(crate) lease: Option<Duration>,
    /// The dialect of the documents
    #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
    pub(crate) dialect: Option<Name>,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MessageArgs {
    /// The message
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DeliveryArgs {
    /// The deliveries, as `convoke inbox --take` printed them
    #[arg(required = true, value_name = "DELIVERY")]
    pub(crate) deliveries: Vec<String>,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Args, Debug)]
pub(crate) struct MembershipArgs {
    /// #topic, channel:NAME or roles.NAME
    pub(crate) address: String,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    Kind::from_name(text).ok_or_else(|| format!("the kinds are {}", names()))
}

fn parse_priority(text: &str) -> Result<Priority, String> {
    Priority::from_name(text).ok_or_else(|| "the priorities are critical, high, normal and low".to_owned())
}
