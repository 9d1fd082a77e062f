//! The head of a document: what it is, from whom, to whom and in which channel, borrowed from it.

use dialect::Recipients;
use json::{Object, Value};
use message::Kind;

use crate::addressing::base_id;
use crate::extension::{Told, is_id};
use crate::form::Form;
use crate::{presence, types};

/// To whom presence goes: the bus itself.
pub(crate) const BUS: &str = "system";

/// What decoding starts from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'v> {
    pub(crate) kind: Kind,
    pub(crate) native_id: Option<&'v str>,
    /// Who sends it, without its session.
    pub(crate) from: &'v str,
    /// To whom it goes; everyone means the members of the channel that `thread` names.
    pub(crate) to: Recipients<'v>,
    pub(crate) thread: Option<&'v str>,
    pub(crate) reply_to: Option<&'v str>,
}

/// Reads the head of a message or heartbeat; `None` for other documents and where sender or channel is missing.
pub(crate) fn head<'v>(document: &'v Object<'v>) -> Option<Head<'v>> {
    match Form::of(document) {
        Form::Message => message(document),
        Form::Heartbeat => heartbeat(document, Told::of(document)),
        Form::Poller | Form::Typing => heartbeat(document, Told::default()),
        Form::Registration => None,
    }
}

/// Tells what a document means, also where the rest of it is broken.
pub(crate) fn kind(document: &Object<'_>) -> Option<Kind> {
    let name = document.get("type").and_then(Value::as_str);
    match Form::of(document) {
        Form::Message => Told::of(document).kind.or_else(|| name.map(types::kind_of)),
        Form::Heartbeat | Form::Poller | Form::Typing => head(document).map(|head| head.kind),
        Form::Registration => None,
    }
}

fn message<'v>(document: &'v Object<'v>) -> Option<Head<'v>> {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    let told = Told::of(document);
    let (from, session_id) = (text("from")?, text("session_id")?);
    let kind = told.kind.unwrap_or_else(|| types::kind_of(text("type").unwrap_or("chat")));
    let visible = text("to").unwrap_or("all");
    let to = recipients(visible, told.to);
    // The members of a channel are known by the channel alone.
    let thread = told.thread.filter(|_| to != Recipients::Everyone).unwrap_or(session_id);
    let metadata = document.get("metadata");
    let reply_to = metadata.and_then(|metadata| metadata.get("in_reply_to")).and_then(Value::as_str);
    Some(Head {
        kind,
        native_id: text("id").filter(|id| is_id(id)),
        from: base_id(from),
        to,
        thread: Some(thread),
        reply_to: reply_to.filter(|reply_to| is_id(reply_to)),
    })
}

/// What `to` says counts; our own list only adds what `to` has no words for.
fn recipients<'v>(visible: &'v str, told: Option<&'v [Value<'v>]>) -> Recipients<'v> {
    match (visible, told) {
        ("all", Some(told)) => Recipients::Each(told),
        ("all", None) => Recipients::Everyone,
        (agent, Some([Value::String(session)])) if is_session_of(session, agent) => Recipients::One(session),
        (agent, _) => Recipients::One(base_id(agent)),
    }
}

fn is_session_of(session: &str, agent: &str) -> bool {
    session.strip_prefix(agent).is_some_and(|rest| rest.starts_with('#'))
}

fn heartbeat<'v>(document: &'v Object<'v>, told: Told<'v>) -> Option<Head<'v>> {
    let reading = presence::read(document)?;
    let is_status = told.kind == Some(Kind::AgentStatus) || reading.ttl_ms.is_some();
    let kind = if is_status { Kind::AgentStatus } else { Kind::AgentHeartbeat };
    Some(Head {
        kind,
        native_id: None,
        from: base_id(reading.agent),
        to: Recipients::One(BUS),
        thread: reading.channel,
        reply_to: None,
    })
}
