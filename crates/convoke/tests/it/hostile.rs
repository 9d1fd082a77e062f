//! Requests and frames that nobody sane sends, at every call.

use crate::rounds::run;

#[test]
fn hostile_requests_are_answered_in_documented_ways() {
    run("hostile");
}
