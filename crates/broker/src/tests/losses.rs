//! A log from which parts are lost: whatever they were, the rest is folded to a state that is whole and goes on.

use std::collections::BTreeSet;

use message::{Guarantee, Seq};
use proptest::prelude::*;

use crate::context::message_of;
use crate::tests::audit;
use crate::tests::language::Stage;
use crate::tests::ops::{self, Seen};
use crate::tests::settings::{self, cases};
use crate::tests::world::{World, snapshot};
use crate::{AgentKey, Broker, Command, Event, Fold, FoldError, Take};

/// Folds the log of a world without some of its records: from where, and how many.
fn fold(world: &World, lost: &[(usize, usize)]) -> Fold {
    let mut fold = Fold::new(Broker::new(world.broker.settings.clone()));
    for (number, record) in world.log.iter().enumerate() {
        let seq = Seq(number as u64 + 1);
        if lost.iter().any(|(from, count)| (*from..from + count).contains(&number)) {
            fold.pass(seq);
        } else {
            fold.apply(seq, record).expect("what was written can be read");
        }
    }
    audit::check(fold.broker());
    fold
}

/// What was handed out to whom, of what may be handed out once at most; without what was given back.
fn handed_out_once(log: &[Vec<u8>]) -> BTreeSet<(Seq, AgentKey)> {
    let events = log.iter().map(|record| Event::decode(record).expect("what was written can be read").1);
    let (mut once, mut handed_out) = (BTreeSet::new(), BTreeSet::new());
    for (number, event) in events.enumerate() {
        if let Event::Accepted(accepted) = &event
            && accepted.guarantee == Guarantee::AtMostOnce
        {
            once.insert(Seq(number as u64 + 1));
        } else if let Event::Dispatched { of, agent, .. } = event
            && once.contains(&of.seq)
        {
            handed_out.insert((of.seq, agent));
        } else if let Event::Returned { of } = event {
            handed_out.retain(|(seq, _)| *seq != of.seq);
        }
    }
    handed_out
}

/// Goes on after a restart: everybody takes all that there is. Returns what is handed out.
fn take_all(world: &mut World) -> BTreeSet<(Seq, AgentKey)> {
    let from = world.log.len();
    world.run(&Command::Restart);
    let agents: Vec<AgentKey> = world.broker.agents().map(|agent| agent.agent).collect();
    for agent in agents {
        let take = Take {
            agent,
            session: None,
            max: 1_000,
            bytes_max: u64::MAX,
            lease_ms: 60_000,
            by: "test".into(),
        };
        drop(world.run(&Command::Take(take)).reply);
    }
    let events = world.log[from..].iter().map(|record| Event::decode(record).expect("it can be read").1);
    let handed_out = events.filter_map(|event| {
        if let Event::Dispatched { of, agent, .. } = event { Some((of.seq, agent)) } else { None }
    });
    handed_out.collect()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn whatever_is_lost_the_rest_is_whole_and_goes_on(
        ops in proptest::collection::vec(ops::op(), 1..120),
        more in proptest::collection::vec(ops::op(), 1..40),
        lost in proptest::collection::vec((any::<prop::sample::Index>(), 1_usize..8), 1..4),
    ) {
        let mut world = World::new(settings::roomy());
        let mut seen = Seen::default();
        ops::open(&mut world);
        for op in &ops {
            op.run(&mut world, &mut seen);
        }
        let lost: Vec<_> = lost.iter().map(|(at, count)| (at.index(world.log.len()), *count)).collect();
        let folded = fold(&world, &lost);
        // The same again, and what is saved is what was folded.
        prop_assert!(snapshot(folded.broker()) == snapshot(fold(&world, &lost).broker()));
        world.broker = folded.into_broker();
        world.reload();
        let before = handed_out_once(&world.log);
        let twice: Vec<_> = take_all(&mut world).intersection(&before).copied().collect();
        prop_assert!(twice.is_empty(), "{twice:?} were handed out once at most, and are again");
        for op in &more {
            op.run(&mut world, &mut seen);
        }
    }
}

#[test]
fn a_place_that_is_given_again_is_room_for_what_came_later() {
    let mut stage = Stage::new();
    let mut from = [0; 2];
    for line in ["agent ann", "agent bob", "tune settled_max=0", "send ann bob first", "take bob"] {
        stage.line(line);
    }
    from[0] = stage.world.log.len();
    stage.line("ack bob first");
    from[1] = stage.world.log.len();
    let first = stage.labels["first"];
    stage.line("send ann bob second");
    let second = stage.labels["second"];
    assert_eq!(message_of(first), message_of(second), "its place is given again");
    let folded = fold(&stage.world, &[(from[0], from[1] - from[0])]);
    assert_eq!((folded.passed_over(), folded.broker().find(first)), (0, None));
    assert_eq!(folded.broker().find(second), Some(message_of(second)));
}

#[test]
fn events_about_what_is_lost_are_passed_over() {
    let mut stage = Stage::new();
    for line in ["agent ann", "agent bob"] {
        stage.line(line);
    }
    let from = stage.world.log.len();
    stage.line("send ann bob lost");
    let count = stage.world.log.len() - from;
    for line in ["take bob", "ack bob lost", "send ann bob kept"] {
        stage.line(line);
    }
    let folded = fold(&stage.world, &[(from, count)]);
    assert_eq!((folded.passed_over(), folded.broker().find(stage.labels["lost"])), (2, None));
    assert!(folded.broker().find(stage.labels["kept"]).is_some());
}

#[test]
fn without_a_loss_what_does_not_fit_is_told() {
    let mut stage = Stage::new();
    for line in ["agent ann", "agent bob", "send ann bob one"] {
        stage.line(line);
    }
    let mut fold = Fold::new(Broker::new(stage.world.broker.settings.clone()));
    let last = stage.world.log.last().expect("something happened");
    assert!(matches!(fold.apply(Seq(1), last), Err(FoldError::Misfit(_))));
    assert!(matches!(fold.apply(Seq(1), b"?"), Err(FoldError::Record(_))));
}
