//! The command line as its users type it. Names here are promises.

pub(crate) mod channel;
pub(crate) mod nats;
pub(crate) mod remote;
pub(crate) mod server;
pub(crate) mod talk;
pub(crate) mod watch;
pub(crate) mod work;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use dialect::Name;
use json::Value;

use self::channel::ChannelCommand;
use self::remote::{RemoteArgs, SpeakerArgs};
use self::server::{DoctorArgs, DownArgs, ServiceArgs, UpArgs};
use self::talk::TalkCommand;
use self::watch::WatchArgs;

/// One bus for AI agents, whatever protocol they speak.
#[derive(Parser, Debug)]
#[command(
    name = "convoke",
    version,
    about,
    max_term_width = 100,
    after_help = "Examples:
  convoke up
  convoke agent add bob
  convoke send --to bob \"Please review the parser\"
  convoke inbox --take
  convoke demo
  convoke validate --dialect auto message.json
  convoke translate --from bus --to coord message.json
  convoke lexicon check old.json new.json
  convoke lexicon validate agent.comms.message --record notes.jsonl

Exit status: 0 done or yes, 1 the answer is no, 2 wrong use or unreadable input."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// A dialect by its name, or whichever a document looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialectChoice {
    Named(Name),
    Auto,
}

impl DialectChoice {
    /// Returns the dialect of a document.
    pub(crate) fn of(self, document: &Value<'_>) -> Option<Name> {
        match self {
            DialectChoice::Named(name) => Some(name),
            DialectChoice::Auto => translate::detect(document),
        }
    }
}

const DIALECTS: &str = "comms, coord, bus, channel, wire or convoke";

fn parse_dialect(text: &str) -> Result<Name, String> {
    Name::from_name(text).ok_or_else(|| format!("the dialects are {DIALECTS}"))
}

fn parse_choice(text: &str) -> Result<DialectChoice, String> {
    match text {
        "auto" => Ok(DialectChoice::Auto),
        name => Name::from_name(name)
            .map(DialectChoice::Named)
            .ok_or_else(|| format!("the dialects are {DIALECTS}; auto detects")),
    }
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Check documents of any dialect strictly
    #[command(
        after_help = "Dialects: comms, coord, bus, channel, wire, convoke; auto detects. Documents are JSON or JSON
Lines; each is answered with one line. Exit status 1 when any is invalid.

Examples:
  convoke validate --dialect bus message.json
  convoke validate --dialect auto --json < messages.jsonl"
    )]
    Validate {
        /// The dialect of the documents, or auto
        #[arg(long, value_name = "DIALECT", value_parser = parse_choice)]
        dialect: DialectChoice,
        /// Print JSON, one answer a line
        #[arg(long)]
        json: bool,
        /// The documents: files, or - for standard input, which is also the default
        #[arg(value_name = "FILE")]
        files: Vec<String>,
    },
    /// Translate documents from one dialect to another and back without loss
    #[command(
        after_help = "The document that comes in travels with the one that goes out, so translating back gives the
very same document. Documents go out one a line; one that cannot be translated is answered
with {\"error\":…} and the others go on, with exit status 1.

Examples:
  convoke translate --from bus --to coord message.json
  convoke translate --from auto --to wire --identities agents.json --report < messages.jsonl"
    )]
    Translate {
        /// The dialect of the documents, or auto
        #[arg(long, value_name = "DIALECT", value_parser = parse_choice)]
        from: DialectChoice,
        /// The dialect that is wanted
        #[arg(long, value_name = "DIALECT", value_parser = parse_dialect)]
        to: Name,
        /// What agents are called: a JSON list of {slug, did, handle, uri, framework, roles}
        #[arg(long, value_name = "FILE")]
        identities: Option<String>,
        /// Print on stderr, for each document, what became of every field
        #[arg(long)]
        report: bool,
        /// The documents: a file, or - for standard input, which is also the default
        #[arg(value_name = "FILE")]
        file: Option<String>,
    },
    /// Start a bus
    #[command(
        after_help = "Everything that was acknowledged survives, whatever ends the process. The operator's token is made
at the first start, in the data folder, readable by its owner only.

