//! The life of a bus: listen, read the log, open the doors, stop when asked.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use gateway::{Authority, Hub};
use gateway_files::{Files, SiteError};
use gateway_http::Tls;
use history::{History, HistoryError};
use message::Seq;
use node::{CallError, Node, StartError, Started, SystemClock};
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

use super::mirrors::Mirrors;
use super::{folder, ready};
use crate::cli::server::UpArgs;
use crate::clock;
use crate::failure::{Answer, EXIT_WRONG_USE, Failure, chain};
use crate::output::Form;
use crate::settings::Settings;

/// How much longer than its grace a bus may take to stop that was asked to: it stores a snapshot.
const SNAPSHOT_GRACE: Duration = Duration::from_secs(60);

/// What the operating system tells a bus to do.
struct Signals {
    stop: [Signal; 2],
    reload: Signal,
}

/// The server, which runs by itself until it is told to stop.
struct Server {
    routes: watch::Sender<axum::Router>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

pub(super) async fn serve(
    args: &UpArgs,
    settings: Settings,
    tls: Option<Tls>,
    data: &Path,
) -> Result<Answer, Failure> {
    let mut signals =
        Signals::listen().map_err(|error| Failure::wrong_use(format!("no signals: {error}")))?;
    let operator = folder::operator_token(data)?.hash();
    let seal = folder::origin_key(data)?;
    let listen = settings.listen;
    let listener = TcpListener::bind(listen).await.map_err(|error| cannot_listen(listen, &error))?;
    let bound = listener.local_addr().map_err(|error| cannot_listen(listen, &error))?;
    let url = ready::url(&settings, bound, tls.is_some());
    let server = Server::start(listener, &settings, tls.clone());
    let started = tokio::select! {
        started = start(&settings, data) => started,
        () = signals.asked_to_stop(tls.as_ref()) => return Ok(Answer::Yes),
    };
    let (node, history, started) = started?;
    let authority = Authority {
        operator,
        open: args.open,
        allow_token_in_url: settings.allow_token_in_url,
        seal,
        hosts: super::hosts(&settings),
        metrics_public: settings.metrics_public,
    };
    let hub =
        Hub::new(node.clone(), history.clone(), authority, settings.hub.clone()).await.map_err(stopped)?;
    let doorways = doorways(&hub, settings.xrpc(data));
    let files = Files::open(&hub, &settings.channels(data)).await.map_err(|error| no_files(&error))?;
    let mirrors =
        Mirrors::start(&settings).map_err(|error| Failure::wrong_use(chain(&error)).hint(error.hint()))?;
    drop(server.routes.send_replace(gateway_http::router(hub.clone(), doorways)));
    note_running(&url, data)?;
    ready::announce(&url, data, &started, Form::from_flag(args.json))?;
    let ended = tokio::select! {
        () = signals.asked_to_stop(tls.as_ref()) => Ok(Answer::Yes),
        reason = node.stopped() => Err(broken(reason)),
    };
    let deadline = Deadline::start(&ended, settings.serve.stop_grace);
    let grace = settings.serve.stop_grace / 2;
    mirrors.stop().await;
    if tokio::time::timeout(grace, files.stop()).await.is_err() {
        tracing::warn!(
            "a channel root does not answer; what was not noted of it is found out at the next start"
        );
    }
    hub.stop();
    server.stop(grace, node).await;
    // Its file is then whole by itself, and need not be checked at the next start.
    tokio::task::block_in_place(|| history.join());
    folder::Running::remove(data);
    drop(deadline);
    ended
}

/// Ends the process if stopping takes too long, as it does where a disk or a thread hangs. Everything that was
/// acknowledged is durable by then, so nothing is lost by it.
struct Deadline {
    /// Dropped when the bus has stopped in time.
    _stopped: mpsc::Sender<()>,
}

impl Deadline {
    /// Starts to count. A bus that stops because something failed has the grace; one that was asked to stop may also
    /// store its last snapshot.
    fn start(ended: &Result<Answer, Failure>, grace: Duration) -> Self {
        let (limit, reason) = match ended {
            Ok(_) => (grace + SNAPSHOT_GRACE, None),
            Err(failure) => (grace, Some(failure.message().to_owned())),
        };
        let (stopped, waits) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            if waits.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                let reason = reason.map_or_else(String::new, |reason| format!("{reason}; "));
                let message =
                    format!("{reason}the bus did not stop within {limit:?}: a disk or a thread hangs");
                Failure::wrong_use(message).hint("check the disk and start again").tell("");
                std::process::exit(EXIT_WRONG_USE.into());
            }
        });
        Deadline { _stopped: stopped }
    }
}

impl Server {
    fn start(listener: TcpListener, settings: &Settings, tls: Option<Tls>) -> Self {
        let (routes, served) = watch::channel(ready::starting());
        let (stop, stopped) = oneshot::channel();
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(gateway_http::serve(listener, served, settings.serve.clone(), tls, stopped));
        Server { routes, stop, task }
    }

    /// Stops: requests under way may end, then the node ends, which sends away who still waits for messages.
    async fn stop(self, grace: Duration, node: Node) {
        drop(self.stop);
        let mut task = self.task;
        if tokio::time::timeout(grace, &mut task).await.is_ok() {
            tokio::task::block_in_place(|| node.shut_down());
            return;
        }
        tokio::task::block_in_place(|| node.shut_down());
        drop(task.await);
    }
}

