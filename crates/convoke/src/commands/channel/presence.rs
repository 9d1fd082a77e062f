//! Who is there in a root, by presence files: `convoke channel who` and `convoke who --root`.

use std::path::Path;

use channel_root::Seen;
use dialect_channel::addressing::base_id;
use dialect_channel::presence::words_of;
use json::{Object, Value};
use message::Timestamp;

use super::{failure, open};
use crate::clock;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::screen;
use crate::table::Table;

/// Shows everybody, or one agent.
pub(crate) fn in_root(root: &Path, agent: Option<&str>, form: Form) -> Result<Answer, Failure> {
    let now = clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))?;
    let mut seen = open(root)?.presences(now).map_err(|error| failure(&error))?;
    if let Some(agent) = agent {
        seen.retain(|seen| seen.agent == base_id(agent));
    }
    let mut output = Output::new();
    let mut table = Table::new(&["AGENT", "STATE", "LAST SEEN", "CHANNEL", "WATCHER"]);
    for seen in &seen {
        match form {
            Form::Json => output.line(value(seen).to_json())?,
            Form::Text => table.row([
                screen::line(&seen.agent),
                screen::line(&state(seen)),
                ago(seen.at, now),
                screen::line(seen.channel.as_deref().unwrap_or("-")),
                seen.pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
            ]),
        }
    }
    match (form, seen.is_empty()) {
        (Form::Text, true) => eprintln!("nobody has said that it is there"),
        (Form::Text, false) => table.print(&mut output)?,
        (Form::Json, _) => {}
    }
    output.flush()?;
    Ok(Answer::from_bool(!seen.is_empty() || agent.is_none()))
}

/// Says how an agent is: as it said itself, unless that is too old.
fn state(seen: &Seen) -> String {
    let (word, substate) = words_of(seen.stated, seen.substate.as_deref());
    match (seen.is_stale, word == substate) {
        (true, false) => "STALE".to_owned(),
        // Who said that it goes is gone, and nothing about that is stale.
        (true | false, true) => word.to_owned(),
        (false, false) => format!("{word}/{substate}"),
    }
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).map_or(0, |age| age.as_secs());
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

fn value(seen: &Seen) -> Value<'_> {
    let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::from);
    Value::Object(Object::from_iter([
        ("agent", Value::from(seen.agent.as_str())),
        ("state", Value::from(state(seen))),
        ("stale", Value::from(seen.is_stale)),
        ("last_seen", Value::from(seen.at.to_string())),
        ("channel", text(&seen.channel)),
        ("watcher_pid", seen.pid.map_or(Value::Null, |pid| Value::from(u64::from(pid)))),
    ]))
}
