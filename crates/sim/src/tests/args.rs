//! The command line.

use clap::{CommandFactory, Parser};

use crate::args::{Args, STEPS};

#[test]
fn the_definition_holds_together() {
    Args::command().debug_assert();
}

#[test]
fn seeds_are_a_range_that_is_not_empty() {
    let parse = |seeds: &str| Args::try_parse_from(["sim", "--seeds", seeds]).map(|args| args.seeds);
    assert_eq!(parse("0..1000").unwrap(), 0..1_000);
    assert_eq!(parse("41..42").unwrap(), 41..42);
    for wrong in ["5", "5..5", "7..3", "a..b", "..", "-1..3"] {
        assert!(parse(wrong).is_err(), "{wrong} is no range of seeds");
    }
}

#[test]
fn what_is_not_said_is_usual() {
    let args = Args::try_parse_from(["sim"]).unwrap();
    assert_eq!((args.steps, args.jobs, args.plant), (STEPS, None, None));
}

#[test]
fn a_plant_is_known_by_its_name() {
    let parse = |name: &str| Args::try_parse_from(["sim", "--plant", name]).map(|args| args.plant);
    assert_eq!(parse("skip-sync").unwrap().map(|plant| plant.name()), Some("skip-sync"));
    assert!(parse("no-such-plant").is_err());
}
