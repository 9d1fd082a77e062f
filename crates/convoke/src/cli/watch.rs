//! What is said to watch for an agent.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use message::parse_duration;
use runner::{Extraction, PromptBy};

use super::nats::NatsArgs;
use super::remote::RemoteArgs;

/// How messages for an agent are watched for and answered.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WatchCommand>,
    /// Watch for this agent
    #[arg(long, value_name = "AGENT", env = "CONVOKE_AGENT", hide_env = true)]
    pub(crate) agent: Option<String>,
    /// Watch this channel; may be given several times
    #[arg(long = "channel", value_name = "CHANNEL")]
    pub(crate) channels: Vec<String>,
    /// Watch the files of this channel root, without a bus
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Answer with a command that is known: claude, codex, gemini, opencode
    #[arg(long, value_name = "NAME", conflicts_with = "exec")]
    pub(crate) profile: Option<String>,
    /// List the commands that are known
    #[arg(long)]
    pub(crate) profiles: bool,
    /// How the command gets the prompt: stdin, arg or file [default: stdin, or the profile's]
    #[arg(long, value_name = "HOW")]
    pub(crate) prompt: Option<PromptBy>,
    /// Which part of the output is the answer: whole, last:LINES, json:POINTER or between:START,END
    #[arg(long, value_name = "RULE")]
    pub(crate) extract: Option<Extraction>,
    /// How long the command may take
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
    /// How many bytes the command may print
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 10)]
    pub(crate) output_max: usize,
    /// The folder in which the command works
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Give the command this variable too: NAME, or NAME=VALUE
    #[arg(long = "env", value_name = "NAME")]
    pub(crate) variables: Vec<String>,
    /// How many commands run at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) concurrency: u16,
    /// How many commands are started at most, such as 10/min
    #[arg(long, value_name = "COUNT/min", value_parser = parse_rate)]
    pub(crate) rate: Option<usize>,
    /// How many earlier messages the prompt shows
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=200))]
    pub(crate) context: u16,
    /// A file that says how things stand; the prompt shows its first 100 lines
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// A file with what the agent remembers
    #[arg(long, value_name = "FILE")]
    pub(crate) memory: Option<PathBuf>,
    /// What the agent is there for
    #[arg(long, value_name = "TEXT")]
    pub(crate) role: Option<String>,
    /// Take a message for the agent's own as the specification's shell functions do
    #[arg(long)]
    pub(crate) exact: bool,
    /// On a root that is watched for the first time, answer also what is already there
    #[arg(long, requires = "root")]
    pub(crate) history: bool,
    /// Answer what waits, then end
    #[arg(long)]
    pub(crate) once: bool,
    /// How often a root is looked at
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_duration)]
    pub(crate) poll: Duration,
    /// How soon the bus may notice that the watcher is gone
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    pub(crate) lease: Duration,
    /// Answer with this command: a program and its arguments, all that follows
    #[arg(long, value_name = "COMMAND", num_args = 1.., allow_hyphen_values = true)]
    pub(crate) exec: Vec<String>,
    #[command(flatten)]
    pub(crate) nats: NatsArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

#[derive(Subcommand, Clone, Debug)]
pub(crate) enum WatchCommand {
    /// List the messages of a root whose commands failed
    #[command(
        after_help = "A message is listed until it is answered. Those of a bus are dead letters: `convoke dead list`.

Example:
  convoke watch failed --root /srv/collab --agent codex"
    )]
    Failed(WatchedArgs),
    /// Try messages of a root again whose commands failed
    #[command(
        after_help = "The watcher that is at work does it, else the next one. Those of a bus are dead letters:
`convoke dead retry ID`.

Examples:
  convoke watch retry --root /srv/collab --agent codex msg-20260111-163315-claude-4c78
  convoke watch retry --root /srv/collab --agent codex --all"
    )]
    Retry {
        /// The messages, by their ids
        #[arg(value_name = "ID", required_unless_present = "all")]
        ids: Vec<String>,
        /// All that failed
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        watched: WatchedArgs,
    },
}

/// Of which watcher something is asked.
#[derive(Args, Clone, Debug)]
pub(crate) struct WatchedArgs {
    /// The channel root
    #[arg(long, value_name = "DIR")]
    pub(crate) root: PathBuf,
    /// The agent
    #[arg(long, value_name = "AGENT", env = "CONVOKE_AGENT", hide_env = true)]
    pub(crate) agent: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_rate(text: &str) -> Result<usize, String> {
    let count = text.strip_suffix("/min").unwrap_or(text);
    match count.parse() {
        Ok(count @ 1..) => Ok(count),
        Ok(0) | Err(_) => Err("a rate is a number and /min, such as 10/min".to_owned()),
    }
}
