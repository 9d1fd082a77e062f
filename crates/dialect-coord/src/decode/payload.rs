//! Reading the payload.

use dialect::{Draft, get};
use json::{Object, Value};
use message::{Kind, TaskStatus, Timestamp};

use crate::envelope::{Envelope, Payload, text};
use crate::lenses::NO_DEADLINE;
use crate::{bag, constraints, encode, lenses, nearest, states};

/// Reads the payload of a message.
pub(super) fn read(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let sort = envelope.payload_sort();
    before(draft, envelope, sort);
    draft.read(lenses::of(sort));
    match sort {
        Payload::Assignment | Payload::HandoffRequest => {
            constraints(draft, envelope);
            bag::unpack_open(draft, envelope, "/brief/context");
        }
        Payload::Update => {
            update_status(draft, envelope);
            bag::unpack_open(draft, envelope, "/data");
            progress(draft, envelope);
        }
        Payload::HandoffResponse => {
            constraints(draft, envelope);
            accepted(draft, envelope);
            bag::unpack(draft, envelope);
            repeat(draft, "/payload/error", "/error/message", "/text");
        }
        Payload::Complete => {
            bag::unpack(draft, envelope);
            summary(draft, envelope);
            conclude(draft, TaskStatus::Done);
        }
        Payload::Failed => {
            bag::unpack(draft, envelope);
            repeat(draft, "/payload/error/message", "/error/message", "/text");
            conclude(draft, TaskStatus::Failed);
        }
        Payload::Error => {
            bag::unpack(draft, envelope);
            repeat(draft, "/payload/message", "/error/message", "/text");
        }
        Payload::HelpRequest => {
            help_context(draft, envelope);
            bag::unpack(draft, envelope);
        }
        Payload::HelpResponse => {
            bag::unpack(draft, envelope);
            help_given(draft, envelope);
        }
        Payload::Status | Payload::Heartbeat => {
            finer_presence(draft, envelope);
            bag::unpack(draft, envelope);
        }
        Payload::StateUpdate => bag::unpack(draft, envelope),
    }
}

/// Reads what says more than a native word, before the native word is read.
fn before(draft: &mut Draft<'_>, envelope: &Envelope<'_>, sort: Payload) {
    match sort {
        Payload::Assignment => earlier_deadline(draft),
        Payload::HandoffRequest => {
            earlier_deadline(draft);
            refine(draft, envelope, "/payload/reason", "/handoff/reason", nearest::reason);
        }
        Payload::Failed => {
            refine(draft, envelope, "/payload/error/error_type", "/error/code", nearest::error_type);
        }
        Payload::Error => {
            refine(draft, envelope, "/payload/error_type", "/error/code", nearest::error_type);
        }
        Payload::HelpRequest => {
            refine(draft, envelope, "/payload/help_type", "/brief/task_type", nearest::help_type);
        }
        Payload::HelpResponse => {
            refine(draft, envelope, "/payload/response_type", "/brief/task_type", nearest::response_type);
        }
        Payload::HandoffResponse
        | Payload::Update
        | Payload::Complete
        | Payload::Status
        | Payload::StateUpdate
        | Payload::Heartbeat => {}
    }
}

/// Takes the word of another dialect from the bag, as long as the native word is still the nearest to it.
fn refine(
    draft: &mut Draft<'_>,
    envelope: &Envelope<'_>,
    native: &str,
    canonical: &str,
    nearest: fn(&str) -> &'static str,
) {
    let Some(word) = bag::text_in(envelope, canonical) else { return };
    if get(envelope.document, native).and_then(Value::as_str) == Some(nearest(word)) {
        draft.set(&format!("{}{canonical}", envelope.bag_place()), canonical, word.to_owned());
        draft.link(native, canonical);
    }
}

/// A task has two deadlines, its own and that of its constraints: the earlier one counts.
fn earlier_deadline(draft: &mut Draft<'_>) {
    let stated = |place: &'static str| {
        let time = get(draft.document(), place)?.as_str().filter(|time| *time != NO_DEADLINE)?;
        Some((time.parse::<Timestamp>().ok()?, place, time))
    };
    let places = [stated("/payload/deadline"), stated("/payload/constraints/deadline")];
    if let Some((_, place, time)) = places.into_iter().flatten().min_by_key(|(at, ..)| *at) {
        draft.set(place, "/deadline", time.to_owned());
    }
}

