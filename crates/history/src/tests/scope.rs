//! Nobody sees what it may not, and everybody finds all that it may: compared with brute force.

use broker::AgentKey;
use message::{Kind, Seq};

use super::ops::{self, Seen, WORDS};
use super::oracle::{self, Known, Part};
use super::world::{Gate, Seeded, World, settings};
use crate::{History, Query, Scope};

/// Follows the pages of a query to its end.
pub(super) fn all(history: &History, query: &Query) -> Vec<Seq> {
    let mut found = Vec::new();
    let mut query = Query { after: Some(query.after.unwrap_or(Seq(0))), ..query.clone() };
    for _ in 0..10_000 {
        let page = history.find(&query).unwrap();
        assert!(page.rows.len() <= query.limit);
        found.extend(page.rows.iter().map(|row| row.seq));
        let Some(next) = page.next else { return found };
        assert!(Some(next) > query.after, "a page leads on");
        query.after = Some(next);
    }
    panic!("pages without end for {query:?}");
}

/// Makes up a question, and its words for brute force.
fn question(random: &mut Seeded) -> (Query, Vec<Part>) {
    let agent = |random: &mut Seeded| AgentKey(u32::try_from(random.below(8)).unwrap());
    let scope = if random.one_in(4) { Scope::Everything } else { Scope::Agent(agent(random)) };
    let maybe = |random: &mut Seeded, many: usize, list: &[&str]| {
        if random.one_in(many) { Some((*random.pick(list)).to_owned()) } else { None }
    };
    let mut parts = Vec::new();
    if random.one_in(2) {
        for _ in 0..=random.below(2) {
            let is_unwanted = random.one_in(3);
            let is_begin = random.one_in(3);
            let count = if is_begin { 1 } else { 1 + random.below(2) };
            let mut written: Vec<String> = (0..count).map(|_| (*random.pick(&WORDS)).to_owned()).collect();
            if is_begin && written[0].is_ascii() {
                written[0].truncate(1 + random.below(3));
                written[0] = written[0].trim_end_matches(['-', '\'']).to_lowercase();
            }
            parts.push(Part { is_unwanted, is_begin, written });
        }
    }
    let mut query = Query::new(scope, 1 + random.below(9));
    query.agent = random.one_in(4).then(|| agent(random));
    query.thread = maybe(random, 4, &["chat", "talk", "none"]);
    query.task = maybe(random, 5, &["t1", "t2"]);
    query.channel = maybe(random, 5, &["#news", "channel:team", "roles.dev", "all", "#nowhere"]);
    query.kind = random.one_in(8).then(|| *random.pick(Kind::ALL));
    query.after = random.one_in(4).then(|| Seq(random.below(300) as u64));
    query.before = random.one_in(4).then(|| Seq(random.below(600) as u64));
    query.text = (!parts.is_empty()).then(|| oracle::typed(&parts));
    (query, parts)
}

fn check(history: &History, known: &[Known], query: &Query, parts: &[Part], what: &str) -> usize {
    let expected: Vec<Seq> =
        known.iter().filter(|known| known.fits(query, parts)).map(|known| known.seq).collect();
    assert_eq!(all(history, query), expected, "{what}: {query:?}");
    // The newest page is the end of the same list.
    let newest = history.find(&Query { after: None, ..query.clone() }).unwrap();
    let expected: Vec<Seq> = known
        .iter()
        .filter(|known| known.fits(&Query { after: None, ..query.clone() }, parts))
        .map(|known| known.seq)
        .collect();
    let shown: Vec<Seq> = newest.rows.iter().map(|row| row.seq).collect();
    assert_eq!(shown, expected[expected.len().saturating_sub(query.limit)..], "{what}: newest of {query:?}");
    assert_eq!(newest.next, None);
    assert_eq!(newest.earlier.is_some(), expected.len() > query.limit, "{what}: {query:?}");
    expected.len()
}

