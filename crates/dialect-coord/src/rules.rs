//! Rules: what the specification demands and a schema cannot say.

mod state;

use json::{Findings, Object, Path, Value};
use message::Priority;

use crate::codes;
use crate::envelope::{EVERYONE, Envelope, Payload, SYSTEM, text};
use crate::message_type::{MessageType, guarantee, implied_priority};

pub(crate) use state::{shared_state, state_update};

/// What a check has found so far.
pub(crate) struct Report<'r> {
    pub(crate) errors: &'r mut Findings,
    pub(crate) warnings: &'r mut Findings,
}

/// Checks a message against every rule.
pub(crate) fn message(envelope: &Envelope<'_>, report: &mut Report<'_>) {
    head(envelope, report);
    if let Some(metadata) = envelope.metadata {
        retries(envelope.message_type, metadata, report);
    }
    let Some(payload) = envelope.payload else { return };
    agents(envelope, payload, report);
    tasks(envelope, payload, report);
    let sort = envelope.payload_sort();
    if sort.is_response() {
        correlation(envelope, sort, payload, report);
    }
    if sort == Payload::HandoffResponse {
        handoff_response(payload, report);
    } else if sort == Payload::Status {
        busy(payload, report);
    } else if let (Payload::StateUpdate, Some(update)) = (sort, inner(payload, "state_update")) {
        state_update(update, &Path::ROOT.key("payload").key("state_update"), report);
    }
}

fn head(envelope: &Envelope<'_>, report: &mut Report<'_>) {
    let document = envelope.document;
    if text(document, "id").is_some_and(|id| dialect::is_uuid(id) && id.as_bytes()[14] != b'4') {
        report.warnings.rule(&Path::ROOT.key("id"), codes::UUID_NOT_V4, || {
            "the specification asks for a UUID of version 4".to_owned()
        });
    }
    if text(document, "timestamp").is_some_and(|time| !time.ends_with(['Z', 'z'])) {
        report.warnings.rule(&Path::ROOT.key("timestamp"), codes::TIMESTAMP_NOT_UTC, || {
            "write times in UTC, with a Z at the end".to_owned()
        });
    }
    let is_for_everyone = matches!(envelope.message_type, MessageType::Heartbeat | MessageType::StatusUpdate);
    if !is_for_everyone && text(document, "to") == Some(EVERYONE) {
        report.warnings.rule(&Path::ROOT.key("to"), codes::FAN_OUT, || {
            "only heartbeats and status updates are meant for everyone".to_owned()
        });
    }
}

fn retries(message_type: MessageType, metadata: &Object<'_>, report: &mut Report<'_>) {
    let count = |key| metadata.get(key).and_then(Value::as_integer);
    let (Some(made), Some(allowed)) = (count("retry_count"), count("max_retries")) else { return };
    let path = Path::ROOT.key("metadata");
    if made > allowed {
        report.warnings.rule(&path.key("retry_count"), codes::RETRIES_EXCEEDED, || {
            format!("{made} retries were made and {allowed} are allowed")
        });
    }
    let stated = text(metadata, "priority").and_then(Priority::from_name);
    let priority = stated.unwrap_or(implied_priority(message_type));
    if allowed > 0 && guarantee(priority) == message::Guarantee::AtMostOnce {
        report.warnings.rule(&path.key("max_retries"), codes::RETRIES_UNUSED, || {
            format!("priority {priority} is delivered at most once, so nothing is retried")
        });
    }
}

/// Agents that a payload names as its sender or recipient must be those of the message. Only the system may
/// speak of others.
fn agents(envelope: &Envelope<'_>, payload: &Object<'_>, report: &mut Report<'_>) {
    let sender_key = match envelope.payload_sort() {
        Payload::HandoffRequest => "from_agent",
        Payload::HelpRequest => "requester_id",
        Payload::HelpResponse => "responder_id",
        Payload::HandoffResponse | Payload::Status | Payload::Heartbeat | Payload::Error => "agent_id",
        Payload::Assignment
        | Payload::Update
        | Payload::Complete
        | Payload::Failed
        | Payload::StateUpdate => return,
    };
    let path = Path::ROOT.key("payload");
    if let (Some(from), Some(named)) = (text(envelope.document, "from"), text(payload, sender_key))
        && from != named
        && from != SYSTEM
    {
        report.errors.rule(&path.key(sender_key), codes::SENDER_MISMATCH, || {
            format!("{sender_key} is not the sender, who is in `from`")
        });
    }
    if let (Some(to), Some(named)) = (text(envelope.document, "to"), text(payload, "to_agent"))
        && envelope.payload_sort() == Payload::HandoffRequest
        && to != named
    {
        report.errors.rule(&path.key("to_agent"), codes::RECIPIENT_MISMATCH, || {
            "to_agent is not the recipient, who is in `to`".to_owned()
        });
    }
}

