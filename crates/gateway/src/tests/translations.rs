//! The cache of translations gives what translating would give, whatever happened in between.

use broker::{AgentKey, Time};
use dialect::Name;
use json::Limits;
use message::{AgentName, Envelope, Seq};
use proptest::prelude::*;

use crate::{Directory, Listed, Outgoing, Profile, Reading, SealKey, Stored, TranslationCache};

/// Documents of one run.
const BODIES: usize = 6;
const AGENTS: [&str; 3] = ["ann", "bob", "zoe"];

/// A bus with three agents, which change what they are called.
struct Bus {
    directory: Directory,
    seal: SealKey,
}

/// What happens next.
#[derive(Clone, Debug)]
enum Step {
    /// A stored document is written for a recipient.
    Write { message: usize, to: Name, attempt: u32, is_fallback: bool },
    /// An agent is registered, or registered anew, with or without names in other dialects.
    Register { agent: usize, names: Option<u32> },
    /// An agent is removed.
    Remove { agent: usize },
    /// Another document is put in the place of a stored one.
    Amend { message: usize, document: usize },
}

impl Bus {
    fn new() -> Self {
        Bus { directory: Directory::default(), seal: "07".repeat(32).parse().unwrap() }
    }

    fn reading(&self) -> Reading<'_> {
        let lexicons = dialect_comms::catalog();
        let (names, seal) = (self.directory.names(), &self.seal);
        Reading { names, seal, limits: Limits::DOCUMENT, trace: None, lexicons }
    }

    fn register(&mut self, agent: usize, names: Option<u32>) {
        let name: AgentName = AGENTS[agent].parse().unwrap();
        let mut profile = Profile::default();
        if let Some(number) = names {
            profile.did = Some(format!("did:plc:{name}{number}"));
            profile.uri = Some(format!("codex://{name}-{number}"));
            profile.handle = Some(format!("{name}{number}.example"));
        }
        self.directory.set(name, Listed { key: AgentKey(agent as u32), dialect: Name::Bus, profile });
    }

    fn remove(&mut self, agent: usize) {
        self.directory.remove(&AGENTS[agent].parse().unwrap());
    }

    fn write(&self, cache: &TranslationCache, stored: Stored<'_>, to: Name) -> Outgoing {
        cache.write(stored, Some(to), self.reading()).unwrap()
    }
}

fn step() -> impl Strategy<Value = Step> {
    let write = (0..3_usize, proptest::sample::select(Name::ALL), 1..4_u32, any::<bool>());
    prop_oneof![
        8 => write.prop_map(|(message, to, attempt, is_fallback)| Step::Write { message, to, attempt, is_fallback }),
        1 => (0..3_usize, proptest::option::of(0..3_u32)).prop_map(|(agent, names)| Step::Register { agent, names }),
        1 => (0..3_usize).prop_map(|agent| Step::Remove { agent }),
        1 => (0..3_usize, 0..BODIES).prop_map(|(message, document)| Step::Amend { message, document }),
    ]
}

/// A document of any dialect.
fn any_document() -> impl Strategy<Value = (Name, String)> {
    use testkit::generate::{bus, channel, comms, convoke, coord, wire};
    let document = |name: Name| match name {
        Name::Comms => comms::document().boxed(),
        Name::Coord => coord::document().boxed(),
        Name::Bus => bus::document().boxed(),
        Name::Channel => channel::document().boxed(),
        Name::Wire => wire::document().boxed(),
        Name::Convoke => convoke::document().boxed(),
    };
    proptest::sample::select(Name::ALL)
        .prop_flat_map(move |name| document(name).prop_map(move |document| (name, document.to_json())))
}

/// A document of any dialect, as the log holds it.
fn stored_body() -> impl Strategy<Value = Vec<u8>> {
    any_document().prop_map(|(name, text)| Envelope::seal(name, None, text.as_bytes()))
}

