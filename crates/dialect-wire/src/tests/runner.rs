//! What a runner decides by: blockers, ids, completions against briefs, and the counting of prose and decimals.

use json::Value;
use proptest::prelude::*;

use super::{object, parse, shown, vector};
use crate::decimal::{thousandth, times_thousand};
use crate::interfaces::BLOCKER_TYPES;
use crate::prose::{Prose, goal, is_one_sentence, is_order, prose};
use crate::stand_in::{recipient, slug, stands_for, task_id};
use crate::syntax::{is_slug, is_task_id};
use crate::{blocker_of_error, check_completion, error_of_blocker, wire_id, worker};

#[test]
fn blockers_have_an_error_code() {
    let rows = [
        ("spec_gap", "VALIDATION_ERROR"),
        ("dependency", "EXTERNAL_SERVICE_ERROR"),
        ("tool_failure", "EXTERNAL_SERVICE_ERROR"),
        ("ambiguity", "VALIDATION_ERROR"),
        ("resource", "RESOURCE_EXHAUSTED"),
        ("verification_fail", "VALIDATION_ERROR"),
    ];
    assert_eq!(rows.map(|row| row.0), BLOCKER_TYPES);
    for (blocker, code) in rows {
        assert_eq!(error_of_blocker(blocker), Some(code), "{blocker}");
        assert_eq!(blocker_of_error(blocker), Some(blocker));
    }
    assert_eq!((error_of_blocker("other"), blocker_of_error("other")), (None, None));
}

#[test]
fn error_codes_of_others_have_a_blocker() {
    let rows = [
        ("TIMEOUT", "tool_failure"),
        ("NETWORK_ERROR", "tool_failure"),
        ("EXTERNAL_SERVICE_ERROR", "tool_failure"),
        ("INTERNAL_ERROR", "tool_failure"),
        ("AUTHENTICATION_ERROR", "tool_failure"),
        ("PROCESS_EXIT", "tool_failure"),
        ("VALIDATION_ERROR", "spec_gap"),
        ("RATE_LIMIT", "resource"),
        ("RESOURCE_EXHAUSTED", "resource"),
    ];
    for (code, blocker) in rows {
        assert_eq!(blocker_of_error(code), Some(blocker), "{code}");
    }
}

