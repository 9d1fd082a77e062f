//! Words, searches and snippets, as data and against whatever people type.

use proptest::prelude::*;

use crate::search::Search;
use crate::{highlight, text, words};

#[test]
fn texts_become_words() {
    let cases: [(&str, &[&str]); 15] = [
        ("", &[]),
        (" \t\n!?", &[]),
        ("Hello, World", &["hello", "world"]),
        ("next-week_2 a.b", &["next", "week", "2", "a", "b"]),
        ("Café CAFÉ cafe\u{301}", &["cafe", "cafe", "cafe"]),
        ("Łódź Žižek Ångström ÿ", &["lodz", "zizek", "angstrom", "y"]),
        ("3 \u{212b}", &["3", "a"]),
        ("Æther œuvre Straße ðþ", &["æther", "œuvre", "straße", "ðþ"]),
        ("ПРИВЕТ Γειά", &["привет", "γειά"]),
        ("東京 tower ไทย", &["東", "京", "tower", "ไ", "ท", "ย"]),
        ("İstanbul", &["istanbul"]),
        ("👍 ok 👍🏽", &["ok"]),
        ("\u{301}x", &["x"]),
        ("a\"b*c-d(e)f:g^h", &["a", "b", "c", "d", "e", "f", "g", "h"]),
        ("1,5 × 3", &["1", "5", "3"]),
    ];
    for (text, expected) in cases {
        assert_eq!(words::of(text), expected, "{text:?}");
    }
    let long = "k".repeat(1_000);
    assert_eq!(words::of(&long), ["k".repeat(64)]);
}

/// The table of bare letters ends where the letters with marks end, and is right all the way.
#[test]
fn letters_lose_their_marks_and_nothing_else() {
    let cases = [
        ('À', "a"),
        ('Ç', "c"),
        ('ÿ', "y"),
        ('Ā', "a"),
        ('ď', "d"),
        ('ě', "e"),
        ('ğ', "g"),
        ('ħ', "h"),
        ('ı', "i"),
        ('ĵ', "j"),
        ('ķ', "k"),
        ('ł', "l"),
        ('ń', "n"),
        ('ő', "o"),
        ('ř', "r"),
        ('ş', "s"),
        ('ť', "t"),
        ('ű', "u"),
        ('ŵ', "w"),
        ('ŷ', "y"),
        ('Ÿ', "y"),
        ('ź', "z"),
        ('Ž', "z"),
        ('ſ', "s"),
        ('ŋ', "ŋ"),
        ('Ŋ', "ŋ"),
        ('ĳ', "ĳ"),
        ('ĸ', "ĸ"),
        ('Þ', "þ"),
        ('Ø', "o"),
        ('ß', "ß"),
    ];
    for (letter, expected) in cases {
        assert_eq!(words::of(&letter.to_string()), [expected], "{letter}");
    }
}