/// The same document written for everybody, from what was decoded and from the text.
fn check_all(bus: &Bus, cache: &TranslationCache, body: &[u8], place: u64) {
    for to in Name::ALL {
        for (attempt, instead) in [(1, None), (2, None), (1, Some("bob"))] {
            let stored = Stored { attempt, instead, ..at(body, place) };
            let afresh = crate::write(stored, Some(*to), bus.reading());
            assert_eq!(cache.write(stored, Some(*to), bus.reading()).ok(), afresh.ok(), "to {to}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_is_what_translating_would_give(
        bodies in proptest::collection::vec(stored_body(), BODIES),
        steps in proptest::collection::vec(step(), 1..60),
        bytes_max in proptest::sample::select(&[0_usize, 6_000, 1 << 20][..]),
    ) {
        let (mut bus, cache) = (Bus::new(), TranslationCache::new(bytes_max));
        let mut places = [(Seq(1), 0_usize), (Seq(2), 1), (Seq(3), 2)];
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Register { agent, names } => bus.register(agent, names),
                Step::Remove { agent } => bus.remove(agent),
                // The amended body lies where the amendment does.
                Step::Amend { message, document } => places[message] = (Seq(number as u64 + 4), document),
                Step::Write { message, to, attempt, is_fallback } => {
                    let (place, document) = places[message];
                    let came = Time(1_790_000_000_000 + message as u64).timestamp();
                    let instead = is_fallback.then_some("zoe");
                    let stored = Stored { body: &bodies[document], place: Some(place), came, attempt, instead };
                    let afresh = crate::write(stored, Some(to), bus.reading());
                    // The first may put it there, the second may find it.
                    for _ in 0..2 {
                        let kept = cache.write(stored, Some(to), bus.reading());
                        prop_assert_eq!(kept.ok(), afresh.as_ref().ok().cloned());
                    }
                }
            }
            prop_assert!(cache.bytes() <= bytes_max);
        }
    }

    #[test]
    fn what_was_decoded_gives_the_same_translations((name, document) in any_document()) {
        let (mut bus, cache) = (Bus::new(), TranslationCache::new(1 << 20));
        bus.register(0, Some(1));
        let received = crate::receive(document.as_bytes(), Some(name), bus.reading());
        prop_assume!(received.is_ok());
        let mut submission = received.unwrap();
        cache.keep_decoded(&mut submission);
        let body = submission.accept.body.clone();
        check_all(&bus, &cache, &body, 1);
        bus.register(1, Some(2));
        check_all(&bus, &cache, &body, 2);
        // A body that was changed after it was decoded is not the one that was kept.
        submission.pass_to(vec!["cid".parse().unwrap()]);
        check_all(&bus, &cache, &submission.accept.body, 3);
    }
}

/// Every pair of dialects, with several recipients and several tries.
#[test]
fn every_pair_is_the_same_with_and_without_the_cache() {
    let (mut bus, cache) = (Bus::new(), TranslationCache::new(1 << 20));
    bus.register(0, Some(1));
    let mut place = Seq(0);
    for from in Name::ALL {
        let folder = testkit::root().join("crates/bench/corpus/dialects");
        let document = testkit::read(&folder.join(format!("{from}.json")));
        let body = Envelope::seal(*from, None, document.trim_end().as_bytes());
        place = Seq(place.0 + 1);
        for to in Name::ALL {
            for (attempt, instead) in [(1, None), (1, None), (2, None), (3, None), (1, Some("bob"))] {
                let came = Time(1_790_000_000_000).timestamp();
                let stored = Stored { body: &body, place: Some(place), came, attempt, instead };
                let afresh = crate::write(stored, Some(*to), bus.reading()).unwrap();
                assert_eq!(bus.write(&cache, stored, *to), afresh, "{from} to {to}, try {attempt}");
            }
        }
    }
    assert!(cache.bytes() > 0);
}

/// A `bus` document in which ann asks bob for something.
fn body(text: &str) -> Vec<u8> {
    let document = testkit::read(&testkit::root().join("crates/bench/corpus/dialects/bus.json"));
    let document =
        document.replace("claude-code://orchestrator", "ann").replace("opencode://code-reviewer", "bob");
    Envelope::seal(Name::Bus, None, document.replace("Read every path", text).trim_end().as_bytes())
}

