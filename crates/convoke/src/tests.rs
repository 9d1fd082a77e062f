//! Unit tests of the reader of documents; the others are in files of their own.

mod attaching;
mod screens;

use std::io::{self, BufRead, BufReader, Read};

use json::Limits;
use proptest::prelude::*;

use crate::documents::{Document, Documents};

const LIMITS: Limits = Limits { bytes_max: 40, depth_max: 10, number_bytes_max: 10 };

fn all(reader: impl BufRead) -> Vec<Document> {
    let mut documents = Documents::new(reader, LIMITS);
    let mut all = Vec::new();
    while let Some(document) = documents.next().unwrap() {
        all.push(document);
    }
    all
}

/// Every document as `line:text`, or `line:!` for one that is too large.
fn shown(input: &[u8]) -> Vec<String> {
    let show = |document: Document| match document.bytes {
        Some(bytes) => format!("{}:{}", document.line, String::from_utf8_lossy(&bytes).trim()),
        None => format!("{}:!", document.line),
    };
    all(input).into_iter().map(show).collect()
}

#[test]
fn lines_and_whole_documents_are_told_apart() {
    let long = "x".repeat(50);
    let cases: Vec<(String, Vec<&str>)> = vec![
        ("".into(), vec![]),
        (" \n\n".into(), vec![]),
        ("{\"a\":1}".into(), vec!["1:{\"a\":1}"]),
        ("{\"a\":1}\n{\"b\":2}\n".into(), vec!["1:{\"a\":1}", "2:{\"b\":2}"]),
        ("\n{\"a\":1}\r\n\n{\"b\":2}".into(), vec!["2:{\"a\":1}", "4:{\"b\":2}"]),
        ("{\n\"a\": 1\n}\n".into(), vec!["1:{\n\"a\": 1\n}"]),
        ("[\n{\"a\":1},\n{\"b\":2}\n]".into(), vec!["1:[\n{\"a\":1},\n{\"b\":2}\n]"]),
        ("{\"a\":\n{\"b\":2}\n{\"c\":3}\n".into(), vec!["1:{\"a\":", "2:{\"b\":2}", "3:{\"c\":3}"]),
        ("{\"a\":1}\nnot json\n{\"b\":2}".into(), vec!["1:{\"a\":1}", "2:not json", "3:{\"b\":2}"]),
        ("not json\nneither\n".into(), vec!["1:not json\nneither"]),
        (format!("{{\"a\":1}}\n{long}\n{{\"b\":2}}"), vec!["1:{\"a\":1}", "2:!", "3:{\"b\":2}"]),
        (format!("{long}\n{{\"b\":2}}"), vec!["1:!", "2:{\"b\":2}"]),
        (format!("{{\n\"a\": \"{long}\"\n}}"), vec!["1:!"]),
        (
            format!("{{\n{{\"b\":2}}\n{{\"c\":\"{long}\"}}\n{{\"d\":4}}"),
            vec!["1:{", "2:{\"b\":2}", "3:!", "4:{\"d\":4}"],
        ),
        ("\u{feff}{\"a\":1}\n{\"b\":2}".into(), vec!["1:{\"a\":1}", "2:{\"b\":2}"]),
    ];
    for (input, expected) in cases {
        assert_eq!(shown(input.as_bytes()), expected, "{input:?}");
    }
}

#[test]
fn a_line_is_answered_before_the_next_one_is_written() {
    let first = io::Cursor::new(b"{\"a\":1}\n".to_vec());
    let mut documents = Documents::new(BufReader::new(first.chain(Never)), LIMITS);
    assert_eq!(documents.next().unwrap().unwrap().bytes.as_deref(), Some(&b"{\"a\":1}"[..]));
}

/// A pipe whose writer is silent: reading from it would wait for ever.
struct Never;

impl Read for Never {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("read ahead of what was needed");
    }
}

proptest! {
    #[test]
    fn valid_lines_come_through_whatever_stands_between(
        garbage in prop::collection::vec("[ -~]{0,60}", 0..5),
        capacity in 1_usize..80,
    ) {
        let mut input = String::from("{\"n\":0}\n");
        for (nth, line) in garbage.iter().enumerate() {
            input.push_str(&format!("{line}\n{{\"n\":{}}}\n", nth + 1));
        }
        let documents = all(BufReader::with_capacity(capacity, input.as_bytes()));
        for nth in 0..=garbage.len() {
            let wanted = format!("{{\"n\":{nth}}}").into_bytes();
            prop_assert!(documents.iter().any(|document| document.bytes.as_ref() == Some(&wanted)));
        }
        let fits = |document: &Document| document.bytes.as_ref().is_none_or(|bytes| bytes.len() <= LIMITS.bytes_max);
        prop_assert!(documents.iter().all(fits));
    }
}
