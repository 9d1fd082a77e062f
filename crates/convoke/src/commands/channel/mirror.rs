//! `convoke channel mirror`, and what else of channels goes to a NATS server.

use channel_root::{Posted, Root};
use json::{Object, Value};
use message::Timestamp;
use mirror::{Ack, Ending, Mirror, MirrorError, NatsSettings};
use tokio::signal::unix::{SignalKind, signal};

use super::open;
use crate::cli::nats::{MirrorArgs, NatsArgs};
use crate::failure::{Answer, Failure, chain};
use crate::output::{Form, Output};
use crate::remote::block_on;
use crate::settings::{LogFormat, LogSettings};
use crate::{clock, logs};

/// Mirrors a root, reads it back or compares it.
pub(super) async fn run(args: &MirrorArgs) -> Result<Answer, Failure> {
    let settings = settings(&args.nats).ok_or_else(|| {
        Failure::wrong_use("which NATS server?")
            .hint("name it with --nats URL, such as nats://127.0.0.1:4222")
    })?;
    logs::to_stderr(&LogSettings { level: tracing::Level::WARN, format: LogFormat::Text });
    if args.check {
        return check(&open(&args.root)?, &settings, Form::from_flag(args.json)).await;
    }
    let ending = if args.once { Ending::WhenDone } else { Ending::Never };
    let stop = stop()?;
    let counts = if args.from_nats {
        let root = Root::create(&args.root).map_err(|error| super::failure(&error))?;
        let back = mirror::read_back(&root, &settings, ending, stop).await;
        let back = back.map_err(|error| failure(&error))?;
        [("written", back.written), ("there", back.there), ("refused", back.refused)]
    } else {
        let mirror = Mirror { root: open(&args.root)?, settings, poll_every: args.poll, now };
        let mirrored = mirror.run(ending, stop).await.map_err(|error| failure(&error))?;
        [("published", mirrored.published), ("there", mirrored.duplicates), ("refused", mirrored.refused)]
    };
    let mut output = Output::new();
    match Form::from_flag(args.json) {
        Form::Text => output.line(counts.map(|(what, count)| format!("{what} {count}")).join(", "))?,
        Form::Json => output
            .line(Value::Object(Object::from_iter(counts.map(|(what, count)| (what, Value::from(count))))))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Publishes a message that was just posted, if a server is named; says so if it cannot.
pub(super) fn publish(
    root: &Root,
    channel: &str,
    posted: &Posted,
    args: &NatsArgs,
) -> Result<Option<Ack>, Failure> {
    let Some(settings) = settings(args) else { return Ok(None) };
    let through = block_on(async { Ok(mirror::write_through(root, &settings, channel, &posted.id).await) })?;
    if let Some(problem) = through.problem {
        eprintln!("warning: {}", chain(&problem));
        eprintln!(
            "hint: the file is written; it is published with the next message, or by `convoke channel mirror`"
        );
    }
    Ok(through.ack)
}

async fn check(root: &Root, settings: &NatsSettings, form: Form) -> Result<Answer, Failure> {
    let (same, differences) = mirror::compare(root, settings).await.map_err(|error| failure(&error))?;
    let mut output = Output::new();
    for difference in &differences {
        match form {
            Form::Text => output.line(difference)?,
            Form::Json => {
                let members = Object::from_iter([
                    ("difference", Value::from(difference.what.code())),
                    ("channel", Value::from(difference.channel.as_str())),
                    ("id", Value::from(difference.id.as_str())),
                ]);
                output.line(Value::Object(members))?;
            }
        }
    }
    match form {
        Form::Text => output.line(format_args!("{same} the same, {} different", differences.len()))?,
        Form::Json => {
            let different = differences.len() as u64;
            let members =
                Object::from_iter([("same", Value::from(same)), ("different", Value::from(different))]);
            output.line(Value::Object(members))?;
        }
    }
    output.flush()?;
    Ok(Answer::from_bool(differences.is_empty()))
}

/// Returns the server that is named, if one is.
pub(crate) fn settings(args: &NatsArgs) -> Option<NatsSettings> {
    let url = args.nats_url.clone().filter(|url| !url.is_empty())?;
    Some(NatsSettings { url, credentials: args.nats_credentials.clone(), timeout: args.nats_timeout })
}

/// Waits until this process is asked to end.
fn stop() -> Result<impl Future<Output = ()>, Failure> {
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

fn failure(error: &MirrorError) -> Failure {
    match error {
        MirrorError::Root(error) => super::failure(error),
        MirrorError::Away { .. } | MirrorError::Refused { .. } | MirrorError::Copy { .. } => {
            Failure::refused(chain(error)).hint(error.hint())
        }
        MirrorError::Credentials { .. } | MirrorError::Outbox { .. } => {
            Failure::wrong_use(chain(error)).hint(error.hint())
        }
    }
}

fn now() -> Timestamp {
    clock::now().unwrap_or(Timestamp::MIN)
}
