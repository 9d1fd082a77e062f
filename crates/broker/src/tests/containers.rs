//! The tables against simple models: whatever is done to both, they answer alike.

use std::collections::{BTreeMap, VecDeque};

use message::MessageId;
use proptest::prelude::*;

use crate::codec::{Reader, Writer};
use crate::known::Known;
use crate::ring::Ring;
use crate::slab::Slab;
use crate::tests::settings::cases;
use crate::{AgentKey, Fingerprint, Retention};

/// An id that the model of [`Known`] holds: sender, key, document, message.
type Noted = (AgentKey, Fingerprint, Fingerprint, MessageId);

/// Fingerprints whose hashes collide in the half that tables use, to see that the whole is compared.
fn key(sender: u32, number: u8) -> Fingerprint {
    let mut bytes = [0; 16];
    bytes[0] = number % 3;
    bytes[14] = sender as u8;
    bytes[15] = number;
    Fingerprint(bytes)
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_slab_is_a_map_that_gives_the_lowest_free_place(
        ops in proptest::collection::vec((0_u8..4, 0_u32..5_000), 1..300),
    ) {
        let mut slab = Slab::default();
        let mut model: BTreeMap<u32, u32> = BTreeMap::new();
        for (op, place) in ops {
            match op {
                0 => {
                    let vacant = slab.vacant().next().unwrap();
                    prop_assert!(slab.put(vacant, place).is_ok());
                    prop_assert!(model.insert(vacant, place).is_none());
                }
                1 => {
                    let is_free = !model.contains_key(&place);
                    prop_assert_eq!(slab.put(place, place).is_ok(), is_free);
                    model.entry(place).or_insert(place);
                }
                2 => prop_assert_eq!(slab.remove(place), model.remove(&place)),
                _ => {
                    prop_assert_eq!(slab.get(place), model.get(&place));
                    prop_assert_eq!(slab.get_mut(place).copied(), model.get(&place).copied());
                }
            }
            prop_assert_eq!(slab.len(), model.len());
            let free = (0..).filter(|place| !model.contains_key(place)).take(3);
            prop_assert!(slab.vacant().take(3).eq(free));
        }
        prop_assert!(slab.iter().eq(model.iter().map(|(place, value)| (*place, value))));
    }

    #[test]
    fn a_slab_finds_the_one_free_place_among_thousands(holes in proptest::collection::btree_set(0_u32..9_000, 1..8)) {
        let mut slab = Slab::default();
        for place in 0..9_000 {
            prop_assert!(slab.put(place, ()).is_ok());
        }
        prop_assert_eq!(slab.vacant().next(), Some(9_000));
        for hole in &holes {
            slab.remove(*hole);
        }
        let expected = holes.iter().copied().chain([9_000]);
        prop_assert!(slab.vacant().take(holes.len() + 1).eq(expected));
    }

    #[test]
    fn a_ring_is_a_queue_with_numbers(
        start in prop_oneof![0_u64..2_000, Just(u64::from(u32::MAX) - 5)],
        ops in proptest::collection::vec((any::<bool>(), 1_u16..700), 1..40),
    ) {
        let mut ring = Ring::starting_at(start);
        let mut model: VecDeque<(u64, u64)> = VecDeque::new();
        let mut next = start;
        for (push, times) in ops {
            for _ in 0..times {
                if push {
                    prop_assert_eq!(ring.push(next * 7), next);
                    model.push_back((next, next * 7));
                    next += 1;
                } else {
                    prop_assert_eq!(ring.pop(), model.pop_front().map(|(_, value)| value));
                }
            }
            let first = model.front().map_or(next, |(number, _)| *number);
            prop_assert_eq!((ring.start(), ring.end(), ring.len()), (first, next, model.len() as u64));
            prop_assert_eq!(ring.front(), model.front().map(|(_, value)| value));
            for number in [first.wrapping_sub(1), first, first + 1, first + 511, first + 512, next.wrapping_sub(1), next] {
                let expected = model.iter().find(|(known, _)| *known == number).map(|(_, value)| *value);
                prop_assert_eq!(ring.get(number).copied(), expected);
                prop_assert_eq!(ring.get_mut(number).copied(), expected);
            }
        }
        prop_assert!(ring.iter().map(|(number, value)| (number, *value)).eq(model));
    }

    #[test]
    fn known_ids_are_the_newest_within_the_horizon(
        ops in proptest::collection::vec((0_u32..3, any::<u8>(), any::<u8>(), 0_u64..50), 1..200),
        per_sender in 1_u64..12,
        all in 1_u64..25,
        known_ms in 1_u64..400,
    ) {
        let retention =
            Retention { known_per_sender_max: per_sender, known_max: all, known_ms, ..Retention::USUAL };
        let mut known = Known::default();
        let mut model: Vec<Noted> = Vec::new();
        let mut now = 1_000;
        for (number, (sender, id, document, ms)) in (0_u8..).cycle().zip(ops) {
            now += ms;
            let message = MessageId::new(now, [number; 10]);
            let noted = (AgentKey(sender), key(sender, id % 12), key(0, document), message);
            known.note(noted.0, noted.1, noted.2, noted.3, &retention);
            note(&mut model, noted, &retention);
            prop_assert_eq!(known.len(), model.len() as u64);
            for (sender, id) in (0..3).flat_map(|sender| (0..12).map(move |id| (sender, id))) {
                let expected = model.iter().rev().find(|noted| noted.1 == key(sender, id));
                let found = known.find(key(sender, id)).map(|found| (found.document, found.message));
                prop_assert_eq!(found, expected.map(|noted| (noted.2, noted.3)), "id {} of {}", id, sender);
            }
            if number % 16 == 0 {
                known = copy(&known);
            }
        }
    }
}

/// Does to the model what [`Known::note`] promises to do.
fn note(model: &mut Vec<Noted>, noted: Noted, retention: &Retention) {
    let now = noted.3.unix_millis().unwrap_or(0);
    let age = |known: &Noted| now - known.3.unix_millis().unwrap_or(0);
    model.retain(|known| age(known) <= retention.known_ms);
    while model.len() as u64 >= retention.known_max {
        model.remove(0);
    }
    while model.iter().filter(|known| known.0 == noted.0).count() as u64 >= retention.known_per_sender_max {
        let oldest = model.iter().position(|known| known.0 == noted.0);
        model.remove(oldest.expect("there are some"));
    }
    model.push(noted);
}

fn copy(known: &Known) -> Known {
    let mut bytes = Vec::new();
    known.write(&mut Writer { out: &mut bytes });
    let copy = Known::read(&mut Reader::new(&bytes)).expect("what was written can be read");
    let mut again = Vec::new();
    copy.write(&mut Writer { out: &mut again });
    assert_eq!(again, bytes, "known ids survive their bytes");
    copy
}
