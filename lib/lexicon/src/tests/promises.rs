//! What a comparison promises: data of the old version fits the new one unless a change is breaking, and the
//! other way round unless a bound became wider.

use std::cell::Cell;

use json::Value;

use super::dice::{Dice, Outcome, ensure, run};
use super::generate::{ID, change, lexicon, record};
use super::{document_of, shown};
use crate::{Catalog, Document, Purpose, Target, compare};

/// Safe changes after which old readers may refuse new data, as their messages say.
const WIDER: [&str; 2] = ["bounds_widened", "accept_widened"];

#[test]
fn generated_data_is_valid() {
    let seen = Cell::new(0);
    run(100, |dice| {
        let document = document_of(&lexicon(dice));
        let catalog = Catalog::new(vec![document.clone()]).unwrap();
        for record in records(dice, &document) {
            seen.set(seen.get() + 1);
            let report = catalog.validate(Target::Record(ID), &record, Purpose::Write);
            ensure(report.is_valid(), || format!("{:?}\n{record}", shown(&report.errors, "")))?;
        }
        Ok(())
    });
    assert!(seen.get() > 150, "only {} records were made", seen.get());
}

#[test]
fn a_document_does_not_differ_from_itself() {
    run(100, |dice| {
        let document = document_of(&lexicon(dice));
        ensure(compare(&document, &document).changes.is_empty(), || format!("{document:#?}"))
    });
}

#[test]
fn data_outlives_changes_that_are_not_breaking() {
    let (lost, kept) = (Cell::new(0), Cell::new(0));
    run(500, |dice| {
        let Some((old, new)) = versions(dice) else { return Ok(()) };
        let comparison = compare(&old, &new);
        let refused = refused(dice, &old, &new);
        ensure(!refused || comparison.is_breaking(), || format!("{:#?}", comparison.changes))?;
        lost.set(lost.get() + usize::from(refused));
        if !comparison.is_breaking() && !comparison.changes.is_empty() {
            kept.set(kept.get() + 1);
        }
        Ok(())
    });
    assert!(lost.get() > 15, "only {} changes lost data", lost.get());
    assert!(kept.get() > 50, "only {} changes were safe", kept.get());
}

#[test]
fn old_readers_take_new_data_after_safe_changes_that_widen_nothing() {
    let (lost, kept) = (Cell::new(0), Cell::new(0));
    run(500, |dice| -> Outcome {
        let Some((old, new)) = versions(dice) else { return Ok(()) };
        let changes = compare(&old, &new).changes;
        let alarmed = changes.iter().any(|it| it.verdict.name() == "breaking" || WIDER.contains(&it.rule));
        let refused = refused(dice, &new, &old);
        ensure(!refused || alarmed, || format!("{changes:#?}"))?;
        lost.set(lost.get() + usize::from(refused));
        kept.set(kept.get() + usize::from(!alarmed && !changes.is_empty()));
        Ok(())
    });
    assert!(lost.get() > 15, "only {} changes lost data", lost.get());
    assert!(kept.get() > 50, "only {} changes were safe", kept.get());
}

/// Two versions, one made from the other by a few changes, if both are lexicons.
fn versions(dice: &mut Dice<'_>) -> Option<(Document, Document)> {
    let old = lexicon(dice);
    let mut new = old.clone();
    for _ in 0..=dice.below(2) {
        change(&mut new, dice);
    }
    Some((document_of(&old), Document::from_value(&new).document?))
}

/// Tells whether one version refuses some data that the other allows.
fn refused(dice: &mut Dice<'_>, allowing: &Document, other: &Document) -> bool {
    let catalog = Catalog::new(vec![other.clone()]).unwrap();
    let validate = |record: &Value<'_>| catalog.validate(Target::Record(ID), record, Purpose::Write);
    records(dice, allowing).iter().any(|record| !validate(record).is_valid())
}

fn records(dice: &mut Dice<'_>, document: &Document) -> Vec<Value<'static>> {
    (0..4).filter_map(|_| record(dice, document)).collect()
}
