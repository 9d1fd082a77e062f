//! The interfaces of Agent Wire: the envelope, its payloads, and the bare pointer of a role topic.
//!
//! What a table of the specification calls required is required; of the others, those that the specification
//! shows as `null`, or that have an obvious empty value, may be absent.

mod card;

use dialect::{Field, Interface, Need, Shape};

use crate::syntax::{is_role, is_slug, is_task_id, is_version};

pub use card::{AGENT_CARD, DEPARTMENTS, ESCALATION_RULE, IDENTITY, VIAS, VOICE};

/// Every type of wire, and after them what the ledger calls some of them.
#[rustfmt::skip]
pub const TYPES: &[&str] = &[
    "brief", "inbox", "complete", "blocked", "claim", "available",
    "task.complete", "task.blocked", "task.claim", "task.claimed", "task.available",
];
/// What an inbox message is about.
pub const MESSAGE_TYPES: &[&str] =
    &["task.feedback", "status.update", "task.blocked", "exec.gate", "question", "info"];
/// What stands in the way of a blocked task.
pub const BLOCKER_TYPES: &[&str] =
    &["spec_gap", "dependency", "tool_failure", "ambiguity", "resource", "verification_fail"];
/// What a task produces.
pub const OUTPUT_TYPES: &[&str] = &["file", "json", "pr", "message", "report"];
/// What a mechanical check says.
pub const MECHANICAL_VERDICTS: &[&str] = &["pass", "fail"];
/// What a semantic check says.
pub const SEMANTIC_VERDICTS: &[&str] = &["pass", "fail", "skipped"];

pub(crate) const SLUG: Shape =
    Shape::Checked("a slug such as quinn: a to z, then also 0 to 9 _ . : -", is_slug);
const TASK_ID: Shape = Shape::Checked("the id of a topic, such as 0.0.8802709", is_task_id);
const ROLE: Shape = Shape::Checked("a role such as developer", is_role);
const COUNT: Shape = Shape::Integer(1, i64::MAX);
const AMOUNT: Shape = Shape::Number(0.0, f64::INFINITY);

/// The envelope of every wire, whatever its type; the type decides about the payload.
pub static WIRE: Interface = Interface { name: "Wire", fields: &envelope(TYPES, Shape::Map) };

/// A brief in its envelope.
pub static BRIEF_WIRE: Interface =
    Interface { name: "BriefWire", fields: &envelope(&["brief"], Shape::Object(&BRIEF)) };

/// An inbox message in its envelope.
pub static INBOX_WIRE: Interface =
    Interface { name: "InboxWire", fields: &envelope(&["inbox"], Shape::Object(&INBOX)) };

/// A completion in its envelope.
pub static COMPLETE_WIRE: Interface = Interface {
    name: "CompleteWire",
    fields: &envelope(&["complete", "task.complete"], Shape::Object(&COMPLETE)),
};

/// A report of a blocked task in its envelope.
pub static BLOCKED_WIRE: Interface = Interface {
    name: "BlockedWire",
    fields: &envelope(&["blocked", "task.blocked"], Shape::Object(&BLOCKED)),
};

/// A claim in its envelope.
pub static CLAIM_WIRE: Interface = Interface {
    name: "ClaimWire",
    fields: &envelope(&["claim", "task.claim", "task.claimed"], Shape::Object(&CLAIM)),
};

/// A pointer to available work in its envelope.
pub static AVAILABLE_WIRE: Interface = Interface {
    name: "AvailableWire",
    fields: &envelope(&["available", "task.available"], Shape::Object(&AVAILABLE)),
};

/// What is to be done.
pub static BRIEF: Interface = Interface {
    name: "Brief",
    fields: &[
        required("goal", Shape::NonEmpty),
        optional("context", Shape::Text),
        optional("constraints", Shape::List(&Shape::NonEmpty)),
        required("acceptance_criteria", Shape::NonEmptyList(&Shape::NonEmpty)),
        required("output_contract", Shape::Object(&OUTPUT_CONTRACT)),
        optional("escalation_triggers", Shape::List(&Shape::NonEmpty)),
        required("env", Shape::Object(&ENV)),
    ],
};

