//! `convoke unsend` and `convoke amend`: second thoughts about a message.

use std::io::Read;

use json::Limits;
use message::Receipt;

use crate::cli::DialectChoice;
use crate::cli::talk::MessageArgs;
use crate::commands::receipt::message_id;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::{Remote, Speaker};
use crate::{receipts, source};

/// Takes a message back.
pub(crate) async fn unsend(args: &MessageArgs) -> Result<Answer, Failure> {
    let id = message_id(&args.id)?;
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    let receipt = speaker.remote.client.retract(id).await.map_err(|error| speaker.remote.failure(&error))?;
    print(&speaker.remote, &receipt).await
}

/// Replaces what a message says.
pub(crate) async fn amend(args: &MessageArgs, file: &str, dialect: DialectChoice) -> Result<Answer, Failure> {
    let id = message_id(&args.id)?;
    let document = document(file)?;
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    let dialect = match dialect {
        DialectChoice::Named(dialect) => Some(dialect),
        DialectChoice::Auto => None,
    };
    let amended = speaker.remote.client.amend(id, document.trim(), dialect).await;
    print(&speaker.remote, &amended.map_err(|error| speaker.remote.failure(&error))?).await
}

fn document(file: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let bytes_max = Limits::DOCUMENT.bytes_max as u64;
    let read = source::open(file)?.take(bytes_max + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::unreadable(file, &error))?;
    if text.len() as u64 > bytes_max {
        return Err(Failure::wrong_use(format!("{file} has more than {bytes_max} bytes")));
    }
    Ok(text)
}

async fn print(remote: &Remote, receipt: &Receipt) -> Result<Answer, Failure> {
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(receipt.to_json())?,
        Form::Text => {
            output.line(receipts::in_one_line(&remote.client, receipt).await)?;
            receipts::warn(receipt);
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}
