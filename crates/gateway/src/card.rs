//! What an agent says of itself where it registered, an Agent Card or a descriptor: what it can do, and to whom it
//! goes when it cannot go on.

use broker::Blocker;
use json::{Limits, Value};
use message::Address;

/// Capabilities that are noted of one agent.
const CAPABILITIES_MAX: usize = 200;
/// Bytes of a capability; what is longer is prose and no name.
const CAPABILITY_BYTES_MAX: usize = 128;
/// Addresses to which one blocked task may go.
const ROUTES_MAX: usize = 16;
/// Lists of a descriptor in which abilities stand.
const LISTS: [&str; 5] = ["tools", "languages", "optimal_tasks", "input_types", "output_types"];

/// Returns what a card or a descriptor says that an agent can do.
pub fn capabilities(descriptor: &Value<'_>) -> Vec<String> {
    let named = descriptor.get("capabilities");
    let direct = named.and_then(Value::as_array).into_iter().flatten();
    let listed = LISTS.iter().filter_map(|list| {
        let inside = named.and_then(|named| named.get(list));
        inside.or_else(|| descriptor.get(list)).and_then(Value::as_array)
    });
    let mut found: Vec<String> = Vec::new();
    for text in direct.chain(listed.flatten()).filter_map(Value::as_str) {
        let is_new = !found.iter().any(|known| known == text);
        if is_new && text.len() <= CAPABILITY_BYTES_MAX && found.len() < CAPABILITIES_MAX {
            found.push(text.to_owned());
        }
    }
    found
}

/// Returns to whom the rules of a card or a descriptor send what stops its agent: those whose trigger names the blocker.
pub(crate) fn routes(said: &str, blocker: Blocker) -> Vec<Address> {
    let Ok(card) = json::parse_str(said, Limits::DOCUMENT) else { return Vec::new() };
    let rules = card.get("escalation_rules").and_then(Value::as_array).unwrap_or_default();
    let (word, name) = (blocker.name(), blocker.name().replace('_', " "));
    let matches = |rule: &&Value<'_>| {
        let trigger = rule.get("trigger").and_then(Value::as_str).unwrap_or_default().to_lowercase();
        trigger.contains(word) || trigger.contains(&name)
    };
    let routed = rules.iter().filter(matches).filter_map(|rule| rule.get("route_to").and_then(Value::as_str));
    // A bare word is an agent, or a role without what stands before roles.
    let addresses = routed.flat_map(|to| [to.to_owned(), format!("roles.{to}")]);
    addresses.filter_map(|to| to.parse().ok()).take(ROUTES_MAX).collect()
}
