//! The rules of the specification that no schema says, and what is known of payloads.

use std::fmt::{self, Write as _};

use json::{Finding, Findings, Object, Path, Source, Value};
use message::limits::{FALLBACKS_MAX, RETRIES_MAX};

use crate::kinds::MessageType;
use crate::lenses::task_status;
use crate::parts::{self, Form};
use crate::{codes, interfaces};

/// Metadata "should remain lightweight": beyond this it is worth a word.
const METADATA_BYTES_LIGHT: usize = 16 * 1024;
/// Metadata that is read, with the type that it must have for that.
const METADATA_TEXTS: [&str; 6] =
    ["task_id", "in_reply_to", "original_message_id", "correlation_id", "session_id", "expires_at"];
/// Where the origin of a translated document travels; it is not the sender's own metadata.
const ORIGIN_FIELD: &str = "x_origin";

/// Checks what the interfaces cannot say.
pub(crate) fn check(form: Form, document: &Object<'_>, errors: &mut Findings, warnings: &mut Findings) {
    match form {
        Form::Message => {
            check_message(document, errors, warnings);
            check_payload(document, errors, warnings);
        }
        Form::Descriptor => framework(document, &Path::ROOT, errors),
        Form::Registration => {
            if let Some(descriptor) = parts::part(document, "agent_descriptor") {
                framework(descriptor, &Path::ROOT.key("agent_descriptor"), errors);
            }
        }
        Form::Health => not_utc(document, "last_check", warnings),
    }
}

/// Checks everything of a message but its payload.
pub(crate) fn check_message(document: &Object<'_>, errors: &mut Findings, warnings: &mut Findings) {
    for name in ["sender", "recipient"] {
        if let Some(agent) = parts::part(document, name) {
            framework(agent, &Path::ROOT.key(name), errors);
        }
    }
    not_utc(document, "timestamp", warnings);
    limits(document, warnings);
    if let Some(metadata) = parts::part(document, "metadata") {
        metadata_fields(metadata, warnings);
        metadata_weight(metadata, warnings);
    }
    told_but_not_done(document, warnings);
}

/// Checks the fields that the payload's family knows: another type is an error, an odd figure a warning.
pub(crate) fn check_payload(document: &Object<'_>, errors: &mut Findings, warnings: &mut Findings) {
    let (Some(message_type), Some(payload)) = (MessageType::of(document), parts::part(document, "payload"))
    else {
        return;
    };
    let mut found = Findings::new(dialect::FINDINGS_MAX);
    payload_findings(message_type, payload, &mut found);
    for finding in found.into_kept() {
        let is_odd = finding.code == message::codes::RANGE;
        let finding = Finding { code: codes::PAYLOAD, source: Source::Rule, ..finding };
        if is_odd { warnings.add(finding) } else { errors.add(finding) }
    }
}

/// Tells whether a payload has nothing that its family would find wrong or odd.
pub(crate) fn is_plain_payload(message_type: MessageType, payload: &Object<'_>) -> bool {
    let mut found = Findings::new(1);
    payload_findings(message_type, payload, &mut found);
    found.is_empty()
}

fn payload_findings(message_type: MessageType, payload: &Object<'_>, found: &mut Findings) {
    let path = Path::ROOT.key("payload");
    let mut none = Findings::new(0);
    if let Some(interface) = interfaces::payload(message_type.name()) {
        interface.check(payload, &path, dialect::Strictness::Tolerant, found, &mut none);
    }
    if message_type == MessageType::TaskResponse
        && let Some(Value::Array(items)) = payload.get("findings")
    {
        let path = path.key("findings");
        for (index, item) in items.iter().enumerate() {
            let (path, Value::Object(item)) = (path.index(index), item) else { continue };
            interfaces::FINDING.check(item, &path, dialect::Strictness::Tolerant, found, &mut none);
        }
    }
}

/// An id that is a URI names its framework; two answers to one question are none.
pub(crate) fn framework(agent: &Object<'_>, path: &Path<'_>, errors: &mut Findings) {
    let (Some(agent_id), Some(framework)) = (parts::text(agent, "agent_id"), parts::text(agent, "framework"))
    else {
        return;
    };
    if let Some(scheme) = parts::scheme(agent_id)
        && scheme != framework
    {
        errors.rule(&path.key("framework"), codes::FRAMEWORK_MISMATCH, || {
            format!("the agent's id says that it runs on {scheme:?}, not on {framework:?}")
        });
    }
}

