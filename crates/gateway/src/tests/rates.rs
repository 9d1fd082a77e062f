//! Rates and connections, on a clock of the test's own.

use std::net::IpAddr;
use std::time::Duration;

use broker::AgentKey;
use proptest::prelude::*;

use crate::rate::{Connections, RateLimits, Rates, Who};

const LIMITS: RateLimits = RateLimits { per_second: 10, burst: 5, remembered_max: 8 };

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn a_burst_is_let_through_and_then_what_was_earned() {
    let rates = Rates::new(LIMITS);
    let ann = Who::Agent(AgentKey(7));
    let mut told = Vec::new();
    for (at, cost) in
        [(0, 3), (0, 2), (0, 1), (99, 1), (100, 1), (100, 1), (1_000, 5), (1_000, 1), (9_000, 1_000)]
    {
        told.push(match rates.check(ann, cost, ms(at)) {
            Ok(()) => "yes".to_owned(),
            Err(wait) => format!("{} ms, {} s", wait.0.as_millis(), wait.whole_seconds()),
        });
    }
    let no = |ms: u64| format!("{ms} ms, 1 s");
    let yes = || "yes".to_owned();
    assert_eq!(told, [yes(), yes(), no(100), no(1), yes(), no(100), yes(), no(100), yes()]);
    assert_eq!(rates.check(Who::Operator, 5, ms(0)), Ok(()), "others are not concerned");
}

#[test]
fn an_ipv6_network_counts_as_one() {
    let rates = Rates::new(RateLimits { burst: 1, ..LIMITS });
    let peer = |text: &str| Who::Peer(text.parse::<IpAddr>().unwrap());
    assert!(rates.check(peer("2001:db8::1"), 1, ms(0)).is_ok());
    assert!(rates.check(peer("2001:db8::ffff:2"), 1, ms(0)).is_err());
    assert!(rates.check(peer("2001:db8:0:1::1"), 1, ms(0)).is_ok());
    assert!(rates.check(peer("192.0.2.1"), 1, ms(0)).is_ok());
    assert!(rates.check(peer("::ffff:192.0.2.1"), 1, ms(0)).is_err());
    assert!(rates.check(peer("192.0.2.2"), 1, ms(0)).is_ok());
}

#[test]
fn those_who_used_most_are_remembered_longest() {
    let rates = Rates::new(LIMITS);
    let heavy = Who::Agent(AgentKey(1_000));
    assert!(rates.check(heavy, 5, ms(0)).is_ok());
    for nth in 0..100 {
        assert!(rates.check(Who::Agent(AgentKey(nth)), 1, ms(0)).is_ok());
    }
    assert!(rates.check(heavy, 1, ms(0)).is_err(), "the crowd did not wash it away");
}

#[test]
fn connections_count_until_they_are_dropped() {
    let connections = Connections::new(2);
    let ann = Who::Agent(AgentKey(7));
    let first = connections.open(ann).unwrap();
    let second = connections.open(ann).unwrap();
    assert_eq!(
        connections.open(ann).unwrap_err().to_string(),
        "too many connections: at most 2 at the same time"
    );
    let other = connections.open(Who::Operator).unwrap();
    drop(first);
    let third = connections.open(ann).unwrap();
    assert_eq!(connections.count(), 3);
    drop((second, third, other));
    assert_eq!(connections.count(), 0);
    assert!(Connections::new(0).open(ann).is_err());
}

#[test]
fn what_is_counted_anyway_stands_in_the_way_of_the_next() {
    let answers = Connections::new(1);
    let (ann, bob) = (Who::Agent(AgentKey(7)), Who::Agent(AgentKey(8)));
    assert!(!answers.is_full(ann));
    let open = [answers.open_anyway(ann), answers.open_anyway(ann)];
    assert!(answers.is_full(ann) && !answers.is_full(bob) && answers.open(ann).is_err());
    let [first, second] = open;
    drop(first);
    assert!(answers.is_full(ann));
    drop(second);
    assert!(!answers.is_full(ann) && answers.count() == 0);
}

proptest! {
    #[test]
    fn nobody_gets_more_than_burst_and_rate(
        asked in prop::collection::vec((0_u64..400, 1_u32..8), 1..60),
    ) {
        let rates = Rates::new(LIMITS);
        let (mut now, mut used) = (0, 0);
        for (pause, cost) in asked {
            now += pause;
            if rates.check(Who::Operator, cost, ms(now)).is_ok() {
                used += u64::from(cost.min(LIMITS.burst));
            }
            let allowed = u64::from(LIMITS.burst) + now * u64::from(LIMITS.per_second) / 1_000;
            prop_assert!(used <= allowed, "{used} of {allowed} after {now} ms");
        }
    }

    #[test]
    fn who_waits_as_told_gets_through(asked in prop::collection::vec((0_u64..200, 1_u32..8), 1..40)) {
        let rates = Rates::new(LIMITS);
        let mut now = Duration::ZERO;
        for (pause, cost) in asked {
            now += ms(pause);
            if let Err(wait) = rates.check(Who::Operator, cost, now) {
                now += wait.0;
                prop_assert!(rates.check(Who::Operator, cost, now).is_ok());
            }
        }
    }
}
