//! A bus in the background: the same program once more, on its own, and a word when it is ready.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use json::{Limits, Object, Value};

use super::folder::SERVER_LOG;
use crate::cli::server::UpArgs;
use crate::failure::{Answer, Failure};
use crate::logs;
use crate::output::{Form, Output};
use crate::settings::LogSettings;

/// Bytes of the ready line, and of what a child says when it fails, at most.
const SAID_BYTES_MAX: u64 = 64 << 10;

/// Starts a bus in the background and waits until it is ready.
pub(super) fn start(args: &UpArgs, data: &Path) -> Result<Answer, Failure> {
    let path = data.join(SERVER_LOG);
    let failed = |error: &io::Error| Failure::unwritable(&path, error);
    let mut log = OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(&path);
    let log = log.as_mut().map_err(|error| failed(error))?;
    let before = log.seek(SeekFrom::End(0)).map_err(|error| failed(&error))?;
    let mut child = spawn(args, data, log).map_err(|error| {
        Failure::wrong_use(format!("cannot start in the background: {}", crate::failure::reason(&error)))
    })?;
    let ready = child.stdout.take().map(ready_line).unwrap_or_default();
    match url_of(&ready) {
        Some(url) => announce(&url, child.id(), &path, Form::from_flag(args.json)),
        None => Err(failure(&mut child, log, before)),
    }
}

/// Leaves the session of whoever started it: its end, and its terminal's, are no longer ours.
pub(super) fn leave_session(settings: &LogSettings, data: &Path) -> Result<(), Failure> {
    let path = data.join(SERVER_LOG);
    logs::to_file(settings, &path).map_err(|error| Failure::unwritable(&path, &error))?;
    if let Err(error) = rustix::process::setsid() {
        tracing::debug!("the process leads a session already: {error}");
    }
    Ok(())
}

fn spawn(args: &UpArgs, data: &Path, log: &File) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["up", "--detached", "--json", "--data"]).arg(data);
    let options = [("--config", &args.config), ("--tls-cert", &args.tls_cert), ("--tls-key", &args.tls_key)];
    for (name, value) in options {
        if let Some(value) = value {
            command.arg(name).arg(std::path::absolute(value)?);
        }
    }
    if let Some(listen) = args.listen {
        command.args(["--listen", &listen.to_string()]);
    }
    for root in &args.channels {
        command.arg("--channels").arg(std::path::absolute(root)?);
    }
    for host in &args.hosts {
        command.args(["--host", host]);
    }
    for (name, is_set) in [
        ("--open", args.open),
        ("--insecure-remote", args.insecure_remote),
        ("--lossy-history", args.lossy_history),
    ] {
        if is_set {
            command.arg(name);
        }
    }
    if let Some(format) = args.log_format {
        command.args(["--log-format", format.name()]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone()?).spawn()
}

/// Waits for the one line that a bus prints, or for its end.
fn ready_line(stdout: ChildStdout) -> String {
    let mut line = String::new();
    let mut reader = BufReader::new(stdout.take(SAID_BYTES_MAX));
    // What cannot be read is no line.
    drop(reader.read_line(&mut line));
    line
}

fn url_of(line: &str) -> Option<String> {
    let value = json::parse(line.trim_end().as_bytes(), Limits::DOCUMENT).ok()?;
    value.get("url").and_then(Value::as_str).map(str::to_owned)
}

fn announce(url: &str, pid: u32, log: &Path, form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    match form {
        Form::Text => {
            output.line(format_args!("listening on {url}"))?;
            output.line(format_args!("process {pid}, log in {}; `convoke down` stops it", log.display()))?;
        }
        Form::Json => {
            let ready: Object<'_> = [
                ("event", Value::from("ready")),
                ("url", Value::from(url)),
                ("pid", Value::from(u64::from(pid))),
            ]
            .into_iter()
            .collect();
            output.line(Value::Object(ready).to_json())?;
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Passes on what the child said when it failed.
fn failure(child: &mut Child, log: &mut File, before: u64) -> Failure {
    let status = child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
    let mut said = Vec::new();
    if log.seek(SeekFrom::Start(before)).is_ok() {
        // What cannot be read is not passed on; the status says enough.
        drop(log.take(SAID_BYTES_MAX).read_to_end(&mut said));
    }
    let said = String::from_utf8_lossy(&said);
    let part = |prefix: &str| said.lines().find_map(|line| line.strip_prefix(prefix));
    let message =
        part("error: ").map_or_else(|| format!("the bus ended before it was ready: {status}"), str::to_owned);
    match part("hint: ") {
        Some(hint) => Failure::wrong_use(message).hint(hint),
        None => Failure::wrong_use(message).hint(format!("{SERVER_LOG} in the data folder says more")),
    }
}
