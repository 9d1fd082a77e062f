//! Checking a document: which interface it must have, and then the rules beside it.

use dialect::{Interface, Strictness, Verdict};
use json::{Object, Path, Value};
use message::codes;

use crate::codes as own;
use crate::form::{Form, is_card};
use crate::interfaces::WIRE;
use crate::syntax::is_foreign_version;
use crate::view::View;
use crate::{card, rules};

/// Checks any document of this dialect.
pub(crate) fn check(document: &Value<'_>, strictness: Strictness) -> Verdict {
    let Value::Object(object) = document else {
        let mut verdict = Verdict::new();
        let found = document.type_name();
        verdict.errors.schema(&Path::ROOT, codes::TYPE, || format!("expected an object, found {found}"));
        return verdict;
    };
    if is_card(object) { card::lint(document, None) } else { check_wire(object, strictness) }
}

/// Checks a wire. Of another major version nothing is known, so nothing more is said.
pub(crate) fn check_wire(document: &Object<'_>, strictness: Strictness) -> Verdict {
    let mut verdict = Verdict::new();
    let version = document.get("wire").and_then(Value::as_str);
    if let Some(version) = version.filter(|version| is_foreign_version(version)) {
        verdict.errors.rule(&Path::ROOT.key("wire"), own::UNSUPPORTED_WIRE_VERSION, || {
            format!("version {} of Agent Wire is not read here, only 1.x", shortened(version))
        });
        return verdict;
    }
    let form = Form::of(document);
    schema(form.map_or(&WIRE, Form::interface), document, strictness, &mut verdict);
    if let Some(form) = form {
        rules::check(document, form, strictness, &mut verdict);
        verdict.kind = View::of(document).map(|view| view.kind());
    }
    verdict
}

fn schema(interface: &Interface, document: &Object<'_>, strictness: Strictness, verdict: &mut Verdict) {
    interface.check(document, &Path::ROOT, strictness, &mut verdict.errors, &mut verdict.warnings);
}

fn shortened(text: &str) -> &str {
    text.get(..16).unwrap_or(text)
}
