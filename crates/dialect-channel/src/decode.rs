//! Reading documents into messages. What they start from is read once, in `head`.

use dialect::{Codec, Decoded, Draft, Lens, Names, Recipients, get};
use json::{Findings, Object, Value};
use message::limits::{LIST_ITEMS_MAX, URI_BYTES_MAX};
use message::{Guarantee, Kind, Severity};

use crate::form::Form;
use crate::head::Head;
use crate::{channel_of, codes, extension, heartbeat};

/// What needs no thought.
const LENSES: &[Lens] = &[
    Lens { native: "/timestamp", canonical: "/created", codec: Codec::Text },
    Lens { native: "/content/code", canonical: "/code", codec: Codec::Text },
    Lens { native: "/metadata/x_payload", canonical: "/data", codec: Codec::Same },
];

/// Reads a document whose shape was checked.
pub(crate) fn decode(
    document: &Object<'_>,
    head: &Head<'_>,
    names: &Names,
    warnings: Findings,
) -> Result<Decoded, Findings> {
    let form = Form::of(document);
    let told_by: &[&str] = match form {
        Form::Message if get(document, extension::KIND).is_some() => &["/type", extension::KIND],
        Form::Message => &["/type"],
        Form::Heartbeat => &[],
        Form::Poller | Form::Typing => &["/status"],
        Form::Registration => &[],
    };
    let mut draft = Draft::new(document, names, head.kind, told_by);
    draft.warnings = warnings;
    match form {
        Form::Message => message(&mut draft, head),
        Form::Heartbeat | Form::Poller | Form::Typing | Form::Registration => {
            heartbeat::decode(&mut draft, head, form);
        }
    }
    draft.finish()
}

fn message(draft: &mut Draft<'_>, head: &Head<'_>) {
    let document = draft.document();
    match head.native_id {
        Some(id) => draft.set("/id", "/native_id", id.to_owned()),
        None if document.contains_key("id") => {
            draft.warn("/id", codes::NOT_AN_ID, "it cannot be an id and is only kept".to_owned());
        }
        None => {}
    }
    sender(draft, head, "/from");
    recipients(draft, head);
    if let Some(thread) = head.thread {
        let own = get(document, "/session_id").and_then(Value::as_str) == Some(thread);
        let native = if own { "/session_id" } else { extension::THREAD };
        draft.set(native, "/thread", thread.to_owned());
    }
    if let Some(reply_to) = head.reply_to {
        draft.set("/metadata/in_reply_to", "/reply_to", reply_to.to_owned());
    }
    text(draft);
    artifacts(draft);
    extension::read(draft, extension::OF_MESSAGES);
    draft.read(LENSES);
    severity(draft);
    if head.kind == Kind::AgentHeartbeat {
        draft.assume("/delivery/guarantee", Guarantee::AtMostOnce.name());
    }
}

/// Reads who sent the document.
pub(crate) fn sender(draft: &mut Draft<'_>, head: &Head<'_>, native: &str) {
    let agent = draft.names().agent(head.from).to_string();
    draft.set(native, "/from", agent);
}

fn recipients(draft: &mut Draft<'_>, head: &Head<'_>) {
    let names = draft.names();
    match head.to {
        Recipients::One(agent) => {
            let address = names.address(agent).to_string();
            draft.set("/to", "/to/0", address);
        }
        Recipients::Each(list) => {
            let addresses = list.iter().filter_map(Value::as_str);
            let addresses = addresses.map(|address| Value::from(names.address(address).to_string()));
            draft.set(extension::TO, "/to", Value::Array(addresses.collect()));
        }
        Recipients::Everyone | Recipients::Anyone => {
            let channel = channel_of(head.thread.unwrap_or_default());
            draft.set("/to", "/to/0", format!("channel:{channel}"));
            draft.link("/session_id", "/to/0");
        }
    }
}

/// Takes off the lead that we wrote ourselves, unless somebody changed it.
fn text(draft: &mut Draft<'_>) {
    let Some(text) = get(draft.document(), "/content/text").and_then(Value::as_str) else { return };
    let lead = get(draft.document(), extension::LEAD).and_then(Value::as_str).unwrap_or_default();
    match text.strip_prefix(lead) {
        Some("") if !lead.is_empty() => draft.link("/content/text", "/text"),
        Some(rest) => draft.set("/content/text", "/text", rest.to_owned()),
        None => draft.set("/content/text", "/text", text.to_owned()),
    }
}

/// Reports of incidents state how bad they are in words: `P1` to `P4`.
fn severity(draft: &mut Draft<'_>) {
    let name = get(draft.document(), "/type").and_then(Value::as_str);
    if !matches!(name, Some("incident" | "triage")) || draft.get("/severity").is_some() {
        return;
    }
    let text = draft.get("/text").and_then(Value::as_str).unwrap_or_default();
    let severity = text.split(|letter: char| !letter.is_alphanumeric()).find_map(|word| match word {
        "P1" => Some(Severity::Critical),
        "P2" => Some(Severity::High),
        "P3" => Some(Severity::Medium),
        "P4" => Some(Severity::Low),
        _ => None,
    });
    if let Some(severity) = severity {
        draft.set("/content/text", "/severity", severity.name());
    }
}

/// Reads artifacts: paths, objects with a path, and one structured value without.
fn artifacts(draft: &mut Draft<'_>) {
    let artifacts = get(draft.document(), "/content/artifacts").and_then(Value::as_array).unwrap_or_default();
    let mut kept = 0;
    for (index, artifact) in artifacts.iter().enumerate() {
        let native = format!("/content/artifacts/{index}");
        let is_data = artifact.as_object().is_some_and(|object| !object.contains_key("path"));
        if is_data && draft.get("/data").is_none() && get(draft.document(), "/metadata/x_data").is_none() {
            draft.set(&native, "/data", artifact.clone().into_owned());
            continue;
        }
        let attachment = attachment(artifact).filter(|_| kept < LIST_ITEMS_MAX);
        match attachment {
            Some(attachment) => {
                draft.set(&native, &format!("/attachments/{kept}"), attachment);
                kept += 1;
            }
            None => {
                draft.warn(&native, codes::ARTIFACT_FORM, "it cannot be carried and is only kept".to_owned())
            }
        }
    }
}

/// Turns an artifact into an attachment, with as much of it as an attachment can hold.
fn attachment(artifact: &Value<'_>) -> Option<Value<'static>> {
    let path = artifact.as_str().or_else(|| artifact.get("path")?.as_str()).filter(|path| is_uri(path))?;
    let bare = Object::from_iter([("uri", Value::from(path.to_owned()))]);
    let Some(object) = artifact.as_object() else { return Some(Value::Object(bare)) };
    let mut full = bare.clone();
    for (key, value) in object.iter().filter(|(key, _)| !matches!(*key, "path" | "uri")) {
        full.insert(key.to_owned(), value.clone().into_owned());
    }
    let full = Value::Object(full);
    let readable = extension::is_readable("/attachments", &Value::Array(vec![full.clone()]));
    Some(if readable { full } else { Value::Object(bare) })
}

fn is_uri(path: &str) -> bool {
    !path.is_empty() && path.len() <= URI_BYTES_MAX && !path.contains(char::is_control)
}
