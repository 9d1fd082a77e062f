//! `convoke reply`: answers a message, in its conversation and about its task.

use client::SendOptions;
use dialect::Name;
use json::{Limits, Value};
use message::{AgentRef, Dialect, Kind, Message};

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::commands::receipt::message_id;
use crate::commands::send;
use crate::failure::{Answer, Failure};
use crate::remote::Speaker;
use crate::screen;

pub(crate) async fn run(
    args: &RemoteArgs,
    speaker: &SpeakerArgs,
    id: &str,
    words: &[String],
    kind: Option<Kind>,
) -> Result<Answer, Failure> {
    let id = message_id(id)?;
    let speaker = Speaker::find(args, speaker).await?;
    let remote = &speaker.remote;
    let asked = remote.client.document(id, Some(Name::Convoke)).await;
    let asked = asked.map_err(|error| remote.failure(&error))?;
    let asked = json::parse_str(&asked.text, Limits::DOCUMENT).map_err(|error| {
        Failure::wrong_use(format!("the message that is answered cannot be read: {error}"))
    })?;
    let mut reply = answer(&asked, &speaker.name, kind)?;
    reply.reply_to = Some(send::checked("what is answered", &id.to_string())?);
    reply.text = send::text(words)?;
    send::deliver(remote, &reply.encode(), &SendOptions::new(Dialect::Convoke)).await
}

fn answer(asked: &Value<'_>, from: &str, kind: Option<Kind>) -> Result<Message, Failure> {
    let text = |key: &str| asked.get(key).and_then(Value::as_str);
    let to = text("from").unwrap_or_default();
    if to == from {
        return Err(Failure::wrong_use(format!("{} sent this message", screen::line(from)))
            .hint("answer as the one who got it: --from NAME"));
    }
    let asked_kind = text("kind").and_then(Kind::from_name);
    let from: AgentRef = send::checked("the sender", from)?;
    let to = vec![send::checked("the recipient", to)?];
    let mut reply =
        Message::new(kind.unwrap_or_else(|| asked_kind.map_or(Kind::Note, Kind::answered_by)), from, to);
    reply.task = text("task").map(|task| send::checked("the task", task)).transpose()?;
    reply.thread = text("thread").map(|thread| send::checked("the thread", thread)).transpose()?;
    Ok(reply)
}
