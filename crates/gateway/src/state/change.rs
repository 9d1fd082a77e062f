//! One change of the shared state, as a `StateUpdate` says it.

use broker::{AgentKey, Entity, Operation, StateChange};
use dialect::Name;
use json::{Limits, Object, Value};

use crate::{Code, Problem};

/// Reads a document and checks it as the specification says; somebody makes the change.
pub fn read_change(document: &[u8], by: AgentKey) -> Result<StateChange, Problem> {
    let value = json::parse(document, Limits::DOCUMENT);
    let value = value.map_err(|error| Problem::new(Code::NotJson, format!("not JSON: {error}")))?;
    let is_update = value.get("operation").is_some() || value.get("entity_type").is_some();
    if !is_update {
        return Err(Problem::new(Code::Invalid, "a change has `operation`, `entity_type` and `entity_id`"));
    }
    let verdict = translate::dialect(Name::Coord).validate(&value);
    let errors = verdict.errors.into_kept();
    let change = change_of(&value).filter(|_| errors.is_empty());
    let change = change.ok_or_else(|| {
        let errors = errors.iter().map(|finding| finding.to_value().into_owned()).collect();
        Problem::new(Code::Invalid, "it is not a valid StateUpdate").with("errors", Value::Array(errors))
    })?;
    Ok(StateChange { by, ..change })
}

/// Reads a change that was checked; who makes it is not said.
pub(crate) fn change_of(value: &Value<'_>) -> Option<StateChange> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let version = value.get("version").and_then(Value::as_integer);
    Some(StateChange {
        by: AgentKey::SYSTEM,
        operation: Operation::find(text("operation")?)?,
        entity: Entity::find(text("entity_type")?)?,
        id: text("entity_id")?.into(),
        changes: value
            .get("changes")
            .and_then(Value::as_object)
            .cloned()
            .map(Object::into_owned)
            .unwrap_or_default(),
        version: version.map(|version| u32::try_from(version).unwrap_or(u32::MAX)),
    })
}
