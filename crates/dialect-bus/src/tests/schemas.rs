//! The JSON Schemas that are shipped say what the interfaces say.

use dialect::json_schema;

use crate::interfaces::{
    AGENT_DESCRIPTOR, AGENT_MESSAGE, AGENT_REGISTRATION, FINDING, HEALTH_STATUS, PAYLOADS,
};

/// `UPDATE_VECTORS=1` rewrites; read the diff.
#[test]
fn schemas_are_those_of_the_interfaces() {
    let documents = [&AGENT_MESSAGE, &AGENT_DESCRIPTOR, &AGENT_REGISTRATION, &HEALTH_STATUS, &FINDING];
    let payloads = PAYLOADS.iter().map(|(_, interface)| *interface);
    let interfaces = documents.into_iter().chain(payloads);
    testkit::check_schemas("bus", interfaces.map(|interface| (interface.name, json_schema(interface))));
}
