//! The port, the descriptors for connections, and the certificate.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use gateway_http::{Tls, TlsError};
use message::Timestamp;
use rustix::process::{Resource, getrlimit};

use super::Patient;
use super::files::name_of;
use super::finding::Finding;
use crate::failure::{chain, reason};

/// Descriptors that a bus needs beside its connections.
const FILES_KEPT: u64 = 96;
/// How long before its end a certificate should be renewed.
const RENEW_BEFORE: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// How `/proc/net/tcp` writes that somebody listens.
const LISTENS: &str = "0A";

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let mut findings = vec![descriptors(patient)];
    if !patient.is_running() {
        findings.push(port(patient.settings.listen));
    }
    if let (Some(certificate), Some(key)) = (&patient.settings.certificate, &patient.settings.key) {
        findings.push(tls(certificate, key, patient.now));
    }
    findings
}

fn descriptors(patient: &Patient) -> Finding {
    let serve = &patient.settings.serve;
    let connections = serve.connections_max.saturating_add(serve.connections_reserve);
    let wanted = u64::try_from(connections).unwrap_or(u64::MAX).saturating_add(FILES_KEPT);
    match getrlimit(Resource::Nofile).maximum {
        Some(files) if files < wanted => {
            let what = format!("a process may open {files} files, and limits.connections needs {wanted}");
            Finding::odd("files", what).mend(format!("`ulimit -n {wanted}` before the start, LimitNOFILE={wanted} in a unit, or lower limits.connections"))
        }
        Some(_) | None => {
            Finding::good("files", format!("a process may open the {wanted} files that are needed"))
        }
    }
}

fn port(listen: SocketAddr) -> Finding {
    match TcpListener::bind(listen) {
        Ok(_) => Finding::good("port", format!("{listen} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let by = listener(listen.port())
                .map_or_else(String::new, |pid| format!(" by process {pid}{}", name_of(pid)));
            Finding::bad("port", format!("{listen} is taken{by}"))
                .mend("stop that process, or choose another with --listen or the setting listen")
        }
        Err(error) => Finding::bad("port", format!("nobody can listen on {listen}: {}", reason(&error)))
            .mend("choose an address of this machine with --listen or the setting listen"),
    }
}

/// Returns the process that listens on a port, if it is one that we may look at.
fn listener(port: u16) -> Option<u32> {
    let mut sockets = HashSet::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let (Some(local), Some(state), Some(inode)) = (words.get(1), words.get(3), words.get(9)) else {
                continue;
            };
            let local_port = local.rsplit(':').next().and_then(|port| u16::from_str_radix(port, 16).ok());
            if local_port == Some(port) && *state == LISTENS {
                sockets.insert(format!("socket:[{inode}]"));
            }
        }
    }
    let processes =
        fs::read_dir("/proc").ok()?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut processes = processes.filter(|pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.filter_map(|file| fs::read_link(file.path()).ok())
            .any(|link| link.to_str().is_some_and(|link| sockets.contains(link)))
    });
    processes.next()
}

fn tls(certificate: &Path, key: &Path, now: Timestamp) -> Finding {
    let tls = match Tls::load(certificate, key) {
        Ok(tls) => tls,
        Err(error) => return unfit(&error),
    };
    if let Ok(metadata) = fs::metadata(key)
        && metadata.mode() & 0o077 != 0
    {
        let (place, mode) = (key.display(), metadata.mode() & 0o777);
        return Finding::odd("tls", format!("others can read {place} (mode {mode:o})"))
            .mend(format!("chmod 600 {place}"));
    }
    let place = certificate.display();
    let Some(validity) = tls.validity() else {
        return Finding::odd("tls", format!("{place} does not say how long it holds"));
    };
    let until = validity.until;
    if now < validity.from {
        return Finding::bad("tls", format!("{place} holds from {} on only", validity.from))
            .mend("check the clock of this machine, or the certificate");
    }
    if now > until {
        return Finding::bad("tls", format!("{place} ended at {until}"))
            .mend("renew it, then `kill -HUP` the bus");
    }
    if now.checked_add(RENEW_BEFORE).is_none_or(|soon| soon > until) {
        return Finding::odd("tls", format!("{place} ends soon, at {until}"))
            .mend("renew it, then `kill -HUP` the bus");
    }
    Finding::good("tls", format!("{place} and its key fit, until {until}"))
}

fn unfit(error: &TlsError) -> Finding {
    let mend = match error {
        TlsError::Unreadable { .. } => "check the path, and that the user of the bus may read the file",
        TlsError::NoCertificate { .. } => "it must begin with -----BEGIN CERTIFICATE-----",
        TlsError::NoKey { .. } => {
            "it must begin with -----BEGIN PRIVATE KEY----- or the like, without a passphrase"
        }
        TlsError::Unfit(_) => "the key must be the one that the certificate was made for",
    };
    Finding::bad("tls", chain(error)).mend(mend)
}
