//! The published schemas are those of the interfaces. `UPDATE_VECTORS=1` rewrites them: read the diff.

use dialect::{Interface, json_schema};

use crate::interfaces::{AGENT_MESSAGE, MESSAGE_METADATA, RETRY_CONFIG, failure, help, state, status, task};

fn published() -> [&'static Interface; 20] {
    [
        &AGENT_MESSAGE,
        &MESSAGE_METADATA,
        &RETRY_CONFIG,
        &task::TASK_CONTEXT,
        &task::TASK_CONSTRAINTS,
        &task::TASK_ASSIGNMENT,
        &task::TASK_HANDOFF_REQUEST,
        &task::TASK_HANDOFF_RESPONSE,
        &task::TASK_UPDATE,
        &task::TASK_COMPLETE,
        &task::TASK_FAILED,
        &help::HELP_REQUEST,
        &help::HELP_RESPONSE,
        &status::STATUS_UPDATE,
        &status::HEARTBEAT,
        &failure::ERROR_REPORT,
        &state::STATE_UPDATE_CARRIER,
        &state::STATE_UPDATE,
        &state::SHARED_STATE,
        &state::POLICY_STATE,
    ]
}

#[test]
fn published_schemas_are_those_of_the_interfaces() {
    let schemas = published().into_iter().map(|interface| (interface.name, json_schema(interface)));
    testkit::check_schemas("coord", schemas);
}
