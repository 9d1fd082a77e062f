//! Pages cover everything exactly once, whatever arrives meanwhile; happenings too.

use std::collections::BTreeSet;

use message::Seq;

use super::ops::{self, Seen};
use super::world::World;
use crate::{Happening, Name, Query, Row, Scope, Watch};

#[test]
fn pages_cover_everything_once_while_messages_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let (ann, bob) = (world.register("ann"), world.register("bob"));
    world.join(bob, "#news");
    let history = world.history(&folder.path().join("history.db"));
    let mut sent = Vec::new();
    for number in 0..40 {
        sent.push(world.send(ann, &["bob"], &format!("first {number}")));
    }
    let mut query = Query { after: Some(Seq(0)), ..Query::new(Scope::Agent(bob), 7) };
    let mut found: Vec<Row> = Vec::new();
    for round in 0..1_000 {
        // For a while there is always something new.
        if round < 30 {
            sent.push(world.send(ann, &[["bob", "#news"][round % 2]], "more"));
        }
        query.fresh = world.log_last();
        let page = history.find(&query).unwrap();
        found.extend(page.rows);
        match page.next {
            Some(next) => query.after = Some(next),
            None if round >= 30 => break,
            None => query.after = found.last().map(|row| row.seq),
        }
    }
    let ids: Vec<_> = found.iter().map(|row| row.id).collect();
    assert_eq!(ids, sent);
    assert!(found.is_sorted_by_key(|row| row.seq));
    world.gate.stop();
    history.join();
}

#[test]
fn rows_say_what_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(1);
    let (ann, bob) = (world.register("ann"), world.register("bob"));
    world.join(bob, "channel:team");
    let history = world.history(&folder.path().join("history.db"));
    let direct = world.send(ann, &["bob", "human"], "hello");
    let posted = world.send(bob, &["channel:team"], "hello all");
    history.catch_up(world.log_last());
    let row = history.message(direct).unwrap().unwrap();
    assert_eq!((row.from.as_str(), row.has_public_target), ("ann", false));
    assert_eq!(row.to.iter().map(ToString::to_string).collect::<Vec<_>>(), ["bob", "human"]);
    assert_eq!(row.native_id.as_deref(), Some("n1"));
    assert_eq!(crate::text(&world.body(row.body)), "note\nhello");
    let row = history.message(posted).unwrap().unwrap();
    assert!(row.has_public_target);
    let of_channel = Query { channel: Some("channel:team".to_owned()), ..Query::new(Scope::Everything, 9) };
    assert_eq!(history.find(&of_channel).unwrap().rows, [row]);
    let counts = history.counts().unwrap();
    assert_eq!((counts.messages, counts.kinds), (2, vec![(message::Kind::Note, 2)]));
    assert_eq!(counts.stages, [(message::Stage::Stored, 2)]);
    assert!(counts.first.is_some() && counts.first <= counts.last);
    world.gate.stop();
    history.join();
}

/// What everybody may see of what happened is a part of what happened, cut at will.
#[test]
fn happenings_are_the_log_in_words() {
    let mut names = BTreeSet::new();
    for seed in 400..406 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 300);
        let history = world.history(&folder.path().join("history.db"));
        history.catch_up(world.log_last());
        let list = |scope: Scope, limit: usize, filter: &Watch| {
            let (mut all, mut after) = (Vec::new(), Seq(0));
            while after < world.log_last() {
                let found = history.happenings(after, limit, &scope, filter).unwrap();
                assert!(found.upto > after && found.list.len() <= limit);
                all.extend(found.list);
                after = found.upto;
            }
            all
        };
        let all = list(Scope::Everything, 10_000, &Watch::default());
        assert_eq!(all, list(Scope::Everything, 7, &Watch::default()));
        for agent in 3..7 {
            let scope = Scope::Agent(broker::AgentKey(agent));
            let query = Query { after: Some(Seq(0)), ..Query::new(scope, 1_000) };
            let visible: BTreeSet<Seq> =
                history.find(&query).unwrap().rows.iter().map(|row| row.seq).collect();
            let may_see = |happening: &&Happening| match happening {
                Happening::Happened(happened) => {
                    happened.row.as_ref().is_none_or(|row| visible.contains(&row.seq))
                }
                Happening::Gap { .. } => true,
            };
            let expected: Vec<_> = all.iter().filter(may_see).cloned().collect();
            assert_eq!(list(scope, 11, &Watch::default()), expected, "seed {seed}, agent {agent}");
        }
        let chat = Watch { thread: Some("chat".to_owned()), ..Watch::default() };
        for happening in list(Scope::Everything, 50, &chat) {
            let Happening::Happened(happened) = happening else { panic!() };
            assert_eq!(happened.row.unwrap().thread.as_deref(), Some("chat"));
        }
        for happening in all {
            let Happening::Happened(happened) = happening else { panic!() };
            names.insert(happened.name);
            let is_of_delivery =
                matches!(happened.name, Name::Dispatched | Name::Acknowledged | Name::Joined);
            assert!(!is_of_delivery || happened.agent.is_some_and(|name| name != "?"));
        }
        world.gate.stop();
        history.join();
    }
    assert_eq!(names.len(), 22, "{names:?}");
}
