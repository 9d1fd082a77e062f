//! Reading: a wire as a canonical message.
//!
//! The goal of a brief becomes the title, its context both the text, so that dialects that only have a text say
//! something, and the context of the brief. Whoever sends a wire is its sender: the runner speaks for itself
//! when it reports about an agent, and that agent is named in the result.

use dialect::{Decoded, Draft, Names, Recipients, Routing, Strictness};
use json::{Findings, Object, Path, Value};
use message::{GateDecision, Severity, WrittenTimestamp};

use crate::blockers::blocker_of_error;
use crate::check::{check, check_wire};
use crate::codes;
use crate::extensions as x;
use crate::form::{Form, MessageType, is_card};
use crate::lenses;
use crate::view::{ANY_ROLE, View};

/// Who speaks in a bare pointer, which names nobody.
const NAMELESS: &str = "system";

pub(crate) fn decode(document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
    let Value::Object(object) = document else { return Err(check(document, Strictness::Tolerant).errors) };
    if is_card(object) {
        let mut errors = Findings::new(1);
        errors.rule(&Path::ROOT, codes::NOT_A_MESSAGE, || {
            "this is an Agent Card: it can be checked, but it is no message".to_owned()
        });
        return Err(errors);
    }
    let verdict = check_wire(object, Strictness::Tolerant);
    let view = View::of(object).filter(|_| verdict.errors.is_empty());
    let Some(view) = view else { return Err(verdict.errors) };
    let mut draft = start(object, names, &view);
    draft.warnings = verdict.warnings;
    people(&mut draft, &view);
    if view.form == Form::Pointer {
        draft.warn("", codes::NO_SENDER, format!("a bare pointer names no sender; {NAMELESS} is taken"));
    } else {
        draft.read(lenses::ENVELOPE);
        warn_of_odd_ids(&mut draft, &view);
    }
    head(&mut draft, &view);
    match view.form {
        Form::Brief => brief(&mut draft, &view),
        Form::Inbox(message_type) => inbox(&mut draft, &view, message_type),
        Form::Complete => complete(&mut draft, &view),
        Form::Blocked => blocked(&mut draft, &view),
        Form::Claim | Form::Available | Form::Pointer => {}
    }
    let mut decoded = draft.finish()?;
    decoded.routing = Routing::of(&decoded.message, view.guarantee());
    Ok(decoded)
}

fn start<'d>(object: &'d Object<'d>, names: &'d Names, view: &View<'_>) -> Draft<'d> {
    let told_by: &[&str] = match view.form {
        Form::Pointer => &[],
        Form::Inbox(_) => &["/type", "/payload/message_type"],
        Form::Brief | Form::Complete | Form::Blocked | Form::Claim | Form::Available => &["/type"],
    };
    let mut draft = Draft::new(object, names, view.kind(), told_by);
    if view.kind() != view.native_kind() {
        draft.link("/payload/x_kind", "/kind");
    }
    draft
}

/// Reads who and to whom.
fn people(draft: &mut Draft<'_>, view: &View<'_>) {
    let names = draft.names();
    match view.from() {
        Some((from, field)) => draft.set(field, "/from", names.agent(from).to_string()),
        None => draft.assume("/from", NAMELESS),
    }
    let to = view.to();
    let address = |name: &str| Value::from(names.address(&format!("{}{name}", to.prefix)).to_string());
    let addresses = match to.recipients {
        Recipients::One(name) => vec![address(name)],
        Recipients::Each(list) => list.iter().filter_map(Value::as_str).map(address).collect(),
        Recipients::Everyone => vec![Value::from("all")],
        Recipients::Anyone => vec![Value::from(format!("roles.{ANY_ROLE}"))],
    };
    match to.told_by {
        Some(field) => draft.set(field, "/to", Value::Array(addresses)),
        None => draft.assume("/to", Value::Array(addresses)),
    }
}

