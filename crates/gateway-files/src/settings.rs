//! What can be set of the door.

use std::path::PathBuf;
use std::time::Duration;

/// What can be set of the door.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The roots.
    pub roots: Vec<RootSettings>,
    /// How often folders are looked at.
    pub poll: Duration,
    /// Bytes of a file that is taken in.
    pub file_bytes_max: u64,
    /// Whether files that are there when a root is watched for the first time become messages.
    pub import: bool,
    /// The folder in which is noted what is on the bus already.
    pub state: PathBuf,
}

/// What can be set of a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSettings {
    /// Where it lies.
    pub path: PathBuf,
    /// In whose name its files may speak; if nobody is named, agents of dialect `channel` and names first seen in it.
    pub agents: Vec<String>,
}

impl RootSettings {
    /// Reads a root as it is written in settings and flags: a path, perhaps followed by `=` and agents with `+` between them.
    pub fn parse(text: &str) -> Self {
        let (path, agents) = text.rsplit_once('=').filter(|(path, _)| !path.is_empty()).unwrap_or((text, ""));
        let agents = agents.split([',', '+']).map(str::trim).filter(|agent| !agent.is_empty());
        RootSettings { path: PathBuf::from(path), agents: agents.map(str::to_owned).collect() }
    }
}