#[test]
fn the_id_of_a_wire_does_not_depend_on_the_order_of_keys() {
    let one = object(&parse(r#"{"a":1.0,"b":{"x":[{"p":1,"q":"ü"}],"y":null}}"#));
    let other = object(&parse(r#"{"b":{"y":null,"x":[{"q":"ü","p":1}]},"a":1.0}"#));
    assert_eq!(wire_id(&one), wire_id(&other));
    assert_eq!(wire_id(&one).len(), 16);
    // sha256 of {"a":1.0,"b":{"x":[{"p":1,"q":"ü"}],"y":null}}
    assert_eq!(wire_id(&one), "fc8972d2d13791e4");
    assert_ne!(wire_id(&one), wire_id(&object(&parse(r#"{"a":1,"b":{"x":[{"p":1,"q":"ü"}],"y":null}}"#))));
    assert_eq!(wire_id(&object(&vector("good/brief-1-1"))), "brief.auth.0123456789abcdef");
}

#[test]
fn a_completion_is_checked_against_its_brief() {
    let (brief, complete) = (object(&vector("good/brief")), object(&vector("good/complete")));
    assert_eq!(worker(&complete), Some("quinn"));
    assert!(check_completion(&brief, &complete).is_empty());
    let skipped = object(&vector("good/complete-skipped"));
    let expected =
        ["/payload/verification/semantic evaluation_mismatch rule", "/payload/output_ref no_output rule"];
    assert_eq!(shown(&check_completion(&brief, &skipped)), expected);
    let file = object(&vector("good/brief-file"));
    assert!(check_completion(&file, &skipped).is_empty(), "no evaluation is asked for, so it is skipped");
    assert_eq!(shown(&check_completion(&file, &complete)), expected[..1]);
    let other = vector("good/complete").to_string().replace("0.0.8802709", "0.0.1");
    assert_eq!(
        shown(&check_completion(&brief, &object(&parse(&other)))),
        ["/payload/task_id other_task rule"]
    );
}

#[test]
fn sentences_are_counted() {
    let cases = [
        ("", 0, true),
        ("One", 1, false),
        ("One.", 1, true),
        ("One. Two", 2, false),
        ("One! Two? Three.", 3, true),
        ("It is \"done.\"", 1, true),
        ("See src/a.rs, e.g. version 1.2, etc. and so on.", 1, true),
        ("It ends with etc.", 1, true),
        ("What?! Really...", 2, true),
        ("I read the brief, verify my output, and stop. I do not improvise. I do not extend scope.", 3, true),
    ];
    for (text, sentences, is_ended) in cases {
        assert_eq!(prose(text), Prose { sentences, is_ended }, "{text}");
    }
}

#[test]
fn goals_are_statements() {
    let cases = [
        ("The parser is built.", "The parser is built."),
        ("The parser is built", "The parser is built."),
        ("Fix the parser", "\"Fix the parser\" is done."),
        ("Review of the parser is complete", "Review of the parser is complete."),
        ("Fix \"x.\" Then test it.", "\"Fix 'x; Then test it\" is done."),
        ("It is red. It is green!", "It is red; It is green."),
    ];
    for (text, expected) in cases {
        assert_eq!(goal(text).as_deref(), Some(expected), "{text}");
    }
    assert_eq!((goal(""), goal("..."), goal(" \n")), (None, None, None));
}

#[test]
fn seconds_and_milliseconds_are_exact() {
    let cases = [
        ("0", "0", "0"),
        ("90", "90000", "90"),
        ("90.5", "90500", "90.5"),
        ("0.012", "12", "0.012"),
        ("0.0015", "1.5", "0.0015"),
        ("1.5e3", "1500e3", "1.5e3"),
        ("9007199254740993", "9007199254740993000", "9007199254740993"),
    ];
    for (seconds, millis, back) in cases {
        let made = times_thousand(parse(seconds).as_number().unwrap()).unwrap();
        assert_eq!(made.to_string(), millis);
        assert_eq!(thousandth(made.as_number().unwrap()).unwrap().to_string(), back);
    }
    assert_eq!(thousandth(parse("1.50").as_number().unwrap()).unwrap().to_string(), "0.00150");
}

proptest! {
    #[test]
    fn any_text_makes_a_goal_that_passes_the_lint(text in any::<String>()) {
        if let Some(goal) = goal(&text) {
            prop_assert!(is_one_sentence(&goal) && !is_order(&goal), "{goal}");
        }
    }

    #[test]
    fn words_make_a_goal_that_passes_the_lint(text in "((Fix|the|x\\.|\"y\\.\"|e\\.g\\.|Why\\?|\\(z!\\)|etc\\.|…) ){1,80}") {
        let goal = goal(&text);
        prop_assert!(goal.as_deref().is_none_or(|goal| is_one_sentence(goal) && !is_order(goal)), "{goal:?}");
    }

    #[test]
    fn stand_ins_have_the_right_form(text in any::<String>()) {
        prop_assert!(is_slug(&slug(&text)));
        prop_assert!(is_task_id(&task_id(&text)));
        prop_assert!(stands_for(&task_id(&text), &text));
    }

    #[test]
    fn addresses_become_slugs(address in "#[a-z0-9][a-z0-9._-]{0,8}|[a-z0-9]{1,5}#[0-9]|roles\\.[a-z0-9]{1,4}|all|channel:[a-z0-9]{1,4}|did:plc:[A-Za-z0-9%]{1,6}|[a-z]{1,4}://[!-~é]{1,9}") {
        prop_assert!(is_slug(&recipient(&address)), "{address} {}", recipient(&address));
    }

    #[test]
    fn moving_the_point_is_undone(lexeme in "(0|[1-9][0-9]{0,20})(\\.[0-9]{1,6})?") {
        let number = parse(&lexeme);
        let moved = times_thousand(number.as_number().unwrap()).unwrap();
        let back = thousandth(moved.as_number().unwrap()).unwrap();
        prop_assert_eq!(back.as_number().map(json::Number::as_f64), number.as_number().map(json::Number::as_f64));
        let millis = thousandth(number.as_number().unwrap()).unwrap();
        prop_assert_eq!(times_thousand(millis.as_number().unwrap()), Some(number.clone()));
        prop_assert!(!matches!(moved, Value::Null));
    }
}
