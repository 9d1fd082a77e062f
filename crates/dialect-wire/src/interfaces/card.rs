//! The interfaces of the Agent Card, version 1.0. Every field is required.

use dialect::{Interface, Shape};

use super::{SLUG, required};
use crate::syntax::is_route;

/// Where an agent belongs.
pub const DEPARTMENTS: &[&str] = &["dev", "ops", "marketing", "sales", "platform"];
/// How an escalation travels.
pub const VIAS: &[&str] = &["task.blocked", "inbox", "exec.gate"];

const CARD_VERSIONS: &[&str] = &["1.0"];

/// The identity document of an agent.
pub static AGENT_CARD: Interface = Interface {
    name: "AgentCard",
    fields: &[
        required("card_version", Shape::Words(CARD_VERSIONS)),
        required("identity", Shape::Object(&IDENTITY)),
        required("scope", Shape::NonEmpty),
        required("capabilities", Shape::NonEmptyList(&Shape::NonEmpty)),
        required("constraints", Shape::NonEmptyList(&Shape::NonEmpty)),
        required("escalation_rules", Shape::NonEmptyList(&Shape::Object(&ESCALATION_RULE))),
        required("output_types", Shape::NonEmptyList(&SLUG)),
        required("working_style", Shape::NonEmpty),
        required("voice", Shape::Object(&VOICE)),
        required("values", Shape::NonEmptyList(&Shape::NonEmpty)),
    ],
};

/// Who an agent is.
pub static IDENTITY: Interface = Interface {
    name: "Identity",
    fields: &[
        required("slug", SLUG),
        required("name", Shape::NonEmpty),
        required("department", Shape::Words(DEPARTMENTS)),
        required("reports_to", SLUG),
        required("model", Shape::NonEmpty),
    ],
};

/// When an agent asks for help, whom and how.
pub static ESCALATION_RULE: Interface = Interface {
    name: "EscalationRule",
    fields: &[
        required("trigger", Shape::NonEmpty),
        required("route_to", Shape::Checked("a role, an agent or exec", is_route)),
        required("via", Shape::Words(VIAS)),
    ],
};

/// How an agent talks.
pub static VOICE: Interface = Interface {
    name: "Voice",
    fields: &[required("description", Shape::NonEmpty), required("example", Shape::NonEmpty)],
};
