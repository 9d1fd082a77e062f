//! Drift: the forms of the running network, which are read though the lexicons do not have them.
//!
//! A record is held against its lexicon first. What is wrong with it is forgiven where we know what is meant,
//! and becomes a warning; anything else refuses the record.

use json::{Finding, Findings, Source, Value};
use lexicon::{Purpose, Report, Target, codes};
use message::{Alias, codes as message_codes};

use crate::codes::DRIFTED;
use crate::view::View;
use crate::words::{DRIFTED_CONTENT_KIND, DRIFTED_STATUSES};
use crate::{Record, catalog, ids};

/// Fields of which `null` says no less than their absence would: nothing that could be understood.
const NEEDED: &[&str] = &[
    "/sender",
    "/recipient",
    "/content",
    "/content/kind",
    "/task",
    "/request",
    "/status",
    "/from",
    "/to",
    "/summary",
];

/// Looks at a record as its network writes it, or reports what cannot be understood.
pub(crate) fn admit<'v>(document: &'v Value<'v>) -> Result<(View<'v>, Findings), Findings> {
    let Some(view) = document.as_object().and_then(View::of_any) else {
        return Err(catalog().validate_record(document, Purpose::Read).errors);
    };
    let report = catalog().validate(Target::Record(view.record.name()), document, Purpose::Read);
    let (mut errors, mut warnings) = (Report::new().errors, report.warnings);
    if report.errors.beyond() > 0 {
        errors.add(too_many(report.errors.beyond()));
    }
    for mut finding in report.errors.into_kept() {
        match forgiven(&view, document, &finding) {
            Some(code) => {
                finding.code = code;
                warnings.add(finding);
            }
            None => errors.add(finding),
        }
    }
    warn_of_drift(&view, &mut warnings);
    if errors.is_empty() { Ok((view, warnings)) } else { Err(errors) }
}

/// Returns the code of the warning that a finding becomes, if we know what is meant.
fn forgiven(view: &View<'_>, document: &Value<'_>, finding: &Finding) -> Option<&'static str> {
    let path = finding.path.as_str();
    let value = document.pointer(path);
    let text = value.and_then(Value::as_str);
    let known = match finding.code {
        codes::TYPE_FIELD => path == "/$type" && view.is_drifted_request(),
        codes::REQUIRED => return forgiven_absence(view, path),
        codes::NULL if path == "/createdAt" => return Some(codes::NULL),
        codes::NULL => return (!NEEDED.contains(&path)).then_some(codes::NULL),
        codes::ENUM => forgiven_word(view, path, text?),
        codes::TYPE => forgiven_type(view, path, value?),
        codes::FORMAT => return forgiven_format(view, path, text?),
        codes::MAX_LENGTH if text.is_some() => return Some(codes::MAX_LENGTH),
        // Data that no schema describes is carried whatever numbers it holds.
        codes::FLOAT | codes::INTEGER_RANGE => return is_free(view, path).then_some(finding.code),
        codes::LINK | codes::BYTES | codes::BLOB => return is_free(view, path).then_some(finding.code),
        _ => false,
    };
    known.then_some(DRIFTED)
}

fn forgiven_absence(view: &View<'_>, path: &str) -> Option<&'static str> {
    match (view.record, path) {
        (_, "/createdAt") => Some(codes::REQUIRED),
        (Record::Response, "/request") => view.text("requestUri").map(|_| DRIFTED),
        (Record::Handoff, "/summary") => view.text("reason").map(|_| DRIFTED),
        (Record::Response, "/result/schema" | "/result/data") => Some(DRIFTED),
        (Record::Request, "/params/schema" | "/params/data") => Some(DRIFTED),
        _ => None,
    }
}

fn forgiven_word(view: &View<'_>, path: &str, word: &str) -> bool {
    match (view.record, path) {
        (Record::Message | Record::Broadcast, "/content/kind") => {
            let uri = view.inner("content", "uri").and_then(Value::as_str);
            word == DRIFTED_CONTENT_KIND && uri.is_some()
        }
        (Record::Response, "/status") => DRIFTED_STATUSES.contains(&word),
        _ => false,
    }
}

fn forgiven_type(view: &View<'_>, path: &str, value: &Value<'_>) -> bool {
    match (view.record, path) {
        (Record::Response, "/error") => value.as_str().is_some(),
        (Record::Response, "/result" | "/result/schema" | "/result/data") => true,
        (Record::Request, "/params" | "/params/schema" | "/params/data") => true,
        (Record::Message | Record::Broadcast, "/content/data") => true,
        // The running network lists records with their keys here.
        (Record::Handoff, path) => path.starts_with("/context/") && value.as_object().is_some(),
        _ => false,
    }
}

fn forgiven_format(view: &View<'_>, path: &str, text: &str) -> Option<&'static str> {
    let drifted = match path {
        // A federated DID has an `@`, which DIDs do not.
        "/sender" | "/recipient" | "/assignee" | "/from" | "/to" => {
            text.starts_with("did:") && text.parse::<Alias>().is_ok()
        }
        "/thread" | "/session" | "/inReplyTo" => ids::is_reference(text),
        "/request" => ids::is_reference(text) && ids::authority_of(text).is_some(),
        "/createdAt" | "/expiresAt" | "/deadline" => ids::is_timestamp(text),
        "/result/schema" | "/params/schema" => true,
        // Handles are for display only.
        "/senderHandle" | "/recipientHandle" | "/fromHandle" | "/toHandle" => return Some(codes::FORMAT),
        _ => view.record == Record::Handoff && path.starts_with("/context/"),
    };
    drifted.then_some(DRIFTED)
}

/// Tells whether a place lies in data that no lexicon of ours describes.
fn is_free(view: &View<'_>, path: &str) -> bool {
    let described = ["/priority", "/ttlSeconds", "/metrics/durationMs", "/metrics/tokenUsage"];
    let blob = matches!(view.record, Record::Message | Record::Broadcast)
        && (path == "/content/blob" || path.starts_with("/content/blob/"));
    !blob && !described.contains(&path)
}

/// Warns of what the lexicons take for unknown fields but the running network means something by.
fn warn_of_drift(view: &View<'_>, warnings: &mut Findings) {
    let keys: &[&str] = match view.record {
        Record::Broadcast => &["recipient", "intent"],
        Record::Response => &["recipient", "requestUri"],
        Record::Handoff => &["reason"],
        Record::Request if view.is_drifted_request() => &["recipient", "replyTo"],
        Record::Message | Record::Request => &[],
    };
    let meant = |key: &&&str| match **key {
        "recipient" => view.drifted_recipient().is_some(),
        key => view.text(key).is_some(),
    };
    for key in keys.iter().filter(meant) {
        let message = format!("the lexicon has no field {key:?}; it is read as the running network means it");
        warnings.add(Finding { path: format!("/{key}"), code: DRIFTED, source: Source::Rule, message });
    }
}

fn too_many(beyond: usize) -> Finding {
    let message = format!("{beyond} more findings are not listed");
    Finding { path: String::new(), code: message_codes::TOO_MANY, source: Source::Schema, message }
}
