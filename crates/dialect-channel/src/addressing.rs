//! Whom a message is for: the specification's own shell functions to the letter, and a strict reading of them.
//!
//! The exact functions answer as `is_for_us` and `is_from_us` do under bash, jq and grep: an absent field is the
//! text `null`, the agent's id is a basic regular expression, a line is whatever stands between line breaks.
//! Of such expressions an id can hold `.`, which stands for any character; everything else is taken literally.
//! Not covered: ids with `*`, `[`, `\`, `^`, `$` or a line break, which grep would interpret; fields that are
//! neither text nor absent; other folding of case than that of ASCII, which depends on the locale.

/// Ids that are no longer in use, and the id that is meant by them.
pub const DEPRECATED: &[(&str, &str)] =
    &[("claude-1", "claude"), ("codex-1", "codex"), ("gemini-1", "gemini")];

/// Returns the id that is in use for an agent.
pub fn base_id(agent: &str) -> &str {
    DEPRECATED.iter().find(|(old, _)| *old == agent).map_or(agent, |(_, base)| base)
}

/// Tells whether a watcher of the specification takes a message for its own.
pub fn is_for_us_exact(agent: &str, to: Option<&str>, text: Option<&str>) -> bool {
    if substituted(to.unwrap_or("null")) == agent {
        return true;
    }
    let text = echoed(text.unwrap_or("null"));
    text.split('\n').any(|line| mentions_exactly(line, agent) || starts_with(line, agent))
}

/// Tells whether a watcher of the specification takes itself for the sender.
pub fn is_from_us(agent: &str, from: Option<&str>) -> bool {
    substituted(from.unwrap_or("null")) == agent
}

/// Tells whether a message is meant for an agent: it is addressed to it, mentions it, or starts with its id.
///
/// A mention stands alone, `@qc-1` is none of `qc-12` or in `me@qc-1.example`. Only the first line can start
/// with the id, which ends there or before a colon, a comma or white space. Deprecated ids count as what they
/// stand for.
pub fn is_for_us_strict(agent: &str, to: Option<&str>, text: Option<&str>) -> bool {
    let base = base_id(agent);
    if to.is_some_and(|to| base_id(to) == base) {
        return true;
    }
    let old = DEPRECATED.iter().filter(|(_, known)| *known == base).map(|(old, _)| *old);
    let text = text.unwrap_or_default();
    let mut ids = [base].into_iter().chain(old);
    ids.any(|id| !id.is_empty() && (is_mentioned(text, id) || opens_with(text, id)))
}

/// Tells whether an agent is the sender, under whatever id.
pub fn is_from_us_strict(agent: &str, from: Option<&str>) -> bool {
    from.is_some_and(|from| base_id(from) == base_id(agent))
}

/// Lists the agents that a text mentions, each once, in order, by the ids that are in use.
pub fn mentions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let rest = &text[at + 1..];
        let end = rest.find(|letter| !is_id_letter(letter)).unwrap_or(rest.len());
        let id = rest[..end].trim_end_matches('.');
        let follows = rest[id.len()..].chars().next();
        let alone = is_free_before(text, at) && !follows.is_some_and(continues);
        if !id.is_empty() && !id.ends_with('-') && alone && !found.contains(&base_id(id)) {
            found.push(base_id(id));
        }
    }
    found
}

/// What a shell keeps of a command's output: no line breaks at the end and no NUL.
fn substituted(text: &str) -> String {
    text.replace('\0', "").trim_end_matches('\n').to_owned()
}

/// What `echo` prints of a text: nothing, where the whole text looks like its options.
fn echoed(text: &str) -> String {
    let text = substituted(text);
    let options = text.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty() && letters.bytes().all(|byte| matches!(byte, b'n' | b'e' | b'E'))
    });
    if options { String::new() } else { text }
}

fn mentions_exactly(line: &str, agent: &str) -> bool {
    line.match_indices('@')
        .any(|(at, _)| matches(&line[at + 1..], agent, |pattern, letter| pattern == letter))
}

fn starts_with(line: &str, agent: &str) -> bool {
    matches(line, agent, |pattern, letter| pattern.eq_ignore_ascii_case(&letter))
}

/// Tells whether a text starts with what an id matches as a basic regular expression.
fn matches(text: &str, agent: &str, same: fn(char, char) -> bool) -> bool {
    let mut letters = text.chars();
    agent.chars().all(|pattern| letters.next().is_some_and(|letter| pattern == '.' || same(pattern, letter)))
}

fn is_mentioned(text: &str, id: &str) -> bool {
    text.match_indices('@').any(|(at, _)| {
        let rest = text[at + 1..].strip_prefix(id);
        is_free_before(text, at) && rest.is_some_and(|rest| !rest.starts_with(continues))
    })
}

fn opens_with(text: &str, id: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default();
    let Some((head, rest)) = line.split_at_checked(id.len()) else { return false };
    let ends = |letter: char| matches!(letter, ':' | ',') || letter.is_whitespace();
    head.eq_ignore_ascii_case(id) && (rest.is_empty() || rest.starts_with(ends))
}

fn is_free_before(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    !before.is_some_and(|letter| is_word(letter) || matches!(letter, '@' | '.' | '-'))
}

/// Tells whether a letter after an id makes it another id.
fn continues(letter: char) -> bool {
    is_word(letter) || letter == '-'
}

fn is_id_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '-')
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}
