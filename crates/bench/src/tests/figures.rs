//! Medians, ratios, tables, and the few lines read from other programs.

use std::time::Duration;

use crate::figures::{self, Pace, Series, Timing};
use crate::table::{table, thousands};
use crate::{machine, valgrind};

fn timing(ns_per_record: u64, share: f64) -> Timing {
    let wall = Duration::from_nanos(ns_per_record * 1_000);
    Timing { records: 1_000, wall, processor: Some(wall.mul_f64(share)) }
}

#[test]
fn medians() {
    assert_eq!(Series::of([3.0, 1.0, 2.0]), Series { median: 2.0, min: 1.0, max: 3.0 });
    assert_eq!(Series::of([4.0, 1.0, 2.0, 3.0]).median, 2.5);
    assert_eq!(Series::of([7.0]), Series { median: 7.0, min: 7.0, max: 7.0 });
}

#[test]
fn ratios_are_taken_round_by_round() {
    let ours = [timing(100, 1.0), timing(200, 1.0), timing(100, 1.0)];
    let peer = [timing(500, 1.0), timing(1_000, 1.0), timing(700, 1.0)];
    let ratio = Series::ratio_by(&ours, &peer, Timing::ns_per_record);
    assert_eq!(ratio, Series { median: 5.0, min: 5.0, max: 7.0 });
}

#[test]
fn processor_time_counts_where_it_is_known() {
    assert_eq!(timing(100, 0.5).ns_per_record(), 50.0);
    assert_eq!(timing(100, 0.5).wall_ns_per_record(), 100.0);
    assert_eq!(Timing { processor: None, ..timing(100, 0.5) }.ns_per_record(), 100.0);
}

#[test]
fn the_quietest_of_three_is_kept() {
    let mut timings = [timing(9, 0.5), timing(8, 0.9), timing(7, 0.7), timing(1, 1.0)].into_iter();
    let best = figures::quietest(|| Ok(timings.next().unwrap())).unwrap();
    assert_eq!(best.wall_ns_per_record(), 8.0);
    assert_eq!(timings.len(), 1);
}

#[test]
fn a_quiet_measure_is_not_repeated() {
    let mut timings = [timing(9, 0.96), timing(1, 1.0)].into_iter();
    assert_eq!(figures::quietest(|| Ok(timings.next().unwrap())).unwrap().wall_ns_per_record(), 9.0);
    assert_eq!(timings.len(), 1);
}

#[test]
fn passes_are_counted() {
    let mut calls = 0;
    assert_eq!(figures::run(Pace::Passes(4), 12, || calls += 1).records, 48);
    assert_eq!(calls, 4);
    let timing = figures::run(Pace::For(Duration::from_millis(1)), 1, || {});
    assert!(timing.wall >= Duration::from_millis(1) && timing.records > 0);
}

#[test]
fn tables_are_aligned() {
    let rows = [vec!["ns".to_owned(), "ours".to_owned()], vec!["from bytes".to_owned(), "3".to_owned()]];
    assert_eq!(table(&rows), "ns           ours\nfrom bytes      3\n");
    assert_eq!(
        ["0", "999", "1,000", "1,234,568"],
        [0.4, 999.0, 999.9, 1_234_567.8].map(thousands).each_ref().map(String::as_str)
    );
}

#[test]
fn what_other_programs_write_is_read() {
    assert_eq!(valgrind::total("version: 1\nfn=(1)\n5 7\ntotals: 41059764\n"), Some(41_059_764));
    assert_eq!(valgrind::total("version: 1\n"), None);
    let cpuinfo = "processor\t: 0\nmodel name\t: A Fine Chip 9000\nmodel name\t: another\n";
    assert_eq!(machine::model_name(cpuinfo).as_deref(), Some("A Fine Chip 9000"));
}
