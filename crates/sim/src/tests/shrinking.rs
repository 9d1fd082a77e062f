//! A failing run becomes a short one that fails in the same way.

use crate::plan::plan;
use crate::plant::Plant;
use crate::run::run;
use crate::shrink::shrink;
use crate::tests::runs::STEPS;
use crate::trace::Trace;

#[test]
fn a_failure_is_made_short_and_stays_the_same() {
    let plant = Some(Plant::Broker(broker::plant::Plant::ForgetKnown));
    let failing = (0..100).map(|seed| plan(seed, STEPS)).find_map(|plan| {
        let failure = run(&plan, plant, Trace::hashed()).failure?;
        Some((plan, failure))
    });
    let (plan, failure) = failing.expect("the planted fault is found");
    let shrunk = shrink(&plan, &failure, plant);
    assert_eq!(shrunk.failure.violation.promise, failure.violation.promise);
    assert!(shrunk.prefix <= failure.step + 1);
    assert!(shrunk.plan.steps.len() <= 12, "{:#?}", shrunk.plan.steps);
    assert!(!shrunk.lines.is_empty());
    let again = run(&shrunk.plan, None, Trace::hashed());
    assert!(again.failure.is_none(), "without the planted fault it is no failure");
}
