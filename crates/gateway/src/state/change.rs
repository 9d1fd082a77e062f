//! One change of the shared state, as a `StateUpdate` says it.

use broker::{AgentKey, Change, Command, Entity, Operation, Reply, StateChange};
use dialect::Name;
use json::{Limits, Object, Value};
use node::Turn;

use crate::{Code, Problem};

/// A change of the shared state.
#[derive(Clone, Debug, PartialEq)]
pub struct StateUpdate {
    operation: Operation,
    entity: Entity,
    id: String,
    changes: Object<'static>,
    version: Option<u32>,
}

impl StateUpdate {
    /// Reads a document and checks it as the specification says.
    pub fn read(document: &[u8]) -> Result<Self, Problem> {
        let value = json::parse(document, Limits::DOCUMENT);
        let value = value.map_err(|error| Problem::new(Code::NotJson, format!("not JSON: {error}")))?;
        let is_update = value.get("operation").is_some() || value.get("entity_type").is_some();
        if !is_update {
            return Err(Problem::new(
                Code::Invalid,
                "a change has `operation`, `entity_type` and `entity_id`",
            ));
        }
        let verdict = translate::dialect(Name::Coord).validate(&value);
        let errors = verdict.errors.into_kept();
        let update = StateUpdate::of(&value).filter(|_| errors.is_empty());
        update.ok_or_else(|| {
            let errors = errors.iter().map(|finding| finding.to_value().into_owned()).collect();
            Problem::new(Code::Invalid, "it is not a valid StateUpdate").with("errors", Value::Array(errors))
        })
    }

    /// Reads a change that was checked.
    pub(crate) fn of(value: &Value<'_>) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let version = value.get("version").and_then(Value::as_integer);
        Some(StateUpdate {
            operation: Operation::find(text("operation")?)?,
            entity: Entity::find(text("entity_type")?)?,
            id: text("entity_id")?.to_owned(),
            changes: value
                .get("changes")
                .and_then(Value::as_object)
                .cloned()
                .map(Object::into_owned)
                .unwrap_or_default(),
            version: version.map(|version| u32::try_from(version).unwrap_or(u32::MAX)),
        })
    }

    /// Has the broker make the change, in somebody's name.
    pub fn apply(&self, turn: &mut Turn<'_>, by: AgentKey) -> Result<Change, Problem> {
        match turn.execute(&self.command(by))? {
            Reply::Changed(change) => Ok(change),
            Reply::Done
            | Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Accepted(_)
            | Reply::Taken(_)
            | Reply::Stage(_)
            | Reply::Lease(_) => Err(Problem::new(Code::Internal, "nothing was changed")),
        }
    }

    /// Tells whether the change would be refused now.
    pub(crate) fn check(&self, turn: &mut Turn<'_>, by: AgentKey) -> Result<(), Problem> {
        Ok(turn.check(&self.command(by))?)
    }

    fn command(&self, by: AgentKey) -> Command {
        Command::ChangeState(Box::new(StateChange {
            by,
            operation: self.operation,
            entity: self.entity,
            id: self.id.as_str().into(),
            changes: self.changes.clone(),
            version: self.version,
        }))
    }
}
