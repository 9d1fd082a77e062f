//! The rules of Agent Wire that a schema cannot say.
//!
//! Each looks only at values of the right type; what has the wrong type was reported by the schema.

use std::fmt::{self, Write};

use dialect::{Strictness, Verdict, words};
use json::{Object, Path, Value};

use crate::codes;
use crate::form::{Form, MessageType};
use crate::prose::{is_one_sentence, is_order};

/// Words of the context of a brief.
pub const CONTEXT_WORDS_MAX: usize = 200;
/// Words of the summary of a completion.
pub const SUMMARY_WORDS_MAX: usize = 150;
/// Messages on a role topic stay under so many bytes.
pub const ROLE_TOPIC_BYTES: usize = 1024;

/// Tells whether a document is small enough for a role topic, which carries pointers only.
pub fn fits_role_topic(document: &[u8]) -> bool {
    document.len() < ROLE_TOPIC_BYTES
}

/// Checks every rule of a wire of that form.
pub(crate) fn check(document: &Object<'_>, form: Form, strictness: Strictness, verdict: &mut Verdict) {
    envelope(document, form, verdict);
    let Some(payload) = document.get("payload").and_then(Value::as_object) else { return };
    match form {
        Form::Brief => brief(payload, strictness, verdict),
        Form::Inbox(message_type) => inbox(payload, message_type, verdict),
        Form::Complete => complete(payload, strictness, verdict),
        Form::Claim => claim(document, payload, verdict),
        Form::Available => role_topic(document, strictness, verdict),
        Form::Blocked | Form::Pointer => {}
    }
}

fn envelope(document: &Object<'_>, form: Form, verdict: &mut Verdict) {
    let text = |key: &str| document.get(key).and_then(Value::as_str);
    if text("type").is_some_and(|name| name != form.name()) {
        let name = form.name();
        verdict.warnings.rule(&Path::ROOT.key("type"), codes::TYPE_ALIAS, || {
            format!("this is what the ledger calls it; in a wire write {name}")
        });
    }
    if text("ts").is_some_and(has_offset) {
        verdict.warnings.rule(&Path::ROOT.key("ts"), codes::NOT_UTC, || {
            "times of wires are given in UTC: end them with Z".to_owned()
        });
    }
}

fn brief(payload: &Object<'_>, strictness: Strictness, verdict: &mut Verdict) {
    if let Some(goal) = payload.get("goal").and_then(Value::as_str) {
        let path = Path::ROOT.key("payload");
        let path = path.key("goal");
        if !goal.is_empty() && !is_one_sentence(goal) {
            verdict.warnings.rule(&path, codes::ONE_SENTENCE, || {
                "a goal is one sentence, with its full stop at the end".to_owned()
            });
        }
        if is_order(goal) {
            verdict.warnings.rule(&path, codes::NOT_DECLARATIVE, || {
                "a goal says what is true in the end: \"X is built\", not \"Build X\"".to_owned()
            });
        }
    }
    words_at_most(payload, "context", CONTEXT_WORDS_MAX, strictness, verdict);
}

fn inbox(payload: &Object<'_>, message_type: MessageType, verdict: &mut Verdict) {
    let is_known = payload.get("message_type").and_then(Value::as_str) == Some(message_type.name());
    if !is_known {
        return;
    }
    let path = Path::ROOT.key("payload");
    let priority = payload.get("priority").and_then(Value::as_integer);
    if priority.is_some_and(|priority| (1..=3).contains(&priority) && priority != message_type.priority()) {
        verdict.warnings.rule(&path.key("priority"), codes::PRIORITY_MISMATCH, || {
            format!("{} has priority {}", message_type.name(), message_type.priority())
        });
    }
    let wants_action = payload.get("action_required").and_then(Value::as_bool) == Some(true);
    if message_type == MessageType::Info && wants_action {
        verdict.warnings.rule(&path.key("action_required"), codes::INFO_WITH_ACTION, || {
            "info is for information; what needs action is a question or another type".to_owned()
        });
    }
}

fn complete(payload: &Object<'_>, strictness: Strictness, verdict: &mut Verdict) {
    let path = Path::ROOT.key("payload");
    let path = path.key("verification");
    for check in ["mechanical", "semantic"] {
        let outcome = payload.get("verification").and_then(|verification| verification.get(check)?.as_str());
        if outcome == Some("fail") {
            verdict.errors.rule(&path.key(check), codes::FAILED_VERIFICATION, || {
                "what failed its verification is not complete: send blocked with verification_fail".to_owned()
            });
        }
    }
    words_at_most(payload, "summary", SUMMARY_WORDS_MAX, strictness, verdict);
}

fn claim(document: &Object<'_>, payload: &Object<'_>, verdict: &mut Verdict) {
    let sender = document.get("sender").and_then(Value::as_str);
    let agent = payload.get("agent").and_then(Value::as_str);
    if sender.zip(agent).is_some_and(|(sender, agent)| sender != agent) {
        verdict.errors.rule(&Path::ROOT.key("payload").key("agent"), codes::NOT_THE_SENDER, || {
            "an agent claims work for itself: agent and sender are the same".to_owned()
        });
    }
}

/// Counts the document without its origin, because a role topic carries only the pointer.
fn role_topic(document: &Object<'_>, strictness: Strictness, verdict: &mut Verdict) {
    let mut count = Count(0);
    // Counting does not fail.
    let counted = write!(count, "{document}").is_ok();
    if let Some(origin) = document.get("payload").and_then(|payload| payload.get("x_origin")) {
        let mut origin_count = Count(",\"x_origin\":".len());
        if write!(origin_count, "{origin}").is_ok() {
            count.0 = count.0.saturating_sub(origin_count.0);
        }
    }
    if counted && count.0 >= ROLE_TOPIC_BYTES {
        let findings = by_strictness(strictness, verdict);
        findings.rule(&Path::ROOT, codes::ROLE_TOPIC_SIZE, || {
            format!("{} bytes; messages on a role topic stay under {ROLE_TOPIC_BYTES}", count.0)
        });
    }
}

/// Tells whether a time ends in an offset from UTC.
fn has_offset(ts: &str) -> bool {
    let zone = ts.get("2026-04-28T".len()..).unwrap_or_default();
    zone.contains(['+', '-']) && !zone.ends_with("+00:00")
}

fn words_at_most(
    payload: &Object<'_>,
    key: &str,
    words_max: usize,
    strictness: Strictness,
    verdict: &mut Verdict,
) {
    let Some(text) = payload.get(key).and_then(Value::as_str) else { return };
    // A word and the space after it are at least two bytes.
    if text.len() < 2 * words_max {
        return;
    }
    let count = words(text);
    if count > words_max {
        let findings = by_strictness(strictness, verdict);
        findings.rule(&Path::ROOT.key("payload").key(key), codes::TOO_MANY_WORDS, || {
            format!("{count} words, at most {words_max} are allowed")
        });
    }
}

/// Returns where to report what must not be written but may be read.
fn by_strictness(strictness: Strictness, verdict: &mut Verdict) -> &mut json::Findings {
    match strictness {
        Strictness::Strict => &mut verdict.errors,
        Strictness::Tolerant => &mut verdict.warnings,
    }
}

/// Counts what is written and keeps none of it.
struct Count(usize);

impl Write for Count {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}
