//! Registrations: who an agent says that it is. Readers of the origin look at five parts and nothing else, and so does
//! this one; a schema says more (`interfaces`), which `validate` tells.

use dialect::FINDINGS_MAX;
use json::{Findings, Object, Path, Value};

use crate::{parts, rules};

/// The parts that a descriptor must have.
const PARTS: [&str; 5] = ["agent_id", "framework", "capabilities", "endpoints", "metadata"];

/// An agent that wants to be known.
#[derive(Clone, Copy, Debug)]
pub struct Registration<'v> {
    /// What it is called.
    pub agent_id: &'v str,
    /// What it runs on.
    pub framework: &'v str,
    /// All that it says of itself.
    pub descriptor: &'v Object<'v>,
}

/// Reads a registration.
pub fn registration<'v>(document: &'v Value<'v>) -> Result<Registration<'v>, Findings> {
    let mut errors = Findings::new(FINDINGS_MAX);
    let path = Path::ROOT.key("agent_descriptor");
    let Some(descriptor) = document.get("agent_descriptor").and_then(Value::as_object) else {
        errors.schema(&path, message::codes::REQUIRED, || "there is no agent_descriptor".to_owned());
        return Err(errors);
    };
    for part in PARTS.iter().filter(|part| !descriptor.get(part).is_some_and(is_something)) {
        errors.schema(&path.key(part), message::codes::REQUIRED, || format!("{part:?} is required"));
    }
    rules::framework(descriptor, &path, &mut errors);
    let (agent_id, framework) = (parts::text(descriptor, "agent_id"), parts::text(descriptor, "framework"));
    let (Some(agent_id), Some(framework)) = (agent_id, framework) else {
        errors.schema(&path, message::codes::TYPE, || "agent_id and framework are texts".to_owned());
        return Err(errors);
    };
    if !parts::is_id(agent_id) {
        errors.schema(&path.key("agent_id"), message::codes::FORMAT, || {
            "an agent's id is short and on one line".to_owned()
        });
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(Registration { agent_id, framework, descriptor })
}

/// Tells whether a value is there for a reader that only asks whether something is.
fn is_something(value: &Value<'_>) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}
