//! The command line.

use clap::{CommandFactory, Parser};

use crate::args::{Args, BLOCK_SEEDS, Command, STEPS};

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

#[test]
fn plants_are_listed_or_measured_in_blocks() {
    let parse = |words: &[&str]| {
        let args = Args::try_parse_from([&["sim", "plants"], words].concat())?;
        let Some(Command::Plants(plants)) = args.command else { panic!("no command") };
        Ok::<_, clap::Error>((plants.blocks, plants.seeds))
    };
    assert_eq!(parse(&[]).unwrap(), (None, BLOCK_SEEDS));
    assert_eq!(parse(&["--blocks", "100", "--seeds", "50"]).unwrap(), (Some(100), 50));
    assert!(parse(&["--blocks", "0"]).is_err());
    assert!(Args::try_parse_from(["sim", "--trace", "plants"]).is_err());
}
