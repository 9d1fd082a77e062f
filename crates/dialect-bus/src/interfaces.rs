//! The interfaces of the specification and of the documents that stand beside its messages.

mod identity;
mod message;
mod payloads;

use dialect::{Field, Interface, Need, Shape};

use crate::parts::Form;

pub(crate) use identity::{AGENT_DESCRIPTOR, AGENT_REGISTRATION, HEALTH_STATUS};
pub(crate) use message::{AGENT_MESSAGE, DEFAULT_RETRIES, DEFAULT_TIMEOUT};
pub(crate) use payloads::{FINDING, PAYLOADS};

/// Returns the interface of a document.
pub(crate) fn of(form: Form) -> &'static Interface {
    match form {
        Form::Message => &AGENT_MESSAGE,
        Form::Descriptor => &AGENT_DESCRIPTOR,
        Form::Registration => &AGENT_REGISTRATION,
        Form::Health => &HEALTH_STATUS,
    }
}

/// Returns the interface of the payload of a message type.
pub(crate) fn payload(message_type: &str) -> Option<&'static Interface> {
    PAYLOADS.iter().find(|(name, _)| *name == message_type).map(|(_, interface)| *interface)
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Required, shape }
}

const fn defaulted(name: &'static str, default: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Defaulted(default), shape }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Optional, shape }
}

/// A count or a measure.
const QUANTITY: Shape = Shape::Number(0.0, f64::INFINITY);
/// A part of a whole.
const FRACTION: Shape = Shape::Number(0.0, 1.0);
const COUNT: Shape = Shape::Integer(0, i64::MAX);
const TEXTS: Shape = Shape::List(&Shape::Text);
