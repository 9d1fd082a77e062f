//! `convoke channel post`: something said in a channel, on the bus or in a folder.

use ::mirror::Ack;
use channel_root::{Draft, Posted, Root, fresh_id};
use client::SendOptions;
use json::{Object, Value};
use message::{Dialect, Timestamp};

use super::{failure, mirror};
use crate::cli::channel::PostArgs;
use crate::clock;
use crate::commands::send;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Speaker;

/// Sends it to the bus.
pub(super) async fn to_bus(args: &PostArgs) -> Result<Answer, Failure> {
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    let (draft, now) = (draft(args, &speaker.name)?, now()?);
    let document = draft.document(&fresh_id(&draft.agent, now), &args.channel, now);
    send::deliver(&speaker.remote, &document, &SendOptions::new(Dialect::Channel)).await
}

/// Writes it into a root.
pub(super) fn into_root(root: &Root, args: &PostArgs) -> Result<Answer, Failure> {
    let agent = args.speaker.from.as_deref().filter(|agent| !agent.is_empty());
    let agent = agent.ok_or_else(|| {
        let hint = "name the agent with --from NAME, or set CONVOKE_AGENT";
        Failure::wrong_use("who speaks? a folder does not know").hint(hint)
    })?;
    let posted = write(root, &args.channel, &draft(args, agent)?)?;
    let ack = mirror::publish(root, &args.channel, &posted, &args.nats)?;
    let mut output = Output::new();
    match Form::from_flag(args.remote.json) {
        Form::Text => output.line(posted.path.display())?,
        Form::Json => output.line(shown(&posted, ack.as_ref()))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Posts in a root now.
pub(super) fn write(root: &Root, channel: &str, draft: &Draft) -> Result<Posted, Failure> {
    root.post(channel, draft, now()?).map_err(|error| failure(&error))
}

/// Writes what the script prints of a message, with what a NATS server says of it.
pub(super) fn shown(posted: &Posted, ack: Option<&Ack>) -> String {
    let path = posted.path.display().to_string();
    let members = [
        ("id", Value::from(posted.id.as_str())),
        ("file_path", Value::from(path)),
        ("nats_ack", ack.map_or(Value::Null, Ack::to_value)),
    ];
    Value::Object(Object::from_iter(members)).to_json()
}

fn draft(args: &PostArgs, agent: &str) -> Result<Draft, Failure> {
    let text = send::text(&args.text)?.unwrap_or_default();
    Ok(Draft {
        kind: args.kind.clone(),
        code: args.code.clone(),
        artifacts: args.artifacts.iter().map(|path| Value::from(path.clone())).collect(),
        in_reply_to: args.reply_to.clone(),
        ..Draft::new(agent, args.to.as_str(), text)
    })
}

fn now() -> Result<Timestamp, Failure> {
    clock::now().map_err(|error| Failure::wrong_use(format!("the clock: {error}")))
}