fn at(body: &[u8], place: u64) -> Stored<'_> {
    let came = Time(1_790_000_000_000).timestamp();
    Stored { body, place: Some(Seq(place)), came, attempt: 1, instead: None }
}

#[test]
fn a_translation_is_made_once_for_each_place_and_dialect() {
    let (bus, cache) = (Bus::new(), TranslationCache::new(1 << 20));
    let (first, second) = (body("first"), body("second"));
    let wire = bus.write(&cache, at(&first, 1), Name::Wire);
    // The log never has another body there: so this shows that nothing was translated.
    assert_eq!(bus.write(&cache, at(&second, 1), Name::Wire), wire);
    assert_ne!(bus.write(&cache, at(&second, 2), Name::Wire), wire);
    assert_ne!(bus.write(&cache, at(&second, 1), Name::Comms).text, wire.text);
    let bytes = cache.bytes();
    bus.write(&cache, at(&first, 3), Name::Bus);
    bus.write(&cache, Stored { place: None, ..at(&first, 3) }, Name::Coord);
    bus.write(&cache, Stored { instead: Some("zoe"), ..at(&first, 3) }, Name::Coord);
    assert_eq!(cache.bytes(), bytes, "neither copies nor what is for one recipient is kept");
}

#[test]
fn whoever_reads_after_a_registration_gets_the_new_names() {
    let (mut bus, cache) = (Bus::new(), TranslationCache::new(1 << 20));
    let body = body("names");
    let comms = |bus: &Bus| bus.write(&cache, at(&body, 1), Name::Comms).text;
    let before = comms(&bus);
    bus.register(0, Some(7));
    let after = comms(&bus);
    assert!(!before.contains("did:plc:ann7") && after.contains("did:plc:ann7"), "{after}");
    let kept = bus.directory.names().revision();
    bus.register(0, Some(7));
    assert_eq!(bus.directory.names().revision(), kept, "the same names are no change");
    bus.remove(0);
    assert_eq!(comms(&bus), before);
}

#[test]
fn the_oldest_translations_go_first_and_large_ones_are_not_kept() {
    let bus = Bus::new();
    let (small, large) = (body("small"), body(&"large ".repeat(200_000)));
    let cache = TranslationCache::new(8 << 20);
    bus.write(&cache, at(&large, 1), Name::Wire);
    assert_eq!(cache.bytes(), 0);
    bus.write(&cache, at(&small, 2), Name::Wire);
    let one = cache.bytes();
    let cache = TranslationCache::new(one * 10 / 3);
    let other = body("other");
    for place in 1..=3 {
        bus.write(&cache, at(&small, place), Name::Wire);
    }
    assert_eq!(cache.bytes(), 2 * one);
    let is_kept = |place| bus.write(&cache, at(&other, place), Name::Wire).text.contains("small");
    assert_eq!([3, 2, 1].map(is_kept), [true, true, false]);
}

#[test]
fn a_decoded_document_is_found_by_the_memory_of_its_body_and_the_names() {
    let (mut bus, cache) = (Bus::new(), TranslationCache::new(64 << 10));
    let document = testkit::read(&testkit::root().join("crates/bench/corpus/dialects/bus.json"));
    let receive = |bus: &Bus| crate::receive(document.as_bytes(), Some(Name::Bus), bus.reading()).unwrap();
    let sources = cache.sources();
    let mut first = receive(&bus);
    cache.keep_decoded(&mut first);
    let body = first.accept.body.clone();
    let names = bus.directory.names().revision();
    assert!(sources.get(&body, names).is_some());
    let elsewhere = Vec::from(&body[..]);
    assert!(sources.get(&elsewhere, names).is_none(), "the same bytes elsewhere");
    assert!(sources.get(&body[1..], names).is_none());
    bus.register(0, None);
    assert!(sources.get(&body, bus.directory.names().revision()).is_none(), "other names");
    let one = sources.bytes();
    for _ in 0..20 {
        cache.keep_decoded(&mut receive(&bus));
        assert!(sources.bytes() <= 16 << 10);
    }
    assert!(sources.bytes() >= one && sources.get(&body, names).is_none(), "the oldest went");
}
