//! What is said to start a bus, to stop it, and to find out what ails it.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::settings::LogFormat;

/// How a bus is started.
#[derive(Args, Clone, Debug)]
pub(crate) struct UpArgs {
    /// Where to listen; port 0 takes a free one [default: 127.0.0.1:7700]
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<SocketAddr>,
    /// The data folder
    #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The settings, instead of convoke.toml in the data folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Need no token, on this machine only: every process can read everything and send as anyone
    #[arg(long)]
    pub(crate) open: bool,
    /// Encrypt, and show this certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Listen beyond this machine without encryption
    #[arg(long)]
    pub(crate) insecure_remote: bool,
    /// A name by which the server may be called, beside localhost
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// A channel root to watch and write, perhaps followed by `=` and the agents that it may speak for
    #[arg(long, value_name = "ROOT", num_args = 1..)]
    pub(crate) channels: Vec<PathBuf>,
    /// Run in the background: return when the bus is ready
    #[arg(long)]
    pub(crate) detach: bool,
    /// Begin the history anew if its file cannot be used, although the log no longer holds all that it knew
    #[arg(long)]
    pub(crate) lossy_history: bool,
    /// How log lines on standard error look
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Said by `--detach` to the process that it starts.
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub(crate) detached: bool,
}

/// Which bus is to stop.
#[derive(Args, Clone, Debug)]
pub(crate) struct DownArgs {
    /// The data folder
    #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which bus a service is made for.
#[derive(Args, Clone, Debug)]
pub(crate) struct ServiceArgs {
    /// The data folder
    #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The settings, instead of convoke.toml in the data folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

/// What is looked at.
#[derive(Args, Clone, Debug)]
pub(crate) struct DoctorArgs {
    /// The data folder
    #[arg(long, value_name = "DIR", env = "CONVOKE_DATA")]
    pub(crate) data: Option<PathBuf>,
    /// The settings, instead of convoke.toml in the data folder
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The bus to ask, instead of the one that runs on the data folder
    #[arg(long, value_name = "URL", env = "CONVOKE_URL", hide_env = true)]
    pub(crate) url: Option<String>,
    /// Trust the certificates of this file too
    #[arg(long, value_name = "FILE", env = "CONVOKE_CA", hide_env = true)]
    pub(crate) ca: Option<PathBuf>,
    /// Print JSON, one finding a line
    #[arg(long)]
    pub(crate) json: bool,
}
