//! Properties: whatever is asked of the broker in whatever order, its state is a fold over its events.

use std::collections::BTreeSet;

use message::Seq;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::tests::ledger;
use crate::tests::ops::{self, Op, Seen};
use crate::tests::settings::{self, cases};
use crate::tests::world::{World, living, snapshot};
use crate::{Command, Living, LookFrom, Reply, Settings, Time};

/// Limits that random commands meet.
fn tight() -> Settings {
    let mut settings = settings::roomy();
    settings.limits.queue_max = 6;
    settings.limits.messages_max = 40;
    settings.limits.held_max = 3;
    settings.limits.sessions_max = 3;
    settings.limits.hops_max = 2;
    settings.retries.jitter = true;
    settings.turns_warn = 1;
    settings.turns_park = Some(2);
    settings
}

fn play(settings: Settings, ops: &[Op], reload_every: usize) -> World {
    play_seen(settings, ops, reload_every).0
}

fn play_seen(settings: Settings, ops: &[Op], reload_every: usize) -> (World, Seen) {
    let mut world = World::new(settings);
    let mut seen = Seen::default();
    ops::open(&mut world);
    for (number, op) in ops.iter().enumerate() {
        op.run(&mut world, &mut seen);
        if number % reload_every == 0 {
            world.reload();
        }
    }
    (world, seen)
}

/// A property over commands that never come to anything would hold for nothing.
#[test]
fn random_commands_reach_every_event() {
    let mut runner = TestRunner::deterministic();
    let mut reached = BTreeSet::new();
    for _ in 0..24 {
        let ops = proptest::collection::vec(ops::op(), 100..160).new_tree(&mut runner).unwrap().current();
        reached.extend(play(tight(), &ops, usize::MAX).log.iter().map(|bytes| bytes[0]));
    }
    let missing: Vec<u8> = (1..=28).chain(40..=42).filter(|code| !reached.contains(code)).collect();
    assert!(missing.is_empty(), "no random command leads to the events with the codes {missing:?}");
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn the_state_is_a_fold_over_the_events(
        ops in proptest::collection::vec(ops::op(), 1..160),
        reload_every in 1_usize..20,
        settings in prop_oneof![Just(tight()), Just(settings::roomy())],
    ) {
        let world = play(settings, &ops, reload_every);
        ledger::check(&world.log);
        let end = snapshot(&world.broker);
        prop_assert!(snapshot(&world.replay(None)) == end, "a replay gives the same bytes");
    }

    #[test]
    fn a_snapshot_and_its_tail_are_the_whole(
        ops in proptest::collection::vec(ops::op(), 1..160),
        cut in 0.0..1.0_f64,
    ) {
        let world = play(tight(), &ops, usize::MAX);
        let end = snapshot(&world.broker);
        let cut = (world.log.len() as f64 * cut) as usize;
        let mut half = World::new(world.broker.settings.clone());
        half.log = world.log[..cut].to_vec();
        let middle = snapshot(&half.replay(None));
        prop_assert!(snapshot(&world.replay(Some((cut, &middle)))) == end, "a tail on a snapshot gives the same bytes");
    }

    #[test]
    fn a_look_in_parts_misses_no_living_body(
        before in proptest::collection::vec(ops::op(), 1..120),
        between in proptest::collection::vec(ops::op(), 1..60),
        among in proptest::collection::vec(ops::record_op(), 8..40),
        parts in (1_u32..40, 1_u32..3),
    ) {
        let (mut world, mut seen) = play_seen(tight(), &before, usize::MAX);
        let cut = Seq(world.broker.last().0 + 1);
        let (mut between, mut among) = (between.iter(), among.iter());
        let mut from = Some(LookFrom::START);
        while let Some(here) = from {
            let (part, ops): (u32, Vec<&Op>) = match here {
                LookFrom::Messages(_) => (parts.0, between.by_ref().take(1).collect()),
                LookFrom::Records(_) => (parts.1, among.by_ref().take(4).collect()),
                LookFrom::Tasks(_) => (parts.0, between.by_ref().take(1).collect()),
            };
            let (bodies, next) = world.broker.bodies_before(cut, here, part);
            prop_assert!(bodies.len() <= part as usize, "a look is bounded");
            for op in ops {
                op.run(&mut world, &mut seen);
            }
            for Living { of, place, bytes } in bodies {
                // It may be over by now, or lie elsewhere.
                let body = vec![b'x'; usize::try_from(bytes).unwrap()];
                drop(world.run(&Command::Carry { of, place, body: body.into() }));
            }
            from = next;
        }
        prop_assert_eq!(living(&world.broker, cut), vec![], "bodies that are needed lie before the cut");
        world.reload();
    }

    #[test]
    fn time_ends_what_has_an_end(ops in proptest::collection::vec(ops::op(), 1..160)) {
        let mut world = play(tight(), &ops, usize::MAX);
        for round in 0.. {
            prop_assert!(round < 2_000, "timers beget timers");
            let due = world.broker.due(Time(world.now), Time(world.wall), 5);
            for due in &due {
                prop_assert_eq!(world.run(&Command::Due(*due)).reply, Ok(Reply::Done));
            }
            let (bus, wall) = world.broker.next_due();
            if due.is_empty() && bus.is_none() && wall.is_none() {
                break;
            }
            if due.is_empty() {
                prop_assert!(bus.is_none_or(|at| at.0 > world.now), "what is due is found");
                prop_assert!(wall.is_none_or(|at| at.0 > world.wall), "what has expired is found");
                world.now = bus.map_or(world.now, |at| at.0);
                world.wall = wall.map_or(world.wall, |at| at.0);
            }
        }
        world.reload();
        ledger::check(&world.log);
        let counts = world.broker.counts();
        prop_assert_eq!((counts.handed_out, counts.waits), (0, 0), "no lease and no wait lasts for ever");
    }
}
