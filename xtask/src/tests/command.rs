//! Picking a command, and showing one as it would be typed.

use std::process::Command;

use crate::command::{Outcome, UsageError, asks_for_help};
use crate::{COMMANDS, dispatch, overview, shell};

fn args(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

#[test]
fn unknown_commands_get_the_list() {
    for wrong in
        [&[][..], &["tidi"], &["tidy", "--fast"], &["ci", "--step", "x"], &["ci", "now"], &["soak", "1"]]
    {
        let error = dispatch(&args(wrong)).unwrap_err();
        assert!(error.is::<UsageError>(), "{wrong:?}");
    }
    let error = dispatch(&args(&["tidi"])).unwrap_err().to_string();
    assert!(error.starts_with("unknown command `tidi`\n"), "{error}");
    assert!(COMMANDS.iter().all(|command| error.contains(command.name)), "{error}");
}

#[test]
fn help_has_examples_for_every_command() {
    for command in &COMMANDS {
        assert!(
            command.help.contains(&format!("\nexamples:\n  cargo xtask {}", command.name)),
            "{}",
            command.name
        );
        assert_eq!(dispatch(&args(&[command.name, "--help"])).unwrap(), Outcome::Passed);
    }
    assert!(overview().contains("\nexamples:\n"));
    assert_eq!(dispatch(&args(&["--help"])).unwrap(), Outcome::Passed);
}

#[test]
fn help_behind_two_dashes_is_for_the_program() {
    assert!(asks_for_help(&args(&["--seconds", "--help"])));
    assert!(!asks_for_help(&args(&["--", "--help"])));
}

#[test]
fn commands_are_shown_as_typed() {
    let mut command = Command::new("cargo");
    command.args(["test", "a b", "it's", ""]).env("RUSTDOCFLAGS", "-D warnings").env_remove("X");
    assert_eq!(shell::show(&command), r"RUSTDOCFLAGS='-D warnings' cargo test 'a b' 'it'\''s' ''");
}
