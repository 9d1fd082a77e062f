//! `convoke up`: starts a bus.
//!
//! It listens before it reads its log: until that is folded, whoever asks is told that the bus is starting, and
//! nobody has to guess. Then the doors open, all at once.

mod background;
mod folder;
mod mirrors;
mod ready;
mod run;

use std::net::IpAddr;
use std::path::Path;

use gateway_files::RootSettings;
use gateway_http::Tls;

use crate::cli::server::UpArgs;
use crate::failure::{Answer, Failure, chain};
use crate::settings::{self, Settings, Sources};
use crate::{data, logs};

pub(crate) use folder::{OPERATOR_TOKEN, ORIGIN_KEY, Running, holder, lock_file, open_to_others};

/// Descriptors that are kept for everything else than connections.
const FILES_KEPT: u64 = 96;
/// Connections that there are at least, however few descriptors.
const CONNECTIONS_MIN: u64 = 8;
/// Threads that serve connections at least.
const WORKERS_MIN: usize = 2;

pub(crate) fn run(args: &UpArgs) -> Result<Answer, Failure> {
    stay_small();
    let data = data::folder(args.data.clone())?;
    folder::make_private(&data).map_err(|error| Failure::unwritable(&data, &error))?;
    let mut settings = chosen(args, &data)?;
    let tls = tls(&settings)?;
    refuse_exposed(&settings, tls.is_some(), args.open)?;
    if args.detach {
        return background::start(args, &data);
    }
    if args.detached {
        background::leave_session(&settings.logs, &data)?;
    } else {
        logs::to_stderr(&settings.logs);
    }
    warn(args, &settings, tls.is_some(), &data);
    fit_descriptors(&mut settings);
    // One more than is needed on a machine with a single processor: a disk that hesitates may hold one up.
    let workers =
        std::thread::available_parallelism().map_or(WORKERS_MIN, |count| count.get().max(WORKERS_MIN));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let runtime = runtime.map_err(|error| Failure::wrong_use(format!("cannot start: {error}")))?;
    let ended = runtime.block_on(run::serve(args, settings, tls, &data));
    // A log that is still being read does not hold up a stop.
    runtime.shutdown_background();
    ended
}

/// Asks the system for small pages: with large ones an idle server takes half as much memory again, and a busy one is
/// no faster. Where the system does not listen nothing is lost.
fn stay_small() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "pages may be large");
    }
}

/// Reads the settings, with what the flags say.
fn chosen(args: &UpArgs, data: &Path) -> Result<Settings, Failure> {
    let mut settings = settings::load(&Sources { config: args.config.as_deref(), data })?;
    if let Some(listen) = args.listen {
        settings.listen = listen;
    }
    if args.tls_cert.is_some() {
        settings.certificate.clone_from(&args.tls_cert);
        settings.key.clone_from(&args.tls_key);
    }
    settings.insecure_remote |= args.insecure_remote;
    settings.lossy_history = args.lossy_history;
    settings.hosts.extend(args.hosts.iter().map(|host| host.to_ascii_lowercase()));
    settings.channels.roots.extend(args.channels.iter().map(|root| RootSettings::parse(root)));
    if let Some(format) = args.log_format {
        settings.logs.format = format;
    }
    Ok(settings)
}

fn tls(settings: &Settings) -> Result<Option<Tls>, Failure> {
    let (Some(certificate), Some(key)) = (&settings.certificate, &settings.key) else { return Ok(None) };
    match Tls::load(certificate, key) {
        Ok(tls) => Ok(Some(tls)),
        Err(error) => {
            Err(Failure::wrong_use(chain(&error)).hint("`convoke doctor` looks closer at both files"))
        }
    }
}

/// Refuses to let the world in by mistake.
fn refuse_exposed(settings: &Settings, encrypted: bool, open: bool) -> Result<(), Failure> {
    let listen = settings.listen;
    if listen.ip().is_loopback() {
        return Ok(());
    }
    if open {
        let message =
            format!("{listen} can be reached from other machines, and --open asks nobody for a token");
        return Err(Failure::wrong_use(message).hint("leave --open out, or listen on 127.0.0.1"));
    }
    if !encrypted && !settings.insecure_remote {
        let message =
            format!("{listen} can be reached from other machines, and tokens could be read on the way");
        return Err(Failure::wrong_use(message).hint(
            "give --tls-cert and --tls-key, listen on 127.0.0.1, or say --insecure-remote if something else encrypts",
        ));
    }
    Ok(())
}

/// Says what the operator should know before anything happens.
fn warn(args: &UpArgs, settings: &Settings, encrypted: bool, data: &Path) {
    if args.open {
        tracing::warn!(
            "OPEN: no token is needed. Any process on this machine, of any user, can read every message and send as \
             anyone. Good for trying things out, not for agents that matter"
        );
    }
    if !settings.listen.ip().is_loopback() && !encrypted {
        tracing::warn!("tokens and messages travel in the clear: whoever sees the network sees them");
    }
    if let Some(mode) = folder::open_to_others(data) {
        let place = data.display();
        tracing::warn!(
            "others can read {place} (mode {mode:o}): `chmod 700 {place}` keeps messages and tokens private"
        );
    }
}

/// Takes as many descriptors as the system allows, and no more connections than fit.
fn fit_descriptors(settings: &mut Settings) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!("the limit of open files stays as it is: {error}");
        }
    }
    let Some(files) = getrlimit(Resource::Nofile).current else { return };
    let reserve = u64::try_from(settings.serve.connections_reserve).unwrap_or(u64::MAX);
    let fits = files.saturating_sub(FILES_KEPT).saturating_sub(reserve).max(CONNECTIONS_MIN);
    let fits = usize::try_from(fits).unwrap_or(usize::MAX);
    if fits < settings.serve.connections_max {
        tracing::warn!(
            "the process may open {files} files, which is enough for {fits} connections; limits.connections is {}",
            settings.serve.connections_max
        );
        settings.serve.connections_max = fits;
    }
}

/// Returns the names by which the server may be called.
fn hosts(settings: &Settings) -> Vec<String> {
    let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    let address: IpAddr = settings.listen.ip();
    if !address.is_unspecified() {
        hosts.push(address.to_string());
    }
    hosts.extend(settings.hosts.iter().cloned());
    hosts.dedup();
    hosts
}
