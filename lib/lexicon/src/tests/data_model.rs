//! DAG-CBOR: one encoding for equal data, read back by a decoder that knows nothing of the encoder.

mod decoder;

use json::{Object, Value};

use super::dice::{Dice, ensure, run};
use super::{shown, value};
use crate::data;

const LINK: &str = "bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a";

#[test]
fn known_bytes() {
    let cases = [
        ("{}", "a0"),
        (r#"{"a":null}"#, "a16161f6"),
        (r#"{"a":true,"b":false}"#, "a26161f56162f4"),
        (r#"{"b":1,"a":2}"#, "a2616102616201"),
        (r#"{"aa":1,"b":2}"#, "a261620262616101"),
        (r#"{"é":1,"z":2,"aaa":3}"#, "a3617a0262c3a9016361616103"),
        (r#"{"a":23}"#, "a1616117"),
        (r#"{"a":24}"#, "a161611818"),
        (r#"{"a":255}"#, "a1616118ff"),
        (r#"{"a":256}"#, "a16161190100"),
        (r#"{"a":65535}"#, "a1616119ffff"),
        (r#"{"a":65536}"#, "a161611a00010000"),
        (r#"{"a":4294967295}"#, "a161611affffffff"),
        (r#"{"a":4294967296}"#, "a161611b0000000100000000"),
        (r#"{"a":9223372036854775807}"#, "a161611b7fffffffffffffff"),
        (r#"{"a":-1}"#, "a1616120"),
        (r#"{"a":-24}"#, "a1616137"),
        (r#"{"a":-25}"#, "a161613818"),
        (r#"{"a":-9223372036854775808}"#, "a161613b7fffffffffffffff"),
        (r#"{"a":1.0,"b":-0,"c":1e2}"#, "a361610161620061631864"),
        (r#"{"a":[1,"x",[]]}"#, "a161618301617880"),
        (r#"{"a":{"$bytes":"AQID"}}"#, "a1616143010203"),
        (r#"{"a":{"$bytes":""}}"#, "a1616140"),
        (r#"{"$type":"x"}"#, "a16524747970656178"),
    ];
    for (text, hex) in cases {
        let bytes = data::to_dag_cbor(&value(text)).unwrap();
        let written: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(written, hex, "{text}");
    }
}

#[test]
fn what_cannot_be_encoded_is_refused() {
    let cases = [
        ("[]", "type"),
        (r#"{"a":1.5}"#, "/a float"),
        (r#"{"a":[9223372036854775808]}"#, "/a/0 integer_range"),
        (r#"{"a":{"$link":"x"}}"#, "/a/$link link"),
        (r#"{"a":{"$bytes":"?"}}"#, "/a/$bytes bytes"),
        (r#"{"a":{"$type":""}}"#, "/a/$type type_field"),
    ];
    for (text, error) in cases {
        assert_eq!(shown(&data::to_dag_cbor(&value(text)).unwrap_err().errors, ""), [error], "{text}");
        assert_eq!(shown(&data::check(&value(text)).errors, ""), [error], "{text}");
    }
}

#[test]
fn a_link_that_only_looks_like_a_cid_is_valid_but_has_no_bytes() {
    for link in ["baaaaaaaa", "bbbbbbbbb", "f0000000000", "7134036155352661643226414134664076"] {
        let record = value(&format!(r#"{{"a":[{{"$link":"{link}"}}]}}"#)).into_owned();
        assert!(data::check(&record).is_valid(), "{link}");
        assert_eq!(shown(&data::to_dag_cbor(&record).unwrap_err().errors, ""), ["/a/0 link"], "{link}");
    }
}

#[test]
fn the_order_of_members_does_not_matter() {
    run(300, |dice| {
        let value = map(dice, 4);
        let other = shuffled(&value, dice);
        let bytes = data::to_dag_cbor(&value).unwrap();
        ensure(bytes == data::to_dag_cbor(&other).unwrap(), || format!("{value}\n{other}"))
    });
}

#[test]
fn a_decoder_reads_the_same_value() {
    run(300, |dice| {
        let value = map(dice, 4);
        let decoded = decoder::decode(&data::to_dag_cbor(&value).unwrap());
        ensure(decoded == value, || format!("{value}\n{decoded}"))
    });
}

#[test]
fn different_values_have_different_bytes() {
    run(300, |dice| {
        let (left, right) = (map(dice, 3), map(dice, 3));
        let same = data::to_dag_cbor(&left).unwrap() == data::to_dag_cbor(&right).unwrap();
        ensure(same == (left == right), || format!("{left}\n{right}"))
    });
}

/// An object of the data model whose numbers, links and bytes are written in one way only.
fn map(dice: &mut Dice<'_>, depth: usize) -> Value<'static> {
    let members = (0..dice.below(6)).map(|_| (name(dice), any(dice, depth)));
    Value::Object(members.collect::<Object<'_>>())
}

fn any(dice: &mut Dice<'_>, depth: usize) -> Value<'static> {
    match dice.below(if depth == 0 { 7 } else { 10 }) {
        0 => Value::Null,
        1 => Value::Bool(dice.percent(50)),
        2 => Value::integer(dice.number() >> dice.below(64)),
        3 => Value::integer(*dice.pick(&[i64::MIN, i64::MAX, 0, -1, 23, 24, 255, 256, 65_535, 65_536, -257])),
        4 => Value::from(name(dice).repeat(1 + dice.below(40))),
        5 => value(&format!(r#"{{"$link":"{LINK}"}}"#)).into_owned(),
        6 => value(dice.pick::<&str>(&[r#"{"$bytes":""}"#, r#"{"$bytes":"AQ"}"#, r#"{"$bytes":"+/8A"}"#]))
            .into_owned(),
        7 | 8 => Value::Array((0..dice.below(30)).map(|_| any(dice, depth - 1)).collect()),
        _ => map(dice, depth - 1),
    }
}

fn name(dice: &mut Dice<'_>) -> String {
    let letters = ["", "a", "b", "aa", "é", "😀", "\0", "~/"];
    [*dice.pick(&letters), *dice.pick(&letters)].concat()
}

fn shuffled(value: &Value<'static>, dice: &mut Dice<'_>) -> Value<'static> {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> =
                object.iter().map(|(key, value)| (key.to_owned(), shuffled(value, dice))).collect();
            let first = dice.below(members.len().max(1));
            members.rotate_left(first);
            if dice.percent(50) {
                members.reverse();
            }
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| shuffled(item, dice)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}
