//! The settings of a bus: one file, the environment, flags; flags win.
//!
//! Every setting is described once, in `settings/table.rs`; from there come its name, its default, how it is read and
//! checked, and the reference in `docs/settings.md`.

mod file;
mod kind;
mod problem;
#[cfg(test)]
mod reference;
mod setters;
mod table;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use broker::{Limits, Retention, Retries};
use gateway::{HubLimits, RateLimits};
use gateway_http::ServeLimits;
use log::Options;
use node::Keep;

use crate::failure::Failure;
use kind::Given;
pub(crate) use problem::Problem;

/// The settings file in the data folder.
const FILE: &str = "convoke.toml";
/// Bytes of a settings file at most.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// How many agents and addresses are remembered for their rates.
const REMEMBERED_MAX: usize = 100_000;
/// What a record of the log has beside the body of a message, generously.
const RECORD_BYTES_EXTRA: u64 = 1 << 20;

/// Everything that can be set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) listen: SocketAddr,
    /// Names by which the server may be called, beside those of this machine.
    pub(crate) hosts: Vec<String>,
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) insecure_remote: bool,
    pub(crate) metrics_public: bool,
    /// Whether tokens are read from URLs.
    pub(crate) allow_token_in_url: bool,
    pub(crate) serve: ServeLimits,
    pub(crate) hub: HubLimits,
    pub(crate) broker: broker::Settings,
    pub(crate) retention: Retention,
    pub(crate) log: Options,
    pub(crate) calls_max: usize,
    pub(crate) snapshot_bytes: u64,
    pub(crate) keep: Keep,
    /// The file of the history, if not the usual one in the data folder.
    pub(crate) history_file: Option<PathBuf>,
    /// Whether a history that cannot be used may be set aside although the log no longer holds all that it knew.
    pub(crate) lossy_history: bool,
    /// Collections that everybody may read.
    pub(crate) public_collections: Vec<String>,
    /// Bytes of all blobs together at most.
    pub(crate) blobs_bytes_max: u64,
    /// Channel folders; where what is known of them lies is the data folder's to say.
    pub(crate) channels: gateway_files::Settings,
    /// The NATS server on which messages of channel folders are kept too; without an address there is none.
    pub(crate) nats: mirror::NatsSettings,
    pub(crate) logs: LogSettings,
}

/// What the server writes about itself.
#[derive(Clone, Debug)]
pub(crate) struct LogSettings {
    pub(crate) format: LogFormat,
    pub(crate) level: tracing::Level,
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// For programs, one object a line
    Json,
}

impl LogFormat {
    /// Returns its name, as flags and files have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            LogFormat::Text => "text",
            LogFormat::Json => "json",
        }
    }
}

/// Where settings come from.
pub(crate) struct Sources<'s> {
    /// The file that was named.
    pub(crate) config: Option<&'s Path>,
    /// The data folder, whose file is used if none was named.
    pub(crate) data: &'s Path,
}

/// Reads the settings, without those that flags give.
pub(crate) fn load(sources: &Sources<'_>) -> Result<Settings, Failure> {
    let (settings, problems) = load_all(sources);
    match problems.into_iter().next() {
        None => Ok(settings),
        Some(problem) => Err(problem.into()),
    }
}

/// Reads the settings and finds everything that is wrong with them; what is wrong keeps its default.
pub(crate) fn load_all(sources: &Sources<'_>) -> (Settings, Vec<Problem>) {
    let mut settings = Settings::unset();
    let mut problems = Vec::new();
    for setting in table::TABLE {
        let default = Given::Text(setting.default);
        setting
            .kind
            .set(&mut settings, &default, None)
            .expect("the table's own defaults fit; a test sets them");
    }
    match text(sources) {
        Ok(None) => {}
        Ok(Some((path, text))) => file::read(&path, &text, &mut settings, &mut problems),
        Err(problem) => problems.push(problem),
    }
    for setting in table::TABLE {
        let variable = setting.variable();
        let Some(value) = std::env::var_os(&variable) else { continue };
        let set = match value.to_str() {
            Some(value) => setting.kind.set(&mut settings, &Given::Text(value), None),
            None => Err("it is not text".to_owned()),
        };
        problems.extend(set.err().map(|what| Problem::new(variable, what)));
    }
    problems.extend(settings.misfit());
    (settings, problems)
}

impl Settings {
    /// Returns the settings of a node that keeps its log in a data folder. The seed is for a new log.
    pub(crate) fn node(&self, data: &Path, seed: u64) -> node::Settings {
        node::Settings {
            folder: data.join("log"),
            broker: self.broker.clone(),
            retention: self.retention,
            log: Options { seed, ..self.log.clone() },
            calls_max: self.calls_max,
            snapshot_bytes: self.snapshot_bytes,
            keep: self.keep,
        }
    }

    /// Returns the settings of the history of a data folder.
    pub(crate) fn history(&self, data: &Path) -> history::Settings {
        let file = self.history_file.clone().unwrap_or_else(|| data.join("history.db"));
        let outlives_log = !self.keep.is_whole();
        history::Settings { outlives_log, is_lossy: self.lossy_history, ..history::Settings::usual(file) }
    }

