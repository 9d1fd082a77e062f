//! `convoke dead`: what the bus promised to deliver and could not.

use client::DeadLetter;
use dialect::Name;
use json::{Limits, Object, Value};

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::cli::talk::MessageArgs;
use crate::commands::receipt::message_id;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::table::Table;
use crate::{receipts, screen, show};

/// Lists dead letters.
pub(crate) async fn list(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let letters = remote.client.dead().await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for letter in &letters {
                output.line(&letter.json)?;
            }
        }
        Form::Text if letters.is_empty() => eprintln!("there are no dead letters"),
        Form::Text => table(&letters).print(&mut output)?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Shows the dead letters of a message and what it says.
pub(crate) async fn show(args: &MessageArgs) -> Result<Answer, Failure> {
    let id = message_id(&args.id)?;
    let remote = Remote::look(&args.remote, &args.speaker)?;
    let mut letters = remote.client.dead().await.map_err(|error| remote.failure(&error))?;
    letters.retain(|letter| letter.id == id);
    if letters.is_empty() {
        return Err(Failure::not_found(format!("{id} is no dead letter"))
            .hint("`convoke dead list` lists them, `convoke receipt ID` tells what became of others"));
    }
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for letter in &letters {
                output.line(&letter.json)?;
            }
        }
        Form::Text => {
            table(&letters).print(&mut output)?;
            let document = remote.client.document(id, Some(Name::Convoke)).await;
            let document = document.map_err(|error| remote.failure(&error))?;
            if let Ok(value) = json::parse_str(&document.text, Limits::DOCUMENT) {
                for line in show::content(&value, document.dialect) {
                    output.line(line)?;
                }
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Sends dead letters once more.
pub(crate) async fn retry(args: &MessageArgs) -> Result<Answer, Failure> {
    let id = message_id(&args.id)?;
    let remote = Remote::look(&args.remote, &args.speaker)?;
    let receipt = remote.client.retry_dead(id).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(receipt.to_json())?,
        Form::Text => {
            output.line(receipts::in_one_line(&remote.client, &receipt).await)?;
            receipts::warn(&receipt);
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Drops dead letters.
pub(crate) async fn drop_letters(args: &MessageArgs) -> Result<Answer, Failure> {
    let id = message_id(&args.id)?;
    let remote = Remote::look(&args.remote, &args.speaker)?;
    remote.client.drop_dead(id).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            let members: Object<'_> =
                [("id", Value::from(id.to_string())), ("dropped", Value::from(true))].into_iter().collect();
            output.line(Value::Object(members))?;
        }
        Form::Text => output.line(format_args!("{id} dropped"))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn table(letters: &[DeadLetter]) -> Table {
    let mut table = Table::new(&["id", "from", "to", "kind", "ended", "attempts", "reason"]);
    for letter in letters {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        table.row([
            letter.id.to_string(),
            text(&letter.from),
            text(&letter.to),
            text(&letter.kind),
            format!("{} {}", text(&letter.stage), screen::line(&text(&letter.at))),
            letter.attempts.to_string(),
            text(&letter.reason),
        ]);
    }
    table
}
