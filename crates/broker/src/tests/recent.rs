//! What changed lately is told in order, and what is forgotten is said to be.

use json::Object;
use message::Seq;

use super::settings::roomy;
use super::world::World;
use crate::{AgentKey, Command, Entity, Operation, StateChange};

/// Changes that are remembered at most.
const REMEMBERED: u32 = 4_096;

fn change(world: &mut World, version: u32) {
    let changes = Object::new();
    let operation = if version == 1 { Operation::Create } else { Operation::Update };
    let change = StateChange {
        by: AgentKey::HUMAN,
        operation,
        entity: Entity::Task,
        id: "t-1".into(),
        changes,
        version: Some(version),
    };
    let outcome = world.run(&Command::ChangeState(Box::new(change)));
    assert!(outcome.reply.is_ok(), "{:?}", outcome.reply);
}

fn versions(world: &World, after: Seq) -> Option<Vec<u32>> {
    Some(world.broker.changes_behind(after)?.map(|changed| changed.version).collect())
}

#[test]
fn changes_are_remembered_in_order_until_a_restart() {
    let mut world = World::new(roomy());
    let start = world.broker.last();
    for version in 1..=3 {
        change(&mut world, version);
    }
    assert_eq!(versions(&world, start), Some(vec![1, 2, 3]));
    let last = world.broker.last();
    assert_eq!(versions(&world, last), Some(Vec::new()));
    assert_eq!(versions(&world, Seq(last.0 + 1)), None, "that has not happened");
    world.reload();
    assert_eq!(versions(&world, start), None, "a snapshot has no memory of changes");
    assert_eq!(versions(&world, last), Some(Vec::new()));
    change(&mut world, 4);
    assert_eq!(versions(&world, last), Some(vec![4]));
}

#[test]
fn the_oldest_changes_are_forgotten() {
    let mut recent = crate::work::recent::Recent::default();
    let changed = |seq: u32| crate::Changed {
        seq: Seq(seq.into()),
        at: crate::Time(0),
        operation: Operation::Update,
        entity: Entity::Task,
        id: "t-1".into(),
        version: seq,
    };
    for seq in 1..=REMEMBERED + 2 {
        recent.note(changed(seq));
    }
    assert_eq!(recent.behind(Seq(1)).map(Iterator::count), None, "one is missing");
    assert_eq!(recent.behind(Seq(2)).map(Iterator::count), Some(REMEMBERED as usize));
}
