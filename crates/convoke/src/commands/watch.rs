//! `convoke watch`: answers messages for an agent with a command.

mod posts;

use std::ffi::OsString;
use std::sync::Arc;

use channel_root::Root;
use dialect_channel::addressing::base_id;
use json::{Object, Value};
use message::Timestamp;
use runner::{
    Entry, Environment, Extraction, History, Invocation, Journal, Profile, PromptBy, Reading, State, Stop,
    Stopper, Tally, WatchError, Watching, profile,
};
use tokio::signal::unix::{SignalKind, signal};

use posts::Posts;

use crate::cli::remote::SpeakerArgs;
use crate::cli::watch::{WatchArgs, WatchCommand, WatchedArgs};
use crate::commands::channel;
use crate::failure::{Answer, Failure, chain};
use crate::output::{Form, Output};
use crate::remote::{Speaker, block_on};
use crate::settings::{LogFormat, LogSettings};
use crate::table::Table;
use crate::{clock, logs, refusal, screen};

pub(crate) fn run(args: &WatchArgs) -> Result<Answer, Failure> {
    match &args.command {
        Some(WatchCommand::Failed(watched)) => failed(watched),
        Some(WatchCommand::Retry { ids, all, watched }) => retry(ids, *all, watched),
        None if args.profiles => profiles(Form::from_flag(args.remote.json)),
        None => block_on(watch(args)),
    }
}

async fn watch(args: &WatchArgs) -> Result<Answer, Failure> {
    let agent = args.agent.clone().filter(|agent| !agent.is_empty()).ok_or_else(|| {
        Failure::wrong_use("for which agent?").hint("name it with --agent NAME, or set CONVOKE_AGENT")
    })?;
    let watching = watching(args, agent)?;
    logs::to_stderr(&LogSettings { level: tracing::Level::WARN, format: LogFormat::Text });
    let (stopper, stop) = runner::stopping();
    let stopping = stop_on_signals(stopper)?;
    let ended = match &args.root {
        Some(root) => on_root(args, root, watching, stop).await,
        None => on_bus(args, watching, stop).await,
    };
    stopping.abort();
    let tally = ended?;
    if args.remote.json {
        let mut output = Output::new();
        output.line(told(tally))?;
        output.flush()?;
    } else {
        eprintln!("answered {}, failed {}, passed over {}", tally.answered, tally.failed, tally.passed);
    }
    Ok(Answer::Yes)
}

async fn on_root(
    args: &WatchArgs,
    root: &std::path::Path,
    mut watching: Watching,
    stop: Stop,
) -> Result<Tally, Failure> {
    if args.channels.is_empty() {
        return Err(Failure::wrong_use("which channel?").hint("name it with --channel NAME"));
    }
    let root = Root::open(root).map_err(|error| failure(&error.into()))?;
    eprintln!("watching {} for {}", args.channels.join(", "), screen::line(&watching.agent));
    let posts = channel::nats_settings(&args.nats).map(|settings| {
        let (posts, posted) = Posts::publish(root.clone(), settings);
        watching.posted = Some(posted);
        posts
    });
    let history = if args.history { History::Answered } else { History::Skipped };
    let watched = runner::watch_root(root, args.channels.clone(), history, Arc::new(watching), stop).await;
    if let Some(posts) = posts {
        posts.finish().await;
    }
    watched.map_err(|error| failure(&error))
}

async fn on_bus(args: &WatchArgs, mut watching: Watching, stop: Stop) -> Result<Tally, Failure> {
    let speaker = SpeakerArgs { from: Some(watching.agent.clone()) };
    let speaker = Speaker::find(&args.remote, &speaker).await?;
    if let Some(token) = &args.remote.token {
        watching.invocation.secrets.add(token);
    }
    eprintln!("watching {} for {}", speaker.remote.client.url(), screen::line(&watching.agent));
    let client = speaker.remote.client.clone();
    let watched = runner::watch_bus(client, args.channels.clone(), Arc::new(watching), stop).await;
    watched.map_err(|error| match &error {
        WatchError::Bus(error) => speaker.remote.failure(error),
        WatchError::Busy { .. } | WatchError::Journal { .. } | WatchError::Root(_) => failure(&error),
    })
}

