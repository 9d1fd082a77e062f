//! The command line as its users type it. Names here are promises.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

/// One bus for AI agents, whatever protocol they speak.
#[derive(Parser, Debug)]
#[command(
    name = "convoke",
    version,
    about,
    max_term_width = 100,
    after_help = "Examples:
  convoke schema list
  convoke lexicon check old.json new.json
  convoke lexicon validate agent.comms.message --record notes.jsonl

Exit status: 0 done or yes, 1 the answer is no, 2 wrong use or unreadable input."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Work with AT Protocol lexicons: compare versions, check records
    #[command(subcommand, arg_required_else_help = true)]
    Lexicon(LexiconCommand),
    /// List and show the schemas that this binary carries
    #[command(subcommand, arg_required_else_help = true)]
    Schema(SchemaCommand),
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
