//! What the history says became of a message is what the broker says, for everything that the broker remembers.

use std::collections::BTreeSet;

use message::{MessageId, RecipientReceipt, Stage};

use super::ops::{self, Seen};
use super::world::World;
use crate::{History, Receipted};

/// Compares the history with the broker's memory; returns how many receipts were compared.
fn check(world: &World, history: &History, messages: &[MessageId], what: &str) -> usize {
    history.catch_up(world.log_last());
    let mut compared = 0;
    for id in messages {
        let found = history.receipt(*id).unwrap();
        let found = found.unwrap_or_else(|| panic!("{what}: {id} is not in the history"));
        assert_eq!(history.message(*id).unwrap().as_ref(), Some(&found.row), "{what}: {id}");
        let Some(expected) = world.broker.receipt(*id) else { continue };
        // The broker no longer shows agents that are gone.
        if let Some(view) = world.broker.sender(*id).and_then(|from| world.broker.look_at(from)) {
            assert_eq!(found.row.from, view.name, "{what}: {id}");
        }
        assert_eq!(found.recipients, expected, "{what}: {id}");
        check_stage(&found, &expected);
        compared += 1;
    }
    compared
}

/// The stage of a row is that of a receipt with the same recipients.
fn check_stage(found: &Receipted, recipients: &[RecipientReceipt]) {
    let least = recipients.iter().map(|recipient| recipient.stage).min().unwrap_or(Stage::Stored);
    assert_eq!(found.row.stage, least, "{}", found.row.id);
}

#[test]
fn receipts_are_those_of_the_broker() {
    let mut compared = 0;
    let mut stages = BTreeSet::new();
    for seed in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let mut world =
            World::with(seed, if seed % 2 == 0 { ops::tight() } else { testkit::broker_settings() });
        let mut seen = Seen::default();
        let history = world.history(&folder.path().join("history.db"));
        for round in 0..5 {
            ops::play(&mut world, &mut seen, 80);
            compared += check(&world, &history, &seen.messages, &format!("seed {seed}, round {round}"));
        }
        for id in &seen.messages {
            let receipt = history.receipt(*id).unwrap().unwrap();
            stages.extend(receipt.recipients.iter().map(|recipient| recipient.stage));
        }
        world.gate.stop();
        history.join();
    }
    assert!(compared > 2_000, "only {compared} receipts were compared");
    let missing: Vec<_> =
        Stage::ALL.iter().filter(|stage| **stage != Stage::Accepted && !stages.contains(stage)).collect();
    assert!(missing.is_empty(), "no message came to {missing:?}");
}

#[test]
fn random_commands_reach_every_event() {
    let mut reached = BTreeSet::new();
    for seed in 0..12 {
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 400);
        world.events(|_, _, event| {
            let mut bytes = Vec::new();
            event.encode(broker::Time(0), &mut bytes);
            reached.insert(bytes[0]);
        });
    }
    let missing: Vec<u8> = (1..=28).filter(|code| !reached.contains(code)).collect();
    assert!(missing.is_empty(), "no random command leads to the events with the codes {missing:?}");
}
