//! Which messages are answered.

use std::time::Duration;

use crate::{ECHO_WITHIN, HOPS_MAX, Judgement, Post, Reading, judge};

fn post(from: &str, to: &str, text: &str) -> Post {
    let (from, to, text) = (from.to_owned(), Some(to.to_owned()), Some(text.to_owned()));
    Post { from, to, text, ..Post::default() }
}

#[test]
fn strict_and_exact_differ_where_the_decisions_say() {
    use Judgement::{Answer, FromUs, NotForUs};
    let rows: &[(&str, &str, &str, &str, Judgement, Judgement)] = &[
        ("codex", "claude", "codex", "hello", Answer, Answer),
        ("codex", "claude", "all", "hi", NotForUs, NotForUs),
        ("codex", "claude", "all", "@codex @gemini Please review", Answer, Answer),
        ("codex", "claude", "all", "Codex, please look", Answer, Answer),
        ("codex", "claude", "all", "please codex look", NotForUs, NotForUs),
        ("codex", "claude", "all", "@Codex look", NotForUs, NotForUs),
        ("codex", "claude", "all", "line one\ncodex: line two", NotForUs, Answer),
        ("codex", "claude", "all", "codexample is a word", NotForUs, Answer),
        ("qc-1", "claude", "all", "ping @qc-12", NotForUs, Answer),
        ("qc-1", "claude", "all", "mail me@qc-1.example", NotForUs, Answer),
        ("codex", "codex", "all", "@codex note to self", FromUs, FromUs),
        ("codex", "codex-1", "codex", "a note to self under an old name", FromUs, Answer),
        ("claude", "codex", "claude-1", "x", Answer, NotForUs),
        ("a.b", "x", "all", "@axb", NotForUs, Answer),
        ("codex", "claude", "codex", "", Answer, Answer),
    ];
    for (agent, from, to, text, strict, exact) in rows {
        let post = post(from, to, text);
        assert_eq!(judge(&post, agent, Reading::Strict, None), *strict, "{agent}: {from} to {to}: {text}");
        assert_eq!(judge(&post, agent, Reading::Exact, None), *exact, "{agent}: {from} to {to}: {text}");
    }
}

#[test]
fn watchers_do_not_talk_for_ever() {
    let soon = Some(ECHO_WITHIN - Duration::from_millis(1));
    let rows = [
        (0, Some("chat"), soon, Judgement::Answer),
        (1, Some("chat"), soon, Judgement::Answer),
        (1, Some("watcher"), soon, Judgement::Echo),
        (1, Some("daemon"), soon, Judgement::Echo),
        (1, Some("watcher"), Some(ECHO_WITHIN), Judgement::Answer),
        (1, Some("watcher"), None, Judgement::Answer),
        (1, None, soon, Judgement::Echo),
        (0, None, soon, Judgement::Answer),
        (HOPS_MAX - 1, Some("watcher"), None, Judgement::Answer),
        (HOPS_MAX, Some("chat"), None, Judgement::TooManyHops),
        (u64::MAX, Some("chat"), None, Judgement::TooManyHops),
    ];
    for (hops, mode, own_age, wanted) in rows {
        let post = Post { hops, mode: mode.map(str::to_owned), ..post("claude", "codex", "x") };
        assert_eq!(judge(&post, "codex", Reading::Strict, own_age), wanted, "{hops} {mode:?} {own_age:?}");
    }
}