fn not_utc(document: &Object<'_>, key: &str, warnings: &mut Findings) {
    let Some(timestamp) = parts::text(document, key) else { return };
    let is_utc = timestamp.ends_with(['Z', 'z']) || timestamp.ends_with("+00:00");
    if !is_utc && timestamp.parse::<message::Timestamp>().is_ok() {
        warnings.rule(&Path::ROOT.key(key), codes::TIMESTAMP_NOT_UTC, || {
            "write times in UTC, ending in Z, so that no two agents read them differently".to_owned()
        });
    }
}

fn limits(document: &Object<'_>, warnings: &mut Findings) {
    let Some(routing) = parts::part(document, "routing") else { return };
    let path = Path::ROOT.key("routing");
    let retries = parts::part(routing, "retry_policy").and_then(|policy| parts::count(policy, "max_retries"));
    if retries.is_some_and(|retries| retries > i64::from(RETRIES_MAX)) {
        let path = path.key("retry_policy");
        warnings.rule(&path.key("max_retries"), codes::RETRIES_LIMITED, || {
            format!("at most {RETRIES_MAX} retries are made")
        });
    }
    let fallbacks = routing.get("fallback_agents").and_then(Value::as_array);
    if fallbacks.is_some_and(|agents| agents.len() > FALLBACKS_MAX) {
        warnings.rule(&path.key("fallback_agents"), codes::FALLBACKS_LIMITED, || {
            format!("at most {FALLBACKS_MAX} fallback agents are tried")
        });
    }
}

fn metadata_fields(metadata: &Object<'_>, warnings: &mut Findings) {
    let path = Path::ROOT.key("metadata");
    for key in METADATA_TEXTS {
        let Some(value) = metadata.get(key).filter(|value| !value.is_null()) else { continue };
        let is_read = value.as_str().is_some_and(|text| match key {
            "expires_at" => text.parse::<message::Timestamp>().is_ok(),
            _ => parts::is_id(text),
        });
        if !is_read {
            warnings.rule(&path.key(key), codes::METADATA_FIELD, || {
                format!("{} is not read as {key}", value.type_name())
            });
        }
    }
    let retryable = metadata.get("retryable").filter(|value| !value.is_null());
    if retryable.is_some_and(|value| value.as_bool().is_none()) {
        warnings.rule(&path.key("retryable"), codes::METADATA_FIELD, || {
            "only true and false are read as retryable".to_owned()
        });
    }
}

fn metadata_weight(metadata: &Object<'_>, warnings: &mut Findings) {
    // Two braces, less the comma that the last member does not have.
    let mut weight = Weight(1);
    for (key, value) in metadata.iter().filter(|(key, _)| *key != ORIGIN_FIELD) {
        // Quotes, colon and comma.
        weight.0 += key.len() + 4;
        if weight.0 > METADATA_BYTES_LIGHT || write!(weight, "{value}").is_err() {
            break;
        }
    }
    if weight.0 > METADATA_BYTES_LIGHT {
        warnings.rule(&Path::ROOT.key("metadata"), codes::METADATA_HEAVY, || {
            format!("more than {METADATA_BYTES_LIGHT} bytes: share what is large by its URL")
        });
    }
}

fn told_but_not_done(document: &Object<'_>, warnings: &mut Findings) {
    let Some(status) = parts::text_in(document, "payload", "status") else { return };
    let path = Path::ROOT.key("payload");
    match MessageType::of(document) {
        Some(MessageType::StatusUpdate) if status == "shutdown" => {
            warnings.rule(&path.key("status"), codes::SHUTDOWN_IGNORED, || {
                "nobody shuts down because a message says so".to_owned()
            });
        }
        Some(MessageType::TaskResponse) if task_status(status).is_none() => {
            warnings.rule(&path.key("status"), codes::STATUS_UNKNOWN, || {
                "the status is unknown, so the response counts as done".to_owned()
            });
        }
        Some(
            MessageType::TaskRequest
            | MessageType::TaskResponse
            | MessageType::StatusUpdate
            | MessageType::Error
            | MessageType::Heartbeat,
        )
        | None => {}
    }
}

/// Counts the bytes that are written, up to the limit.
struct Weight(usize);

impl fmt::Write for Weight {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        if self.0 > METADATA_BYTES_LIGHT { Err(fmt::Error) } else { Ok(()) }
    }
}
