//! A site: one root as the door has it open.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use broker::AgentKey;
use channel_root::{Limits, Root, RootError};
use gateway::channels::{FileProblem, Severity};
use gateway::{Hub, Problem};
use message::{AgentName, Timestamp};
use tokio::sync::watch;

use crate::settings::{RootSettings, Settings};
use crate::shelf::{Shelf, journal_of};
use crate::{inward, residents};

/// Channels of a root that are watched.
pub(crate) const CHANNELS_MAX: usize = 10_000;

/// Why a root cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The root cannot be opened.
    #[error("the channel root {path} cannot be opened")]
    Root {
        /// Where it lies.
        path: String,
        /// Why.
        #[source]
        error: RootError,
    },
    /// What is noted of it cannot be read or written.
    #[error("what is known of the channel root {path} cannot be read or written")]
    State {
        /// Where it lies.
        path: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The bus refuses.
    #[error("the channel root {path} cannot be on the bus: {detail}")]
    Bus {
        /// Where it lies.
        path: String,
        /// Why.
        detail: String,
    },
}

/// A root as the door has it open.
pub(crate) struct Site {
    pub(crate) hub: Hub,
    /// Tells when the root is let go of.
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) root: Root,
    /// Where it lies, as problems name it.
    pub(crate) path: String,
    /// Its own agent.
    pub(crate) name: AgentName,
    pub(crate) agent: AgentKey,
    /// Whether it is the first one, in which agents live who do not say where.
    pub(crate) is_first: bool,
    /// In whose name its files may speak, if not in that of whoever is free.
    pub(crate) agents: Vec<String>,
    pub(crate) poll: Duration,
    /// How many agents live in it.
    pub(crate) residents: AtomicUsize,
    shelf: Mutex<Shelf>,
}

impl Site {
    pub(crate) async fn open(
        hub: &Hub,
        stopping: watch::Receiver<bool>,
        settings: &Settings,
        root: &RootSettings,
        number: usize,
    ) -> Result<Arc<Self>, SiteError> {
        let given = root.path.display().to_string();
        let path = root.path.clone();
        let limits = Limits { file_bytes_max: settings.file_bytes_max, ..Limits::default() };
        let (state, import) = (settings.state.clone(), settings.import);
        let opened = tokio::task::spawn_blocking({
            let given = given.clone();
            move || open_shelf(&given, path, state, limits, import)
        });
        let opened = opened
            .await
            .unwrap_or_else(|error| Err(SiteError::Bus { path: given.clone(), detail: error.to_string() }));
        let (opened, mut shelf, doubts) = opened?;
        let on_bus = |problem: Problem| SiteError::Bus { path: given.clone(), detail: problem.detail };
        let (name, agent) = residents::root_agent(hub, opened.path()).await.map_err(on_bus)?;
        inward::settle_doubts(hub, &mut shelf, doubts).await.map_err(on_bus)?;
        Ok(Arc::new(Site {
            hub: hub.clone(),
            stopping,
            root: opened,
            path: given,
            name,
            agent,
            is_first: number == 0,
            agents: root.agents.clone(),
            poll: settings.poll,
            residents: AtomicUsize::new(0),
            shelf: Mutex::new(shelf),
        }))
    }

    /// Does something with the shelf, on a thread that may wait for the disk.
    pub(crate) async fn with_shelf<R: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Site, &mut Shelf) -> R + Send + 'static,
    ) -> Option<R> {
        let site = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let mut shelf = site.shelf();
            work(&site, &mut shelf)
        });
        done.await.map_err(|error| tracing::error!(error = %error, "work on a channel root failed")).ok()
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the wall clock's time.
    pub(crate) fn wall(&self) -> Timestamp {
        self.hub.node().wall().timestamp()
    }

    /// Notes that something is wrong with a file, once, for the log and for the operator.
    pub(crate) fn complain(
        &self,
        (channel, file): (&str, &str),
        severity: Severity,
        code: &str,
        detail: &str,
    ) {
        let path = &self.path;
        match severity {
            Severity::Refused => {
                tracing::warn!(file.problem = code, "{path}: {channel}/{file} is not taken in: {detail}");
            }
            Severity::Odd => tracing::info!(file.problem = code, "{path}: {channel}/{file}: {detail}"),
        }
        self.hub.channels().note(FileProblem {
            root: self.path.clone(),
            channel: channel.to_owned(),
            file: file.to_owned(),
            severity,
            code: code.to_owned(),
            detail: detail.to_owned(),
            at: self.wall(),
        });
    }
}

type Opened = (Root, Shelf, crate::journal::Doubts);

fn open_shelf(
    given: &str,
    path: PathBuf,
    state: PathBuf,
    limits: Limits,
    import: bool,
) -> Result<Opened, SiteError> {
    let in_state = |error| SiteError::State { path: given.to_owned(), error };
    fs::create_dir_all(&state).map_err(in_state)?;
    // What is known of a root is known by where it lies, however that is written.
    let path = canonical(&path).map_err(in_state)?;
    // A root that was there before is not made anew: the drive on which it lies may not be mounted.
    let is_known = journal_of(&path, &state).exists();
    let root = if is_known { Root::open(path) } else { Root::create(path) };
    let root = root.map_err(|error| SiteError::Root { path: given.to_owned(), error })?;
    let (shelf, doubts) = Shelf::open(&root, &state, limits, import).map_err(in_state)?;
    Ok((root, shelf, doubts))
}

/// Returns where something lies, also if it is not there yet.
fn canonical(path: &Path) -> io::Result<PathBuf> {
    match (fs::canonicalize(path), path.parent(), path.file_name()) {
        (Ok(path), ..) => Ok(path),
        (Err(_), Some(parent), Some(name)) => {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            fs::create_dir_all(parent)?;
            Ok(fs::canonicalize(parent)?.join(name))
        }
        (Err(error), ..) => Err(error),
    }
}
