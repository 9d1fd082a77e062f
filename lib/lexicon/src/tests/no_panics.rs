//! Whatever comes in, the engine answers; and its answers agree with each other.

use json::Value;

use super::dice::{ensure, run};
use super::generate::{any_json, damage};
use super::vectors::files;
use super::{shipped, shown, value};
use crate::{Catalog, Document, Purpose, Target, compare, data, hoist};

#[test]
fn any_value() {
    let catalog = ours();
    run(400, |dice| {
        let any = any_json(dice);
        let report = data::check(&any);
        match data::to_dag_cbor(&any) {
            Ok(_) => ensure(report.is_valid(), || format!("encoded although refused: {any}"))?,
            Err(refused) => {
                let link = refused.errors.kept().iter().all(|error| error.code == "link");
                ensure(!report.is_valid() || link, || format!("refused although valid: {any}"))?;
            }
        }
        let parsed = Document::from_value(&any);
        ensure(parsed.document.is_some() == parsed.report.is_valid(), || any.to_string())?;
        catalog.validate_record(&any, Purpose::Write);
        for definition in ["agent.comms.message#content", "agent.comms.response", "agent.comms.absent"] {
            catalog.validate(Target::Definition(definition), &any, Purpose::Read);
        }
        hoist(&any);
        Ok(())
    });
}

#[test]
fn damaged_lexicons() {
    let documents = lexicons();
    run(400, |dice| {
        let mut damaged = documents[dice.below(documents.len())].clone();
        let Some(original) = Document::from_value(&damaged).document else { return Ok(()) };
        for _ in 0..=dice.below(3) {
            damage(&mut damaged, dice);
        }
        let hoisted = Document::from_value(&hoist(&damaged));
        let parsed = Document::from_value(&damaged);
        ensure(parsed.document.is_some() == parsed.report.is_valid(), || damaged.to_string())?;
        let Some(document) = parsed.document else { return Ok(()) };
        compare(&original, &document);
        compare(&document, &original);
        ensure(compare(&document, &document).changes.is_empty(), || damaged.to_string())?;
        let errors = shown(&hoisted.report.errors, "");
        ensure(hoisted.document.is_some(), || format!("hoisting broke it: {errors:?}\n{damaged}"))?;
        let id = document.id.to_string();
        let catalog = Catalog::new(vec![document]).unwrap();
        for target in [Target::Record(&id), Target::Input(&id), Target::Parameters(&id), Target::Message(&id)]
        {
            catalog.validate(target, &any_json(dice), Purpose::Write);
        }
        Ok(())
    });
}

fn ours() -> Catalog {
    let documents = shipped().map(|definition| super::document(definition.text));
    Catalog::new(documents.collect()).unwrap()
}

/// Our lexicons and the good ones of the vectors.
fn lexicons() -> Vec<Value<'static>> {
    let mut lexicons: Vec<Value<'_>> =
        shipped().map(|definition| value(definition.text).into_owned()).collect();
    for (_, text) in files("documents/good") {
        for case in value(&text).as_array().unwrap() {
            for kind in ["lexicon", "def", "property"] {
                lexicons.extend(case.get(kind).map(|piece| super::vectors::framed(kind, piece).0));
            }
        }
    }
    lexicons
}