impl Signals {
    fn listen() -> io::Result<Self> {
        let stop = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        Ok(Signals { stop, reload: signal(SignalKind::hangup())? })
    }

    /// Waits until the bus is to stop; meanwhile certificates are read again when asked.
    async fn asked_to_stop(&mut self, tls: Option<&Tls>) {
        let [terminated, interrupted] = &mut self.stop;
        loop {
            tokio::select! {
                _ = terminated.recv() => return,
                _ = interrupted.recv() => return,
                _ = self.reload.recv() => reload(tls),
            }
        }
    }
}

fn reload(tls: Option<&Tls>) {
    match tls.map(Tls::reload) {
        None => tracing::info!("asked to reload: without TLS there is nothing to read again"),
        Some(Ok(())) => tracing::info!("the certificate was read again"),
        Some(Err(error)) => tracing::error!("the old certificate stays in use: {}", chain(&error)),
    }
}

async fn start(settings: &Settings, data: &Path) -> Result<(Node, History, Started), Failure> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| Failure::wrong_use(format!("no randomness: {error}")))?;
    let (node, mut history) = (settings.node(data, u64::from_le_bytes(seed)), settings.history(data));
    let data = data.to_owned();
    // Reading a long log takes its time, and the server must answer meanwhile.
    let started = tokio::task::spawn_blocking(move || {
        let (node, started) =
            Node::start(node, Arc::new(SystemClock::new())).map_err(|error| cannot_start(&data, &error))?;
        let follow = node.clone();
        history.outlives_log |= node.log_first() > Seq(1);
        let history = History::start(history, node.reader(), move |after| follow.wait_durable(after));
        let history = history.map_err(|error| no_history(&error))?;
        let followed = history.clone();
        node.trim_behind(move || followed.secure());
        Ok((node, history, started))
    });
    started.await.unwrap_or_else(|error| Err(Failure::wrong_use(format!("the bus does not start: {error}"))))
}

fn no_history(error: &HistoryError) -> Failure {
    let failure = Failure::wrong_use(format!("the history does not start: {}", chain(error)));
    match error {
        HistoryError::Irreplaceable { .. } => failure
            .hint("restore the file from a backup; or begin anew with `convoke up --lossy-history`, which sets it aside"),
        HistoryError::File { .. }
        | HistoryError::Database(_)
        | HistoryError::Log(_)
        | HistoryError::Thread(_)
        | HistoryError::Stopped => failure.hint("check that its file can be written, and the disk"),
    }
}

fn no_files(error: &SiteError) -> Failure {
    let hint = match error {
        SiteError::Root { .. } => {
            "mount its drive, or take it out of channels.roots; a root that was there before is not made anew"
        }
        SiteError::State { .. } => "check the folder `channels` in the data folder, and the room on the disk",
        SiteError::Bus { .. } => "look with `convoke doctor`",
    };
    Failure::wrong_use(chain(error)).hint(hint)
}

fn note_running(url: &str, data: &Path) -> Result<(), Failure> {
    let started = clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))?;
    let running = folder::Running { url: url.to_owned(), pid: std::process::id(), started };
    running.write(data).map_err(|error| Failure::unwritable(data, &error))
}

fn cannot_start(data: &Path, error: &StartError) -> Failure {
    let message = format!("the bus in {} does not start: {}", data.display(), chain(error));
    let hint = match error {
        StartError::Log(log::OpenError::InUse) => {
            "another bus runs on this folder: stop it with `convoke down`, or name another with --data"
        }
        StartError::Log(log::OpenError::Damaged(_)) => {
            "look with `convoke log verify`, save the rest with `convoke log salvage`"
        }
        StartError::Log(log::OpenError::ReadOnly(_)) => {
            "make the folder yours with `chown` and its disk writable, or name another with --data"
        }
        StartError::Log(log::OpenError::NoRoom { .. }) => {
            "make room on its disk, or name another with --data"
        }
        StartError::Log(log::OpenError::Version { .. }) => {
            "start the version of convoke that wrote it, or name another with --data"
        }
        StartError::Log(log::OpenError::Options { .. }) => "change the settings of the log: docs/settings.md",
        StartError::Log(log::OpenError::Storage(_)) => "look with `convoke doctor`",
        StartError::Snapshots(_)
        | StartError::Snapshot { .. }
        | StartError::Read(_)
        | StartError::Record { .. }
        | StartError::Misfit(_)
        | StartError::Folder(_) => "look with `convoke log verify`",
    };
    Failure::wrong_use(message).hint(hint)
}

fn cannot_listen(listen: SocketAddr, error: &io::Error) -> Failure {
    Failure::wrong_use(format!("cannot listen on {listen}: {}", crate::failure::reason(error)))
        .hint("choose another with --listen HOST:PORT; `convoke doctor` says who has it")
}

fn stopped(error: CallError) -> Failure {
    Failure::wrong_use(error.to_string())
}

fn broken(reason: Option<String>) -> Failure {
    let reason = reason.unwrap_or_else(|| "the node has stopped".to_owned());
    Failure::wrong_use(reason).hint("what was acknowledged is safe; check the disk and start again")
}

/// Returns the doors beside the native one.
fn doorways(hub: &Hub, xrpc: gateway_xrpc::Settings) -> Vec<gateway::Doorway> {
    let mut doorways = vec![gateway_bus::doorway(), gateway_coord::doorway(), gateway_wire::doorway()];
    doorways.extend(gateway_xrpc::doorways(hub, xrpc));
    doorways
}
