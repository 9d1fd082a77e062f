//! Corners of reading and writing, field by field.

use dialect::{Dialect, Names, get};
use json::{Findings, Value};
use message::Message;

use super::{good, value};
use crate::Coord;

/// A good vector, edits of it, a field of the message and what it must be.
type Case = (&'static str, &'static [Edit], &'static str, Option<&'static str>);
/// A place, and what to put there or `None` to remove it.
type Edit = (&'static str, Option<&'static str>);

const READ: &[Case] = &[
    // The lifetime counts from the timestamp; none means only those who listen now.
    ("task-assignment", &[], "/expires", Some(r#""2026-11-15T11:00:00Z""#)),
    (
        "task-assignment",
        &[("/metadata/ttl_ms", Some("1500.9"))],
        "/expires",
        Some(r#""2026-11-15T10:00:01.500Z""#),
    ),
    ("task-assignment", &[("/metadata/ttl_ms", Some("0"))], "/expires", None),
    ("task-assignment", &[("/metadata/ttl_ms", Some("0"))], "/delivery/live_only", Some("true")),
    ("task-assignment", &[("/metadata/ttl_ms", Some("1e300"))], "/expires", None),
    ("task-assignment", &[("/timestamp", None)], "/expires", None),
    // Retries are kept up to what a message can hold.
    ("task-assignment", &[], "/delivery/retries", Some("3")),
    (
        "task-assignment",
        &[("/metadata/max_retries", Some("9007199254740993"))],
        "/delivery/retries",
        Some("1000"),
    ),
    // The guarantee is told where it is not the usual one.
    ("task-assignment", &[], "/delivery/guarantee", None),
    ("task-update", &[], "/delivery/guarantee", Some(r#""at_most_once""#)),
    (
        "status-update",
        &[("/metadata/priority", Some(r#""critical""#))],
        "/delivery/guarantee",
        Some(r#""at_least_once""#),
    ),
    // The priority is stated or implied.
    ("error-report", &[("/metadata/priority", None)], "/priority", Some(r#""critical""#)),
    ("error-report", &[("/metadata", None)], "/priority", Some(r#""critical""#)),
    // The earlier of two deadlines counts.
    ("handoff-request", &[], "/deadline", Some(r#""2026-11-15T18:00:00Z""#)),
    (
        "handoff-request",
        &[("/payload/deadline", Some(r#""2026-11-15T19:00:00+02:00""#))],
        "/deadline",
        Some(r#""2026-11-15T19:00:00+02:00""#),
    ),
    (
        "handoff-request",
        &[("/payload/constraints/deadline", None)],
        "/deadline",
        Some(r#""2026-11-16T10:00:00.000Z""#),
    ),
    (
        "handoff-request",
        &[("/payload/constraints/deadline", None), ("/payload/deadline", Some(r#""9999-12-31T23:59:59Z""#))],
        "/deadline",
        None,
    ),
    // An answer to a handoff takes the work or not.
    ("handoff-accepted", &[], "/status", Some(r#""claimed""#)),
    ("handoff-declined", &[], "/status", Some(r#""rejected""#)),
    ("handoff-declined", &[], "/text", Some(r#""Target agent unavailable""#)),
    // Responses name their request.
    ("help-response", &[], "/reply_to", Some(r#""7b0e4c52-1d3a-4f6b-9c8e-000000000008""#)),
    (
        "help-response",
        &[("/payload/request_id", None)],
        "/reply_to",
        Some(r#""7b0e4c52-1d3a-4f6b-9c8e-000000000008""#),
    ),
    ("handoff-accepted", &[], "/reply_to", Some(r#""7b0e4c52-1d3a-4f6b-9c8e-000000000002""#)),
    ("help-response", &[], "/thread", None),
    ("task-assignment", &[], "/thread", Some(r#""thread-1""#)),
    ("task-assignment", &[("/metadata/correlation_id", Some(r#""task-9""#))], "/thread", None),
    // Everyone, roles and the system are addresses.
    ("heartbeat", &[], "/to", Some(r#"["all"]"#)),
    ("task-assignment", &[("/to", Some(r#""roles.developer""#))], "/to", Some(r#"["roles.developer"]"#)),
    ("state-update", &[], "/to", Some(r#"["system"]"#)),
    ("state-update", &[], "/task", Some(r#""task-9""#)),
    ("state-update", &[("/entity_type", Some(r#""AGENT""#))], "/task", None),
    // Finer states count while they agree with the word of the specification.
    ("task-update-blocked", &[], "/status", Some(r#""blocked""#)),
    ("task-update", &[("/metadata/x_state", Some(r#""BLOCKED""#))], "/status", Some(r#""running""#)),
    ("task-update", &[("/metadata/x_state", Some(r#""REVIEW""#))], "/status", Some(r#""running""#)),
    (
        "task-update",
        &[("/payload/status", Some(r#""completed""#)), ("/metadata/x_state", Some(r#""MERGED""#))],
        "/status",
        Some(r#""done""#),
    ),
    (
        "status-update",
        &[("/metadata/x_state", Some(r#""RATE_LIMITED""#))],
        "/presence/sub",
        Some(r#""RATE_LIMITED""#),
    ),
    // Open maps give their text by its usual names, and the rest as it is.
    ("task-update", &[], "/text", Some(r#""all green""#)),
    ("task-update", &[], "/data", Some(r#"{"tests":212,"progress":40}"#)),
    ("task-assignment", &[], "/title", Some(r#""Review the parser""#)),
    ("task-assignment", &[], "/brief/context", Some(r#"{"branch":"main"}"#)),
    (
        "task-assignment",
        &[],
        "/brief/constraints",
        Some(
            r#"["max_tokens: 50000","budget_usd: 2.50","quality_threshold: 0.8","required_capability: rust","required_capability: review"]"#,
        ),
    ),
    // A result that has a summary says it.
    ("task-complete", &[], "/text", Some(r#""two findings""#)),
    ("task-complete", &[("/payload/result", Some(r#""done""#))], "/text", Some(r#""done""#)),
    ("task-complete", &[("/payload/result", Some("null"))], "/status", Some(r#""done""#)),
    // Numbers keep their lexeme, and a negative zero is none.
    ("task-complete", &[("/payload/result", Some("1.50"))], "/result", Some("1.50")),
    ("status-update", &[("/payload/resource_usage/cost_usd", Some("-0.0"))], "/metrics/cost_usd", Some("0")),
    (
        "status-update",
        &[("/payload/resource_usage/cost_usd", Some("0.250"))],
        "/metrics/cost_usd",
        Some("0.250"),
    ),
    // Levels of help and errors.
    ("help-request", &[], "/severity", Some(r#""high""#)),
    ("error-report", &[], "/error/code", Some(r#""TIMEOUT""#)),
    ("error-report", &[], "/error/severity", Some(r#""high""#)),
    (
        "help-response",
        &[("/payload/response_type", Some(r#""UNABLE_TO_HELP""#))],
        "/status",
        Some(r#""rejected""#),
    ),
    ("help-response", &[], "/gate/action_required", Some("true")),
    ("help-response", &[("/payload/follow_up_required", Some("false"))], "/gate", None),
];

/// Reads a good vector in which some places are set, or removed where the value is `None`.
fn decode(name: &str, edits: &[(&str, Option<&str>)]) -> Result<dialect::Decoded, Findings> {
    let mut document = good(name);
    for (place, text) in edits {
        let (parent, key) = place.rsplit_once('/').unwrap();
        let mut at = &mut document;
        for step in parent.split('/').skip(1) {
            at = at.as_object_mut().unwrap().get_mut(step).unwrap();
        }
        let parent = at.as_object_mut().unwrap();
        match text {
            Some(text) => drop(parent.insert((*key).to_owned(), value(text))),
            None => drop(parent.remove(key)),
        }
    }
    Coord.decode(&document, &Names::default())
}

fn field(message: &Message, canonical: &str) -> Option<String> {
    let value = message.to_value();
    get(value.as_object().unwrap(), canonical).map(Value::to_string)
}

#[test]
fn fields_are_read_as_the_decisions_say() {
    for (name, edits, canonical, expected) in READ {
        let decoded = decode(name, edits).unwrap_or_else(|errors| panic!("{name} {edits:?}: {errors:?}"));
        assert_eq!(field(&decoded.message, canonical).as_deref(), *expected, "{name} {edits:?} {canonical}");
    }
}

#[test]
fn what_is_absent_has_a_default_and_a_warning() {
    let cases: &[(&str, &[&str])] = &[
        (
            "task-assignment",
            &[
                "/id",
                "/timestamp",
                "/metadata/priority",
                "/metadata/retry_count",
                "/payload/constraints",
                "/payload/task/history",
            ],
        ),
        (
            "handoff-request",
            &["/payload/from_agent", "/payload/reason", "/payload/context", "/payload/deadline"],
        ),
        (
            "help-request",
            &["/payload/requester_id", "/payload/task_id", "/payload/context", "/payload/urgency"],
        ),
        ("help-response", &["/payload/request_id", "/payload/response_type", "/payload/estimated_effort"]),
        (
            "status-update",
            &[
                "/payload/agent_id",
                "/payload/resource_usage",
                "/payload/health_metrics",
                "/payload/status/error_rate",
            ],
        ),
        ("error-report", &["/payload/error_id", "/payload/severity", "/payload/recovery_attempts"]),
        ("task-update", &["/payload/event"]),
    ];
    for (name, places) in cases {
        let edits: Vec<(&str, Option<&str>)> = places.iter().map(|place| (*place, None)).collect();
        let decoded = decode(name, &edits).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        for place in *places {
            let is_warned = decoded.warnings.kept().iter().any(|finding| finding.path == *place);
            assert!(is_warned, "{name}: no warning of {place}");
        }
    }
}

#[test]
fn what_cannot_be_understood_is_refused() {
    let cases: &[(&str, &str, Option<&str>, &str)] = &[
        ("task-assignment", "/type", Some(r#""TASK_ASSIGNED""#), "/type enum"),
        ("task-assignment", "/metadata/priority", Some(r#""urgent""#), "/metadata/priority enum"),
        ("task-assignment", "/from", None, "/from required"),
        ("task-assignment", "/payload/task/task_id", None, "/payload/task/task_id required"),
        ("handoff-request", "/payload/reason", Some(r#""BORED""#), "/payload/reason enum"),
        (
            "handoff-request",
            "/payload/task_id",
            Some(r#""task-10""#),
            "/payload/context/task_id task_mismatch",
        ),
        ("task-update", "/payload/status", Some(r#""BLOCKED""#), "/payload/status enum"),
        ("status-update", "/payload/status/state", Some(r#""CIRCUIT_OPEN""#), "/payload/status/state enum"),
        (
            "status-update",
            "/payload/resource_usage/cpu_usage",
            Some("100.1"),
            "/payload/resource_usage/cpu_usage range",
        ),
        ("error-report", "/payload/message", None, "/payload/message required"),
        ("state-update", "/version", Some(r#""1""#), "/version type"),
        ("state-update-create", "/entity_id", Some(r#""other""#), "/changes/id entity_mismatch"),
    ];
    for (name, place, text, expected) in cases {
        let errors = decode(name, &[(place, *text)]).unwrap_err();
        let shown: Vec<String> =
            errors.kept().iter().map(|finding| format!("{} {}", finding.path, finding.code)).collect();
        assert_eq!(shown, [*expected], "{name} {place}");
    }
    assert!(Coord.decode(&value("[]"), &Names::default()).is_err());
}

#[test]
fn broken_rules_are_tolerated_with_a_warning() {
    let cases = [
        ("heartbeat", "/payload/agent_id", Some(r#""zoe""#), "/payload/agent_id sender_mismatch"),
        ("handoff-declined", "/payload/error", None, "/payload/error required_when_declined"),
        ("help-response", "/metadata/correlation_id", None, "/metadata/correlation_id correlation_required"),
        ("state-update-delete", "/changes", Some(r#"{"a":1}"#), "/changes delete_with_changes"),
        ("task-assignment", "/metadata/max_retries", Some("1001"), "/metadata/max_retries clamped"),
    ];
    for (name, place, text, expected) in cases {
        let decoded = decode(name, &[(place, text)]).unwrap();
        let shown: Vec<String> = decoded
            .warnings
            .kept()
            .iter()
            .map(|finding| format!("{} {}", finding.path, finding.code))
            .collect();
        assert!(shown.iter().any(|found| found == expected), "{name}: {shown:?}");
    }
}

#[test]
fn a_registry_resolves_aliases_both_ways() {
    let registry = value(r#"[{"slug":"ann","did":"did:plc:ann","uri":"codex://ann-of-green"}]"#);
    let names = Names::from_value(&registry).unwrap();
    let mut document = good("heartbeat");
    let object = document.as_object_mut().unwrap();
    object.insert("from", "codex://ann-of-green");
    let message = Coord.decode(&document, &names).unwrap().message;
    assert_eq!(message.from.as_str(), "ann");
    let text = r#"{"kind":"agent.heartbeat","from":"did:plc:ann","to":["did:plc:zoe"]}"#;
    let message = message::from_value(value(text)).unwrap().message;
    let written = Coord.encode(&message, &names).document;
    assert_eq!(get(&written, "/from"), Some(&Value::from("ann")));
    assert_eq!(get(&written, "/payload/agent_id"), Some(&Value::from("ann")));
    assert_eq!(get(&written, "/to"), Some(&Value::from("did:plc:zoe")));
}

/// Somebody who edits a native word need not know what we keep beside it.
#[test]
fn an_edited_word_wins_over_what_is_kept_beside_it() {
    let text = r#"{"kind":"task.failed","from":"ann","to":["bob"],"task":"t","error":{"code":"tool_failure","message":"m"}}"#;
    let message = message::from_value(value(text)).unwrap().message;
    let mut document = Value::Object(Coord.encode(&message, &Names::default()).document);
    let code = |document: &Value<'_>| {
        let decoded = Coord.decode(document, &Names::default()).unwrap();
        decoded.message.error.unwrap().code.unwrap()
    };
    assert_eq!(code(&document), "tool_failure");
    let payload = document.as_object_mut().unwrap().get_mut("payload").unwrap();
    let error = payload.as_object_mut().unwrap().get_mut("error").unwrap();
    error.as_object_mut().unwrap().insert("error_type", "TIMEOUT");
    assert_eq!(code(&document), "TIMEOUT");
}
