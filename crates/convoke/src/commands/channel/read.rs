//! `convoke channel read`: what was said in a channel, and what comes.

use std::collections::VecDeque;
use std::time::Duration;

use channel_root::{Follower, Found, Limits, Root};
use client::{HistoryEntry, HistoryQuery};
use dialect_channel::file_name::order;

use super::{failure, message};
use crate::cli::channel::ReadArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::screen::{self, Screen};

/// How often a folder is looked at again.
const FOLDER_PAUSE: Duration = Duration::from_millis(500);
/// How often the bus is asked again.
const BUS_PAUSE: Duration = Duration::from_secs(1);
/// How much of a file's name says in which second it was written: `msg-YYYYMMDD-HHMMSS`.
const SECOND_BYTES: usize = 19;
/// Messages of a page.
const PAGE_MAX: u64 = 500;

/// Reads a channel of a root: the newest, or all.
pub(super) fn from_root(
    root: &Root,
    channel: &str,
    max: Option<usize>,
    follow: bool,
    form: Form,
) -> Result<Answer, Failure> {
    let mut follower = Follower::new(root, channel, Limits::default()).map_err(|error| failure(&error))?;
    if !follow && !root.channels().is_ok_and(|channels| channels.iter().any(|it| it == channel)) {
        let missing = channel_root::RootError::NoSuchChannel { name: channel.to_owned() };
        return Err(failure(&missing));
    }
    let (mut output, screen, mut now) = (Output::new(), Screen::of_stdout(), Duration::ZERO);
    if let Some(max) = max {
        for Found { name, bytes, .. } in newest(root, &mut follower, max)? {
            message::print(&bytes, name.strip_suffix(".json").unwrap_or(&name), form, &screen, &mut output)?;
        }
    }
    // Files that hold no JSON yet are read once more before they are told.
    let mut looks: u32 = 0;
    loop {
        let polled = follower.poll(now).map_err(|error| failure(&error))?;
        for Found { name, bytes, .. } in &polled.found {
            message::print(bytes, name.strip_suffix(".json").unwrap_or(name), form, &screen, &mut output)?;
        }
        for file in &polled.unreadable {
            eprintln!("warning: {}: {}", screen::line(&file.name), file.problem);
        }
        output.flush()?;
        looks += 1;
        if polled.more {
            continue;
        }
        if !follow && looks >= 2 {
            return Ok(Answer::Yes);
        }
        if follow {
            std::thread::sleep(FOLDER_PAUSE);
        }
        now += FOLDER_PAUSE;
    }
}

/// Returns the newest messages of a channel, by their own times. What is older by its name is not even opened.
fn newest(root: &Root, follower: &mut Follower, max: usize) -> Result<VecDeque<Found>, Failure> {
    let names = root.messages(follower.channel()).unwrap_or_default();
    let Some(first) = names.iter().rev().nth(max.saturating_sub(1)).or(names.first()) else {
        return Ok(VecDeque::new());
    };
    // Within a second names sort by agent.
    let second = first.get(..SECOND_BYTES).unwrap_or(first).to_owned();
    names.iter().filter(|name| **name < second).for_each(|name| follower.mark(name));
    let mut newest: Vec<Found> = Vec::new();
    loop {
        let polled = follower.poll(Duration::ZERO).map_err(|error| failure(&error))?;
        newest.extend(polled.found);
        newest.sort_by(|left, right| order((left.at, &left.name), (right.at, &right.name)));
        newest.drain(..newest.len().saturating_sub(max));
        if !polled.more {
            return Ok(newest.into());
        }
    }
}

/// Reads a channel of the bus.
pub(super) async fn from_bus(args: &ReadArgs) -> Result<Answer, Failure> {
    let remote = Remote::look(&args.remote, &args.speaker)?;
    let (mut output, screen) = (Output::new(), Screen::of_stdout());
    let mut query = HistoryQuery::default();
    query.channel = Some(format!("channel:{}", dialect_channel::channel_of(&args.channel)));
    query.limit = Some(u64::try_from(args.max).unwrap_or(PAGE_MAX).min(PAGE_MAX));
    let mut any = false;
    loop {
        let page = remote.client.history(&query).await.map_err(|error| remote.failure(&error))?;
        let mut entries: VecDeque<HistoryEntry> = page.messages.into();
        any |= !entries.is_empty();
        query.after = entries.back().map(|entry| entry.seq).or(query.after).or(Some(0));
        while let Some(entry) = entries.pop_front() {
            print(&entry, remote.form, &screen, &mut output)?;
        }
        output.flush()?;
        if !args.follow {
            break;
        }
        query.limit = Some(PAGE_MAX);
        tokio::select! {
            () = tokio::time::sleep(BUS_PAUSE) => {}
            interrupted = tokio::signal::ctrl_c() => {
                return interrupted.map(|()| Answer::Yes).map_err(Failure::from);
            }
        }
    }
    if !any && remote.form == Form::Text {
        eprintln!("nothing was said in {}", screen::line(&args.channel));
    }
    Ok(Answer::from_bool(any))
}

fn print(entry: &HistoryEntry, form: Form, screen: &Screen, output: &mut Output) -> Result<(), Failure> {
    if form == Form::Json {
        return Ok(output.line(&entry.json)?);
    }
    let text = |text: &Option<String>| screen::line(text.as_deref().unwrap_or_default());
    let who = format!("{} → {}", text(&entry.from), screen::line(&entry.to.join(" ")));
    message::head(&text(&entry.at), &who, &text(&entry.kind), &entry.id.to_string(), screen, output)?;
    message::body(entry.text.as_deref().unwrap_or_default(), output)
}
