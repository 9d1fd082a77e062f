//! Answers are taken out of what commands print.

use crate::{Extraction, NoAnswer};

#[test]
fn each_rule_takes_its_part() {
    let rows: &[(&str, &str, Result<&str, NoAnswer>)] = &[
        ("whole", "  an answer\n\n", Ok("an answer")),
        ("whole", " \n\t", Err(NoAnswer::Empty)),
        ("last:1", "thinking\nan answer\n\n", Ok("an answer")),
        ("last:2", "thinking\nan\nanswer", Ok("an\nanswer")),
        ("last:9", "all of it", Ok("all of it")),
        ("json:/result", r#"{"result":"yes"}"#, Ok("yes")),
        ("json:/a/0/b", r#"{"a":[{"b":7}]}"#, Ok("7")),
        ("json:", r#"{"b":7}"#, Ok(r#"{"b":7}"#)),
        ("json:/text", "{\"text\":\"first\"}\nnoise\n{\"text\":\"last\"}\n{\"end\":true}\n", Ok("last")),
        ("json:/text", "no json", Err(NoAnswer::NoJson)),
        ("json:/text", r#"{"text":null}"#, Err(NoAnswer::NoJson)),
        ("json:/text", r#"{"text":""}"#, Err(NoAnswer::Empty)),
        ("between:<a>,</a>", "x <a>one</a> y <a>two</a> z", Ok("two")),
        ("between:<a>,</a>", "<a>open", Err(NoAnswer::NoMarks)),
        ("between:<a>,</a>", "</a><a>", Err(NoAnswer::NoMarks)),
        ("between:==,==", "== one ==", Ok("one")),
    ];
    for (rule, output, wanted) in rows {
        let rule: Extraction = rule.parse().unwrap();
        assert_eq!(rule.take(output), wanted.map(str::to_owned), "{rule} of {output:?}");
        assert_eq!(rule.to_string().parse::<Extraction>(), Ok(rule));
    }
}

#[test]
fn other_rules_are_refused() {
    for text in ["", "all", "last:0", "last:x", "json:result", "between:a", "between:,b", "regex:.*"] {
        assert!(text.parse::<Extraction>().is_err(), "{text}");
    }
}
