//! Rules: what the lexicons mean and their language cannot say.

use atproto_syntax::datetime;
use json::{Findings, Object, Path, Source, Value};
use lexicon::{Catalog, Purpose, Target};

use crate::view::View;
use crate::{Record, codes, ids};

/// Checks everything that the lexicons leave to their readers. What has another type than it should is the
/// schema's to report.
pub(crate) fn check(view: &View<'_>, errors: &mut Findings, warnings: &mut Findings) {
    match view.record {
        Record::Message => {
            check_content(view, errors, warnings);
            check_reference(view, "inReplyTo", warnings);
            check_times(view, "expiresAt", codes::EXPIRES_BEFORE_CREATED, warnings);
        }
        Record::Broadcast => {
            check_content(view, errors, warnings);
            check_times(view, "expiresAt", codes::EXPIRES_BEFORE_CREATED, warnings);
        }
        Record::Request => {
            check_times(view, "deadline", codes::DEADLINE_BEFORE_CREATED, warnings);
            check_schema(view, warnings);
        }
        Record::Response => {
            check_error(view, errors);
            check_reference(view, "request", warnings);
            check_schema(view, warnings);
        }
        Record::Handoff => {
            check_times(view, "expiresAt", codes::EXPIRES_BEFORE_CREATED, warnings);
            check_schema(view, warnings);
        }
    }
}

/// Checks the payload of a record against its schema, where a catalog has that, and reports what is wrong as
/// rule findings. Payloads of other schemas are carried as they are.
pub fn check_payload(catalog: &Catalog, record: &Object<'_>, errors: &mut Findings) {
    let holder = match record.get("$type").and_then(Value::as_str).and_then(Record::from_name) {
        Some(record @ (Record::Request | Record::Response | Record::Handoff)) => record.payload(),
        Some(Record::Message | Record::Broadcast) | None => return,
    };
    let Some(payload) = record.get(holder) else { return };
    let schema = payload.get("schema").and_then(Value::as_str);
    let Some((schema, data)) = schema.zip(payload.get("data")) else { return };
    if catalog.document(schema).is_none() {
        return;
    }
    let report = catalog.validate(Target::Definition(schema), data, Purpose::Write);
    for mut finding in report.errors.into_kept() {
        finding.path.insert_str(0, &format!("/{holder}/data"));
        finding.source = Source::Rule;
        errors.add(finding);
    }
}

/// The kind of content promises a sibling.
fn check_content(view: &View<'_>, errors: &mut Findings, warnings: &mut Findings) {
    let Some(content) = view.object.get("content").and_then(Value::as_object) else { return };
    let path = Path::ROOT.key("content");
    let promised = match content.get("kind").and_then(Value::as_str) {
        Some("text") => "text",
        Some("json" | "event") => "data",
        Some("binary") => "blob",
        Some(_) | None => return,
    };
    if !content.contains_key(promised) {
        errors.rule(&path.key(promised), codes::CONTENT_REQUIRED, || {
            format!("content of this kind needs {promised:?}")
        });
    }
    let stated = content.get("mimeType").and_then(Value::as_str);
    let stored = content.get("blob").and_then(|blob| blob.get("mimeType")).and_then(Value::as_str);
    if let Some((stated, stored)) = stated.zip(stored)
        && stated != stored
    {
        warnings.rule(&path.key("mimeType"), codes::MIME_MISMATCH, || {
            format!("the blob says that it is {stored:?}")
        });
    }
}

/// Failure and rejection say why; success has nothing to say about errors.
fn check_error(view: &View<'_>, errors: &mut Findings) {
    let path = Path::ROOT.key("error");
    let error = view.object.get("error");
    match view.text("status") {
        Some("error" | "rejected") => {
            let says = |key: &str| {
                let text = error.and_then(|error| error.get(key)).and_then(Value::as_str);
                text.is_some_and(|text| !text.is_empty())
            };
            // An error of another type is reported by the schema, and by that alone.
            let readable = error.is_none_or(|error| error.as_object().is_some());
            if readable && !says("code") && !says("message") {
                errors.rule(&path, codes::ERROR_REQUIRED, || {
                    "a response of this status needs an error with a code or a message".to_owned()
                });
            }
        }
        Some("ok") if error.is_some() => {
            errors.rule(&path, codes::ERROR_FORBIDDEN, || "a response that is ok has no error".to_owned());
        }
        Some(_) | None => {}
    }
}

/// What is answered should be a record of these lexicons, in a repository that a DID names.
fn check_reference(view: &View<'_>, key: &str, warnings: &mut Findings) {
    // Whether it is one is the schema's to say.
    let Some(uri) = view.text(key).filter(|uri| uri.starts_with("at://")) else { return };
    let path = Path::ROOT.key(key);
    if !ids::authority_of(uri).is_some_and(|authority| authority.starts_with("did:")) {
        warnings.rule(&path, codes::AUTHORITY_NOT_DID, || {
            "name the repository by its DID: a handle can come to mean another".to_owned()
        });
    }
    if !ids::collection_of(uri).is_some_and(|collection| collection.starts_with("agent.comms.")) {
        warnings.rule(&path, codes::FOREIGN_REFERENCE, || {
            "it does not lead to a record of agent.comms".to_owned()
        });
    }
}

/// A schema that ends in `v2` belongs to the domain of what it is a version of.
fn check_schema(view: &View<'_>, warnings: &mut Findings) {
    let holder = view.record.payload();
    let Some(schema) = view.inner(holder, "schema").and_then(Value::as_str) else { return };
    let name = schema.rsplit('.').next().unwrap_or_default();
    let version = name
        .strip_prefix('v')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if version {
        warnings.rule(&Path::ROOT.key(holder).key("schema"), codes::VERSIONED_SCHEMA, || {
            format!(
                "put the version into the name, as in thing{}: the part before the last dot is its authority",
                name.to_uppercase()
            )
        });
    }
}

fn check_times(view: &View<'_>, key: &str, code: &'static str, warnings: &mut Findings) {
    let at = |key: &str| {
        let moment = view.text(key).and_then(|text| datetime::parse(text).ok());
        moment.map(|moment| (moment.unix_seconds, moment.nanos))
    };
    if at(key).is_some_and(|end| at("createdAt").is_some_and(|created| end < created)) {
        warnings.rule(&Path::ROOT.key(key), code, || "it lies before createdAt".to_owned());
    }
}