/// Puts together how messages are answered.
fn watching(args: &WatchArgs, agent: String) -> Result<Watching, Failure> {
    let known = args.profile.as_deref().map(known).transpose()?;
    let argv: Vec<String> = match known {
        Some(known) => known.argv.iter().map(|word| (*word).to_owned()).collect(),
        None => args.exec.clone(),
    };
    if argv.is_empty() {
        return Err(Failure::wrong_use("answer with which command?").hint(
            "name a known one with --profile NAME (`convoke watch --profiles`), or give --exec COMMAND",
        ));
    }
    let environment = environment(args, known);
    let invocation = Invocation {
        argv,
        prompt_by: args.prompt.or(known.map(|known| known.prompt_by)).unwrap_or(PromptBy::Stdin),
        folder: args.folder.clone(),
        secrets: environment.secrets(),
        environment,
        timeout: args.timeout,
        output_bytes_max: args.output_max,
        extraction: args
            .extract
            .clone()
            .or_else(|| known.map(|known| known.extraction.clone()))
            .unwrap_or(Extraction::Whole),
    };
    Ok(Watching {
        agent,
        reading: if args.exact { Reading::Exact } else { Reading::Strict },
        invocation,
        earlier_count: usize::from(args.context),
        state: args.state.clone(),
        memory: args.memory.clone(),
        role: args.role.clone(),
        concurrency: usize::from(args.concurrency),
        per_minute: args.rate,
        is_once: args.once,
        poll_every: args.poll,
        lease: args.lease,
        posted: None,
        now: || clock::now().unwrap_or(Timestamp::MIN),
    })
}

fn environment(args: &WatchArgs, known: Option<&Profile>) -> Environment {
    let given = args.variables.iter().filter(|variable| !variable.contains('='));
    let mut named: Vec<&str> = given.map(String::as_str).collect();
    named.extend(known.into_iter().flat_map(|known| known.variables));
    let mut environment = Environment::choose(&named, std::env::vars_os());
    for (name, value) in args.variables.iter().filter_map(|variable| variable.split_once('=')) {
        environment.set(OsString::from(name), OsString::from(value));
    }
    environment
}

fn known(name: &str) -> Result<&'static Profile, Failure> {
    profile::find(name).ok_or_else(|| {
        Failure::wrong_use(format!("{:?} is not a command that is known", screen::line(name)))
            .hint("`convoke watch --profiles` lists them; any other is given with --exec")
    })
}

