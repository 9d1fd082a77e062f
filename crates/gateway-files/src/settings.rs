//! What can be set of the door.

use std::path::{Path, PathBuf};
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

impl Settings {
    /// Watches nothing.
    pub fn none() -> Self {
        let (roots, state) = (Vec::new(), PathBuf::new());
        Settings { roots, poll: Duration::ZERO, file_bytes_max: 0, import: false, state }
    }
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
    pub fn parse(written: &Path) -> Self {
        let Some((path, agents)) = written.to_str().and_then(|text| text.rsplit_once('=')) else {
            return RootSettings { path: written.to_owned(), agents: Vec::new() };
        };
        let agents = agents.split([',', '+']).map(str::trim).filter(|agent| !agent.is_empty());
        RootSettings { path: PathBuf::from(path), agents: agents.map(str::to_owned).collect() }
    }
}
