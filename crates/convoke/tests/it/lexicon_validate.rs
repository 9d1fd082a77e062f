//! `convoke lexicon validate`.

use crate::session::Session;

const VALID: &str = r#"{"$type":"agent.comms.message","sender":"did:web:ann.example","recipient":"did:web:bob.example","content":{"kind":"text","text":"hello"},"createdAt":"2026-11-15T10:00:00Z"}"#;

const INVALID: &str = r#"{"$type":"agent.comms.message","sender":"ann","content":{"kind":"audio"},"priority":1.5,"createdAt":"2026-11-15T10:00:00Z","$odd":1}"#;

const OLD_BLOB: &str = r#"{"$type":"agent.comms.message","sender":"did:web:ann.example","recipient":"did:web:bob.example","content":{"kind":"binary","blob":{"cid":"bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity","mimeType":"image/png"}},"createdAt":"2026-11-15T10:00:00Z"}"#;

#[test]
fn records_are_answered_one_by_one() {
    let lines = format!("{VALID}\n{INVALID}\nnot json\n\n{VALID}\n");
    let session = Session::new()
        .file("valid.json", VALID)
        .file("lines.jsonl", lines)
        .file("old-blob.json", OLD_BLOB)
        .file("pretty.json", VALID.replace(",\"", ",\n  \""))
        .file("note.json", r##"{"lexicon":1,"id":"com.example.note","defs":{"main":{"type":"record","key":"any","record":{"type":"object","properties":{"at":{"type":"ref","ref":"com.example.place"}}}}}}"##)
        .file("note-record.json", r#"{"$type":"com.example.note","at":{}}"#);
    let commands = [
        "lexicon validate agent.comms.message --record valid.json",
        "lexicon validate agent.comms.message --record pretty.json --json",
        "lexicon validate agent.comms.message --record lines.jsonl",
        "lexicon validate agent.comms.message --record lines.jsonl --json",
        "lexicon validate agent.comms.message --record valid.json --record lines.jsonl --json",
        "lexicon validate agent.comms.message --record old-blob.json",
        "lexicon validate agent.comms.message --record old-blob.json --read",
        "lexicon validate agent.comms.request --record valid.json",
        "lexicon validate note.json --record note-record.json",
        "lexicon validate note.json note.json agent.comms.message --record valid.json",
        "lexicon validate agent.comms.message --record missing.json",
        "lexicon validate missing.json --record valid.json",
    ];
    insta::assert_snapshot!(session.transcript(&commands));
}

/// The answer to one input on standard input: exit status and the codes of its errors.
fn codes(input: &[u8]) -> (i32, Vec<String>) {
    let outcome =
        Session::new().run_with_input("lexicon validate agent.comms.message --record - --json", input);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    (outcome.code, outcome.error_codes())
}

#[test]
fn hostile_input_gets_a_clear_error() {
    let with_text = |text: &str| VALID.replace("hello", text);
    let large = with_text(&"x".repeat(10_000_000));
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (large.into_bytes(), "too_large"),
        ("[".repeat(100_000).into_bytes(), "too_deep"),
        (VALID.replace("\"hello\"", &"[".repeat(100_000)).into_bytes(), "too_deep"),
        (
            with_text("\u{fffd}")
                .replace('\u{fffd}', "*")
                .into_bytes()
                .iter()
                .map(|b| if *b == b'*' { 0xff } else { *b })
                .collect(),
            "utf8",
        ),
        (VALID.replace("\"sender\"", "\"$type\"").into_bytes(), "duplicate_key"),
        (VALID.replace("\"hello\"", "NaN").into_bytes(), "json"),
        (VALID.replace("\"hello\"", "-Infinity").into_bytes(), "json"),
        (with_text("\0").into_bytes(), "json"),
        (vec![0; 100], "json"),
        (VALID.replace("\"hello\"", &"9".repeat(100_000)).into_bytes(), "number_too_long"),
        (VALID.replace("\"hello\"", "1e999999999").into_bytes(), "type"),
        (with_text("\\ud800").into_bytes(), "json"),
        (b"\"just a string\"".to_vec(), "type"),
        (b"[]".to_vec(), "type"),
        (b"{}".to_vec(), "required"),
    ];
    for (input, expected) in cases {
        let start = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
        assert_eq!(codes(&input), (1, vec![expected.to_owned()]), "{start}");
    }
    assert_eq!(codes(with_text("\\u0000 is text").as_bytes()), (0, vec![String::new()]));
    assert_eq!(codes(b""), (0, vec![]));
}

#[test]
fn a_bad_line_does_not_disturb_its_neighbours() {
    let bad: [&[u8]; 6] =
        [b"{\"a\":", b"\xff\xfe", b"nul", b"{}{}", &b"[".repeat(100_000), &b"x".repeat(9_000_000)];
    for line in bad {
        let mut input = format!("{VALID}\n").into_bytes();
        input.extend_from_slice(line);
        input.extend_from_slice(format!("\n{VALID}\n").as_bytes());
        let (code, answers) = codes(&input);
        assert_eq!((code, answers.len()), (1, 3));
        assert_eq!((answers[0].as_str(), answers[2].as_str()), ("", ""));
        assert_ne!(answers[1], "");
    }
}

#[test]
fn a_million_errors_are_counted_not_kept() {
    let numbers = vec!["1.5"; 1_000_000].join(",");
    let input =
        VALID.replace("\"priority\"", "").replace("\"content\"", &format!("\"x\":[{numbers}],\"content\""));
    let outcome = Session::new()
        .run_with_input("lexicon validate agent.comms.message --record - --json", input.as_bytes());
    let answer = json::parse_str(&outcome.stdout, json::Limits::DOCUMENT).unwrap();
    assert_eq!(answer.get("errors").unwrap().as_array().unwrap().len(), 1_000);
    assert_eq!(answer.get("more_errors").unwrap().as_integer(), Some(999_000));
}
