//! Tests of the wire door, against a node on a real disk.

mod inboxes;
mod posting;
mod tasks;
mod topics;

/// Starts a bus with the native door and this one.
async fn start() -> doorstep::Server {
    doorstep::Server::start(|hub| gateway_http::router(hub, vec![crate::doorway()])).await
}

/// Writes a brief.
fn brief(sender: &str, task: &str) -> String {
    format!(
        r#"{{"wire":"1.0","type":"brief","sender":"{sender}","ts":"2026-04-28T00:00:00Z","payload":{{"goal":"The parser is built.","context":"It reads wires.","constraints":["No new dependencies"],"acceptance_criteria":["Tests pass"],"output_contract":{{"type":"pr","schema_ref":null,"output_ref_required":true,"min_length":0,"evaluate":null}},"escalation_triggers":[],"env":{{"client_id":"bezeliq","task_id":"{task}","project_id":"0.0.1","repo_url":null,"worktree_path":null}}}}}}"#
    )
}

/// Writes an inbox message.
fn inbox(sender: &str, to: &str, priority: u8, body: &str) -> String {
    format!(
        r#"{{"wire":"1.0","type":"inbox","sender":"{sender}","ts":"2026-04-28T00:00:00Z","payload":{{"to_agent":"{to}","priority":{priority},"message_type":"question","ref_task_id":null,"subject":"A word","body":"{body}","action_required":true}}}}"#
    )
}
