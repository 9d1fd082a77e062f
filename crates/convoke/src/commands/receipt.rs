//! `convoke receipt`: what became of a message.

use message::MessageId;

use crate::cli::talk::MessageArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::receipts;
use crate::remote::Remote;
use crate::screen;

pub(crate) async fn run(args: &MessageArgs) -> Result<Answer, Failure> {
    let remote = Remote::look(&args.remote, &args.speaker)?;
    let receipt =
        remote.client.receipt(message_id(&args.id)?).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(receipt.to_json())?,
        Form::Text => {
            receipts::print(&receipt, &mut output)?;
            receipts::warn(&receipt);
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Reads the id of a message.
pub(crate) fn message_id(text: &str) -> Result<MessageId, Failure> {
    text.parse().map_err(|_| {
        Failure::wrong_use(format!("{:?} is not the id of a message", screen::line(text)))
            .hint("ids look like 0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071; `convoke search` finds messages")
    })
}
