//! The JSON Schemas in `definitions/wire` say what the interfaces say. `UPDATE_VECTORS=1` rewrites them.

use dialect::{Interface, json_schema};

use crate::interfaces::{
    AGENT_CARD, AVAILABLE, AVAILABLE_WIRE, BLOCKED, BLOCKED_WIRE, BRIEF, BRIEF_WIRE, CLAIM, CLAIM_WIRE,
    COMPLETE, COMPLETE_WIRE, INBOX, INBOX_WIRE, OUTPUT_CONTRACT, POINTER, WIRE,
};

static INTERFACES: &[&Interface] = &[
    &WIRE,
    &BRIEF_WIRE,
    &BRIEF,
    &OUTPUT_CONTRACT,
    &INBOX_WIRE,
    &INBOX,
    &COMPLETE_WIRE,
    &COMPLETE,
    &BLOCKED_WIRE,
    &BLOCKED,
    &CLAIM_WIRE,
    &CLAIM,
    &AVAILABLE_WIRE,
    &AVAILABLE,
    &POINTER,
    &AGENT_CARD,
];

#[test]
fn schemas_are_those_of_the_interfaces() {
    testkit::check_schemas(
        "wire",
        INTERFACES.iter().map(|interface| (interface.name, json_schema(interface))),
    );
}
