//! Rules of the shared state and of its changes.

use dialect::{FINDINGS_MAX, Interface, Strictness};
use json::{Findings, Object, Path, Value};

use super::{Report, inner};
use crate::codes;
use crate::envelope::text;
use crate::interfaces::state::{POLICY_STATE, RESOURCE_ALLOCATION, TASK_STATE};
use crate::interfaces::status::AGENT_STATUS;

/// Checks one change: a creation gives all of the entity, a deletion changes nothing.
pub(crate) fn state_update(update: &Object<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let (Some(operation), Some(changes)) = (text(update, "operation"), inner(update, "changes")) else {
        return;
    };
    let path = path.key("changes");
    if operation == "DELETE" && !changes.is_empty() {
        report
            .errors
            .rule(&path, codes::DELETE_WITH_CHANGES, || "a deletion has no changes: write {}".to_owned());
    }
    let entity_type = text(update, "entity_type");
    if entity_type == Some("TASK") {
        same_entity(changes, text(update, "entity_id"), &path, report);
        same_task(changes, &path, report);
    }
    if operation == "CREATE" {
        created(entity_type, changes, &path, report);
    }
    if entity_type == Some("POLICY") {
        thresholds(changes, &path, report);
    }
}

/// Checks the whole of the shared state: every task stands under its own id.
pub(crate) fn shared_state(document: &Object<'_>, report: &mut Report<'_>) {
    let root = Path::ROOT.key("task_registry");
    for (key, task) in inner(document, "task_registry").into_iter().flat_map(Object::iter) {
        let Value::Object(task) = task else { continue };
        let path = root.key(key);
        same_entity(task, Some(key), &path, report);
        same_task(task, &path, report);
    }
    if let Some(policy) = inner(document, "policy_state") {
        thresholds(policy, &Path::ROOT.key("policy_state"), report);
    }
}

fn same_entity(task: &Object<'_>, key: Option<&str>, path: &Path<'_>, report: &mut Report<'_>) {
    if let (Some(key), Some(id)) = (key, text(task, "id"))
        && key != id
    {
        report.errors.rule(&path.key("id"), codes::ENTITY_MISMATCH, || {
            "the entity has another id than the one it stands under".to_owned()
        });
    }
}

fn same_task(task: &Object<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let named = inner(task, "context").and_then(|context| text(context, "task_id"));
    if let (Some(id), Some(named)) = (text(task, "id"), named)
        && id != named
    {
        report.errors.rule(&path.key("context").key("task_id"), codes::TASK_MISMATCH, || {
            "this is another task than the one whose context it is".to_owned()
        });
    }
}

fn created(entity_type: Option<&str>, changes: &Object<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let interface: &'static Interface = match entity_type {
        Some("TASK") => &TASK_STATE,
        Some("AGENT") => &AGENT_STATUS,
        Some("RESOURCE") => &RESOURCE_ALLOCATION,
        Some("POLICY") => &POLICY_STATE,
        Some(_) | None => return,
    };
    let (mut wrong, mut odd) = (Findings::new(FINDINGS_MAX), Findings::new(FINDINGS_MAX));
    interface.check(changes, path, Strictness::Strict, &mut wrong, &mut odd);
    for finding in wrong.kept() {
        report.warnings.rule(path, codes::CREATE_INCOMPLETE, || {
            format!("a creation gives the whole {}: {}: {}", interface.name, finding.path, finding.message)
        });
    }
}

fn thresholds(policy: &Object<'_>, path: &Path<'_>, report: &mut Report<'_>) {
    let Some(risk) = inner(policy, "risk_thresholds") else { return };
    let figure = |key| risk.get(key).and_then(Value::as_number).map(json::Number::as_f64);
    if let (Some(low), Some(high)) = (figure("low"), figure("high"))
        && low > high
    {
        report.warnings.rule(&path.key("risk_thresholds"), codes::THRESHOLD_ORDER, || {
            format!("low is {low} and high is {high}")
        });
    }
}
