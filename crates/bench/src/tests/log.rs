//! The area `log`: every side runs, and what is compared is the same.

use std::time::Duration;

use crate::area::{Form, Length, Options, Outcome};
use crate::figures::Pace;
use crate::log::append::{RECORD_BYTES, Side, Sides, records};
use crate::log::{AREA, BATCHES, quantile};
use crate::ring::Scale;
use crate::scratch::Scratch;

#[test]
fn smoke() {
    for form in [Form::Text, Form::Json] {
        let options = Options { rounds: 1, duration: Duration::ZERO, form, only: None, length: Length::Full };
        assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    }
    (AREA.work)("append-1", 2).unwrap();
    assert!((AREA.work)("append-0", 1).is_err());
}

#[test]
fn every_side_writes_what_it_is_asked_to_and_each_commit_is_timed() {
    let scratch = Scratch::make().unwrap();
    let mut sides = Sides::make(&scratch, Scale::Tiny).unwrap();
    for side in Side::ALL {
        for batch in BATCHES {
            let mut commits_ms = Vec::new();
            let timing = sides.run(side, batch, Pace::Passes(5), &mut commits_ms).unwrap();
            assert_eq!((timing.records, commits_ms.len()), (5 * batch as u64, 5), "{}", side.title());
        }
    }
}

#[test]
fn our_ring_goes_round_without_growing() {
    let scratch = Scratch::make().unwrap();
    let mut sides = Sides::make(&scratch, Scale::Tiny).unwrap();
    let folder = scratch.folder("log").unwrap();
    let files = || std::fs::read_dir(&folder).unwrap().count();
    // A batch is a quarter of a segment.
    sides.run(Side::Ours, 256, Pace::Passes(100), &mut Vec::new()).unwrap();
    let before = files();
    sides.run(Side::Ours, 256, Pace::Passes(200), &mut Vec::new()).unwrap();
    assert!(files().abs_diff(before) <= 4, "{before} files, then {}", files());
}

#[test]
fn the_largest_batch_has_its_records() {
    assert_eq!(records().len(), BATCHES[0] * RECORD_BYTES);
}

#[test]
fn quantiles() {
    let sorted: Vec<f64> = (0..100).map(f64::from).collect();
    assert_eq!((quantile(&sorted, 0.5), quantile(&sorted, 0.99), quantile(&sorted, 1.0)), (50.0, 99.0, 99.0));
    assert_eq!(quantile(&[7.0], 0.99), 7.0);
    assert!(quantile(&[], 0.5).is_nan());
}
