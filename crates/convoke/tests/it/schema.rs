//! `convoke`, `convoke schema` and `convoke completions`.

use crate::session::Session;

#[test]
fn help_of_everything() {
    let commands = [
        "--help",
        "schema --help",
        "schema list --help",
        "schema show --help",
        "lexicon --help",
        "lexicon check --help",
        "lexicon validate --help",
        "lexicon hoist --help",
        "completions --help",
        "validate --help",
        "translate --help",
        "unknown",
        "lexicon check one",
        "lexicon validate agent.comms.message",
    ];
    insta::assert_snapshot!(Session::new().transcript(&commands));
}

#[test]
fn schemas_are_listed_and_shown() {
    let commands = [
        "schema list",
        "schema list --json",
        "schema show request",
        "schema show nothing",
        "lexicon hoist nothing",
    ];
    insta::assert_snapshot!(Session::new().transcript(&commands));
    for definition in definitions::ALL {
        let outcome = Session::new().run(&format!("schema show {}", definition.name));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (0, definition.text));
    }
}

#[test]
fn hoisted_lexicons_have_no_inline_objects_and_break_nothing() {
    let session = Session::new();
    for definition in definitions::lexicons() {
        let hoisted = session.run(&format!("lexicon hoist {}", definition.name));
        let session = Session::new().file("hoisted.json", &hoisted.stdout);
        let outcome = session.run(&format!("lexicon check {} hoisted.json", definition.name));
        assert_eq!(outcome.code, 0, "{}: {}", definition.name, outcome.stdout);
        assert!(!outcome.stderr.contains("hoisted.json:"), "{}", outcome.stderr);
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = Session::new().run(&format!("completions {shell}"));
        assert_eq!(outcome.code, 0);
        assert!(outcome.stdout.contains("hoist"), "{shell}");
    }
}
