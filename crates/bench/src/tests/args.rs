//! The command line: what is understood and what is refused.

use std::time::Duration;

use crate::area::{Form, Length, Options};
use crate::args::{self, Command, Mode};

fn parse(words: &[&str]) -> Result<Command, String> {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    args::parse(&words).map_err(|error| error.to_string())
}

#[test]
fn without_arguments_all_areas_are_measured() {
    let Ok(Command::Run { areas, mode, options }) = parse(&[]) else { panic!("no run") };
    assert_eq!(areas.len(), crate::AREAS.len());
    assert_eq!(mode, Mode::Measure);
    assert_eq!(
        options,
        Options {
            rounds: 5,
            duration: Duration::from_secs(1),
            form: Form::Text,
            only: None,
            length: Length::Full
        }
    );
}

#[test]
fn options_are_read() {
    let words = ["lexicon", "--seconds", "3", "--rounds", "9", "--json", "--callgrind"];
    let Ok(Command::Run { areas, mode, options }) = parse(&words) else { panic!("no run") };
    assert_eq!(areas[0].name, "lexicon");
    assert_eq!(mode, Mode::Callgrind);
    assert_eq!(
        options,
        Options {
            rounds: 9,
            duration: Duration::from_secs(3),
            form: Form::Json,
            only: None,
            length: Length::Full
        }
    );
    let Ok(Command::Run { options, .. }) = parse(&["peers", "--only", "T4", "--quick"]) else {
        panic!("no run")
    };
    assert_eq!((options.only.as_deref(), options.length), (Some("T4"), Length::Quick));
    assert!(matches!(parse(&["list"]), Ok(Command::List { form: Form::Text })));
    assert!(matches!(parse(&["list", "--json"]), Ok(Command::List { form: Form::Json })));
    assert!(matches!(parse(&["lexicon", "--help"]), Ok(Command::Help)));
}

#[test]
fn wrong_arguments_are_refused() {
    for wrong in [
        &["lexikon"][..],
        &["lexicon", "lexicon"],
        &["--fast"],
        &["--rounds"],
        &["--only"],
        &["--rounds", "0"],
        &["--seconds", "1.5"],
        &["--smoke", "--callgrind"],
    ] {
        assert!(parse(wrong).is_err(), "{wrong:?}");
    }
    assert!(parse(&["lexikon"]).err().is_some_and(|error| error.contains("hint: the areas are lexicon")));
}

#[test]
fn the_help_names_every_area() {
    let help = args::help();
    assert!(crate::AREAS.iter().all(|area| help.contains(area.name)), "{help}");
}
