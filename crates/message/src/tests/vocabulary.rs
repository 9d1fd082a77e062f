//! The words of the contract, each list in full.

use crate::{
    Backoff, Dialect, GateDecision, Guarantee, Kind, Mode, PresenceState, Priority, Reachability, Severity,
    Stage, TaskStatus,
};

/// Checks that a list has exactly these words, in this order, and that each leads back to its value.
macro_rules! check_words {
    ($name:ident, $words:expr) => {
        let words: Vec<&str> = $name::ALL.iter().map(|value| value.name()).collect();
        assert_eq!(words.join(" "), $words);
        for value in $name::ALL.iter().copied() {
            assert_eq!($name::from_name(value.name()), Some(value));
            assert_eq!($name::from_name(&value.name().to_uppercase()), None);
            assert_eq!(value.to_string(), value.name());
        }
        assert_eq!($name::from_name(""), None);
    };
}

#[test]
fn the_words_are_those_of_the_contract() {
    check_words!(
        Kind,
        "note announce task.request task.claim task.progress task.done task.failed task.rejected task.blocked \
         help.ask help.reply handoff.offer handoff.reply agent.status agent.heartbeat error.report \
         review.verdict gate question state.sync report"
    );
    check_words!(Priority, "low normal high critical");
    check_words!(Severity, "low medium high critical");
    check_words!(Guarantee, "at_least_once at_most_once");
    check_words!(Mode, "async sync");
    check_words!(Backoff, "exponential linear");
    check_words!(TaskStatus, "pending claimed running blocked done failed rejected cancelled");
    check_words!(PresenceState, "idle busy error offline maintenance");
    check_words!(Dialect, "comms coord bus channel wire convoke");
    check_words!(Reachability, "socket watcher runner poll nobody");
    check_words!(GateDecision, "approved rejected");
    check_words!(
        Stage,
        "accepted stored dispatched surfaced dead expired withdrawn unconfirmed acknowledged answered"
    );
}

#[test]
fn levels_are_ordered() {
    assert!(Priority::Low < Priority::Normal && Priority::Normal < Priority::High);
    assert!(Priority::High < Priority::Critical);
    assert!(Severity::Low < Severity::Medium && Severity::High < Severity::Critical);
}

#[test]
fn stages_under_way_come_before_every_end_and_bad_ends_before_good_ones() {
    let ends = [
        Stage::Dead,
        Stage::Expired,
        Stage::Withdrawn,
        Stage::Unconfirmed,
        Stage::Acknowledged,
        Stage::Answered,
    ];
    for stage in Stage::ALL.iter().copied() {
        assert_eq!(stage.is_end(), ends.contains(&stage), "{stage}");
    }
    assert!(Stage::ALL.iter().all(|stage| stage.is_end() || *stage < Stage::Dead));
    assert!(ends[..4].iter().all(|bad| *bad < Stage::Acknowledged));
}