Examples:
  convoke up
  convoke up --detach
  convoke up --channels /srv/collab
  convoke up --listen 127.0.0.1:0 --data ./bus --json
  convoke up --listen 0.0.0.0:7700 --tls-cert cert.pem --tls-key key.pem --host bus.example"
    )]
    Up(UpArgs),
    /// Stop the bus that runs on the data folder
    #[command(after_help = "Waits until it has stopped. What was acknowledged is safe, however a bus ends.

Example:
  convoke down --data ./bus")]
    Down(DownArgs),
    /// Print a systemd unit that runs the bus for you
    #[command(after_help = "Example:
  convoke service > ~/.config/systemd/user/convoke.service")]
    Service(ServiceArgs),
    /// Find out what ails a bus: settings, folder, port, tokens, clock, disk, log
    #[command(
        after_help = "Changes nothing, and works whether or not the bus runs. Each finding says how to mend it. Exit
status 1 when something must be mended.

Examples:
  convoke doctor
  convoke doctor --data ./bus --json"
    )]
    Doctor(DoctorArgs),
    #[command(flatten)]
    Talk(TalkCommand),
    /// Talk in channels, on the bus or in folders
    #[command(subcommand, arg_required_else_help = true)]
    Channel(ChannelCommand),
    /// Answer messages for an agent with a command, through a bus or on a channel root
    #[command(
        after_help = "A message for the agent becomes a prompt, the command is run on it, and what it prints is posted as
the answer. Whatever others wrote is fenced in the prompt. No shell is run; the command gets only
the variables that are named. A command that fails is not run again by itself: `convoke dead list`
and `convoke watch failed` list such messages.

Examples:
  convoke watch --agent codex --profile codex
  convoke watch --agent qc-1 --channel team-a --root /srv/collab --profile claude
  convoke watch --agent bot --channel '#deploys' --rate 10/min --timeout 2m --exec ./answer --brief
  convoke watch --profiles"
    )]
    Watch(Box<WatchArgs>),
    /// Work with Agent Cards: check them, build prompts from them
    #[command(subcommand, arg_required_else_help = true)]
    Card(CardCommand),
    /// Work with AT Protocol lexicons: compare versions, check records, teach a bus
    #[command(subcommand, arg_required_else_help = true)]
    Lexicon(LexiconCommand),
    /// List and show the schemas that this binary carries
    #[command(subcommand, arg_required_else_help = true)]
    Schema(SchemaCommand),
    /// Look after the log of a bus: check it, save what can be saved, make it shorter
    #[command(subcommand, arg_required_else_help = true)]
    Log(LogCommand),
    /// Print a completion script for your shell
    #[command(after_help = "Example:
  convoke completions bash > ~/.local/share/bash-completion/completions/convoke")]
    Completions {
        /// The shell to complete for
        shell: Shell,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum LexiconCommand {
    /// Tell whether a new version of a lexicon breaks readers or writers of the old one
    #[command(
        after_help = "OLD and NEW are files, folders, or names from `convoke schema list`. In folders, lexicons
are compared by their id.

Prints one change a line, breaking or safe, with its rule and place. Exit status 1 when
anything is breaking.

Examples:
  convoke lexicon check v1/note.json v2/note.json
  convoke lexicon check published/ working/ --json"
    )]
    Check {
        /// The version that is in use
        old: String,
        /// The version that is to replace it
        new: String,
        /// Print JSON, one change a line
        #[arg(long)]
        json: bool,
    },
    /// Check records against lexicons
    #[command(
        after_help = "A LEXICON is a file, a folder, or a name from `convoke schema list`. Records are a JSON
document or JSON Lines; each is checked against the lexicon that its $type names, and
answered with one line. Exit status 1 when any record is invalid.

Examples:
  convoke lexicon validate lexicons/ --record post.json
  convoke lexicon validate agent.comms.message --record - --json < messages.jsonl"
    )]
    Validate {
        /// The lexicons, and those that they refer to
        #[arg(required = true, value_name = "LEXICON")]
        lexicons: Vec<String>,
        /// The records: a file, or - for standard input
        #[arg(long = "record", required = true, value_name = "FILE")]
        records: Vec<String>,
        /// Accept old forms with a warning, as a reader must
        #[arg(long)]
        read: bool,
        /// Print JSON, one answer a line
        #[arg(long)]
        json: bool,
    },
    /// Move inline objects of a lexicon to definitions, for parsers that refuse them
    #[command(after_help = "Data that fits the printed lexicon fits the given one, and the other way round.

