//! `convoke translate`.

use crate::session::Session;

const DIALECTS: [&str; 6] = ["comms", "coord", "bus", "channel", "wire", "convoke"];

const NOTE: &str =
    r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"The parser is done 🎉","ratio":1.50}"#;

const IDENTITIES: &str = r#"[{"slug":"ann","did":"did:plc:ann4711","uri":"codex://ann","framework":"codex"},{"slug":"bob","did":"did:web:bob.example"}]"#;

#[test]
fn a_note_in_every_dialect() {
    let session = Session::new()
        .file("note.json", NOTE)
        .file("agents.json", IDENTITIES)
        .file(
            "lines.jsonl",
            format!("{NOTE}\nnot json\n{{\"kind\":\"shout\",\"from\":\"ann\",\"to\":[\"bob\"]}}\n{NOTE}\n"),
        )
        .file("odd.json", r#"[{"slug":"ann"},{"slug":"ann","did":1}]"#);
    let commands = [
        "translate --from convoke --to comms note.json",
        "translate --from convoke --to coord note.json",
        "translate --from convoke --to bus note.json",
        "translate --from convoke --to channel note.json",
        "translate --from convoke --to wire note.json",
        "translate --from convoke --to convoke note.json",
        "translate --from auto --to comms --identities agents.json --report note.json",
        "translate --from convoke --to channel lines.jsonl",
        "translate --from convoke --to channel --report lines.jsonl",
        "translate --from convoke --to channel --identities odd.json note.json",
        "translate --from convoke note.json",
        "translate --from convoke --to latin note.json",
    ];
    insta::assert_snapshot!(session.transcript(&commands));
}

#[test]
fn a_pipe_through_all_dialects_gives_the_same_bytes() {
    let session = Session::new();
    let mut text = format!("{NOTE}\n");
    for pair in DIALECTS.windows(2).rev().map(|pair| (pair[1], pair[0])).chain([("comms", "convoke")]) {
        let outcome =
            session.run_with_input(&format!("translate --from {} --to {}", pair.0, pair.1), text.as_bytes());
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{pair:?}");
        text = outcome.stdout;
    }
    assert_eq!(text, format!("{NOTE}\n"));
}

#[test]
fn pretty_printed_documents_come_back_on_one_line_with_equal_content() {
    let session = Session::new();
    let pretty = NOTE.replace(",\"", ",\n  \"");
    let there = session.run_with_input("translate --from convoke --to wire", pretty.as_bytes());
    let back = session.run_with_input("translate --from wire --to convoke", there.stdout.as_bytes());
    assert_eq!(back.stdout.lines().count(), 1);
    let limits = json::Limits::DOCUMENT;
    assert_eq!(json::parse_str(back.stdout.trim(), limits), json::parse_str(NOTE, limits));
}
