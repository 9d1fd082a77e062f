//! The real bus, killed under load and treated badly in other ways; the same parts run longer in `cargo xtask soak`.

use std::path::PathBuf;

use rounds::checker::Promise;
use rounds::faults::{Saw, Size, Stage, part};
use rounds::{Cast, Plan, Plant};

/// What is tried is the same every time: a gate must not fail by chance. The soak takes another seed every time.
const SEED: u64 = 20_261_116;

/// Runs a part, and says what it did and saw.
pub(crate) fn run(name: &str) {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_convoke"));
    let stage = Stage { binary, seed: SEED, size: Size::Short };
    let part = part(name).unwrap_or_else(|| panic!("there is no part {name}"));
    match (part.run)(&stage) {
        Ok(Saw::This(what)) => eprintln!("{name}: {what}"),
        Ok(Saw::Skipped(why)) => eprintln!("{name}: skipped: {why}"),
        Err(error) => panic!("{name}, seed {SEED}: {error:#}"),
    }
}

#[test]
fn what_is_acknowledged_survives_kills_under_load() {
    run("kills");
}

#[test]
fn every_door_keeps_its_promises_under_kills() {
    run("doors");
}

/// What finds nothing proves nothing: here the disk forgets what the bus had acknowledged.
#[test]
fn a_disk_that_forgets_is_noticed() {
    let binary = PathBuf::from(env!("CARGO_BIN_EXE_convoke"));
    let plant = Some(Plant::ForgetfulDisk);
    let cast = Cast::Native;
    let plan = Plan { binary, seed: SEED, cast, rounds: 2, letters_max: 100, plant };
    let summary = rounds::run(&plan).unwrap();
    let found = summary.violations.iter().any(|violation| violation.promise == Promise::Durable);
    assert!(found, "nobody noticed: {summary}");
    println!("{summary}, as planted");
}

#[test]
fn a_folder_serves_one_process() {
    run("folder");
}

#[test]
fn settings_that_do_not_exist_are_refused() {
    run("settings");
}

#[test]
fn nobody_speaks_or_reads_for_somebody_else() {
    run("guests");
}

#[test]
fn pages_of_other_sites_are_turned_away_at_every_door() {
    run("origins");
}

#[test]
fn leases_end_and_dead_letters_come_back() {
    run("leases");
}

#[test]
fn poison_ends_and_holds_up_nothing_else() {
    run("poison");
}

#[test]
fn fallbacks_have_one_outcome() {
    run("fallbacks");
}

#[test]
fn everybody_who_waits_gets_its_own_reply() {
    run("replies");
}

#[test]
fn urgent_comes_first_and_nothing_starves() {
    run("priorities");
}

#[test]
fn a_log_that_is_kept_short_loses_nothing_and_stays_short() {
    run("trims");
}

#[test]
fn every_file_becomes_one_message_and_every_message_one_file() {
    run("files");
}

#[test]
fn a_full_disk_refuses_new_messages_only() {
    run("full");
}

#[test]
fn a_disk_that_fails_ends_the_server_or_harms_nobody() {
    run("broken-disk");
}

#[test]
fn a_process_that_slept_forgets_no_lease() {
    run("pause");
}

#[test]
fn a_clock_that_jumps_changes_no_lease_and_no_order() {
    run("clock");
}

#[test]
fn one_who_does_not_read_costs_nobody_else() {
    run("readers");
}

#[test]
fn a_crowd_of_which_half_does_not_read_costs_little() {
    run("crowd");
}

#[test]
fn many_large_documents_are_not_in_memory_at_once() {
    run("large");
}

#[test]
fn idle_and_slow_connections_do_not_stop_the_others() {
    run("flood");
}

#[test]
fn more_connections_than_files() {
    run("descriptors");
}

#[test]
fn sockets_that_behave_badly_cost_little_at_every_door() {
    run("sockets");
}

#[test]
fn everybody_comes_back_after_a_kill() {
    run("herd");
}

#[test]
fn what_is_too_much_is_refused_and_the_rest_arrives() {
    run("overload");
}
