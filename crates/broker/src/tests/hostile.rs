//! Bytes that were damaged on purpose: they are refused or read, and nothing panics.

use proptest::prelude::*;

use crate::tests::language::Stage;
use crate::tests::settings::cases;
use crate::tests::world::{START_MS, World, snapshot};
use crate::{Broker, Effects, Event, Time};

/// A state with something of everything.
const STATE: &str = "
tune settled_max=3
agent ann did:web:ann
agent bob
agent cid
open bob socket
join bob #news
join cid #news
join cid roles.dev
send ann bob out task=t wait=100000
send ann bob behind task=t pri=high life=50000 fallback=cid timeout=9000
take bob#1
send ann bob#1 addressed task=u
send ann #news post
send bob #news post-2
take cid max=1
send ann roles.dev role once
send ann eve held hold
send ann cid dead retries=0
take cid
nack cid dead no
send ann bob settled
process bob settled
presence bob busy
send cid human pausing
take human
nack human pausing later
";

/// A change to bytes: where, as a part of the whole, and what.
type Damage = (f64, u8, u8);

fn world() -> World {
    let mut stage = Stage::new();
    for line in STATE.lines().filter(|line| !line.is_empty()) {
        for told in stage.line(line) {
            assert!(!told.starts_with("refused"), "{line}: {told}");
        }
    }
    stage.world
}

fn damage(bytes: &mut Vec<u8>, damages: &[Damage]) {
    for (place, kind, value) in damages {
        let place = ((bytes.len() as f64 * place) as usize).min(bytes.len().saturating_sub(1));
        match kind % 5 {
            _ if bytes.is_empty() => bytes.push(*value),
            0 => bytes[place] = *value,
            1 => bytes[place] ^= 1 << (value % 8),
            2 => bytes.insert(place, *value),
            3 => {
                bytes.remove(place);
            }
            _ => bytes.truncate(place),
        }
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn a_damaged_snapshot_is_refused_or_read(damages in proptest::collection::vec(any::<Damage>(), 1..4)) {
        let world = world_once();
        let mut bytes = world.1.clone();
        damage(&mut bytes, &damages);
        if let Ok(broker) = Broker::restore(world.0.broker.settings.clone(), &bytes) {
            let written = snapshot(&broker);
            let again = Broker::restore(broker.settings.clone(), &written);
            prop_assert!(again.is_ok_and(|again| snapshot(&again) == written), "a state has one form");
        }
    }

    #[test]
    fn a_damaged_event_is_refused_or_applied(
        number in any::<prop::sample::Index>(),
        damages in proptest::collection::vec(any::<Damage>(), 1..3),
    ) {
        let (world, before) = world_once();
        let mut bytes = number.get(&world.log).clone();
        damage(&mut bytes, &damages);
        let Ok((at, event)) = Event::decode(&bytes) else { return Ok(()) };
        let mut written = Vec::new();
        event.encode(at, &mut written);
        prop_assert_eq!(&written, &bytes, "an event has one form");
        let mut broker = Broker::restore(world.broker.settings.clone(), before).expect("a snapshot can be read");
        let next = message::Seq(broker.last().0 + 1);
        if broker.apply(next, Time(START_MS), &event, &mut Effects::new()).is_ok() {
            let written = snapshot(&broker);
            let again = Broker::restore(broker.settings.clone(), &written);
            prop_assert!(again.is_ok_and(|again| snapshot(&again) == written), "a state has one form");
        }
    }
}

/// The state is made once; every case damages a copy.
fn world_once() -> &'static (World, Vec<u8>) {
    static WORLD: std::sync::OnceLock<(World, Vec<u8>)> = std::sync::OnceLock::new();
    WORLD.get_or_init(|| {
        let world = world();
        let bytes = snapshot(&world.broker);
        (world, bytes)
    })
}
