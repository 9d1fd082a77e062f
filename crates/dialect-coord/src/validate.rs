//! Checking a document strictly.

use dialect::{Strictness, Verdict};
use json::{Findings, Object, Path, Value};
use message::{Kind, codes};

use crate::envelope::{Envelope, Form};
use crate::interfaces::AGENT_MESSAGE;
use crate::interfaces::state::{SHARED_STATE, STATE_UPDATE};
use crate::rules::{self, Report};

/// Checks a document: the schema and the rules.
pub(crate) fn validate(document: &Value<'_>) -> Verdict {
    let mut verdict = Verdict::new();
    let Value::Object(object) = document else {
        let found = document.type_name();
        verdict.errors.schema(&Path::ROOT, codes::TYPE, || format!("expected an object, found {found}"));
        return verdict;
    };
    shape(object, Strictness::Strict, &mut verdict.errors, &mut verdict.warnings);
    let mut report = Report { errors: &mut verdict.errors, warnings: &mut verdict.warnings };
    verdict.kind = match Form::of(object) {
        Form::StateUpdate => {
            rules::state_update(object, &Path::ROOT, &mut report);
            Some(Kind::StateSync)
        }
        Form::SharedState => {
            rules::shared_state(object, &mut report);
            Some(Kind::StateSync)
        }
        Form::Message => Envelope::of(object).map(|envelope| {
            rules::message(&envelope, &mut report);
            envelope.kind()
        }),
    };
    verdict
}

/// Checks the shape of a document.
pub(crate) fn shape(
    document: &Object<'_>,
    strictness: Strictness,
    errors: &mut Findings,
    warnings: &mut Findings,
) {
    let interface = match Form::of(document) {
        Form::StateUpdate => &STATE_UPDATE,
        Form::SharedState => &SHARED_STATE,
        Form::Message => &AGENT_MESSAGE,
    };
    interface.check(document, &Path::ROOT, strictness, errors, warnings);
    if let (Form::Message, Some(envelope)) = (Form::of(document), Envelope::of(document))
        && let Some(payload) = envelope.payload
    {
        let path = Path::ROOT.key("payload");
        envelope.payload_sort().interface().check(payload, &path, strictness, errors, warnings);
    }
}