/// Reads what every form may say.
fn head(draft: &mut Draft<'_>, view: &View<'_>) {
    let texts = [(view.task(), "/task"), (view.title(), "/title"), (view.says(), "/text")];
    for (found, canonical) in texts {
        if let Some((text, field)) = found {
            draft.set(field, canonical, text.to_owned());
        }
    }
    if let Some((priority, field)) = view.priority() {
        draft.set(field, "/priority", priority.name());
    }
    if let Some((status, field)) = view.status() {
        draft.set(field, "/status", status.name());
    }
    if let Some(id) = view.reply_to() {
        draft.set("/payload/x_reply_to", "/reply_to", id.to_owned());
    }
    let severity = view.extension(x::SEVERITY).and_then(Severity::from_name);
    if let Some(severity) = severity {
        draft.set("/payload/x_severity", "/severity", severity.name());
    }
    for (extension, field, canonical) in
        [(x::DEADLINE, "/payload/x_deadline", "/deadline"), (x::EXPIRES, "/payload/x_expires", "/expires")]
    {
        let time = view.extension(extension).filter(|text| text.parse::<WrittenTimestamp>().is_ok());
        if let Some(time) = time {
            draft.set(field, canonical, time.to_owned());
        }
    }
}

fn brief(draft: &mut Draft<'_>, view: &View<'_>) {
    if let Some((context, field)) = view.speech() {
        draft.set(field, "/brief/context", context.to_owned());
    }
    draft.read(lenses::BRIEF);
    draft.read_one("/payload/output_contract", "/brief/output", dialect::Codec::Same);
}

fn inbox(draft: &mut Draft<'_>, view: &View<'_>, message_type: MessageType) {
    let wanted =
        draft.document().get("payload").and_then(|payload| payload.get("action_required")?.as_bool());
    let is_gate = message_type == MessageType::ExecGate;
    if wanted == Some(true) || is_gate {
        draft.set("/payload/action_required", "/gate/action_required", wanted.unwrap_or(false));
    }
    let decision = view.extension(x::DECISION).and_then(GateDecision::from_name);
    if let Some(decision) = decision.filter(|_| is_gate) {
        draft.set("/payload/x_decision", "/gate/decision", decision.name());
    }
    for (extension, field, canonical) in [
        (x::ERROR_CODE, "/payload/x_error_code", "/error/code"),
        (x::ERROR_MESSAGE, "/payload/x_error_message", "/error/message"),
    ] {
        if let Some(text) = view.quoted(extension) {
            draft.set(field, canonical, text.to_owned());
        }
    }
}

fn complete(draft: &mut Draft<'_>, view: &View<'_>) {
    draft.read(lenses::COMPLETE);
    if let Some(agent) = view.text("agent") {
        draft.set("/payload/agent", "/result/agent", agent.to_owned());
    }
    if view.text("output_ref").is_some() && draft.get("/attachments").is_none() {
        left_out(draft, "/payload/output_ref");
    }
}

fn blocked(draft: &mut Draft<'_>, view: &View<'_>) {
    let blocker_type = view.text("blocker_type").unwrap_or_default();
    let agrees = |code: &&str| blocker_of_error(code).is_none_or(|blocker| blocker == blocker_type);
    match view.extension(x::ERROR_CODE).filter(agrees) {
        Some(code) => draft.set("/payload/x_error_code", "/error/code", code.to_owned()),
        None => draft.set("/payload/blocker_type", "/error/code", blocker_type.to_owned()),
    }
    match (view.quoted(x::ERROR_MESSAGE), view.speech()) {
        (Some(message), _) => draft.set("/payload/x_error_message", "/error/message", message.to_owned()),
        (None, Some((reason, field))) => draft.set(field, "/error/message", reason.to_owned()),
        (None, None) => {}
    }
    draft.read(lenses::BLOCKED);
}

/// Says which ids are longer or stranger than the canonical message can hold.
fn warn_of_odd_ids(draft: &mut Draft<'_>, view: &View<'_>) {
    for (key, field, canonical) in [
        ("wire_id", "/wire_id", "/native_id"),
        ("stream_id", "/stream_id", "/thread"),
        ("correlation_id", "/correlation_id", "/correlation"),
    ] {
        if view.head(key).is_some() && draft.get(canonical).is_none() {
            left_out(draft, field);
        }
    }
}

fn left_out(draft: &mut Draft<'_>, field: &str) {
    let message = "it is too long or holds control characters, so it stays in the origin".to_owned();
    draft.warn(field, codes::NOT_CARRIED, message);
}
