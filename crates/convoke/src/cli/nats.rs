//! What is said of a NATS server on which messages of channels are kept too.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use message::parse_duration;

/// A NATS server, if one is named.
#[derive(Args, Clone, Debug)]
pub(crate) struct NatsArgs {
    /// Publish it on this NATS server too, such as nats://127.0.0.1:4222
    #[arg(long = "nats", value_name = "URL", env = "CONVOKE_CHANNELS_NATS", hide_env = true)]
    pub(crate) nats_url: Option<String>,
    /// The credentials for the server, in a file
    #[arg(
        long = "nats-creds",
        value_name = "FILE",
        env = "CONVOKE_CHANNELS_NATS_CREDENTIALS",
        hide_env = true
    )]
    pub(crate) nats_credentials: Option<PathBuf>,
    /// How long to wait for the server before a message is left for later
    #[arg(
        long = "nats-timeout",
        value_name = "DURATION",
        default_value = "30s",
        env = "CONVOKE_CHANNELS_NATS_TIMEOUT",
        hide_env = true,
        value_parser = parse_duration
    )]
    pub(crate) nats_timeout: Duration,
}

/// How a root is mirrored.
#[derive(Args, Clone, Debug)]
pub(crate) struct MirrorArgs {
    /// The root
    #[arg(long, value_name = "DIR", env = "COLLAB_ROOT", hide_env = true)]
    pub(crate) root: PathBuf,
    /// Read back: write what the server has into the root
    #[arg(long, conflicts_with = "check")]
    pub(crate) from_nats: bool,
    /// Compare the root with what the server has, and change neither
    #[arg(long)]
    pub(crate) check: bool,
    /// End when nothing is left to do
    #[arg(long)]
    pub(crate) once: bool,
    /// How often the root is looked at
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = parse_duration)]
    pub(crate) poll: Duration,
    #[command(flatten)]
    pub(crate) nats: NatsArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
