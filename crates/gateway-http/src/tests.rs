//! Tests of the native door, against a node on a real disk.

mod calls;
mod channels;
mod documented;
mod events;
mod past;
mod policies;
mod presence;
mod registry;
mod replies;
mod sockets;
mod state;
mod tasks;
mod translations;
mod trims;

/// Starts a bus with the native door alone.
async fn start() -> doorstep::Server {
    doorstep::Server::start(|hub| crate::router(hub, Vec::new())).await
}

/// Writes JSON with what differs from run to run made the same: ids and times.
fn steady(text: &str) -> String {
    let mut value = json::parse_str(text, json::Limits::DOCUMENT).unwrap();
    rest(&mut value);
    testkit::pretty(&value)
}

fn rest(value: &mut json::Value<'_>) {
    match value {
        json::Value::String(text) if text.parse::<message::MessageId>().is_ok() => *text = "[id]".into(),
        json::Value::String(text) if text.parse::<message::Timestamp>().is_ok() => *text = "[time]".into(),
        json::Value::Array(items) => items.iter_mut().for_each(rest),
        json::Value::Object(members) => {
            let keys: Vec<String> = members.iter().map(|(key, _)| key.to_owned()).collect();
            for key in keys {
                members.get_mut(&key).map(rest);
            }
        }
        json::Value::Null | json::Value::Bool(_) | json::Value::Number(_) | json::Value::String(_) => {}
    }
}
