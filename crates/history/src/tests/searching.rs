//! The index and whatever people type: no error, no operator of the database, and what an own write is found by.

use message::{Kind, MessageId};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::world::World;
use crate::{History, Query, Scope};

fn search(history: &History, world: &World, typed: &str) -> Vec<MessageId> {
    let query =
        Query { text: Some(typed.to_owned()), fresh: world.log_last(), ..Query::new(Scope::Everything, 100) };
    history
        .find(&query)
        .unwrap_or_else(|error| panic!("{typed:?}: {error:?}"))
        .rows
        .iter()
        .map(|row| row.id)
        .collect()
}

#[test]
fn nothing_that_is_typed_is_an_error_or_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let ann = world.register("ann");
    let plain = world.send(ann, &["human"], "or not near and column words");
    let history = world.history(&folder.path().join("history.db"));
    history.catch_up(world.log_last());
    let found =
        ["OR", "or NOT near", "AND", "NEAR", "NOT", "words", "words:", "column:words", "(words", "words)^"];
    for typed in found {
        assert_eq!(search(&history, &world, typed), [plain], "{typed}");
    }
    let nothing = [
        "x' OR 1=1 --",
        "\"; DROP TABLE messages; --",
        "words OR nothing",
        "NEAR(words near, 2)",
        "texts MATCH 'words'",
        "rowid:1",
        "{words column}: nothing",
        "\u{0}",
        "words AND missing",
        "words)^2",
        "* words2",
        "' UNION SELECT 1",
    ];
    for typed in nothing {
        assert_eq!(search(&history, &world, typed), [], "{typed}");
    }
    let mut runner = TestRunner::deterministic();
    let strange =
        prop_oneof![any::<String>(), "[a-c\"*() :^{}+'-]{0,20}", "(AND|OR|NOT|NEAR|\"|words| |\\*|-){0,8}"];
    runner
        .run(&strange, |typed| {
            search(&history, &world, &typed);
            let channel = Query { channel: Some(typed.clone()), ..Query::new(Scope::Everything, 5) };
            prop_assert_eq!(history.find(&channel).unwrap().rows.len(), 0);
            let thread = Query { thread: Some(typed.clone()), ..Query::new(Scope::Everything, 5) };
            prop_assert_eq!(history.find(&thread).unwrap().rows.len(), 0);
            Ok(())
        })
        .unwrap();
    assert_eq!(search(&history, &world, "words"), [plain], "everything is still there");
    world.gate.stop();
    history.join();
}

/// Any text at all can be stored, and is found by its own words once it is indexed as well as before.
#[test]
fn any_text_is_found_by_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let ann = world.register("ann");
    let history = world.history(&folder.path().join("history.db"));
    let mut runner = TestRunner::deterministic();
    let mut sent = Vec::new();
    for _ in 0..60 {
        let text = proptest::strategy::ValueTree::current(&"\\PC{0,30}".new_tree(&mut runner).unwrap());
        let id = world.send_document(ann, &["human"], text.as_bytes(), Kind::Note);
        for word in crate::words::of(&crate::text(text.as_bytes())) {
            assert!(search(&history, &world, &word).contains(&id), "{text:?} by {word:?}, just written");
        }
        sent.push((id, text));
    }
    history.catch_up(world.log_last());
    for (id, text) in sent {
        for word in crate::words::of(&crate::text(text.as_bytes())) {
            assert!(search(&history, &world, &word).contains(&id), "{text:?} by {word:?}");
        }
    }
    world.gate.stop();
    history.join();
}
