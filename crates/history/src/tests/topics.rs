//! Topics: numbers without gaps in the order of the log, a running hash, and who sees what; compared with brute force.

use std::collections::BTreeMap;

use broker::{AgentKey, Command, Event, GroupKey, Target};
use message::{Envelope, Kind, Seq, Sha256};

use super::ops::{self, Seen};
use super::oracle;
use super::world::{Seeded, World};
use crate::{History, Post, Query, Scope, Topic, of_task};

/// Follows the pages of a topic to its end.
fn all(history: &History, name: &str, scope: Scope, limit: usize) -> Vec<Post> {
    let mut posts: Vec<Post> = Vec::new();
    loop {
        let after = posts.last().map_or(0, |post| post.number);
        let page = history.topic(&Topic { name: name.to_owned(), scope, after, limit }).unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            return posts;
        }
        posts.extend(page);
    }
}

/// Finds the messages of every topic in the log itself, with the digests of their documents.
fn by_hand(world: &World) -> BTreeMap<String, Vec<(Seq, Sha256)>> {
    let mut groups: BTreeMap<GroupKey, String> = BTreeMap::from([(GroupKey::ALL, "all".to_owned())]);
    let mut topics: BTreeMap<String, Vec<(Seq, Sha256)>> = BTreeMap::new();
    world.events(|seq, _, event| {
        if let Event::GroupMade { group, address } = event {
            groups.insert(*group, address.to_string());
        }
        let Event::Accepted(accepted) = event else { return };
        let digest = Sha256::of(Envelope::open(&accepted.body).unwrap().document);
        for target in &accepted.targets {
            if let Target::Group { group, .. } = target {
                topics.entry(groups[group].clone()).or_default().push((seq, digest));
            }
        }
        if let Some(task) = accepted.task {
            topics.entry(format!("task:{task}")).or_default().push((seq, digest));
        }
    });
    topics
}

#[test]
fn every_topic_is_numbered_and_hashed_as_by_hand() {
    let mut checked = 0;
    for seed in 500..508 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 400);
        let history = world.history(&folder.path().join("history.db"));
        history.catch_up(world.log_last());
        let known = oracle::known(&world);
        let mut random = Seeded(seed);
        for (name, expected) in by_hand(&world) {
            let agent = AgentKey(u32::try_from(random.below(8)).unwrap());
            let scope = if random.one_in(3) { Scope::Everything } else { Scope::Agent(agent) };
            let posts = all(&history, &name, scope, 1 + random.below(9));
            let mut hash = [0; 32];
            for (nth, (post, (seq, digest))) in posts.iter().zip(&expected).enumerate() {
                hash = Sha256::of(&[hash, digest.to_bytes()].concat()).to_bytes();
                let found = (post.number, post.row.seq, post.digest, post.hash.to_bytes());
                assert_eq!(found, (nth as u64 + 1, *seq, *digest, hash), "seed {seed}: {name}");
                let is_visible = known.iter().find(|known| known.seq == *seq).unwrap();
                assert_eq!(
                    post.is_visible,
                    is_visible.fits(&Query::new(scope, 1), &[]),
                    "seed {seed}: {name}"
                );
            }
            assert_eq!(posts.len(), expected.len(), "seed {seed}: {name}");
            checked += posts.len();
        }
        world.gate.stop();
        history.join();
    }
    assert!(checked > 500, "only {checked} posts");
}

/// What a program on the other side computes.
#[test]
fn the_running_hash_is_the_one_of_the_docs() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let ann = world.register("ann");
    let first = world.send_document(ann, &["#news"], br#"{"n":1}"#, Kind::Note);
    world.send_document(ann, &["#news"], br#"{"n":2}"#, Kind::Note);
    // What becomes of a message later changes nothing.
    let body = Envelope::seal(message::Dialect::Convoke, None, br#"{"n":3}"#);
    world.run(&Command::Amend { message: first, by: ann, body: body.into() }).unwrap();
    let history = world.history(&folder.path().join("history.db"));
    history.catch_up(world.log_last());
    let hashes: Vec<String> =
        all(&history, "#news", Scope::Everything, 10).iter().map(|post| post.hash.to_string()).collect();
    assert_eq!(
        hashes,
        [
            "aa91a8a492ab69766b35a75d358da9823367b0dfea4bc1828bc146d9f021167b",
            "78fc76b8428d5ad06c623e1c2ca82b8f27c19aa8de29a1861570dc37464f2ee3",
        ]
    );
    assert_eq!(all(&history, "#nowhere", Scope::Everything, 10), []);
    assert_eq!(all(&history, &of_task("none"), Scope::Everything, 10), []);
    world.gate.stop();
    history.join();
}
