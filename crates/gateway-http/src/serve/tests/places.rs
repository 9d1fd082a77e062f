//! Who gets a place: peers by their addresses, which tests on one machine do not have.

use std::net::IpAddr;
use std::sync::Arc;

use super::*;
use crate::serve::table::{Slot, Table};

fn table(limits: ServeLimits) -> Arc<Table> {
    Arc::new(Table::new(&limits))
}

fn admit(table: &Arc<Table>, peer: &str) -> Option<Slot> {
    table.admit(peer.parse::<IpAddr>().unwrap())
}

/// Takes a place and begins to be served.
fn served(table: &Arc<Table>, peer: &str) -> Slot {
    let slot = admit(table, peer).unwrap();
    slot.phase().works();
    slot
}

#[tokio::test]
async fn one_address_does_not_take_all_places() {
    let table = table(ServeLimits { connections_per_peer_max: 2, ..limits() });
    let first = served(&table, "192.0.2.1");
    let second = served(&table, "::ffff:192.0.2.1");
    assert!(admit(&table, "192.0.2.1").is_none());
    let other = served(&table, "192.0.2.2");
    // Who waits for the next request gives way to himself.
    second.phase().rests();
    let third = admit(&table, "192.0.2.1").unwrap();
    assert_eq!(table.count(), 3);
    drop((first, second, third, other));
    assert_eq!(table.count(), 0, "a place that was given away is not given back twice");
    table.emptied().await;
}

#[tokio::test]
async fn this_machine_has_places_of_its_own() {
    let limits =
        ServeLimits { connections_max: 2, connections_per_peer_max: 1, connections_reserve: 2, ..limits() };
    let table = table(limits);
    let _far = [served(&table, "192.0.2.1"), served(&table, "192.0.2.2")];
    assert!(admit(&table, "192.0.2.3").is_none());
    let _near = [served(&table, "127.0.0.1"), served(&table, "::1")];
    assert!(admit(&table, "127.0.0.1").is_none());
    assert_eq!(table.count(), 4);
}
