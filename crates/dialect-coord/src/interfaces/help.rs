//! Help: asking for it and giving it.

use dialect::{Interface, Shape};

use super::{ID, LEVELS, PLACE, QUANTITY, TEXTS, defaulted, optional, required};

/// What sort of help is wanted.
pub(crate) const HELP_TYPES: &[&str] =
    &["TECHNICAL_GUIDANCE", "DEBUGGING_ASSISTANCE", "CODE_REVIEW", "ARCHITECTURE_ADVICE", "RESOURCE_SHARING"];
/// What sort of help is given.
pub(crate) const HELP_RESPONSE_TYPES: &[&str] =
    &["DIRECT_ANSWER", "RESOURCE_PROVISION", "COLLABORATIVE_SESSION", "ESCALATION", "UNABLE_TO_HELP"];
/// What a reference leads to.
pub(crate) const REFERENCE_TYPES: &[&str] = &["documentation", "code", "api", "example", "tool"];

pub(crate) static HELP_REQUEST: Interface = Interface {
    name: "HelpRequest",
    fields: &[
        defaulted("requester_id", "the sender", Shape::NonEmpty),
        defaulted("task_id", "none", ID),
        defaulted("help_type", "none", Shape::Words(HELP_TYPES)),
        required("description", Shape::Text),
        defaulted("context", "none", Shape::Object(&HELP_CONTEXT)),
        defaulted("urgency", "none", Shape::Words(LEVELS)),
        optional("deadline", Shape::Timestamp),
    ],
};

pub(crate) static HELP_CONTEXT: Interface = Interface {
    name: "HelpContext",
    fields: &[
        defaulted("current_state", "none", Shape::Text),
        optional("error_details", Shape::Text),
        defaulted("attempted_solutions", "none", TEXTS),
    ],
};

pub(crate) static HELP_RESPONSE: Interface = Interface {
    name: "HelpResponse",
    fields: &[
        defaulted("responder_id", "the sender", Shape::NonEmpty),
        defaulted("request_id", "the correlation id", ID),
        defaulted("response_type", "none", Shape::Words(HELP_RESPONSE_TYPES)),
        required("content", Shape::Text),
        optional("resources", Shape::List(&Shape::Object(&RESOURCE_REFERENCE))),
        defaulted("follow_up_required", "false", Shape::Boolean),
        defaulted("estimated_effort", "0", QUANTITY),
    ],
};

pub(crate) static RESOURCE_REFERENCE: Interface = Interface {
    name: "ResourceReference",
    fields: &[
        required("type", Shape::Words(REFERENCE_TYPES)),
        required("url", PLACE),
        defaulted("title", "none", Shape::Text),
        optional("description", Shape::Text),
    ],
};
