//! Tests of the reader and the writer: good, odd, bad and hostile texts, and round trips by property.

use std::borrow::Cow;

use proptest::prelude::*;

use crate::{Findings, Limits, Number, Object, ParseErrorKind, Path, Value, parse, parse_str};

fn read(text: &str) -> Value<'_> {
    parse_str(text, Limits::DOCUMENT).unwrap()
}

/// The code and place of the error, as `code line:column`.
fn refusal(bytes: &[u8]) -> String {
    let error = parse(bytes, Limits::DOCUMENT).unwrap_err();
    format!("{} {}:{}", error.kind.code(), error.line, error.column)
}

#[test]
fn good_texts_come_back_compact() {
    let cases = [
        (" null ", "null"),
        ("\t[ ]\r\n", "[]"),
        ("{ }", "{}"),
        (r#"{"b":1,"a":[true,false,null]}"#, r#"{"b":1,"a":[true,false,null]}"#),
        (r#""\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t\u0000""#, "\"é😀/\\\"\\\\\\b\\f\\n\\r\\t\\u0000\""),
        ("-0", "-0"),
        ("1.50e+07", "1.50e+07"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        (r#"{"":0," ":1}"#, r#"{"":0," ":1}"#),
    ];
    for (text, compact) in cases {
        assert_eq!(read(text).to_string(), compact, "{text}");
    }
}

#[test]
fn blanks_between_tokens_are_left_out() {
    let cases = [
        ("{\"a\":1}", "{\"a\":1}"),
        (" { \"a b\" :\t[ 1 , \"\\\" \" ]\r\n} ", "{\"a b\":[1,\"\\\" \"]}"),
        ("\"\\\\\" ", "\"\\\\\""),
        ("\"é \\u00e9\"", "\"é \\u00e9\""),
        ("\"open", "\"open"),
        ("\"open\\", "\"open\\"),
    ];
    for (text, compact) in cases {
        assert_eq!(crate::compact(text), compact, "{text}");
    }
}

#[test]
fn bad_texts_are_refused_with_code_and_place() {
    let cases: [(&[u8], &str); 36] = [
        (b"", "json 1:1"),
        (b"  ", "json 1:3"),
        (b"nul", "json 1:1"),
        (b"nulll", "json 1:5"),
        (b"NaN", "json 1:1"),
        (b"-Infinity", "json 1:2"),
        (b"Infinity", "json 1:1"),
        (b"01", "json 1:2"),
        (b"-", "json 1:2"),
        (b"1.", "json 1:3"),
        (b".5", "json 1:1"),
        (b"+1", "json 1:1"),
        (b"1e", "json 1:3"),
        (b"1e+", "json 1:4"),
        (b"0x10", "json 1:2"),
        (b"[1,]", "json 1:4"),
        (b"[1 2]", "json 1:4"),
        (b"[", "json 1:2"),
        (b"{\"a\"}", "json 1:5"),
        (b"{\"a\":1,}", "json 1:8"),
        (b"{a:1}", "json 1:2"),
        (b"{'a':1}", "json 1:2"),
        (b"{\"a\":1", "json 1:7"),
        (b"\"abc", "json 1:5"),
        (b"\"\\", "json 1:2"),
        (b"\"\\x\"", "json 1:2"),
        (b"\"\\u12g4\"", "json 1:2"),
        (b"\"\\ud800\"", "json 1:2"),
        (b"\"\\ud800\\u0041\"", "json 1:2"),
        (b"\"\\udc00\"", "json 1:2"),
        (b"\"a\nb\"", "json 1:3"),
        (b"\"a\0b\"", "json 1:3"),
        (b"\0", "json 1:1"),
        (b"{} {}", "json 1:4"),
        (b"\n \xff", "utf8 2:2"),
        (b"{\"a\":1,\n\"\\u0061\":2}", "duplicate_key 2:1"),
    ];
    for (bytes, expected) in cases {
        assert_eq!(refusal(bytes), expected, "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_byte_order_mark_is_refused() {
    assert_eq!(refusal(b"\xef\xbb\xbf{}"), "json 1:1");
}

#[test]
fn depth_is_limited_without_touching_the_stack() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(parse_str(&deep(128), Limits::DOCUMENT).is_ok());
    let error = parse_str(&deep(129), Limits::DOCUMENT).unwrap_err();
    assert_eq!(error.kind, ParseErrorKind::TooDeep { depth_max: 128 });
    assert_eq!(error.column, 129);
    assert_eq!(refusal("[".repeat(100_000).as_bytes()), "too_deep 1:129");
    assert_eq!(refusal("{\"a\":".repeat(100_000).as_bytes()), "too_deep 1:641");
    let no_limit = Limits { depth_max: usize::MAX, ..Limits::DOCUMENT };
    assert!(parse_str(&deep(512), no_limit).is_ok());
    assert_eq!(parse_str(&deep(513), no_limit).unwrap_err().kind, ParseErrorKind::TooDeep { depth_max: 512 });
}

#[test]
fn size_and_number_length_are_limited() {
    let limits = Limits { bytes_max: 10, depth_max: 2, number_bytes_max: 3 };
    assert!(parse_str("[12345678]", Limits { number_bytes_max: 8, ..limits }).is_ok());
    assert_eq!(
        parse_str("[1,2,3,4,5]", limits).unwrap_err().kind,
        ParseErrorKind::TooLarge { bytes: 11, bytes_max: 10 }
    );
    let error = parse_str("[1234]", limits).unwrap_err();
    assert_eq!((error.kind.code(), error.column), ("number_too_long", 2));
}

#[test]
fn large_objects_are_checked_for_duplicates_too() {
    let member = |key: usize| format!("\"key{key}\":{key}");
    let members: Vec<String> = (0..100_000).map(member).collect();
    let object = format!("{{{}}}", members.join(","));
    assert_eq!(read(&object).as_object().unwrap().len(), 100_000);
    let twice = format!("{{{},\"key5\":0}}", members.join(","));
    assert!(refusal(twice.as_bytes()).starts_with("duplicate_key"));
}

#[test]
fn integers_are_exact_or_refused() {
    let cases = [
        ("0", Some(0)),
        ("-0", Some(0)),
        ("-0.0e99999999999999999999", Some(0)),
        ("7.0", Some(7)),
        ("70e-1", Some(7)),
        ("0.07e2", Some(7)),
        ("7e0", Some(7)),
        ("1.5", None),
        ("1e-1", None),
        ("9223372036854775807", Some(i64::MAX)),
        ("-9223372036854775808", Some(i64::MIN)),
        ("9223372036854775808", None),
        ("9.223372036854775807e18", Some(i64::MAX)),
        ("1e19", None),
        ("1e400", None),
        ("1e99999999999999999999", None),
        ("1e-99999999999999999999", None),
        ("0.000000000000000000000000000001e30", Some(1)),
    ];
    for (lexeme, integer) in cases {
        assert_eq!(read(lexeme).as_integer(), integer, "{lexeme}");
    }
}

#[test]
fn equality_ignores_member_order_and_minds_lexemes() {
    assert_eq!(read(r#"{"a":1,"b":{"c":2,"d":3}}"#), read(r#"{"b":{"d":3,"c":2},"a":1}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"a":1.0}"#));
    assert_ne!(read(r#"{"a":1}"#), read(r#"{"b":1}"#));
    assert_ne!(read("[1,2]"), read("[2,1]"));
}

#[test]
fn objects_keep_order_through_changes() {
    let mut object: Object<'_> = [("a", 1_i64), ("b", 2), ("c", 3)].into_iter().collect();
    assert_eq!(object.insert("b", 5_i64), Some(Value::integer(2)));
    assert_eq!(object.insert("d", 4_i64), None);
    assert_eq!(object.remove("a"), Some(Value::integer(1)));
    assert_eq!(object.to_string(), r#"{"b":5,"c":3,"d":4}"#);
}

#[test]
fn large_objects_are_built_in_order_with_the_last_value_of_each_key() {
    let members = (0..200_000_i64).map(|nth| (format!("key{}", nth % 100_000), nth));
    let object: Object<'_> = members.collect();
    assert_eq!(object.len(), 100_000);
    assert!(object.iter().zip(0..).all(|((key, value), nth)| {
        key == format!("key{nth}") && value.as_integer() == Some(nth + 100_000)
    }));
}

#[test]
fn pointers_follow_rfc_6901() {
    let value = read(r#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"k":{"0":"x"}}"#);
    let cases = [
        ("/foo/0", Some("\"bar\"")),
        ("/", Some("0")),
        ("/a~1b", Some("1")),
        ("/m~0n", Some("8")),
        ("/k/0", Some("\"x\"")),
        ("/foo/2", None),
        ("/foo/-", None),
        ("/foo/01", None),
        ("/foo/+1", None),
        ("foo", None),
    ];
    for (pointer, expected) in cases {
        assert_eq!(value.pointer(pointer).map(Value::to_string).as_deref(), expected, "{pointer}");
    }
    assert_eq!(value.pointer(""), Some(&value));
}

#[test]
fn findings_beyond_the_limit_are_counted() {
    let mut findings = Findings::new(2);
    assert!(findings.is_empty());
    for nth in 0..5 {
        findings.rule(&Path::ROOT.index(nth), "x", || format!("finding {nth}"));
    }
    assert_eq!((findings.count(), findings.beyond(), findings.kept().len()), (5, 3, 2));
    assert_eq!(findings.kept()[1].to_string(), "/1: finding 1 [x]");
    assert_eq!(
        findings.kept()[0].to_value().to_string(),
        r#"{"path":"/0","code":"x","source":"rule","message":"finding 0"}"#
    );
}

fn any_number() -> impl Strategy<Value = Value<'static>> {
    "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,10})?([eE][+-]?[0-9]{1,3})?"
        .prop_map(|lexeme| Value::Number(Number::from_lexeme(&lexeme).into_owned()))
}

fn any_value() -> impl Strategy<Value = Value<'static>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any_number(),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Escapes every character, to reach the slow path of the string reader.
fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{units}\"")
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in any_value()) {
        let text = value.to_string();
        prop_assert_eq!(crate::compact(&text), text.as_str());
        prop_assert_eq!(&read(&text), &value);
        prop_assert_eq!(read(&text).to_string(), text);
    }

    #[test]
    fn owned_values_equal_borrowed_ones(value in any_value()) {
        let text = value.to_string();
        prop_assert_eq!(read(&text).into_owned(), value);
    }

    #[test]
    fn escapes_name_the_same_text(text in any::<String>()) {
        let escaped = escaped(&text);
        prop_assert_eq!(read(&escaped), Value::String(Cow::Borrowed(&text)));
    }

    #[test]
    fn strings_end_where_a_plain_search_says(before in "[ -~é😀]{0,200}", special in "[\"\\\\\u{0}-\u{1f}]", after in "[ -~]{0,20}") {
        let text = format!("\"{}{special}{after}", before.replace(['"', '\\'], ""));
        let plain = text[1..].find(|c: char| c == '"' || c == '\\' || c < ' ').map(|at| at + 1);
        let error = parse_str(&text, Limits::DOCUMENT);
        match special.as_str() {
            "\"" => prop_assert_eq!(error.is_ok(), after.trim().is_empty()),
            "\\" => {}
            _ => prop_assert_eq!(Some(error.unwrap_err().offset), plain),
        }
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(parse(&bytes, Limits::DOCUMENT));
    }

    #[test]
    fn no_damaged_document_panics(value in any_value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = value.to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        drop(parse(&bytes, Limits::DOCUMENT));
    }
}

fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut shallow = crate::Shallow::of(text).ok()?;
    let mut members = Vec::new();
    while let Some(member) = shallow.next_member().ok()? {
        members.push(member);
    }
    Some(members)
}

#[test]
fn members_are_found_where_they_stand() {
    let text = r#" { "op" : "send","document":{"a":[1,{"b":"}\"]"}], "c" : -1.5e3} ,"n":7 , "s":"\\" } "#;
    let found = members(text).unwrap();
    let document = r#"{"a":[1,{"b":"}\"]"}], "c" : -1.5e3}"#;
    assert_eq!(found, [("op", "\"send\""), ("document", document), ("n", "7"), ("s", r#""\\""#)]);
    assert_eq!(members("{}").unwrap(), []);
    for bad in [
        "",
        "[]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{,}",
        "{\"a\":1}x",
        "{\"a\":\"x}",
        "{\"a\":]}",
    ] {
        assert_eq!(members(bad), None, "{bad}");
    }
}

proptest! {
    #[test]
    fn whatever_is_read_is_found_member_by_member(text in any::<Vec<u8>>()) {
        let text = String::from_utf8_lossy(&text);
        // Whatever it is, looking at it ends.
        members(&text);
        let object = format!("{{\"k\":{}}}", Value::from(text.as_ref()).to_json());
        prop_assert_eq!(members(&object).unwrap().len(), 1);
    }
}

/// Goes over a text; tells whether its value is compact, or nothing if the scan gave up.
fn scanned(text: &str, limits: Limits) -> Option<bool> {
    let mut scan = crate::Scan::of(text, limits)?;
    let ((), written) = scan.with_text(crate::Scan::skip)?;
    scan.end()?;
    assert_eq!(written.text, text.trim_matches([' ', '\t', '\n', '\r']));
    Some(written.is_compact)
}

#[test]
fn ordinary_texts_are_scanned_to_their_end() {
    for compact in
        ["{}", "[]", "-0.5e+7", r#"{"a":[1,{"a":"\u00e9\ud83d\ude00\n"}],"b":[true,false,null]}"#, "\"\""]
    {
        assert_eq!(scanned(compact, Limits::DOCUMENT), Some(true), "{compact}");
        assert_eq!(scanned(&format!(" {compact}\n"), Limits::DOCUMENT), Some(true), "{compact}");
        assert_eq!(scanned(&format!("[ {compact}]"), Limits::DOCUMENT), Some(false), "{compact}");
    }
    let long = format!("\"{}\\\"{}\"", "a long text, ".repeat(40), "é".repeat(200));
    assert_eq!(scanned(&long, Limits::DOCUMENT), Some(true));
}

#[test]
fn a_scan_keeps_the_limits() {
    let limits = Limits { bytes_max: 20, depth_max: 2, number_bytes_max: 3 };
    for good in ["[[1]]", "{\"a\":[123]}", "\"eighteen bytes....\""] {
        assert!(scanned(good, limits).is_some() && parse_str(good, limits).is_ok(), "{good}");
    }
    for bad in ["[[[1]]]", "{\"a\":[{}]}", "1234", "\"nineteen bytes.....\"", "{\"a\":1,\"a\":1}"] {
        assert!(scanned(bad, limits).is_none() && parse_str(bad, limits).is_err(), "{bad}");
    }
}

/// A text in which something stands that may matter.
fn damaged(value: &Value<'_>, damages: &[(prop::sample::Index, &str)]) -> String {
    let mut text = value.to_string();
    for (at, what) in damages {
        let mut at = at.index(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let end = text[at..].chars().next().map_or(at, |char| at + char.len_utf8());
        text.replace_range(at..if what.is_empty() { end } else { at }, what);
    }
    text
}

proptest! {
    #[test]
    fn what_is_scanned_to_its_end_can_be_read(
        value in any_value(),
        damages in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(
                ["", "", " ", "\n", "\"", "\\", "\\u", "0", "-", ".", "e", ",", ":", "{", "}", "[", "]", "\u{1}"]
                    .as_slice())),
            0..3,
        ),
    ) {
        let text = damaged(&value, &damages);
        if let Some(is_compact) = scanned(&text, Limits::DOCUMENT) {
            prop_assert!(parse_str(&text, Limits::DOCUMENT).is_ok(), "{}", text);
            let text = text.trim_matches([' ', '\t', '\n', '\r']);
            prop_assert_eq!(is_compact, crate::compact(text) == text, "{}", text);
        }
    }

    #[test]
    fn few_plain_keys_are_no_reason_to_give_up(keys in prop::collection::hash_set("[a-z_é]{1,6}", 0..20)) {
        let members: Object<'_> = keys.iter().map(|key| (key.as_str(), Value::Bool(true))).collect();
        let text = Value::Object(members).to_string();
        prop_assert_eq!(scanned(&text, Limits::DOCUMENT), Some(true));
        if let Some(key) = keys.iter().next() {
            let twice = text.replacen('{', &format!("{{\"{key}\":1,"), 1);
            prop_assert_eq!(scanned(&twice, Limits::DOCUMENT), None);
        }
    }
}