    /// Returns the settings of the XRPC door of a data folder.
    pub(crate) fn xrpc(&self, data: &Path) -> gateway_xrpc::Settings {
        gateway_xrpc::Settings {
            blobs: data.join("blobs"),
            blobs_bytes_max: self.blobs_bytes_max,
            public: self.public_collections.clone(),
        }
    }

    /// Returns the settings of the channel folders, with what is known of them in a data folder.
    pub(crate) fn channels(&self, data: &Path) -> gateway_files::Settings {
        gateway_files::Settings { state: data.join("channels"), ..self.channels.clone() }
    }

    /// Says what does not fit together although each part does.
    fn misfit(&self) -> Option<Problem> {
        let record_bytes = u64::from(self.log.record_bytes_max);
        let message_bytes = self.broker.limits.body_bytes_max;
        if message_bytes + RECORD_BYTES_EXTRA > record_bytes {
            let what = format!(
                "a message may have {message_bytes} bytes, which do not fit into a record of {record_bytes}"
            );
            return Some(Problem::new("limits.message_bytes", what).hint("raise log.record_bytes"));
        }
        if record_bytes + RECORD_BYTES_EXTRA > self.log.segment_bytes {
            let what = format!("a record may have {record_bytes} bytes, which do not fit into a segment");
            return Some(Problem::new("log.record_bytes", what).hint("raise log.segment_bytes"));
        }
        if self.certificate.is_some() != self.key.is_some() {
            let what = "TLS needs both a certificate and its key".to_owned();
            return Some(Problem::new("tls", what).hint("set tls.certificate and tls.key"));
        }
        let limits = &self.broker.limits;
        let lease_ms = self.hub.lease_ms;
        if lease_ms < limits.lease_ms_min || lease_ms > limits.lease_ms_max {
            let what = "the usual lease is not between the shortest and the longest".to_owned();
            return Some(
                Problem::new("delivery.lease", what).hint("see delivery.lease_min and delivery.lease_max"),
            );
        }
        None
    }

    /// Every value is set from the table before anybody sees it.
    fn unset() -> Self {
        let limits = Limits {
            agents_max: 0,
            groups_max: 0,
            memberships_max: 0,
            sessions_max: 0,
            aliases_max: 0,
            recipients_max: 0,
            fallbacks_max: 0,
            hops_max: 0,
            body_bytes_max: 0,
            queue_max: 0,
            queue_bytes_max: 0,
            messages_max: 0,
            bytes_max: 0,
            held_max: 0,
            held_ms_max: 0,
            lease_ms_min: 0,
            lease_ms_max: 0,
            text_bytes_max: 0,
            take_max: 0,
            records_max: 0,
            tasks_max: 0,
        };
        let retries = Retries {
            base_ms: 0,
            multiplier: 2.0,
            pause_ms_max: 0,
            retries_max: 0,
            retries: 0,
            jitter: true,
        };
        let rates = RateLimits { per_second: 0, burst: 0, remembered_max: REMEMBERED_MAX };
        Settings {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            hosts: Vec::new(),
            certificate: None,
            key: None,
            insecure_remote: false,
            metrics_public: false,
            allow_token_in_url: false,
            serve: ServeLimits {
                connections_max: 0,
                connections_per_peer_max: 0,
                connections_reserve: 0,
                head_bytes_max: 0,
                head_timeout: Duration::ZERO,
                idle_timeout: Duration::ZERO,
                body_rate_min: 0,
                body_grace: Duration::ZERO,
                write_timeout: Duration::ZERO,
                stop_grace: Duration::ZERO,
            },
            hub: HubLimits { rates, connections_max: 0, body_bytes_max: 0, batch_bytes_max: 0, lease_ms: 0 },
            broker: broker::Settings { limits, retries, turns_warn: 0, turns_park: None },
            retention: Retention::USUAL,
            log: Options::standard(0),
            calls_max: 0,
            snapshot_bytes: 0,
            keep: Keep::WHOLE,
            history_file: None,
            lossy_history: false,
            public_collections: Vec::new(),
            blobs_bytes_max: 0,
            channels: gateway_files::Settings::none(),
            nats: mirror::NatsSettings { url: String::new(), credentials: None, timeout: Duration::ZERO },
            logs: LogSettings { format: LogFormat::Text, level: tracing::Level::INFO },
        }
    }
}

/// Reads the file, if there is one.
fn text(sources: &Sources<'_>) -> Result<Option<(PathBuf, String)>, Problem> {
    let path = sources.config.map_or_else(|| sources.data.join(FILE), Path::to_owned);
    let place = path.display().to_string();
    let size = match fs::metadata(&path) {
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound && sources.config.is_none() => return Ok(None),
        Err(error) => {
            return Err(Problem::new(place, format!("cannot be read: {}", crate::failure::reason(&error))));
        }
    };
    if size > FILE_BYTES_MAX {
        return Err(Problem::new(place, format!("has {size} bytes: this is no settings file")));
    }
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) => Err(Problem::new(place, format!("cannot be read: {}", crate::failure::reason(&error)))),
    }
}
