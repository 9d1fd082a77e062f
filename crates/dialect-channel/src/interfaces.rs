//! The documents of the specification and of its known users, as data.

use dialect::{Field, Interface, Need, Shape};

/// The states that heartbeats have: the specification's two, and the one that daemons write when they stop.
pub const STATES: &[&str] = &["AWAKE", "OFFLINE", "SLEEPING"];

/// The substates that are known to be written. The set is open; another one means that the agent works.
#[rustfmt::skip]
pub const SUBSTATES: &[&str] = &[
    "IDLE", "WORKING", "OFFLINE", "SHUTDOWN", "REVIEWING", "DOCUMENTING", "TRIAGING", "MANAGING", "ANALYZING",
    "WRITING", "PROCESSING", "WAITING", "IN_CALL",
];

/// The roles of registered agents.
pub const ROLES: &[&str] = &["worker", "verifier", "supervisor", "manager", "specialist", "steward"];

/// The status of registered agents.
pub const REGISTRY_STATUS: &[&str] = &["available", "busy", "offline", "active", "inactive"];

/// A message ("Message Format").
pub static MESSAGE: Interface = Interface {
    name: "Message",
    fields: &[
        field("id", Need::Defaulted("the name of the file"), Shape::NonEmpty),
        field("timestamp", Need::Defaulted("the time in the name of the file"), Shape::Timestamp),
        // Without it nobody knows whom `to: all` reaches, so it has no default.
        field("session_id", Need::Required, Shape::NonEmpty),
        field("from", Need::Required, Shape::NonEmpty),
        field("to", Need::Defaulted("all"), Shape::NonEmpty),
        field("type", Need::Defaulted("chat"), Shape::NonEmpty),
        field("content", Need::Required, Shape::Object(&CONTENT)),
        field("metadata", Need::Optional, Shape::Object(&METADATA)),
    ],
};

/// What a message says.
pub static CONTENT: Interface = Interface {
    name: "Content",
    fields: &[
        field("text", Need::Required, Shape::Text),
        field("code", Need::Optional, Shape::Text),
        field("artifacts", Need::Optional, Shape::List(&Shape::Any)),
    ],
};

/// What a message says about itself. `mode` is an open set: `chat`, `watcher`, `daemon`.
pub static METADATA: Interface = Interface {
    name: "Metadata",
    fields: &[
        field("mode", Need::Optional, Shape::Text),
        field("turn", Need::Optional, Shape::Text),
        field("in_reply_to", Need::Optional, Shape::Text),
        field("model", Need::Optional, Shape::Text),
        field("role", Need::Optional, Shape::Text),
        field("session_persistent", Need::Optional, Shape::Boolean),
        field("hops", Need::Optional, Shape::Integer(0, i64::MAX)),
    ],
};

/// A heartbeat ("Presence Protocol"): of watchers with `watcher_pid`, of daemons with `mode`.
pub static HEARTBEAT: Interface = Interface {
    name: "Heartbeat",
    fields: &[
        field("agent_id", Need::Required, Shape::NonEmpty),
        field("timestamp", Need::Required, Shape::Timestamp),
        field("state", Need::Required, Shape::Words(STATES)),
        field("substate", Need::Optional, Shape::NonEmpty),
        field("watcher_pid", Need::Optional, Shape::Integer(0, u32::MAX as i64)),
        field("channel", Need::Defaulted("none"), Shape::NonEmpty),
        field("mode", Need::Optional, Shape::Text),
        field("session_persistent", Need::Optional, Shape::Boolean),
    ],
};

/// The heartbeat of the first pollers.
pub static POLLER_HEARTBEAT: Interface = Interface {
    name: "PollerHeartbeat",
    fields: &[
        field("agent", Need::Required, Shape::NonEmpty),
        field("session", Need::Required, Shape::NonEmpty),
        field("timestamp", Need::Required, Shape::Timestamp),
        field("status", Need::Required, Shape::Words(&["active"])),
    ],
};

/// A typing indicator.
pub static TYPING_INDICATOR: Interface = Interface {
    name: "TypingIndicator",
    fields: &[
        field("agent", Need::Required, Shape::NonEmpty),
        field("status", Need::Required, Shape::Words(&["typing"])),
        field("timestamp", Need::Required, Shape::Timestamp),
        field("ttl_ms", Need::Defaulted("3000"), Shape::Integer(0, 86_400_000)),
        field("session", Need::Required, Shape::NonEmpty),
    ],
};

/// What the registry knows of an agent.
pub static AGENT_REGISTRATION: Interface = Interface {
    name: "AgentRegistration",
    fields: &[
        field(
            "id",
            Need::Required,
            Shape::Checked("a letter and then letters, digits, `_` or `-`", is_registered_id),
        ),
        field("model", Need::Required, Shape::NonEmpty),
        field("provider", Need::Required, Shape::NonEmpty),
        field("capabilities", Need::Optional, Shape::List(&Shape::Text)),
        field("role", Need::Optional, Shape::Words(ROLES)),
        field("status", Need::Optional, Shape::Words(REGISTRY_STATUS)),
        field("registered", Need::Optional, Shape::Timestamp),
        field("last_seen", Need::Optional, Shape::Timestamp),
        field("cost_tier", Need::Optional, Shape::Integer(1, 5)),
        field("manages", Need::Optional, Shape::List(&Shape::Text)),
        field("reports_to", Need::Optional, Shape::Text),
        field("guardrails", Need::Optional, Shape::Map),
        field("routing_rules", Need::Optional, Shape::Any),
        field("channels", Need::Optional, Shape::Any),
        field("notes", Need::Optional, Shape::Any),
    ],
};

/// Every interface of a whole document.
pub static DOCUMENTS: &[&Interface] =
    &[&MESSAGE, &HEARTBEAT, &POLLER_HEARTBEAT, &TYPING_INDICATOR, &AGENT_REGISTRATION];

const fn field(name: &'static str, need: Need, shape: Shape) -> Field {
    Field { name, need, shape }
}

fn is_registered_id(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(rest)
}
