//! `convoke tail`: everything that happens, followed across restarts of the bus.

use client::{Event, EventFilter, EventsItem};
use json::Value;

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::screen::{self, Screen, Tone};

/// Says which events are wanted.
pub(crate) fn filter(
    agent: Option<String>,
    thread: Option<String>,
    task: Option<String>,
    after: Option<u64>,
) -> EventFilter {
    let mut filter = EventFilter::default();
    (filter.agent, filter.thread, filter.task, filter.after) = (agent, thread, task, after);
    filter
}

/// Follows until it is interrupted.
pub(crate) async fn run(
    args: &RemoteArgs,
    speaker: &SpeakerArgs,
    filter: EventFilter,
) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let mut events = remote.client.events(filter).await.map_err(|error| remote.failure(&error))?;
    eprintln!("following {}", remote.client.url());
    let (mut output, screen) = (Output::new(), Screen::of_stdout());
    loop {
        let item = tokio::select! {
            item = events.next() => item.map_err(|error| remote.failure(&error))?,
            interrupted = tokio::signal::ctrl_c() => {
                return interrupted.map(|()| Answer::Yes).map_err(Failure::from);
            }
        };
        match item {
            EventsItem::Event(event) => match remote.form {
                Form::Json => output.line(&event.json)?,
                Form::Text => output.line(in_one_line(&event, &screen))?,
            },
            EventsItem::Gap { first, last } => tell_gap(first, last, remote.form, &mut output)?,
            EventsItem::Lost { reason } => {
                eprintln!("lost the bus: {}; waiting for it", screen::line(&reason));
            }
            EventsItem::Found => eprintln!("found the bus again, going on where it was"),
        }
        output.flush()?;
    }
}

fn tell_gap(first: u64, last: u64, form: Form, output: &mut Output) -> Result<(), Failure> {
    match form {
        Form::Json => {
            output.line(format_args!(r#"{{"event":"gap","first":{first},"last":{last}}}"#))?;
        }
        Form::Text => eprintln!("gap: events {first} to {last} are no longer there"),
    }
    Ok(())
}

/// Time, event, id and what else is known, in columns.
fn in_one_line(event: &Event, screen: &Screen) -> String {
    let text = |key: &str| event.json.get(key).and_then(Value::as_str).map(screen::line);
    let at = screen::line(event.at.as_deref().unwrap_or_default());
    // The time of the day is enough for who watches; the rest is in the JSON.
    let time = at.get(11..19).unwrap_or(&at);
    let id = text("id").unwrap_or_default();
    let mut rest: Vec<String> = Vec::new();
    let to = event.json.get("to").and_then(Value::as_array).unwrap_or_default();
    let to: Vec<String> = to.iter().filter_map(Value::as_str).map(screen::line).collect();
    match (text("from"), to.is_empty()) {
        (Some(from), false) => rest.push(format!("{from} → {}", to.join(" "))),
        (Some(from), true) => rest.push(from),
        (None, false) => rest.push(format!("→ {}", to.join(" "))),
        (None, true) => {}
    }
    rest.extend(text("agent").filter(|agent| to != [agent.as_str()]));
    rest.extend(text("kind"));
    rest.extend(text("priority").filter(|priority| priority != "normal"));
    rest.extend(text("task").map(|task| format!("task {task}")));
    rest.extend(text("by").map(|by| format!("by {by}")));
    rest.extend(text("reason").map(|reason| format!("({reason})")));
    rest.extend(text("text").map(|text| format!("| {text}")));
    let name = screen.paint(Tone::Strong, &format!("{:14}", screen::line(&event.name)));
    format!("{time:8}  {name}  {id:36}  {}", rest.join("  ")).trim_end().to_owned()
}
