//! Which messages are answered.

use std::time::Duration;

use proptest::prelude::*;

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

/// Any JSON that is not deep.
fn any_json() -> impl Strategy<Value = json::Value<'static>> {
    let leaf = prop_oneof![
        Just(json::Value::Null),
        any::<bool>().prop_map(json::Value::from),
        any::<i64>().prop_map(json::Value::integer),
        "(@codex|all|codex|\\PC){0,4}".prop_map(json::Value::from),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let keys = "(id|from|to|type|content|text|code|artifacts|metadata|hops|mode|in_reply_to|path|x)";
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(json::Value::Array),
            prop::collection::vec((keys, inner), 0..8).prop_map(|members| {
                let mut object = json::Object::new();
                for (key, value) in members {
                    object.insert(key, value);
                }
                json::Value::Object(object)
            }),
        ]
    })
}

proptest! {
    /// Whatever stands in a document, it is judged, and what is answered is for the agent and not from it.
    #[test]
    fn odd_documents_are_judged_like_others(document in any_json()) {
        let Some(object) = document.as_object() else { return Ok(()) };
        let post = Post::from_document("msg-20260111-163315-claude-4c78", object);
        prop_assert!(!post.id.is_empty());
        for reading in [Reading::Strict, Reading::Exact] {
            if judge(&post, "codex", reading, None) == Judgement::Answer {
                prop_assert_ne!(&post.from, "codex");
                prop_assert!(post.hops < HOPS_MAX);
            }
        }
    }
}
