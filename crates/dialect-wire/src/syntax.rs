//! The forms of the strings in a wire: slugs, task ids, roles and versions.

use message::limits::NAME_BYTES_MAX;

/// Tells whether a text names an agent, `system`, `human`, `runner` or a publisher such as `dreamborn:publisher`.
pub(crate) fn is_slug(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase()) && text.chars().all(is_slug_character)
}

/// Tells whether a character may stand in a slug.
pub(crate) fn is_slug_character(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '_' | '.' | ':' | '-')
}

/// Tells whether a text is the id of an entity of the ledger, such as `0.0.8802709`.
///
/// The ledger counts with 64 bits, so an id is never longer than a topic's name may be.
pub(crate) fn is_task_id(text: &str) -> bool {
    let mut parts = text.split('.');
    let mut number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    let three = number() && number() && number();
    three && parts.next().is_none() && text.len() <= NAME_BYTES_MAX
}

/// Tells whether a text names a role, with or without `roles.` before it.
pub(crate) fn is_role(text: &str) -> bool {
    let role = role_name(text);
    let is_name_character = |character: char| character != ':' && is_slug_character(character);
    role.starts_with(|first: char| first.is_ascii_lowercase() || first.is_ascii_digit())
        && role.chars().all(is_name_character)
        && role.len() <= NAME_BYTES_MAX
}

/// Returns a role without `roles.` before it.
pub(crate) fn role_name(text: &str) -> &str {
    text.strip_prefix("roles.").unwrap_or(text)
}

/// Tells whether a text names to whom an escalation goes: a role, an agent or `exec`.
pub(crate) fn is_route(text: &str) -> bool {
    is_slug(text) && (!text.starts_with("roles.") || is_role(text))
}

/// Tells whether a text names a version such as `1.0`.
pub(crate) fn is_version(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Tells whether a text names a version whose major number is not ours.
pub(crate) fn is_foreign_version(text: &str) -> bool {
    let (major, rest) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_number(major) && rest.split('.').all(is_number) && major != "1"
}
