//! Whatever is sent: no panic, and no nonsense accepted.

use dialect::{Dialect, Names};
use json::Value;
use proptest::prelude::*;
use testkit::generate;

use crate::Comms;

proptest! {
    #[test]
    fn any_value_is_handled(document in generate::anything()) {
        handle(&document);
    }

    #[test]
    fn mutated_records_are_handled(
        document in prop_oneof![generate::comms::document(), generate::comms::drifted()],
        at in any::<prop::sample::Index>(),
        new in proptest::option::of(generate::anything()),
    ) {
        handle(&mutated(document, at, new));
    }
}

/// What the strict check accepts, the tolerant reader reads, and what it reads has recipients.
fn handle(document: &Value<'_>) {
    let names = Names::default();
    let verdict = Comms.validate(document);
    let read = Comms.decode(document, &names);
    if verdict.is_valid() {
        assert!(read.is_ok(), "{document}: {:?}", read.err());
    }
    let Some(object) = document.as_object() else { return };
    let recognized = Comms.recognizes(object);
    let recipients = crate::recipients(object);
    if let Ok(read) = read {
        assert!(recognized && recipients.is_some(), "{document}");
        let written = Value::Object(Comms.encode(&read.message, &names).document);
        let verdict = Comms.validate(&written);
        assert!(verdict.is_valid(), "{written}: {:?}", super::shown(&verdict.errors));
    }
}

/// Replaces or removes one member, somewhere in the document.
fn mutated(
    mut document: Value<'static>,
    at: prop::sample::Index,
    new: Option<Value<'static>>,
) -> Value<'static> {
    let mut places = Vec::new();
    collect(&document, String::new(), &mut places);
    if places.is_empty() {
        return document;
    }
    let (parent, key) = &places[at.index(places.len())];
    change(&mut document, parent, key, new);
    document
}

fn collect(value: &Value<'_>, path: String, places: &mut Vec<(Vec<String>, String)>) {
    let Some(object) = value.as_object() else { return };
    for (key, inner) in object.iter() {
        let parent = path.split('\u{1}').filter(|step| !step.is_empty()).map(str::to_owned).collect();
        places.push((parent, key.to_owned()));
        collect(inner, format!("{path}\u{1}{key}"), places);
    }
}

fn change(value: &mut Value<'static>, parent: &[String], key: &str, new: Option<Value<'static>>) {
    let Some(object) = value.as_object_mut() else { return };
    match parent.split_first() {
        Some((first, rest)) => {
            if let Some(inner) = object.get_mut(first) {
                change(inner, rest, key, new);
            }
        }
        None => {
            object.remove(key);
            if let Some(new) = new {
                object.insert(key.to_owned(), new);
            }
        }
    }
}
