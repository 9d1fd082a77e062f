//! Documents come home as they were, whichever way they went, and are valid wherever they stop.

use dialect::{Name, Names};
use json::Value;
use proptest::prelude::*;

use super::{any_document, findings, options, origin_of, parse, plain, report, some_names, with_names};
use crate::{Carry, Failure, Options, detect, translate};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn there_and_back_gives_the_same_bytes((from, document) in any_document(), spaces in " {0,2}") {
        let text = format!("{spaces}{document}{spaces}");
        for to in Name::ALL {
            let there = plain(&text, from, *to);
            prop_assert_eq!(findings(*to, &there.text), Vec::<String>::new(), "{} to {}: {}", from, to, there.text);
            prop_assert!(there.report.is_some_and(|report| report.lossless));
            let back = plain(&there.text, *to, from);
            prop_assert_eq!(&back.text, &text, "{} to {} and back", from, to);
            let again = plain(&back.text, from, *to);
            prop_assert_eq!(again.text, there.text, "translating twice adds nothing");
        }
    }

    #[test]
    fn chains_through_all_dialects_keep_the_root(
        (from, document) in any_document(),
        way in Just(Name::ALL.to_vec()).prop_shuffle(),
    ) {
        let text = document.to_string();
        let (mut at, mut travelled) = (from, text.clone());
        for to in way {
            travelled = plain(&travelled, at, to).text;
            at = to;
            prop_assert_eq!(findings(at, &travelled), Vec::<String>::new());
            if at != from {
                prop_assert_eq!(origin_of(at, &travelled).map(|origin| origin.dialect), Some(from));
            }
        }
        prop_assert_eq!(plain(&travelled, at, from).text, text);
    }

    #[test]
    fn known_names_change_nothing_about_that((from, document) in any_document()) {
        let (text, names) = (document.to_string(), some_names());
        for to in Name::ALL {
            let there = with_names(&text, from, *to, &names);
            prop_assert_eq!(findings(*to, &there.text), Vec::<String>::new());
            prop_assert_eq!(with_names(&there.text, *to, from, &names).text, text.clone());
        }
    }

    #[test]
    fn every_dialect_is_told_from_the_others((from, document) in any_document()) {
        prop_assert_eq!(detect(&document), Some(from), "{}", document);
        for to in Name::ALL {
            let there = plain(&document.to_string(), from, *to);
            prop_assert_eq!(detect(&parse(&there.text)), Some(*to), "{}", there.text);
        }
    }

    #[test]
    fn public_translations_carry_no_origin((from, document) in any_document()) {
        let names = Names::default();
        let options = Options { carry: Carry::Nothing, ..options(&names) };
        for to in Name::ALL.iter().filter(|to| **to != from) {
            let there = translate(&document.to_string(), from, *to, &options).unwrap();
            prop_assert!(origin_of(*to, &there.text).is_none() && !report(there.clone()).lossless);
            prop_assert_eq!(findings(*to, &there.text), Vec::<String>::new());
        }
    }

    #[test]
    fn nothing_panics_on_any_value(value in testkit::generate::anything()) {
        let (names, text) = (Names::default(), value.to_string());
        let options = options(&names);
        for from in Name::ALL {
            for to in Name::ALL {
                drop(translate(&text, *from, *to, &options));
            }
        }
    }
}

#[test]
fn what_is_no_document_is_refused() {
    let names = Names::default();
    let options = options(&names);
    let json = translate("{", Name::Bus, Name::Coord, &options).unwrap_err();
    assert!(matches!(json, Failure::Json(_)), "{json}");
    let document = translate("{}", Name::Bus, Name::Coord, &options).unwrap_err();
    assert!(matches!(document, Failure::Document { dialect: Name::Bus, .. }), "{document}");
}

#[test]
fn a_translation_that_nobody_could_read_is_refused() {
    let deep = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"kind":"note","from":"ann","to":["bob"],"text":"deep","data":{open}{close}}}"#)
    };
    let names = Names::default();
    for to in Name::ALL {
        let text = deep(100);
        assert_eq!(plain(&plain(&text, Name::Convoke, *to).text, *to, Name::Convoke).text, text);
        let outcome = translate(&deep(127), Name::Convoke, *to, &options(&names));
        match outcome {
            Ok(there) => assert_eq!(plain(&there.text, *to, Name::Convoke).text, deep(127), "{to}"),
            Err(failure) => assert!(matches!(failure, Failure::Target { .. }), "{failure}"),
        }
    }
}

#[test]
fn an_origin_that_is_not_trusted_is_an_unknown_field() {
    let names = Names::default();
    let text = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hello there"}"#;
    let there = plain(text, Name::Convoke, Name::Channel).text;
    let options = Options { trusts: &|_| false, ..options(&names) };
    let onward = translate(&there, Name::Channel, Name::Convoke, &options).unwrap();
    assert_ne!(onward.text, text);
    let origin = origin_of(Name::Convoke, &onward.text).unwrap();
    assert_eq!((origin.dialect, origin.document), (Name::Channel, there));
}

#[test]
fn an_origin_with_another_digest_is_ignored_and_told() {
    let text = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hello there"}"#;
    let there = plain(text, Name::Convoke, Name::Channel).text;
    let forged = there.replace("hello there\\\"", "goodbye now\\\"");
    assert_ne!(forged, there);
    let back = plain(&forged, Name::Channel, Name::Convoke);
    assert!(!report(back.clone()).lossless);
    assert_eq!(back.warnings.last().map(|warning| warning.code), Some("origin_mismatch"));
    assert_eq!(parse(&back.text).get("text").and_then(Value::as_str), Some("hello there"));
}

#[test]
fn a_field_with_the_name_of_the_origin_that_is_not_ours_survives() {
    let text = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hi there","origin":null,"x_origin":"mine","xOrigin":[1]}"#;
    for to in Name::ALL {
        let there = plain(text, Name::Convoke, *to).text;
        assert_eq!(plain(&there, *to, Name::Convoke).text, text);
    }
}
