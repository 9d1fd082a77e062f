//! Reading a document, tolerantly where the specification's users are.

mod metadata;
mod payload;

use dialect::{Decoded, Draft, FINDINGS_MAX, Names, Strictness, get};
use json::{Findings, Object, Path, Value};
use message::{Kind, codes};

use crate::codes::{ENTITY_MISMATCH, TASK_MISMATCH};
use crate::envelope::{Envelope, Form, Payload, SYSTEM, text};
use crate::rules::{self, Report};
use crate::{lenses, validate};

/// Fields that help to say what a message means.
const TELLING: &[&str] =
    &["/type", "/payload/accepted", "/payload/event/event_type", "/payload/state_update", "/metadata/x_kind"];

/// Reads a document.
pub(crate) fn decode(document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
    let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    let Value::Object(object) = document else {
        let found = document.type_name();
        errors.schema(&Path::ROOT, codes::TYPE, || format!("expected an object, found {found}"));
        return Err(errors);
    };
    validate::shape(object, Strictness::Tolerant, &mut errors, &mut warnings);
    if !errors.is_empty() {
        return Err(errors);
    }
    broken_rules(object, &mut errors, &mut warnings);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut draft = match (Form::of(object), Envelope::of(object)) {
        (Form::Message, Some(envelope)) => message(&envelope, names),
        (Form::StateUpdate | Form::SharedState | Form::Message, _) => state(object, names),
    };
    for warning in draft.warnings.into_kept() {
        warnings.add(warning);
    }
    draft.warnings = warnings;
    draft.finish()
}

/// A reader is tolerant of broken rules; only where a document contradicts itself about its subject, it cannot
/// be understood.
fn broken_rules(document: &Object<'_>, errors: &mut Findings, warnings: &mut Findings) {
    let mut broken = Findings::new(FINDINGS_MAX);
    let mut report = Report { errors: &mut broken, warnings: &mut *warnings };
    match (Form::of(document), Envelope::of(document)) {
        (Form::StateUpdate, _) => rules::state_update(document, &Path::ROOT, &mut report),
        (Form::SharedState, _) => rules::shared_state(document, &mut report),
        (Form::Message, Some(envelope)) => rules::message(&envelope, &mut report),
        (Form::Message, None) => {}
    }
    for finding in broken.into_kept() {
        if [TASK_MISMATCH, ENTITY_MISMATCH].contains(&finding.code) {
            errors.add(finding);
        } else {
            warnings.add(finding);
        }
    }
}

fn message<'d>(envelope: &Envelope<'d>, names: &'d Names) -> Draft<'d> {
    let document = envelope.document;
    let told_by: Vec<&str> = TELLING.iter().copied().filter(|place| get(document, place).is_some()).collect();
    let mut draft = Draft::new(document, names, envelope.kind(), &told_by);
    if let Some(id) = text(document, "id") {
        draft.set("/id", "/native_id", id.to_owned());
    }
    draft.read(lenses::HEAD);
    if let Some((place, task)) = envelope.task() {
        draft.set(place, "/task", task.to_owned());
    }
    metadata::read(&mut draft, envelope);
    payload::read(&mut draft, envelope);
    draft
}

/// Reads a change of the shared state, or all of it, that comes without a message: the system tells itself.
fn state<'d>(document: &'d Object<'d>, names: &'d Names) -> Draft<'d> {
    let is_update = Form::of(document) == Form::StateUpdate;
    let told_by: &[&str] = if is_update { &["/operation", "/entity_type"] } else { &["/task_registry"] };
    let mut draft = Draft::new(document, names, Kind::StateSync, told_by);
    draft.assume("/from", SYSTEM);
    draft.assume("/to/0", SYSTEM);
    let stated_at = if is_update { "timestamp" } else { "last_updated" };
    if let Some(time) = text(document, stated_at) {
        draft.set(&format!("/{stated_at}"), "/created", time.to_owned());
    }
    if let (Some("TASK"), Some(task)) = (text(document, "entity_type"), text(document, "entity_id"))
        && is_update
    {
        draft.set("/entity_id", "/task", task.to_owned());
    }
    draft.assume("/data", document.clone().into_owned());
    for (key, _) in document.iter() {
        draft.link(&Path::ROOT.key(key).to_string(), "/data");
    }
    metadata::read_urgency(&mut draft, None, Payload::StateUpdate.message_type());
    draft
}