/// The task of a payload and that of the context or error inside it must be the same.
pub(crate) fn tasks(envelope: &Envelope<'_>, payload: &Object<'_>, report: &mut Report<'_>) {
    let below = match envelope.payload_sort() {
        Payload::HandoffRequest => "context",
        Payload::Failed => "error",
        Payload::Assignment
        | Payload::HandoffResponse
        | Payload::Update
        | Payload::Complete
        | Payload::HelpRequest
        | Payload::HelpResponse
        | Payload::Status
        | Payload::StateUpdate
        | Payload::Heartbeat
        | Payload::Error => return,
    };
    let named = inner(payload, below).and_then(|inner| text(inner, "task_id"));
    if let (Some(task), Some(named)) = (text(payload, "task_id"), named)
        && task != named
    {
        let path = Path::ROOT.key("payload");
        report.errors.rule(&path.key(below).key("task_id"), codes::TASK_MISMATCH, || {
            "this is another task than that of the payload".to_owned()
        });
    }
}

fn correlation(envelope: &Envelope<'_>, sort: Payload, payload: &Object<'_>, report: &mut Report<'_>) {
    let stated = envelope.metadata.and_then(|metadata| metadata.get("correlation_id"));
    let Some(stated) = stated.filter(|stated| !stated.is_null()) else {
        let path = Path::ROOT.key("metadata");
        report.errors.rule(&path.key("correlation_id"), codes::CORRELATION_REQUIRED, || {
            "a response carries the id of its request".to_owned()
        });
        return;
    };
    let asked = text(payload, "request_id").filter(|_| sort == Payload::HelpResponse);
    if asked.is_some_and(|asked| stated.as_str().is_some_and(|stated| stated != asked)) {
        let path = Path::ROOT.key("payload");
        report.errors.rule(&path.key("request_id"), codes::CORRELATION_MISMATCH, || {
            "request_id and correlation_id both name the request, and so are the same".to_owned()
        });
    }
}

fn handoff_response(payload: &Object<'_>, report: &mut Report<'_>) {
    let Some(accepted) = payload.get("accepted").and_then(Value::as_bool) else { return };
    let path = Path::ROOT.key("payload");
    let is_absent = |key: &&&str| payload.get(key).is_none_or(Value::is_null);
    let (demanded, code): (&[&str], _) = if accepted {
        (&["estimated_completion", "requirements", "constraints"], codes::REQUIRED_WHEN_ACCEPTED)
    } else {
        (&["error"], codes::REQUIRED_WHEN_DECLINED)
    };
    for key in demanded.iter().filter(is_absent) {
        report
            .errors
            .rule(&path.key(key), code, || format!("{key:?} is required where accepted is {accepted}"));
    }
}

fn busy(payload: &Object<'_>, report: &mut Report<'_>) {
    let state = inner(payload, "status").and_then(|status| text(status, "state"));
    let tasks = payload.get("current_tasks").and_then(Value::as_array);
    if let (Some(state), Some(tasks)) = (state, tasks)
        && (state == "BUSY") == tasks.is_empty()
    {
        let path = Path::ROOT.key("payload");
        report.warnings.rule(&path.key("current_tasks"), codes::STATE_INCONSISTENT, || {
            format!("the agent is {state} and has {} tasks", tasks.len())
        });
    }
}

fn inner<'v>(object: &'v Object<'v>, key: &str) -> Option<&'v Object<'v>> {
    object.get(key).and_then(Value::as_object)
}
