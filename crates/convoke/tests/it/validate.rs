//! `convoke validate`.

use crate::session::Session;

fn good(dialect: &str, name: &str) -> String {
    testkit::read(&testkit::root().join(format!("vectors/{dialect}/good/{name}.json")))
}

#[test]
fn documents_are_answered_one_by_one() {
    let bus = good("bus", "task-request");
    let lines = format!(
        "{}\n{{\"message_type\":\"note\"}}\nnot json\n{}\n{{\"hello\":1}}\n",
        bus.replace('\n', " "),
        good("wire", "claim").replace('\n', " ")
    );
    let session = Session::new()
        .file("bus.json", &bus)
        .file("broken.json", bus.replace("\"high\"", "\"urgent\"").replace("\"300s\"", "300"))
        .file("lines.jsonl", lines)
        .file("note.json", r#"{"kind":"note","from":"Ann","to":[],"retries":1}"#);
    let commands = [
        "validate --dialect bus bus.json",
        "validate --dialect bus broken.json",
        "validate --dialect bus broken.json --json",
        "validate --dialect auto lines.jsonl",
        "validate --dialect auto lines.jsonl --json",
        "validate --dialect convoke note.json bus.json",
        "validate bus.json",
        "validate --dialect klingon bus.json",
        "validate --dialect bus missing.json",
    ];
    insta::assert_snapshot!(session.transcript(&commands));
}

#[test]
fn every_good_vector_is_valid_in_its_dialect_and_by_detection() {
    let session = Session::new();
    for dialect in ["comms", "coord", "bus", "channel", "wire"] {
        for choice in [dialect, "auto"] {
            let files = testkit::root().join(format!("vectors/{dialect}/good"));
            for entry in std::fs::read_dir(files).unwrap() {
                let path = entry.unwrap().path();
                let outcome = session.run(&format!("validate --dialect {choice} --json {}", path.display()));
                assert_eq!(outcome.code, 0, "{}: {}", path.display(), outcome.stdout);
                let told = format!("\"dialect\":\"{dialect}\"");
                assert!(outcome.stdout.contains(&told), "{}: {}", path.display(), outcome.stdout);
            }
        }
    }
}

/// The answers to hostile documents: exit status and the codes of the errors of each.
fn codes(dialect: &str, input: &[u8]) -> (i32, Vec<String>) {
    let outcome = Session::new().run_with_input(&format!("validate --dialect {dialect} --json"), input);
    assert!(outcome.stderr.is_empty(), "{}", outcome.stderr);
    (outcome.code, outcome.error_codes())
}

#[test]
fn hostile_documents_are_answered_and_so_are_their_neighbours() {
    for (dialect, name) in
        [("comms", "message-minimal"), ("bus", "task-request"), ("channel", "message"), ("wire", "claim")]
    {
        let valid = good(dialect, name).replace('\n', " ");
        let last = valid.trim_end().trim_end_matches('}');
        let hostile: [(Vec<u8>, &str); 7] = [
            (format!("{last},\"zz\":{}", "[".repeat(100_000)).into_bytes(), "too_deep"),
            (format!("{last},\"zz\":\"{}\"}}", "x".repeat(10_000_000)).into_bytes(), "too_large"),
            (format!("{last},\"zz\":NaN}}").into_bytes(), "json"),
            (format!("{last},\"zz\":1,\"zz\":2}}").into_bytes(), "duplicate_key"),
            (format!("{last},\"zz\":{}}}", "9".repeat(600)).into_bytes(), "number_too_long"),
            (format!("{last},\"zz\":\"\0\"}}").into_bytes(), "json"),
            ([last.as_bytes(), b",\"zz\":\"\xff\"}"].concat(), "utf8"),
        ];
        for (line, code) in hostile {
            let input = [valid.as_bytes(), b"\n", &line, b"\n", valid.as_bytes(), b"\n"].concat();
            assert_eq!(
                codes(dialect, &input),
                (1, vec![String::new(), code.to_owned(), String::new()]),
                "{dialect} {code}"
            );
        }
    }
}
