//! Under which subjects messages are published.

/// The stream of messages, and its subjects.
pub(crate) const CHAT: &str = "CHAT";
pub(crate) const CHAT_SUBJECTS: &str = "chat.>";
/// The stream of what happens beside them, and its subjects.
pub(crate) const EVT: &str = "EVT";
pub(crate) const EVT_SUBJECTS: &str = "evt.>";

/// Returns the subject of a message: `chat.{channel}.{to}.{from}`.
pub fn chat_subject(channel: &str, to: &str, from: &str) -> String {
    format!("chat.{}.{}.{}", token(channel), token(to), token(from))
}

/// Returns the subject of an agent's presence.
pub fn presence_subject(agent: &str) -> String {
    format!("evt.presence.{}", token(agent))
}

/// Returns the subject of what went wrong with a file of an agent.
pub(crate) fn error_subject(agent: &str) -> String {
    format!("evt.error.{}", token(agent))
}

/// Makes one token of a name: what would part it, or stand for others, becomes `_`.
fn token(name: &str) -> String {
    let kept = |letter: char| match letter {
        '.' | '*' | '>' => '_',
        letter if letter.is_whitespace() || letter.is_control() => '_',
        letter => letter,
    };
    if name.is_empty() { "_".to_owned() } else { name.chars().map(kept).collect() }
}
