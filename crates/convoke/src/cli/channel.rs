//! The commands of channels as their users type them, and those that stand in for the scripts of a Multi-Agent OS.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::nats::{MirrorArgs, NatsArgs};
use super::remote::{RemoteArgs, SpeakerArgs};

#[derive(Subcommand, Debug)]
pub(crate) enum ChannelCommand {
    /// Say something in a channel
    #[command(
        after_help = "Without --root it is sent to the bus; with it, it is written into the folder, no bus needed.

Examples:
  convoke channel post team-a \"Phase 1 is complete\"
  convoke channel post team-a --from claude --to codex --root /srv/collab \"Please review\""
    )]
    Post(PostArgs),
    /// Read a channel
    #[command(after_help = "Examples:
  convoke channel read team-a -n 20
  convoke channel read team-a -f --root /srv/collab")]
    Read(ReadArgs),
    /// List channels, or the files in their folders that were not taken in
    #[command(after_help = "Examples:
  convoke channel list
  convoke channel list --problems
  convoke channel list --root /srv/collab")]
    List {
        /// List the files that were not taken in, or are odd
        #[arg(long, conflicts_with = "root")]
        problems: bool,
        /// List the channels of this root instead of those of the bus
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
        #[command(flatten)]
        speaker: SpeakerArgs,
        #[command(flatten)]
        remote: RemoteArgs,
    },
    /// Keep the messages of a root on a NATS server too
    #[command(
        after_help = "Every message of the root is published once, as the very bytes of its file, in order. When the
server is away it waits, and goes on when it is back. The exit status of --check is 1 when anything
differs.

Examples:
  convoke channel mirror --root /srv/collab --nats nats://127.0.0.1:4222
  convoke channel mirror --root /srv/collab --nats nats://127.0.0.1:4222 --check
  convoke channel mirror --root ./copy --nats nats://127.0.0.1:4222 --from-nats --once"
    )]
    Mirror(MirrorArgs),
    /// Put links into a folder by which this program is called like the scripts that it stands in for
    #[command(
        after_help = "Called as send-message, send-message.py, who or read-messages it does what those do.

Example:
  convoke channel links /srv/collab/scripts"
    )]
    Links {
        /// The folder; it is made if need be
        folder: PathBuf,
    },
    /// Write a message as the script send-message does, and print where it lies
    #[command(
        visible_alias = "send-message.py",
        after_help = "Prints {\"id\":…,\"file_path\":…,\"nats_ack\":…}. Without --to, a first word that names
an agent is the recipient.

Examples:
  convoke channel send-message --agent supervisor --channel team-a --to codex --text \"Please review\"
  COLLAB_SESSION=team-a COLLAB_AGENT=claude convoke channel send-message codex-1 please look"
    )]
    SendMessage(SendMessageArgs),
    /// Show messages as the script read-messages does
    #[command(after_help = "Example:
  convoke channel read-messages -s team-a -n 5 --root /srv/collab")]
    ReadMessages(ReadMessagesArgs),
    /// Show who has said that it is there, as the script who does
    #[command(after_help = "Example:
  convoke channel who --root /srv/collab")]
    Who(WhoArgs),
}

/// What is said in a channel.
#[derive(Args, Debug)]
pub(crate) struct PostArgs {
    /// The channel
    pub(crate) channel: String,
    /// What to say, or - for standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// To whom: an agent, all or human
    #[arg(long, value_name = "AGENT", default_value = "all")]
    pub(crate) to: String,
    /// The type of the message
    #[arg(long = "type", value_name = "TYPE", default_value = "chat")]
    pub(crate) kind: String,
    /// Code beside the text
    #[arg(long)]
    pub(crate) code: Option<String>,
    /// A file beside the text, by its path
    #[arg(long = "artifact", value_name = "PATH")]
    pub(crate) artifacts: Vec<String>,
    /// The message that it answers
    #[arg(long, value_name = "ID")]
    pub(crate) reply_to: Option<String>,
    /// Write it into this root instead of sending it to the bus
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) nats: NatsArgs,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// What is read of a channel.
#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    /// The channel
    pub(crate) channel: String,
    /// How many of the newest
    #[arg(short = 'n', long = "max", value_name = "N", default_value_t = 10)]
    pub(crate) max: usize,
    /// Go on with what comes
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Read this root instead of asking the bus
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) speaker: SpeakerArgs,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// Which root a script works on.
#[derive(Args, Debug, Default)]
pub(crate) struct CollabArgs {
    /// The root; else the one in whose `scripts` this program is linked, else /mnt/shared/collab
    #[arg(long, value_name = "DIR", env = "COLLAB_ROOT")]
    pub(crate) root: Option<PathBuf>,
}

/// The flags of both scripts that send.
#[derive(Args, Debug)]
pub(crate) struct SendMessageArgs {
    /// The channel
    #[arg(
        short = 's',
        long = "session",
        visible_alias = "channel",
        value_name = "CHANNEL",
        env = "COLLAB_SESSION"
    )]
    pub(crate) channel: String,
    /// Who says it
    #[arg(short = 'f', long = "from", visible_alias = "agent", value_name = "AGENT", env = "COLLAB_AGENT")]
    pub(crate) agent: String,
    /// To whom: an agent, all or human [default: all]
    #[arg(short = 't', long, value_name = "AGENT")]
    pub(crate) to: Option<String>,
    /// Code beside the text
    #[arg(short = 'c', long)]
    pub(crate) code: Option<String>,
    /// The type of the message
    #[arg(long = "type", value_name = "TYPE", default_value = "chat")]
    pub(crate) kind: String,
    /// The message that it answers
    #[arg(long, value_name = "ID")]
    pub(crate) in_reply_to: Option<String>,
    /// What to say
    #[arg(long, conflicts_with = "words")]
    pub(crate) text: Option<String>,
    /// What to say
    #[arg(value_name = "MSG", required_unless_present = "text")]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) nats: NatsArgs,
    #[command(flatten)]
    pub(crate) collab: CollabArgs,
}

/// The flags of the script that reads.
#[derive(Args, Debug)]
pub(crate) struct ReadMessagesArgs {
    /// The channel
    #[arg(
        short = 's',
        long = "session",
        visible_alias = "channel",
        value_name = "CHANNEL",
        env = "COLLAB_SESSION"
    )]
    pub(crate) channel: String,
    /// How many of the newest
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(crate) number: usize,
    /// All of them
    #[arg(short = 'a', long)]
    pub(crate) all: bool,
    /// Go on with what comes
    #[arg(short = 'f', long)]
    pub(crate) follow: bool,
    /// Print JSON, one message a line
    #[arg(short = 'j', long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) collab: CollabArgs,
}

/// Whose presence is shown.
#[derive(Args, Debug)]
pub(crate) struct WhoArgs {
    /// One agent
    pub(crate) agent: Option<String>,
    /// Print JSON, one agent a line
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) collab: CollabArgs,
}