/// What a task must produce.
pub static OUTPUT_CONTRACT: Interface = Interface {
    name: "OutputContract",
    fields: &[
        required("type", Shape::Words(OUTPUT_TYPES)),
        optional("schema_ref", SLUG),
        optional("output_ref_required", Shape::Boolean),
        optional("min_length", Shape::Integer(0, i64::MAX)),
        optional("evaluate", Shape::NonEmpty),
    ],
};

/// Where a task is done.
pub static ENV: Interface = Interface {
    name: "Env",
    fields: &[
        required("client_id", Shape::NonEmpty),
        required("task_id", TASK_ID),
        optional("project_id", TASK_ID),
        optional("repo_url", Shape::NonEmpty),
        optional("worktree_path", Shape::NonEmpty),
    ],
};

/// A message from one agent to another.
pub static INBOX: Interface = Interface {
    name: "Inbox",
    fields: &[
        required("to_agent", SLUG),
        defaulted("priority", "that of the message type", Shape::Integer(1, 3)),
        required("message_type", Shape::Words(MESSAGE_TYPES)),
        optional("ref_task_id", TASK_ID),
        defaulted("subject", "none", Shape::Text),
        required("body", Shape::Text),
        defaulted("action_required", "false", Shape::Boolean),
    ],
};

/// That a task is done and verified.
pub static COMPLETE: Interface = Interface {
    name: "Complete",
    fields: &[
        required("task_id", TASK_ID),
        required("agent", SLUG),
        defaulted("output_ref", "null", Shape::OrNull(&Shape::NonEmpty)),
        defaulted("summary", "none", Shape::Text),
        defaulted("cost_usd", "nothing", AMOUNT),
        defaulted("duration_seconds", "nothing", AMOUNT),
        required("verification", Shape::Object(&VERIFICATION)),
    ],
};

/// How a task was verified.
pub static VERIFICATION: Interface = Interface {
    name: "Verification",
    fields: &[
        required("mechanical", Shape::Words(MECHANICAL_VERDICTS)),
        required("semantic", Shape::Words(SEMANTIC_VERDICTS)),
        defaulted("attempts", "1", COUNT),
    ],
};

/// That a task cannot go on.
pub static BLOCKED: Interface = Interface {
    name: "Blocked",
    fields: &[
        required("task_id", TASK_ID),
        required("agent", SLUG),
        required("reason", Shape::NonEmpty),
        required("blocker_type", Shape::Words(BLOCKER_TYPES)),
        optional("suggested_resolution", Shape::Text),
        defaulted("attempts", "1", COUNT),
    ],
};

/// That an agent takes work.
pub static CLAIM: Interface = Interface {
    name: "Claim",
    fields: &[required("task_id", TASK_ID), required("agent", SLUG), defaulted("role", "any", ROLE)],
};

/// That there is work for a role.
pub static AVAILABLE: Interface =
    Interface { name: "Available", fields: &[required("task_id", TASK_ID), defaulted("role", "any", ROLE)] };

/// The bare pointer that role topics carried before there were wires.
pub static POINTER: Interface = Interface { name: "Pointer", fields: &[required("task_id", TASK_ID)] };

const fn envelope(types: &'static [&'static str], payload: Shape) -> [Field; 9] {
    [
        required("wire", Shape::Checked("a version such as 1.0", is_version)),
        required("type", Shape::Words(types)),
        required("sender", SLUG),
        required("ts", Shape::Timestamp),
        optional("wire_id", Shape::NonEmpty),
        optional("stream_id", Shape::NonEmpty),
        optional("stream_seq", COUNT),
        optional("correlation_id", Shape::NonEmpty),
        required("payload", payload),
    ]
}

pub(crate) const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Required, shape }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Optional, shape }
}

const fn defaulted(name: &'static str, default: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Defaulted(default), shape }
}
