//! Reading documents into messages.

mod payload;

use dialect::{Decoded, Draft, FINDINGS_MAX, Names, Strictness};
use json::{Findings, Object, Path, Value};
use message::{Guarantee, Kind, Priority};

use crate::interfaces::{AGENT_MESSAGE, DEFAULT_RETRIES, DEFAULT_TIMEOUT, HEALTH_STATUS};
use crate::parts::{self, Form};
use crate::routing::{self, SYSTEM};
use crate::{codes, kinds, lenses, rules};

/// Reads a document, tolerantly where its users are.
pub(crate) fn decode(document: &Value<'_>, names: &Names) -> Result<Decoded, Findings> {
    let Value::Object(document) = document else {
        let mut errors = Findings::new(FINDINGS_MAX);
        errors.schema(&Path::ROOT, message::codes::TYPE, || {
            format!("expected an object, found {}", document.type_name())
        });
        return Err(errors);
    };
    match parts::form(document) {
        None | Some(Form::Message) => read_message(document, names),
        Some(Form::Health) => read_health(document, names),
        Some(Form::Descriptor | Form::Registration) => {
            let mut errors = Findings::new(FINDINGS_MAX);
            errors.rule(&Path::ROOT, codes::NOT_A_MESSAGE, || {
                "this describes an agent: register it, there is nobody to send it to".to_owned()
            });
            Err(errors)
        }
    }
}

fn read_message<'d>(document: &'d Object<'d>, names: &'d Names) -> Result<Decoded, Findings> {
    let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    AGENT_MESSAGE.check(document, &Path::ROOT, Strictness::Tolerant, &mut errors, &mut warnings);
    rules::check_message(document, &mut errors, &mut warnings);
    // A payload may be anything: what its family would not expect stays data.
    let mut odd = Findings::new(FINDINGS_MAX);
    rules::check_payload(document, &mut odd, &mut warnings);
    odd.into_kept().into_iter().for_each(|finding| warnings.add(finding));
    let Some(kind) = kinds::kind_of(document).filter(|_| errors.is_empty()) else { return Err(errors) };
    let told_by: &[&str] = match kinds::hinted(document) {
        Some(_) => &["/message_type", "/payload/kind"],
        None => &["/message_type"],
    };
    let mut draft = Draft::new(document, names, kind, told_by);
    draft.warnings = warnings;
    draft.read(lenses::HEAD);
    draft.read(&[lenses::SESSION]);
    draft.read(lenses::METADATA);
    draft.read(lenses::METADATA_READ);
    payload::read(&mut draft, kind);
    read_routing(&mut draft, kind);
    draft.finish()
}

/// Reads how the message is to be handed over; what the sender leaves out has a default.
fn read_routing(draft: &mut Draft<'_>, kind: Kind) {
    draft.read(lenses::ROUTING);
    let retries = i64::from(DEFAULT_RETRIES);
    let defaults = [
        ("/priority", Value::from(Priority::Normal.name())),
        ("/delivery/timeout", Value::from(DEFAULT_TIMEOUT)),
        ("/delivery/retries", Value::integer(retries)),
        ("/delivery/backoff", Value::from("exponential")),
        ("/delivery/mode", Value::from("async")),
    ];
    for (place, default) in defaults {
        if draft.get(place).is_none() {
            draft.assume(place, default);
        }
    }
    let priority = draft.get("/priority").and_then(Value::as_str).and_then(Priority::from_name);
    let retries = routing::retries(draft.document()).unwrap_or(DEFAULT_RETRIES);
    if routing::guarantee(kind, priority.unwrap_or(Priority::Normal), retries) == Guarantee::AtMostOnce {
        draft.assume("/delivery/guarantee", Guarantee::AtMostOnce.name());
    }
    let lifetime = routing::lifetime(draft.document());
    draft.lifetime_ms = lifetime.map(|lifetime| lifetime.as_millis().try_into().unwrap_or(u64::MAX));
}

/// Reads the health of an agent as that agent's status, told to the bus.
fn read_health<'d>(document: &'d Object<'d>, names: &'d Names) -> Result<Decoded, Findings> {
    let (mut errors, mut warnings) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    HEALTH_STATUS.check(document, &Path::ROOT, Strictness::Tolerant, &mut errors, &mut warnings);
    rules::check(Form::Health, document, &mut errors, &mut warnings);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut draft = Draft::new(document, names, Kind::AgentStatus, &[]);
    draft.warnings = warnings;
    draft.read(lenses::HEALTH);
    draft.assume("/to", Value::Array(vec![Value::from(SYSTEM)]));
    draft.assume("/priority", Priority::Normal.name());
    draft.assume("/delivery/guarantee", Guarantee::AtMostOnce.name());
    payload::read_health(&mut draft);
    draft.finish()
}
