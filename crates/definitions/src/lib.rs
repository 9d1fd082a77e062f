//! The schemas that Convoke ships, as data: what stands in `definitions/`, embedded.
//!
//! Only text and names. Whoever needs a schema parses it with the crate of its language; nothing here knows
//! what a schema means.
#![deny(missing_docs)]

#[cfg(test)]
mod tests;

/// One schema that the binary carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name by which users ask for it.
    pub name: &'static str,
    /// The language that it is written in.
    pub language: Language,
    /// What it describes, in a few words.
    pub summary: &'static str,
    /// The schema itself.
    pub text: &'static str,
}

/// The languages of our schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// AT Protocol Lexicon, version 1.
    Lexicon,
    /// JSON Schema, 2020-12.
    JsonSchema,
}

impl Language {
    /// Returns the word used in listings.
    pub fn name(self) -> &'static str {
        match self {
            Language::Lexicon => "lexicon",
            Language::JsonSchema => "json-schema",
        }
    }
}

/// Every schema, in the order of its name.
pub const ALL: &[Definition] = &[
    lexicon(
        "agent.comms.broadcast",
        "an announcement to many agents",
        include_str!("../../../definitions/lexicons/agent/comms/broadcast.json"),
    ),
    lexicon(
        "agent.comms.handoff",
        "work passed on from one agent to another",
        include_str!("../../../definitions/lexicons/agent/comms/handoff.json"),
    ),
    lexicon(
        "agent.comms.message",
        "a message from one agent to another",
        include_str!("../../../definitions/lexicons/agent/comms/message.json"),
    ),
    lexicon(
        "agent.comms.request",
        "a request to do something",
        include_str!("../../../definitions/lexicons/agent/comms/request.json"),
    ),
    lexicon(
        "agent.comms.response",
        "the answer to a request",
        include_str!("../../../definitions/lexicons/agent/comms/response.json"),
    ),
    json_schema(
        "bus/agent-descriptor",
        "AgentDescriptor of the dialect bus",
        include_str!("../../../definitions/bus/agent-descriptor.json"),
    ),
    json_schema(
        "bus/agent-message",
        "AgentMessage of the dialect bus",
        include_str!("../../../definitions/bus/agent-message.json"),
    ),
    json_schema(
        "bus/agent-registration",
        "AgentRegistration of the dialect bus",
        include_str!("../../../definitions/bus/agent-registration.json"),
    ),
    json_schema(
        "bus/error-payload",
        "ErrorPayload of the dialect bus",
        include_str!("../../../definitions/bus/error-payload.json"),
    ),
    json_schema(
        "bus/finding",
        "Finding of the dialect bus",
        include_str!("../../../definitions/bus/finding.json"),
    ),
    json_schema(
        "bus/health-status",
        "HealthStatus of the dialect bus",
        include_str!("../../../definitions/bus/health-status.json"),
    ),
    json_schema(
        "bus/heartbeat-payload",
        "HeartbeatPayload of the dialect bus",
        include_str!("../../../definitions/bus/heartbeat-payload.json"),
    ),
    json_schema(
        "bus/status-update-payload",
        "StatusUpdatePayload of the dialect bus",
        include_str!("../../../definitions/bus/status-update-payload.json"),
    ),
    json_schema(
        "bus/task-request-payload",
        "TaskRequestPayload of the dialect bus",
        include_str!("../../../definitions/bus/task-request-payload.json"),
    ),
    json_schema(
        "bus/task-response-payload",
        "TaskResponsePayload of the dialect bus",
        include_str!("../../../definitions/bus/task-response-payload.json"),
    ),
    json_schema(
        "channel/agent-registration",
        "AgentRegistration of the dialect channel",
        include_str!("../../../definitions/channel/agent-registration.json"),
    ),
    json_schema(
        "channel/heartbeat",
        "Heartbeat of the dialect channel",
        include_str!("../../../definitions/channel/heartbeat.json"),
    ),
    json_schema(
        "channel/message",
        "Message of the dialect channel",
        include_str!("../../../definitions/channel/message.json"),
    ),
    json_schema(
        "channel/poller-heartbeat",
        "PollerHeartbeat of the dialect channel",
        include_str!("../../../definitions/channel/poller-heartbeat.json"),
    ),
    json_schema(
        "channel/typing-indicator",
        "TypingIndicator of the dialect channel",
        include_str!("../../../definitions/channel/typing-indicator.json"),
    ),
    json_schema(
        "coord/agent-message",
        "AgentMessage of the dialect coord",
        include_str!("../../../definitions/coord/agent-message.json"),
    ),
    json_schema(
        "coord/error-report",
        "ErrorReport of the dialect coord",
        include_str!("../../../definitions/coord/error-report.json"),
    ),
    json_schema(
        "coord/heartbeat",
        "Heartbeat of the dialect coord",
        include_str!("../../../definitions/coord/heartbeat.json"),
    ),
    json_schema(
        "coord/help-request",
        "HelpRequest of the dialect coord",
        include_str!("../../../definitions/coord/help-request.json"),
    ),
    json_schema(
        "coord/help-response",
        "HelpResponse of the dialect coord",
        include_str!("../../../definitions/coord/help-response.json"),
    ),
    json_schema(
        "coord/message-metadata",
        "MessageMetadata of the dialect coord",
        include_str!("../../../definitions/coord/message-metadata.json"),
    ),
    json_schema(
        "coord/policy-state",
        "PolicyState of the dialect coord",
        include_str!("../../../definitions/coord/policy-state.json"),
    ),
    json_schema(
        "coord/retry-config",
        "RetryConfig of the dialect coord",
        include_str!("../../../definitions/coord/retry-config.json"),
    ),
    json_schema(
        "coord/shared-state",
        "SharedState of the dialect coord",
        include_str!("../../../definitions/coord/shared-state.json"),
    ),
    json_schema(
        "coord/state-update",
        "StateUpdate of the dialect coord",
        include_str!("../../../definitions/coord/state-update.json"),
    ),
    json_schema(
        "coord/state-update-carrier",
        "StateUpdateCarrier of the dialect coord",
        include_str!("../../../definitions/coord/state-update-carrier.json"),
    ),
    json_schema(
        "coord/status-update",
        "StatusUpdate of the dialect coord",
        include_str!("../../../definitions/coord/status-update.json"),
    ),
    json_schema(
        "coord/task-assignment",
        "TaskAssignment of the dialect coord",
        include_str!("../../../definitions/coord/task-assignment.json"),
    ),
    json_schema(
        "coord/task-complete",
        "TaskComplete of the dialect coord",
        include_str!("../../../definitions/coord/task-complete.json"),
    ),
    json_schema(
        "coord/task-constraints",
        "TaskConstraints of the dialect coord",
        include_str!("../../../definitions/coord/task-constraints.json"),
    ),
    json_schema(
        "coord/task-context",
        "TaskContext of the dialect coord",
        include_str!("../../../definitions/coord/task-context.json"),
    ),
    json_schema(
        "coord/task-failed",
        "TaskFailed of the dialect coord",
        include_str!("../../../definitions/coord/task-failed.json"),
    ),
    json_schema(
        "coord/task-handoff-request",
        "TaskHandoffRequest of the dialect coord",
        include_str!("../../../definitions/coord/task-handoff-request.json"),
    ),
    json_schema(
        "coord/task-handoff-response",
        "TaskHandoffResponse of the dialect coord",
        include_str!("../../../definitions/coord/task-handoff-response.json"),
    ),
    json_schema(
        "coord/task-update",
        "TaskUpdate of the dialect coord",
        include_str!("../../../definitions/coord/task-update.json"),
    ),
    json_schema(
        "wire/agent-card",
        "AgentCard of the dialect wire",
        include_str!("../../../definitions/wire/agent-card.json"),
    ),
    json_schema(
        "wire/available",
        "Available of the dialect wire",
        include_str!("../../../definitions/wire/available.json"),
    ),
    json_schema(
        "wire/available-wire",
        "AvailableWire of the dialect wire",
        include_str!("../../../definitions/wire/available-wire.json"),
    ),
    json_schema(
        "wire/blocked",
        "Blocked of the dialect wire",
        include_str!("../../../definitions/wire/blocked.json"),
    ),
    json_schema(
        "wire/blocked-wire",
        "BlockedWire of the dialect wire",
        include_str!("../../../definitions/wire/blocked-wire.json"),
    ),
    json_schema(
        "wire/brief",
        "Brief of the dialect wire",
        include_str!("../../../definitions/wire/brief.json"),
    ),
    json_schema(
        "wire/brief-wire",
        "BriefWire of the dialect wire",
        include_str!("../../../definitions/wire/brief-wire.json"),
    ),
    json_schema(
        "wire/claim",
        "Claim of the dialect wire",
        include_str!("../../../definitions/wire/claim.json"),
    ),
    json_schema(
        "wire/claim-wire",
        "ClaimWire of the dialect wire",
        include_str!("../../../definitions/wire/claim-wire.json"),
    ),
    json_schema(
        "wire/complete",
        "Complete of the dialect wire",
        include_str!("../../../definitions/wire/complete.json"),
    ),
    json_schema(
        "wire/complete-wire",
        "CompleteWire of the dialect wire",
        include_str!("../../../definitions/wire/complete-wire.json"),
    ),
    json_schema(
        "wire/inbox",
        "Inbox of the dialect wire",
        include_str!("../../../definitions/wire/inbox.json"),
    ),
    json_schema(
        "wire/inbox-wire",
        "InboxWire of the dialect wire",
        include_str!("../../../definitions/wire/inbox-wire.json"),
    ),
    json_schema(
        "wire/output-contract",
        "OutputContract of the dialect wire",
        include_str!("../../../definitions/wire/output-contract.json"),
    ),
    json_schema(
        "wire/pointer",
        "Pointer of the dialect wire",
        include_str!("../../../definitions/wire/pointer.json"),
    ),
    json_schema("wire/wire", "Wire of the dialect wire", include_str!("../../../definitions/wire/wire.json")),
];

/// Goes through the lexicons.
pub fn lexicons() -> impl Iterator<Item = &'static Definition> {
    ALL.iter().filter(|definition| definition.language == Language::Lexicon)
}

/// Returns the schema of that name.
pub fn find(name: &str) -> Option<&'static Definition> {
    ALL.iter().find(|definition| definition.name == name)
}

const fn lexicon(name: &'static str, summary: &'static str, text: &'static str) -> Definition {
    Definition { name, language: Language::Lexicon, summary, text }
}

const fn json_schema(name: &'static str, summary: &'static str, text: &'static str) -> Definition {
    Definition { name, language: Language::JsonSchema, summary, text }
}