/// Stops the watcher when it is asked to end.
fn stop_on_signals(stopper: Stopper) -> Result<tokio::task::JoinHandle<()>, Failure> {
    let mut signals = Vec::new();
    for kind in [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()] {
        signals.push(signal(kind)?);
    }
    Ok(tokio::spawn(async move {
        let [term, interrupt, hangup] = signals.as_mut_slice() else { return };
        tokio::select! {
            _ = term.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        stopper.stop();
        // Whoever lets go of a stopper does not stop anything.
        std::future::pending::<()>().await;
    }))
}

fn profiles(form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    let mut table = Table::new(&["name", "prompt by", "answer", "command"]);
    for profile in profile::PROFILES {
        let (by, extraction) = (profile.prompt_by.to_string(), profile.extraction.to_string());
        match form {
            Form::Text => {
                table.row([profile.name, by.as_str(), extraction.as_str(), &profile.argv.join(" ")])
            }
            Form::Json => {
                let list = |items: &[&'static str]| {
                    Value::Array(items.iter().map(|item| Value::from(*item)).collect())
                };
                let members = Object::from_iter([
                    ("name", Value::from(profile.name)),
                    ("argv", list(profile.argv)),
                    ("prompt", Value::from(by)),
                    ("extract", Value::from(extraction)),
                    ("env", list(profile.variables)),
                ]);
                output.line(Value::Object(members))?;
            }
        }
    }
    if form == Form::Text {
        table.print(&mut output)?;
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn failed(args: &WatchedArgs) -> Result<Answer, Failure> {
    let entries = failures(args)?;
    let mut output = Output::new();
    let mut table = Table::new(&["id", "channel", "at", "reason"]);
    for (entry, reason) in &entries {
        match Form::from_flag(args.json) {
            Form::Text => table.row([id_of(entry), &entry.channel, &entry.at, reason]),
            Form::Json => {
                let members = Object::from_iter([
                    ("id", Value::from(id_of(entry))),
                    ("channel", Value::from(entry.channel.as_str())),
                    ("at", Value::from(entry.at.as_str())),
                    ("reason", Value::from(reason.as_str())),
                ]);
                output.line(Value::Object(members))?;
            }
        }
    }
    match Form::from_flag(args.json) {
        Form::Text if entries.is_empty() => eprintln!("nothing has failed"),
        Form::Text => table.print(&mut output)?,
        Form::Json => {}
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn retry(ids: &[String], all: bool, args: &WatchedArgs) -> Result<Answer, Failure> {
    let entries = failures(args)?;
    if let Some(id) = ids.iter().find(|id| !entries.iter().any(|(entry, _)| id_of(entry) == *id)) {
        return Err(Failure::not_found(format!("{} is no message whose command failed", screen::line(id)))
            .hint("`convoke watch failed` lists them"));
    }
    let mut output = Output::new();
    for (entry, _) in entries.iter().filter(|(entry, _)| all || ids.iter().any(|id| id == id_of(entry))) {
        let wished = Journal::wish(&args.root, base_id(&args.agent), &entry.channel, &entry.file);
        wished.map_err(|error| failure(&error))?;
        match Form::from_flag(args.json) {
            Form::Text => output.line(format_args!("{} will be tried again", id_of(entry)))?,
            Form::Json => {
                let members =
                    Object::from_iter([("id", Value::from(id_of(entry))), ("retried", Value::from(true))]);
                output.line(Value::Object(members))?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Returns the messages whose commands failed, each with why. One that was started and never ended has failed too,
/// unless a watcher is at work on it.
fn failures(args: &WatchedArgs) -> Result<Vec<(Entry, String)>, Failure> {
    Root::open(&args.root).map_err(|error| failure(&error.into()))?;
    let (entries, is_watched) =
        Journal::look(&args.root, base_id(&args.agent)).map_err(|error| failure(&error))?;
    let reason = |entry: Entry| match &entry.state {
        State::Failed(reason) => Some((entry.clone(), reason.clone())),
        State::Started if !is_watched => {
            Some((entry, "interrupted: the watcher ended before there was an answer".to_owned()))
        }
        State::Started | State::Passed | State::Answered(_) => None,
    };
    Ok(entries.into_iter().filter_map(reason).collect())
}

fn id_of(entry: &Entry) -> &str {
    entry.file.strip_suffix(".json").unwrap_or(&entry.file)
}

fn told(tally: Tally) -> Value<'static> {
    let count = |count: u64| Value::from(count);
    Value::Object(Object::from_iter([
        ("answered", count(tally.answered)),
        ("failed", count(tally.failed)),
        ("passed", count(tally.passed)),
    ]))
}

fn failure(error: &WatchError) -> Failure {
    match error {
        WatchError::Bus(error) => refusal::failure(error),
        WatchError::Busy { .. } | WatchError::Journal { .. } | WatchError::Root(_) => {
            Failure::wrong_use(chain(error)).hint(error.hint().unwrap_or_default())
        }
    }
}
