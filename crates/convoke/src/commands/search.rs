//! `convoke search`: what was said, by its words.

use client::{HistoryEntry, HistoryQuery};

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::screen::{self, Screen, Tone};

pub(crate) async fn run(
    args: &RemoteArgs,
    speaker: &SpeakerArgs,
    words: &str,
    agent: Option<String>,
    max: Option<u64>,
) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let mut query = HistoryQuery::default();
    (query.words, query.agent, query.limit) = (Some(words.to_owned()), agent, max);
    let page = remote.client.history(&query).await.map_err(|error| remote.failure(&error))?;
    let (mut output, screen) = (Output::new(), Screen::of_stdout());
    for entry in &page.messages {
        match remote.form {
            Form::Json => output.line(&entry.json)?,
            Form::Text => print(entry, &screen, &mut output)?,
        }
    }
    output.flush()?;
    if page.messages.is_empty() && remote.form == Form::Text {
        eprintln!("nothing was said about {}", screen::line(words));
    }
    if page.lag > 0 {
        eprintln!("note: the index is {} events behind", page.lag);
    }
    Ok(Answer::from_bool(!page.messages.is_empty()))
}

fn print(entry: &HistoryEntry, screen: &Screen, output: &mut Output) -> Result<(), Failure> {
    let text = |text: &Option<String>| screen::line(text.as_deref().unwrap_or_default());
    let (from, to) = (text(&entry.from), screen::line(&entry.to.join(" ")));
    let who = screen.paint(Tone::Strong, &format!("{from} → {to}"));
    output.line(format_args!("{}  {}  {who}  {}", entry.id, text(&entry.at), text(&entry.kind)))?;
    let said = entry.highlight.as_ref().or(entry.text.as_ref());
    for line in said.map(|said| screen::lines(said).collect::<Vec<_>>()).unwrap_or_default() {
        output.line(format_args!("  | {line}"))?;
    }
    Ok(())
}
