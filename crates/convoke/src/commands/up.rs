//! `convoke up`: starts a bus.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gateway::{Authority, Hub, HubLimits, RateLimits, SealKey, Token};
use history::History;
use json::{Object, Value};
use node::{CallError, Node, StartError, Started, SystemClock};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::{data, settings};

/// The file in the data folder that holds the operator's token.
const OPERATOR_TOKEN: &str = "operator.token";

/// How long requests that are under way may take to end when the bus is asked to stop.
const STOP_GRACE: Duration = Duration::from_secs(1);

pub(crate) fn run(listen: SocketAddr, given: Option<PathBuf>, form: Form) -> Result<Answer, Failure> {
    if !listen.ip().is_loopback() {
        let message = format!("{listen} can be reached from other machines, and there is no TLS yet");
        return Err(Failure::wrong_use(message).hint("listen on 127.0.0.1, and reach it through a tunnel"));
    }
    let data = data::folder(given)?;
    make_private(&data).map_err(|error| Failure::unreadable(&data.display().to_string(), &error))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::wrong_use(format!("cannot start: {error}")))?;
    runtime.block_on(serve(listen, &data, form))
}

/// Makes the data folder if there is none; what agents write to each other is nobody else's.
fn make_private(data: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)
}

async fn serve(listen: SocketAddr, data: &Path, form: Form) -> Result<Answer, Failure> {
    let operator = operator_token(data)?.hash();
    let seal = SealKey::new().map_err(|error| Failure::wrong_use(format!("no randomness: {error}")))?;
    let (node, started) = start(data)?;
    let listener = TcpListener::bind(listen).await.map_err(|error| cannot_listen(listen, &error))?;
    let url = format!("http://{}", listener.local_addr().map_err(|error| cannot_listen(listen, &error))?);
    let hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    let authority = Authority { operator, open: false, seal, hosts };
    let hub = hub(&node, data, authority).await?;
    announce(&url, data, &started, form)?;
    let failed = node.clone();
    let server = axum::serve(listener, gateway_http::router(hub)).with_graceful_shutdown(asked_to_stop());
    let ended = tokio::select! {
        served = server => served.map_err(|error| Failure::wrong_use(format!("cannot serve: {error}"))),
        reason = failed.stopped() => Err(broken(reason)),
        // Who waits for messages to come is told that the bus stops.
        () = asked_and_waited() => Ok(()),
    };
    tokio::task::block_in_place(|| node.shut_down());
    ended.map(|()| Answer::Yes)
}

async fn hub(node: &Node, data: &Path, authority: Authority) -> Result<Hub, Failure> {
    let follow = node.clone();
    let settings = history::Settings::usual(data.join("history.db"));
    let history = History::start(settings, node.reader(), move |after| follow.wait_durable(after));
    let history =
        history.map_err(|error| Failure::wrong_use(format!("the history does not start: {error}")))?;
    let limits = HubLimits {
        rates: RateLimits { per_second: 1_000_000, burst: 1_000_000, remembered_max: 100_000 },
        connections_max: 1_000,
        body_bytes_max: 8 << 20,
        batch_bytes_max: 32 << 20,
        lease_ms: 15 * 60 * 1_000,
    };
    Hub::new(node.clone(), history, authority, limits).await.map_err(stopped)
}

fn start(data: &Path) -> Result<(Node, Started), Failure> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| Failure::wrong_use(format!("no randomness: {error}")))?;
    let settings = settings::usual(data, u64::from_le_bytes(seed));
    Node::start(settings, Arc::new(SystemClock::new())).map_err(|error| cannot_start(data, &error))
}

/// Reads the operator's token, or makes it when there is none yet. Only its owner can read the file.
fn operator_token(data: &Path) -> Result<Token, Failure> {
    let path = data.join(OPERATOR_TOKEN);
    let place = path.display().to_string();
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map_err(|error| {
            Failure::wrong_use(format!("{place}: {error}")).hint("move the file away, and a new one is made")
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let human = "human".parse().expect("`human` is a name");
            let token =
                Token::new(human).map_err(|error| Failure::wrong_use(format!("no randomness: {error}")))?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
                .map_err(|error| Failure::unreadable(&place, &error))?;
            writeln!(file, "{}", token.reveal()).map_err(|error| Failure::unreadable(&place, &error))?;
            Ok(token)
        }
        Err(error) => Err(Failure::unreadable(&place, &error)),
    }
}

/// Says that the bus is there: for people on stderr what was found, for scripts one line.
fn announce(url: &str, data: &Path, started: &Started, form: Form) -> Result<(), Failure> {
    if let Some(cut) = &started.cut {
        eprintln!(
            "note: an interrupted write of {} bytes was cut; nothing in it had been acknowledged",
            cut.bytes
        );
    }
    for (first, last) in &started.missing {
        eprintln!("warning: records {first} to {last} are missing since a salvage");
    }
    eprintln!("data in {}, {} events", data.display(), started.last);
    let mut output = Output::new();
    match form {
        Form::Text => output.line(format_args!("listening on {url}"))?,
        Form::Json => {
            let ready: Object<'_> =
                [("event", Value::from("ready")), ("url", Value::from(url))].into_iter().collect();
            output.line(Value::Object(ready).to_json())?;
        }
    }
    output.flush()?;
    Ok(())
}

async fn asked_and_waited() {
    asked_to_stop().await;
    tokio::time::sleep(STOP_GRACE).await;
}

async fn asked_to_stop() {
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

fn cannot_start(data: &Path, error: &StartError) -> Failure {
    let mut message = format!("the bus in {} does not start: {error}", data.display());
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message = format!("{message}: {cause}");
        source = cause.source();
    }
    let hint = match error {
        StartError::Log(log::OpenError::InUse) => {
            "another bus runs on this folder: stop it, or name another with --data"
        }
        StartError::Log(log::OpenError::Damaged(_)) => {
            "look with `convoke log verify`, save the rest with `convoke log salvage`"
        }
        StartError::Log(_)
        | StartError::Snapshots(_)
        | StartError::Snapshot { .. }
        | StartError::Read(_)
        | StartError::Record { .. }
        | StartError::Misfit(_)
        | StartError::Folder(_) => "look with `convoke log verify`",
    };
    Failure::wrong_use(message).hint(hint)
}

fn cannot_listen(listen: SocketAddr, error: &io::Error) -> Failure {
    Failure::wrong_use(format!("cannot listen on {listen}: {error}"))
        .hint("choose another with --listen HOST:PORT")
}

fn stopped(error: CallError) -> Failure {
    Failure::wrong_use(error.to_string())
}

fn broken(reason: Option<String>) -> Failure {
    let reason = reason.unwrap_or_else(|| "the node has stopped".to_owned());
    Failure::wrong_use(reason).hint("what was acknowledged is safe; check the disk and start again")
}
