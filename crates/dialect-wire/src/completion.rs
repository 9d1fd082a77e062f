//! A completion against the brief that asked for it: what only both documents together can say.

use dialect::FINDINGS_MAX;
use json::{Findings, Object, Path, Value};

use crate::codes;

/// Returns whose work a wire reports on or takes: the agent of its payload, which may differ from its sender.
pub fn worker<'v>(document: &'v Object<'_>) -> Option<&'v str> {
    document.get("payload")?.get("agent")?.as_str()
}

/// Checks a completion against its brief: the same task, the evaluation that was asked for, the output demanded.
///
/// Both are taken to be valid by themselves. The paths of the findings are those of the completion.
pub fn check_completion(brief: &Object<'_>, complete: &Object<'_>) -> Findings {
    let mut errors = Findings::new(FINDINGS_MAX);
    let payload = Path::ROOT.key("payload");
    let asked = |pointer: &str| brief.get("payload").and_then(|payload| payload.pointer(pointer));
    let done = |pointer: &str| complete.get("payload").and_then(|payload| payload.pointer(pointer));
    if asked("/env/task_id") != done("/task_id") {
        errors.rule(&payload.key("task_id"), codes::OTHER_TASK, || "the brief is of another task".to_owned());
    }
    let is_evaluated = asked("/output_contract/evaluate").is_some_and(|evaluate| !evaluate.is_null());
    let is_skipped = done("/verification/semantic").and_then(Value::as_str) == Some("skipped");
    if is_evaluated == is_skipped {
        let message = match is_evaluated {
            true => "the brief asks for an evaluation: it passes or fails",
            false => "the brief asks for no evaluation: it is skipped",
        };
        let path = payload.key("verification");
        errors.rule(&path.key("semantic"), codes::EVALUATION_MISMATCH, || message.to_owned());
    }
    let needs_output = asked("/output_contract/output_ref_required").and_then(Value::as_bool) == Some(true);
    if needs_output && done("/output_ref").is_none_or(Value::is_null) {
        errors
            .rule(&payload.key("output_ref"), codes::NO_OUTPUT, || "the brief demands an output".to_owned());
    }
    errors
}