Example:
  convoke lexicon hoist agent.comms.response > response.json")]
    Hoist {
        /// A file, or a name from `convoke schema list`
        lexicon: String,
    },
    /// Teach a bus lexicons; records and message content that name them are checked from then on
    #[command(
        after_help = "A LEXICON is a file or a folder. One that breaks the lexicon of the same name is refused,
because records of the old one may be there already: give it a new name, or --force it.
Needs the operator's token.

Examples:
  convoke lexicon add com.example.review.json
  convoke lexicon add lexicons/ --force"
    )]
    Add {
        /// The lexicons
        #[arg(required = true, value_name = "LEXICON")]
        lexicons: Vec<String>,
        /// Replace lexicons even where that breaks readers or writers
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// List the lexicons that a bus knows
    #[command(after_help = "Example:
  convoke lexicon list --json")]
    List {
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum SchemaCommand {
    /// List the schemas
    #[command(after_help = "Example:
  convoke schema list --json")]
    List {
        /// Print JSON, one schema a line
        #[arg(long)]
        json: bool,
    },
    /// Show one schema
    #[command(after_help = "Example:
  convoke schema show agent.comms.request")]
    Show {
        /// Its name, as `convoke schema list` prints it
        name: String,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum LogCommand {
    /// Check every record, every snapshot and the chain of hashes over them
    #[command(
        after_help = "Changes nothing. Says how much there is and names every damage by file and offset. Exit status 1
when anything is damaged. A torn tail is none: it was never acknowledged, and the next start
cuts it.

Examples:
  convoke log verify
  convoke log verify --data /srv/convoke --json"
    )]
    Verify {
        /// The data folder
        #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
        data: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set the damaged part of a log aside and go on with the rest
    #[command(
        after_help = "Nothing is deleted: what is damaged is copied to `damaged` in the folder of the log first. Lists
the sequence numbers that are missing from then on.

Example:
  convoke log salvage --data /srv/convoke"
    )]
    Salvage {
        /// The data folder
        #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
        data: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a running bus give up what its log need not keep
    #[command(
        after_help = "What is not settled is carried forward first; what is, the history still tells of, without its
document. Set log.keep or log.keep_bytes to have it done always.

Examples:
  convoke log trim --keep 30d --dry-run
  convoke log trim --keep 30d"
    )]
    Trim(TrimArgs),
}

/// How much of a log is to be kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct TrimArgs {
    /// Keep what is younger
    #[arg(long, value_name = "DURATION", value_parser = message::parse_duration, required_unless_present = "keep_bytes")]
    pub(crate) keep: Option<Duration>,
    /// Keep so many bytes
    #[arg(long, value_name = "BYTES")]
    pub(crate) keep_bytes: Option<u64>,
    /// Only say what would be given up
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CardCommand {
    /// Check Agent Cards against every rule of the specification
    #[command(
        after_help = "With a registry, references to agents, roles and output contracts are checked too. It is a JSON
object with the lists agents, roles and output_contracts.

Examples:
  convoke card lint cards/*.json
  convoke card lint quinn.json --registry registry.json --json"
    )]
    Lint {
        /// The cards: files, or - for standard input, which is also the default
        #[arg(value_name = "FILE")]
        files: Vec<String>,
        /// The agents, roles and output contracts that exist
        #[arg(long, value_name = "FILE")]
        registry: Option<String>,
        /// Print JSON, one answer a line
        #[arg(long)]
        json: bool,
    },
    /// Build the prompt that a runner gives to an agent
    #[command(
        after_help = "The order is that of the specification: identity, capabilities, constraints, escalation, style,
voice, skills, memory, inbox, brief. What others wrote is marked as data, not instructions.

Example:
  convoke card prompt quinn.json --brief brief.json --skill platform-env.md --inbox inbox.jsonl"
    )]
    Prompt {
        /// The Agent Card
        card: String,
        /// The brief, an Agent Wire document
        #[arg(long, value_name = "FILE")]
        brief: String,
        /// Skills in Markdown, in the order in which they are given
        #[arg(long = "skill", value_name = "FILE")]
        skills: Vec<String>,
        /// What the agent remembers, as text
        #[arg(long, value_name = "FILE")]
        memory: Option<String>,
        /// Unread messages, Agent Wire documents as JSON Lines
        #[arg(long, value_name = "FILE")]
        inbox: Option<String>,
    },
}
