//! Queries return one page at a time, and all pages together are everything.

use super::settings::roomy;
use super::world::World;
use crate::query::agents::{AgentPage, FindAgent, FindAgentKey, RegistryPage};
use crate::query::work::{StateChanges, StateVersion};
use crate::{AgentKey, At, Command, Entity, Operation, Query, Register, StateChange, Time};

const AT: At = At { now: Time(0), wall: Time(0) };

fn register(world: &mut World, name: &str) {
    let register = Register::of(name.parse().unwrap());
    assert!(world.run(&Command::Register(Box::new(register))).reply.is_ok());
}

/// Returns the names on each page.
fn pages(world: &World, max: usize) -> Vec<Vec<String>> {
    let (mut pages, mut after) = (Vec::new(), None);
    loop {
        let (agents, next) = AgentPage { after, max }.run(&world.broker, AT);
        let (registered, same_next) = RegistryPage { after, max }.run(&world.broker, AT);
        assert_eq!(next, same_next, "both pages end at the same agent");
        assert_eq!(agents.len(), registered.len(), "both pages have the same agents");
        pages.push(agents.iter().map(|agent| agent.name.to_string()).collect());
        after = next;
        if after.is_none() {
            return pages;
        }
    }
}

#[test]
fn agents_are_read_page_by_page_in_the_order_of_their_numbers() {
    let mut world = World::new(roomy());
    for name in ["eve", "ann", "bob"] {
        register(&mut world, name);
    }
    assert_eq!(pages(&world, 100), [["human", "system", "runner", "eve", "ann", "bob"]]);
    assert_eq!(pages(&world, 4), [vec!["human", "system", "runner", "eve"], vec!["ann", "bob"]]);
    assert_eq!(pages(&world, 3), [["human", "system", "runner"], ["eve", "ann", "bob"]]);
    let ann = FindAgentKey { name: "ann".into() }.run(&world.broker, AT).unwrap();
    assert!(world.run(&Command::Remove { agent: ann }).reply.is_ok());
    assert_eq!(pages(&world, 2), [vec!["human", "system"], vec!["runner", "eve"], vec!["bob"]]);
    assert_eq!(FindAgent { agent: ann }.run(&world.broker, AT), None);
    assert_eq!(FindAgentKey { name: "ann".into() }.run(&world.broker, AT), Some(ann), "a page goes on there");
}

#[test]
fn the_version_of_the_shared_state_changes_with_it_alone() {
    let mut world = World::new(roomy());
    register(&mut world, "ann");
    let before = StateVersion.run(&world.broker, AT);
    register(&mut world, "bob");
    assert_eq!(StateVersion.run(&world.broker, AT), before, "the registry is not in it");
    let change = StateChange {
        by: AgentKey::HUMAN,
        operation: Operation::Create,
        entity: Entity::Task,
        id: "t-1".into(),
        changes: json::Object::new(),
        version: Some(1),
    };
    assert!(world.run(&Command::ChangeState(Box::new(change))).reply.is_ok());
    let version = StateVersion.run(&world.broker, AT);
    assert!(version > before);
    let found = StateChanges { after: before, max: 10 }.run(&world.broker, AT);
    let seqs: Vec<_> = found.changes.unwrap().iter().map(|change| change.changed.seq).collect();
    assert_eq!((seqs, found.upto), (vec![version], world.broker.last()));
}
