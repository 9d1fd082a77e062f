//! What every command says that speaks to a bus: where it is, by which token, as whom.

use std::path::PathBuf;

use clap::Args;

/// Where the bus is and how its answers are printed.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RemoteArgs {
    /// The address of the bus; else the one that runs on the data folder
    #[arg(long, value_name = "URL", env = "CONVOKE_URL", hide_env = true)]
    pub(crate) url: Option<String>,
    /// Speak by this token instead of one from the data folder
    #[arg(long, value_name = "TOKEN", env = "CONVOKE_TOKEN", hide_env = true)]
    pub(crate) token: Option<String>,
    /// Trust the certificates of this file too
    #[arg(long, value_name = "FILE", env = "CONVOKE_CA", hide_env = true)]
    pub(crate) ca: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// As whom a command speaks.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SpeakerArgs {
    /// Speak as this agent; else as CONVOKE_AGENT, and on a terminal as human
    #[arg(long = "from", visible_alias = "as", value_name = "AGENT", env = "CONVOKE_AGENT", hide_env = true)]
    pub(crate) from: Option<String>,
}
