//! The scan of frames: it finds what a parser finds, and no bytes make it panic.

use json::{Limits, Value};
use proptest::prelude::*;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::SocketItem;
use crate::socket::items;
use crate::socket::scan::{Members, plain};

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?[1-9][0-9]{0,5}(\\.[0-9]{1,3})?",
        "[a-z{}\\[\\],:\" \\\\é]{0,12}".prop_map(|text| Value::from(text).to_json()),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..4).prop_map(|members| {
                let members: Vec<String> =
                    members.into_iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn the_scan_finds_what_a_parser_finds(
        members in prop::collection::btree_map("[a-z]{1,6}", value(), 0..6),
        space in "[ \n\t]{0,2}",
    ) {
        let written: Vec<String> =
            members.iter().map(|(key, value)| format!("{space}\"{key}\"{space}:{space}{value}{space}")).collect();
        let frame = format!("{{{}}}", written.join(","));
        let parsed = json::parse_str(&frame, Limits::DOCUMENT).unwrap();
        let found: Vec<(&str, String)> =
            Members::new(&frame).map(|(key, place)| (key, frame[place].to_owned())).collect();
        prop_assert_eq!(found.len(), members.len());
        for (key, text) in &found {
            let again = json::parse_str(text, Limits::DOCUMENT).unwrap();
            prop_assert_eq!(parsed.get(key), Some(&again));
            if let Some(said) = again.as_str() {
                prop_assert_eq!(plain(text), said);
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]:,\"\\\\a-zé0-9 ]{0,40}") {
        for (_, place) in Members::new(&text) {
            prop_assert!(text.get(place).is_some());
        }
        drop(items::read(Utf8Bytes::from(text)));
    }
}

#[test]
fn items_are_read() {
    let id = "0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071";
    let read = |frame: String| items::read(Utf8Bytes::from(frame));
    let brief = format!(r#"{{"op":"receipt","ref":"7","id":"{id}","stage":"stored","duplicate":true}}"#);
    let SocketItem::Receipt(receipt) = read(brief).unwrap() else { panic!("no receipt") };
    assert_eq!((receipt.reference, receipt.duplicate), (7, true));
    assert_eq!(receipt.id.to_string(), id);
    assert!(receipt.full().unwrap().is_none());

    let together = format!(r#"{{"op":"receipts","upto":"9","count":8,"stage":"stored","id":"{id}"}}"#);
    let SocketItem::Receipts(receipts) = read(together).unwrap() else { panic!("no receipts") };
    assert_eq!((receipts.upto, receipts.count, receipts.id.to_string().as_str()), (9, 8, id));

    let delivered = format!(
        r#"{{"op":"deliver","delivery":"{id}","id":"{id}","attempt":2,"from":"a\u0041","dialect":"wire","document":{{"text":"}}\"{{"}}}}"#
    );
    let SocketItem::Delivery(delivery) = read(delivered).unwrap() else { panic!("no delivery") };
    assert_eq!((delivery.attempt, delivery.document()), (2, r#"{"text":"}\"{"}"#));
    assert_eq!(delivery.get("from").unwrap(), "aA");
    assert_eq!(delivery.get("nothing"), None);

    let refused = r#"{"op":"error","ref":9,"code":"invalid","detail":"bad"}"#.to_owned();
    let SocketItem::Problem(problem) = read(refused).unwrap() else { panic!("no problem") };
    assert_eq!((problem.reference, problem.code.as_str()), (Some(9), "invalid"));
    for bad in ["", "{}", "[]", r#"{"op":"other"}"#, r#"{"op":"receipt","ref":"1"}"#, r#"{"op":"deliver"}"#] {
        assert_eq!(read(bad.to_owned()).unwrap_err().code(), "answer", "{bad}");
    }
}
