//! Whatever is written in whatever order, a repository is what a simple model says that it is.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Bus, key_of};

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// What is done to a record.
#[derive(Clone, Copy, Debug)]
struct Op {
    call: u8,
    key: u8,
    value: u8,
    swap: u8,
}

fn op() -> impl Strategy<Value = Op> {
    (0_u8..4, 0_u8..4, 0_u8..3, 0_u8..6).prop_map(|(call, key, value, swap)| Op { call, key, value, swap })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_is_what_was_written() {
    let mut runner = TestRunner::deterministic();
    let ops = proptest::collection::vec(op(), 300).new_tree(&mut runner).unwrap().current();
    let mut bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    let mut model: BTreeMap<&str, (String, u8)> = BTreeMap::new();
    let mut head = (String::new(), String::new());
    for (number, op) in ops.iter().enumerate() {
        let key = KEYS[usize::from(op.key)];
        let found = model.get(key).cloned();
        // Mostly none, else the right one, a wrong one, or that there must be none.
        let swap = match (op.swap, &found) {
            (0, Some((cid, _))) => format!(r#","swapRecord":"{cid}""#),
            (1, _) => format!(r#","swapRecord":"{}""#, lexicon::data::cid_of_dag_cbor(b"other")),
            (2, _) if op.call == 1 => r#","swapRecord":null"#.to_owned(),
            _ => String::new(),
        };
        let body = format!(
            r#"{{"repo":"ann","collection":"com.example.note","rkey":"{key}","record":{{"value":{}}}{swap}}}"#,
            op.value
        );
        let call = ["createRecord", "putRecord", "putRecord", "deleteRecord"][usize::from(op.call)];
        let answer = bus.repo(call, &ann, &body).await;
        let is_same = found.as_ref().is_some_and(|(_, value)| *value == op.value);
        let is_swapped = match (op.swap, &found) {
            (0, Some(_)) => false,
            (1, _) => true,
            (2, found) if op.call == 1 => found.is_some(),
            _ => false,
        };
        let (status, changes) = match call {
            "createRecord" => (if found.is_none() { 200 } else { 400 }, found.is_none()),
            "putRecord" if is_same => (200, false),
            "deleteRecord" if found.is_none() => (200, false),
            _ => (if is_swapped { 400 } else { 200 }, !is_swapped),
        };
        assert_eq!(answer.status, status, "{number}: {call} {body}: {}", answer.text);
        if changes && status == 200 {
            match call {
                "deleteRecord" => drop(model.remove(key)),
                _ => drop(model.insert(key, (answer.get("/cid"), op.value))),
            }
            let (rev, cid) = (answer.get("/commit/rev"), answer.get("/commit/cid"));
            assert!(rev > head.0 && cid != head.1, "{number}: commits follow each other");
            head = (rev, cid);
        } else {
            assert_eq!(answer.get("/commit"), "(absent)", "{number}: nothing changed");
        }
        if number % 100 == 99 {
            bus = bus.restart().await;
        }
    }
    let list = "com.atproto.repo.listRecords?repo=ann&collection=com.example.note&reverse=true";
    let listed = bus.get(list, Some(&ann)).await;
    for (place, (key, (cid, value))) in model.iter().enumerate() {
        let get = |field: &str| listed.get(&format!("/records/{place}/{field}"));
        assert_eq!(
            (key_of(&get("uri")), get("cid"), get("value/value")),
            (*key, cid.clone(), value.to_string())
        );
    }
    assert_eq!(listed.text.matches("\"uri\"").count(), model.len());
    assert!(!model.is_empty(), "something is left");
}
