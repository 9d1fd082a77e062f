//! Whom a message is for: the decisions' table, exact and strict.

use proptest::prelude::*;

use crate::addressing::{
    base_id, is_for_us_exact, is_for_us_strict, is_from_us, is_from_us_strict, mentions,
};

/// Agent, from, to, text; then what bash says of "for us" and "from us", and what the strict reading says of the first.
type Row = (&'static str, &'static str, Option<&'static str>, Option<&'static str>, bool, bool, bool);

const ALL: Option<&str> = Some("all");

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("codex", "claude", Some("codex"), Some("hello"), true, false, true),
    ("codex", "claude", ALL, Some("hi"), false, false, false),
    ("codex", "claude", ALL, Some("@codex @gemini Please review"), true, false, true),
    ("gemini", "claude", ALL, Some("@codex @gemini Please review"), true, false, true),
    ("codex", "claude", ALL, Some("Codex, please look"), true, false, true),
    ("codex", "claude", ALL, Some("please codex look"), false, false, false),
    ("codex", "claude", ALL, Some("@Codex look"), false, false, false),
    ("codex", "claude", ALL, Some("line one\ncodex: line two"), true, false, false),
    ("codex", "claude", ALL, Some("codexample is a word"), true, false, false),
    ("qc-1", "claude", ALL, Some("ping @qc-12"), true, false, false),
    ("qc-1", "claude", ALL, Some("mail me@qc-1.example"), true, false, false),
    ("codex", "codex", ALL, Some("@codex note to self"), true, true, true),
    ("codex", "claude", Some("Codex"), Some("hi"), false, false, false),
    ("claude", "codex", ALL, Some("claude-1 legacy"), true, false, true),
    ("claude", "codex", Some("claude-1"), Some("x"), false, false, true),
    ("codex", "claude", None, Some("x"), false, false, false),
    ("null", "claude", None, None, true, false, false),
    ("a.b", "x", ALL, Some("@axb"), true, false, false),
    ("codex", "claude", ALL, Some(" codex leading space"), false, false, false),
    ("codex", "claude", Some("codex"), Some(""), true, false, true),
];

/// Agent, text, exact, strict: what the table leaves out.
#[rustfmt::skip]
const TEXTS: &[(&str, &str, bool, bool)] = &[
    ("codex", "codex", true, true),
    ("codex", "CODEX: yes", true, true),
    ("codex", "codex\tyes", true, true),
    ("codex", "codex; no", true, false),
    ("codex", "codex-2 no", true, false),
    ("codex", "codex\n\n\n", true, true),
    ("codex", "\ncodex: second line", true, false),
    ("codex", "(@codex)", true, true),
    ("codex", "@codex.", true, true),
    ("codex", "@codex_2", true, false),
    ("codex", "@codexé", true, false),
    ("codex", "@@codex", true, false),
    ("codex", "x.@codex", true, false),
    ("codex", "x-@codex", true, false),
    ("codex", "é@codex", true, false),
    ("codex", "😀@codex", true, true),
    ("codex", "see @codexample and @codex", true, true),
    ("codex", "@code x", false, false),
    ("codex", "@code\nx", false, false),
    ("codex", "@co\u{0}dex", true, false),
    ("claude", "@claude-1 old", true, true),
    ("claude", "@claude-12 other", true, false),
    ("claude-1", "@claude hello", false, true),
    ("a.b", "axb at the start", true, false),
    ("a.b", "a😀b at the start", true, false),
    ("a.b", "@a.b", true, true),
    ("-n", "-n", false, true),
    ("-n", "-n x", true, true),
    ("null", "null", true, true),
    ("codex", "@CODEX", false, false),
];

#[test]
fn the_table_of_the_decisions() {
    for (agent, from, to, text, for_us, from_us, strictly_for_us) in TABLE {
        let row = format!("{agent} {from} {to:?} {text:?}");
        assert_eq!(is_for_us_exact(agent, *to, *text), *for_us, "{row}");
        assert_eq!(is_from_us(agent, Some(from)), *from_us, "{row}");
        assert_eq!(is_for_us_strict(agent, *to, *text), *strictly_for_us, "{row}");
    }
}

#[test]
fn texts_that_the_table_leaves_out() {
    for (agent, text, exact, strict) in TEXTS {
        assert_eq!(is_for_us_exact(agent, ALL, Some(text)), *exact, "exact {agent} {text:?}");
        assert_eq!(is_for_us_strict(agent, ALL, Some(text)), *strict, "strict {agent} {text:?}");
    }
}

#[test]
fn mentions_stand_alone_and_are_listed_once() {
    let cases: &[(&str, &[&str])] = &[
        ("@codex @gemini Please review", &["codex", "gemini"]),
        ("@codex, @codex and (@qc-1).", &["codex", "qc-1"]),
        ("me@qc-1.example @@x .@y -@z", &[]),
        ("@claude-1 and @claude", &["claude"]),
        ("@claude-12", &["claude-12"]),
        ("@", &[]),
        ("@codex- @- @. @é", &[]),
        ("end @a.b.", &["a.b"]),
    ];
    for (text, expected) in cases {
        assert_eq!(mentions(text), *expected, "{text:?}");
    }
}

#[test]
fn deprecated_ids_mean_their_base() {
    for (old, base) in
        [("claude-1", "claude"), ("codex-1", "codex"), ("gemini-1", "gemini"), ("qc-1", "qc-1")]
    {
        assert_eq!(base_id(old), base);
    }
    assert!(is_from_us_strict("codex", Some("codex-1")) && !is_from_us("codex", Some("codex-1")));
    assert!(is_from_us("null", None) && !is_from_us_strict("null", None));
}

proptest! {
    #[test]
    fn whoever_is_mentioned_is_meant(text in "[a-z@ .\\-\n_é1]{0,40}") {
        for agent in mentions(&text) {
            prop_assert!(is_for_us_strict(agent, None, Some(&text)), "{agent} in {text:?}");
        }
    }

    #[test]
    fn what_is_strictly_for_us_is_for_us(agent in "[a-z]{1,3}", text in "[a-c@ .,:\n]{0,20}") {
        if is_for_us_strict(&agent, ALL, Some(&text)) {
            prop_assert!(is_for_us_exact(&agent, ALL, Some(&text)));
        }
    }

    #[test]
    fn nothing_panics(agent in any::<String>(), to in any::<Option<String>>(), text in any::<Option<String>>()) {
        is_for_us_exact(&agent, to.as_deref(), text.as_deref());
        is_for_us_strict(&agent, to.as_deref(), text.as_deref());
        mentions(&text.unwrap_or_default());
    }
}