#[test]
fn bodies_become_texts_without_their_origins() {
    let cases = [
        (r#"{"a":"one","b":["two",{"c":"three"}],"n":4}"#, "one\ntwo\nthree"),
        (r#"{"xOrigin":{"document":"no"},"text":"yes"}"#, "yes"),
        (r#"{"metadata":{"x_origin":"no","other":"yes"}}"#, "yes"),
        (r#"{"origin":{"dialect":"bus","document":"no"},"document":"yes"}"#, "bus\nyes"),
        (r#"{"origin":"yes"}"#, "yes"),
        (r#""just a string""#, "just a string"),
        ("# not JSON", "# not JSON"),
        ("{", "{"),
        ("", ""),
    ];
    for (document, expected) in cases {
        let body = message::Envelope::seal(message::Dialect::Bus, None, document.as_bytes());
        assert_eq!(text(&body), expected, "{document}");
    }
    assert_eq!(text(b"\xff\xfe no envelope"), "\u{fffd}\u{fffd} no envelope");
}

fn find(typed: &str, text: &str) -> bool {
    Search::parse(typed).matches(&[words::of(text)])
}

#[test]
fn searches_mean_what_they_say() {
    let text = "The quick brown fox: jumps over the lazy dog's bed in Zürich";
    let found = [
        "fox",
        "FOX quick",
        "\"quick brown\"",
        "qui*",
        "\"brown fox\" -cat",
        "zurich",
        "Zürich",
        "dog's",
        "lazy-dog",
        "-cat fox",
        "\"the lazy",
        "fox -\"quick fox\"",
        "fox \"\"",
        "jumps, over",
        "bed*",
        "-\"fox quick\"",
    ];
    for typed in found {
        assert!(find(typed, text), "{typed}");
    }
    let not_found = [
        "cat",
        "fo",
        "\"brown quick\"",
        "-fox",
        "fox -dog",
        "quick-fox",
        "foxy*",
        "fox -ju*",
        "-\"quick brown\" fox",
    ];
    for typed in not_found {
        assert!(!find(typed, text), "{typed}");
    }
    for typed in ["", "  ", "\"\"", "-", "*", "- -", "!?", "\"", "-\"", "-*"] {
        assert!(Search::parse(typed).is_empty(), "{typed}");
    }
}

#[test]
fn snippets_mark_every_match() {
    let cases = [
        ("one two three", "two", 100, Some("one «two» three")),
        ("one two three two", "two", 100, Some("one «two» three «two»")),
        ("one two three", "\"two three\"", 100, Some("one «two three»")),
        ("Café au lait", "cafe", 100, Some("«Café» au lait")),
        ("one two three", "t*", 100, Some("one «two» «three»")),
        ("one two three", "-two one", 100, Some("«one» two three")),
        ("one two three", "four", 100, None),
        ("one two three", "-one", 100, None),
        ("", "one", 100, None),
        ("a\nb", "b", 100, Some("a «b»")),
        ("«x» y", "y", 100, Some("\"x\" «y»")),
        ("aaaa bbbb cccc dddd eeee", "cccc", 10, Some("…b «cccc» ddd…")),
        ("aaaa bbbb cccc", "cccc", 0, Some("…«cccc»")),
        ("東京都 は", "京", 4, Some("東«京»都 …")),
    ];
    for (text, query, width, expected) in cases {
        assert_eq!(highlight(text, query, width).as_deref(), expected, "{text:?} {query:?}");
    }
}

proptest! {
    /// Whatever is read as it stands is what spelling it out gives, place by place.
    #[test]
    fn plain_words_are_read_as_if_they_were_spelt(text in "([a-zA-Z0-9]{0,70}|[ .,-]|[é東İ\u{301}👍]){0,12}") {
        let mut read = Vec::new();
        words::each(&text, |word, places| read.push((word.to_owned(), places)));
        let mut spelt = Vec::new();
        words::spell(&text, &mut String::new(), |word, places| spelt.push((word.to_owned(), places)));
        prop_assert_eq!(read, spelt);
    }

    #[test]
    fn words_consist_of_letters_and_digits(text in "\\PC{0,60}") {
        words::each(&text, |word, place| {
            assert!(!word.is_empty() && word.chars().all(char::is_alphanumeric), "{word:?}");
            assert!(text.is_char_boundary(place.start) && text.is_char_boundary(place.end));
        });
    }

    /// Words of words are these words: what was normalised once stays as it is.
    #[test]
    fn words_stay_what_they_are(text in any::<String>()) {
        let words = words::of(&text);
        prop_assert_eq!(words::of(&words.join(" ")), words);
    }

    #[test]
    fn whatever_is_typed_is_understood(typed in any::<String>(), text in any::<String>(), width in 0_usize..200) {
        let search = Search::parse(&typed);
        // Something to ask the index for, or something to look for in the text; or nothing at all.
        let plan = search.plan();
        let is_something = plan.find.is_some() || plan.exclude.is_some() || plan.must_verify;
        prop_assert_eq!(search.is_empty(), !is_something);
        if let Some(snippet) = highlight(&text, &typed, width) {
            prop_assert!(snippet.contains('«') && snippet.matches('«').count() == snippet.matches('»').count());
        }
    }

    #[test]
    fn a_text_is_found_by_each_of_its_words(text in "\\PC{1,80}") {
        for word in words::of(&text) {
            prop_assert!(find(&word, &text));
            let (begin, not) = (format!("{word}*"), format!("-{word}"));
            prop_assert!(find(&begin, &text));
            prop_assert!(!find(&not, &text));
            prop_assert!(highlight(&text, &word, 40).is_some());
        }
    }
}
