//! `convoke lexicon add` and `list`: the lexicons of a bus.

use client::Lexicon;

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::failure::{Answer, Failure};
use crate::lexicons::{self, Source};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::table::Table;

/// Adds lexicons, one after the other; everything is read before anything is sent.
pub(crate) async fn add(args: &RemoteArgs, files: &[String], force: bool) -> Result<Answer, Failure> {
    let mut sources = Vec::new();
    for file in files {
        sources.extend(lexicons::read(file)?);
    }
    let remote = Remote::administer(args)?;
    let mut output = Output::new();
    let mut unresolved = Vec::new();
    for Source { place, text, .. } in &sources {
        let added = remote.client.put_lexicon(text, force).await.map_err(|error| {
            let failure = remote.failure(&error);
            if error.problem().is_some_and(|problem| problem.code == "breaking") {
                return failure.hint("publish it under a new name, or say --force");
            }
            failure
        })?;
        match remote.form {
            Form::Json => output.line(&added.json)?,
            Form::Text if added.changed => output.line(format_args!("added {} from {place}", added.id))?,
            Form::Text => output.line(format_args!("{} is there already", added.id))?,
        }
        unresolved = added.unresolved;
    }
    output.flush()?;
    for name in unresolved {
        eprintln!("warning: {name} is referred to but not known; data that needs it cannot be checked");
    }
    Ok(Answer::Yes)
}

/// Lists what a bus knows.
pub(crate) async fn list(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let lexicons = remote.client.lexicons().await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for lexicon in &lexicons {
                output.line(&lexicon.json)?;
            }
        }
        Form::Text => table(&lexicons).print(&mut output)?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn table(lexicons: &[Lexicon]) -> Table {
    let mut table = Table::new(&["lexicon", "from", "what"]);
    for lexicon in lexicons {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        table.row([lexicon.id.clone(), text(&lexicon.source), text(&lexicon.description)]);
    }
    table
}
