//! The area `dialects`: its documents are what they claim to be, and every task runs.

use std::collections::HashSet;
use std::time::Duration;

use dialect::Names;
use json::Limits;

use crate::area::{Form, Length, Options, Outcome};
use crate::dialects::corpus::{DIALECTS, document};
use crate::dialects::task::{Plan, Work};
use crate::dialects::{AREA, Rounds};
use crate::figures::Timing;

#[test]
fn smoke() {
    for form in [Form::Text, Form::Json] {
        let options = Options { rounds: 1, duration: Duration::ZERO, form, only: None, length: Length::Full };
        assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
        assert_eq!((AREA.measure)(&options).unwrap(), Outcome::Agreed);
    }
    (AREA.work)("wire-validate", 1).unwrap();
    assert!((AREA.work)("wire-to-wire", 1).is_err());
}

#[test]
fn documents_are_valid_of_the_promised_size_and_compact() {
    for name in DIALECTS {
        let text = document(name).unwrap();
        assert!((1_000..=1_050).contains(&text.len()), "{name}: {} bytes", text.len());
        assert_eq!(json::parse_str(text, Limits::DOCUMENT).unwrap().to_string(), text, "{name}");
    }
}

#[test]
fn documents_can_be_read_and_know_their_dialect() {
    for name in DIALECTS {
        let value = json::parse_str(document(name).unwrap(), Limits::DOCUMENT).unwrap();
        assert_eq!(translate::detect(&value), Some(name));
        assert!(translate::dialect(name).decode(&value, &Names::default()).is_ok(), "{name}");
    }
}

#[test]
fn translations_are_valid() {
    for plan in Plan::all() {
        if let Work::Restore { from } = plan.work {
            let task = plan.prepare().unwrap();
            let value = json::parse_str(&task.input, Limits::DOCUMENT).unwrap();
            let verdict = translate::dialect(from).validate(&value);
            assert!(verdict.is_valid(), "{}: {:?}", plan.name(), verdict.errors.kept());
        }
    }
}

#[test]
fn every_pair_is_planned_once() {
    let plans = Plan::all();
    let names: HashSet<String> = plans.iter().map(|plan| plan.name()).collect();
    assert_eq!(names.len(), plans.len());
    let count = |name| plans.iter().filter(|plan| plan.work.name() == name).count();
    assert_eq!([count("receive"), count("translate"), count("restore")], [6, 30, 30]);
}

#[test]
fn an_aim_is_an_upper_bound() {
    let timing = |ns| Timing { records: 1, wall: Duration::from_nanos(ns), processor: None };
    let plan = Plan::all().into_iter().find(|plan| plan.work == Work::Validate).unwrap();
    let task = plan.prepare().unwrap();
    let rounds = |ours| Rounds { task: &task, ours: vec![timing(ours)], yardstick: vec![timing(100)] };
    assert_eq!(rounds(300).is_reached(), Some(true));
    assert_eq!(rounds(301).is_reached(), Some(false));
    assert_eq!(rounds(50).ratio().median, 0.5);
}
