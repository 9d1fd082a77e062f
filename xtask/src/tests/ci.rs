//! The steps of the gate and the table at its end.

use std::time::Duration;

use crate::ci::{Record, Step, Verdict, summary_table};

#[test]
fn steps_are_found_by_name() {
    assert_eq!(Step::ALL.map(Step::name), ["fmt", "tidy", "clippy", "test", "doctest", "doc", "deny"]);
    for step in Step::ALL {
        assert_eq!(Step::named(step.name()), Some(step));
    }
    assert_eq!(Step::named("none"), None);
}

#[test]
fn the_table_shows_every_step() {
    let record = |step, verdict, ms| Record { step, verdict, elapsed: Duration::from_millis(ms) };
    let records = [
        record(Step::Format, Verdict::Passed, 340),
        record(Step::Deny, Verdict::Skipped("cargo-deny is not installed"), 0),
        record(Step::Tests, Verdict::Failed, 61_250),
    ];
    assert_eq!(
        summary_table(&[Step::Format, Step::Deny, Step::Tests, Step::Docs], &records),
        "\
step     result    seconds
fmt      passed        0.3
deny     skipped       0.0  (cargo-deny is not installed)
test     failed       61.2
doc      not run
"
    );
}