#[test]
fn everybody_finds_exactly_what_brute_force_finds() {
    let mut found = 0;
    for seed in 100..112 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 400);
        let history = world.history(&folder.path().join("history.db"));
        history.catch_up(world.log_last());
        let known = oracle::known(&world);
        let mut random = Seeded(seed);
        for _ in 0..60 {
            let (query, parts) = question(&mut random);
            found += check(&history, &known, &query, &parts, &format!("seed {seed}"));
        }
        world.gate.stop();
        history.join();
    }
    assert!(found > 500, "only {found} were found at all");
}

/// The tables have seen a part of the log, the index less; a question that knows of the rest is answered in full.
#[test]
fn what_is_behind_the_tables_is_found_in_the_log() {
    for seed in 200..208 {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::with(seed, ops::tight());
        ops::play(&mut world, &mut Seen::default(), 350);
        let mut random = Seeded(seed);
        let last = world.log_last();
        let seen = Seq(last.0 / 8 * (1 + random.next_below(7)));
        let gate = Gate::default();
        let mut settings = settings(&folder.path().join("history.db"));
        settings.patience = std::time::Duration::ZERO;
        let history = world.history_with(settings.clone(), &gate);
        gate.open(Seq(seen.0 / 2));
        history.catch_up(Seq(seen.0 / 2));
        gate.stop();
        history.join();
        // Now without an index, so that it stays behind.
        settings.text_chunk = 0;
        let gate = Gate::default();
        let history = world.history_with(settings, &gate);
        gate.open(seen);
        assert!(history.shared.wait_until(super::world::LONG, |position| position.applied >= seen));
        assert_eq!(history.position().indexed, Seq(seen.0 / 2));
        let known = oracle::known(&world);
        for _ in 0..40 {
            let (mut query, parts) = question(&mut random);
            query.fresh = last;
            check(&history, &known, &query, &parts, &format!("seed {seed}, {seen} of {last}"));
        }
        let page = history.find(&Query { fresh: last, ..Query::new(Scope::Everything, 1) }).unwrap();
        assert_eq!(page.upto, last);
        gate.stop();
        history.join();
    }
}

/// An answer that was cut short leads on, and what it leads to is everything.
#[test]
fn limits_cut_pages_and_not_answers() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::with(5, ops::tight());
    ops::play(&mut world, &mut Seen::default(), 400);
    let mut settings = settings(&folder.path().join("history.db"));
    (settings.examine_max, settings.verify_max) = (5, 3);
    let history = world.history_with(settings, &world.gate);
    history.catch_up(world.log_last());
    let known = oracle::known(&world);
    let mut random = Seeded(9);
    for _ in 0..60 {
        let (query, parts) = question(&mut random);
        let expected: Vec<Seq> =
            known.iter().filter(|known| known.fits(&query, &parts)).map(|known| known.seq).collect();
        assert_eq!(all(&history, &query), expected, "{query:?}");
        let backward: Vec<Seq> = known
            .iter()
            .filter(|known| known.fits(&Query { after: None, ..query.clone() }, &parts))
            .map(|known| known.seq)
            .collect();
        assert_eq!(all_backward(&history, &query), backward, "{query:?}");
    }
    world.gate.stop();
    history.join();
}

/// Follows the pages of a query from its end to its beginning.
pub(super) fn all_backward(history: &History, query: &Query) -> Vec<Seq> {
    let mut found = Vec::new();
    let mut query = Query { after: None, ..query.clone() };
    for _ in 0..10_000 {
        let page = history.find(&query).unwrap();
        found.extend(page.rows.iter().rev().map(|row| row.seq));
        let Some(earlier) = page.earlier else {
            found.reverse();
            return found;
        };
        assert!(query.before.is_none_or(|before| earlier < before), "a page leads on");
        query.before = Some(earlier);
    }
    panic!("pages without end for {query:?}");
}