fn constraints(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let stated = envelope.payload.and_then(|payload| payload.get("constraints")?.as_object());
    let Some(stated) = stated else { return };
    let lines = constraints::lines(stated);
    if lines.is_empty() {
        return;
    }
    let carried = envelope.bag().and_then(|bag| get(bag, "/brief/constraints")).and_then(Value::as_array);
    let carried = carried.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let all: Vec<Value<'static>> = lines.into_iter().chain(carried).map(Value::from).collect();
    draft.set("/payload/constraints", "/brief/constraints", all);
}

fn update_status(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(native) = envelope.payload.and_then(|payload| text(payload, "status")) else { return };
    let finer = envelope.metadata.and_then(|metadata| text(metadata, "x_state"));
    let finer = finer.and_then(states::from_finer).filter(|status| states::native(*status) == native);
    if finer.is_some() {
        draft.link("/metadata/x_state", "/status");
    }
    if let Some(status) = finer.or_else(|| states::inferred(envelope.kind(), native)) {
        draft.set("/payload/status", "/status", status.name());
    }
}

/// Progress has no field of its own in the message: it joins what the event tells.
fn progress(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(progress) = envelope.payload.and_then(|payload| payload.get("progress")) else { return };
    let carried = envelope.bag().is_some_and(|bag| bag.contains_key("data"));
    if progress.is_null() || carried {
        return;
    }
    let mut data = match draft.get("/data") {
        Some(Value::Object(object)) => object.clone(),
        Some(_) => return,
        None => Object::new(),
    };
    if !data.contains_key("progress") {
        data.insert("progress", progress.clone().into_owned());
        draft.set("/payload/progress", "/data", data);
    }
}

fn accepted(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(accepted) = envelope.payload.and_then(|payload| payload.get("accepted")?.as_bool()) else {
        return;
    };
    let carried = bag::text_in(envelope, "/status").and_then(TaskStatus::from_name);
    let carried = carried.filter(|status| encode::accepts(Some(*status), false) == accepted);
    let plain = if accepted { TaskStatus::Claimed } else { TaskStatus::Rejected };
    draft.set("/payload/accepted", "/status", carried.unwrap_or(plain).name());
}

/// Says a field again in another, for readers that look only there.
fn repeat(draft: &mut Draft<'_>, native: &str, from: &str, to: &str) {
    if draft.get(to).is_none()
        && let Some(value) = draft.get(from).cloned()
    {
        draft.set(native, to, value);
    }
}

fn conclude(draft: &mut Draft<'_>, status: TaskStatus) {
    if draft.get("/status").is_none() {
        draft.set("/type", "/status", status.name());
    }
}

/// A result that is a text, or has one, is also what the message says.
fn summary(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(result) = envelope.payload.and_then(|payload| payload.get("result")) else { return };
    let inner = || ["summary", "text", "message"].iter().find_map(|key| result.get(key)?.as_str());
    if let Some(text) = result.as_str().or_else(inner)
        && draft.get("/text").is_none()
    {
        draft.set("/payload/result", "/text", text.to_owned());
    }
}

fn help_context(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let context = envelope.payload.and_then(|payload| payload.get("context")?.as_object());
    let Some(context) = context else { return };
    if let Some(details) = text(context, "error_details") {
        draft.set("/payload/context/error_details", "/error/message", details.to_owned());
    }
    let says_something = context.iter().any(|(key, value)| match key {
        "current_state" => value.as_str() != Some(""),
        "attempted_solutions" => value.as_array().is_none_or(|tried| !tried.is_empty()),
        key => key != "error_details" && !value.is_null(),
    });
    if says_something {
        draft.set("/payload/context", "/data", context.clone().into_owned());
    }
}

fn help_given(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    let Some(payload) = envelope.payload else { return };
    if draft.get("/gate").is_none() && payload.get("follow_up_required") == Some(&Value::Bool(true)) {
        draft.set("/payload/follow_up_required", "/gate/action_required", true);
    }
    let unable = text(payload, "response_type") == Some("UNABLE_TO_HELP");
    if unable && envelope.kind() == Kind::HelpReply && draft.get("/status").is_none() {
        draft.set("/payload/response_type", "/status", TaskStatus::Rejected.name());
    }
}

fn finer_presence(draft: &mut Draft<'_>, envelope: &Envelope<'_>) {
    if let Some(finer) = envelope.metadata.and_then(|metadata| text(metadata, "x_state")) {
        draft.set("/metadata/x_state", "/presence/sub", finer.to_owned());
    }
}
