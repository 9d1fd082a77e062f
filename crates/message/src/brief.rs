//! Brief: what is to be done, how, and how to tell that it is done.

use json::{Object, Value};

use crate::TaskId;
use crate::limits::LIST_ITEMS_MAX;
use crate::members::Members;
use crate::read::{Fields, anything, parsed, string};

/// What is to be done, beyond the title and text of its message.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Brief {
    /// The sort of work, such as `code_review`.
    pub task_type: Option<String>,
    /// What one must know, in the sender's form; `null` counts as absent.
    pub context: Option<Value<'static>>,
    /// What must be kept to.
    pub constraints: Vec<String>,
    /// How to tell that it is done.
    pub criteria: Vec<String>,
    /// What must be done before.
    pub dependencies: Vec<TaskId>,
    /// What the outcome must look like, in the sender's form; `null` counts as absent.
    pub output: Option<Value<'static>>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Brief {
    pub(crate) const FIELDS: &[&str] =
        &["task_type", "context", "constraints", "criteria", "dependencies", "output"];

    pub(crate) fn read(fields: &mut Fields<'_, '_, '_>) -> Option<Self> {
        Some(Brief {
            task_type: fields.optional("task_type", string),
            context: fields.optional("context", anything),
            constraints: fields.list("constraints", LIST_ITEMS_MAX, string),
            criteria: fields.list("criteria", LIST_ITEMS_MAX, string),
            dependencies: fields.list("dependencies", LIST_ITEMS_MAX, parsed),
            output: fields.optional("output", anything),
            extra: fields.rest(),
        })
    }

    pub(crate) fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.maybe("task_type", self.task_type.as_deref());
        members.value("context", self.context.as_ref());
        members.list("constraints", self.constraints.iter().map(String::as_str));
        members.list("criteria", self.criteria.iter().map(String::as_str));
        members.list("dependencies", self.dependencies.iter().map(TaskId::as_str));
        members.value("output", self.output.as_ref());
        members.with(&self.extra, Self::FIELDS)
    }
}
