//! Tests of the dialect `coord`: vectors, the delivery rules, properties, and the schemas that we publish.

mod definitions;
mod delivery;
mod fields;
mod properties;
mod translations;
mod vectors;

use json::{Limits, Object, Value};

fn value(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap().into_owned()
}

fn object(text: &str) -> Object<'static> {
    value(text).as_object().unwrap().clone()
}

fn good(name: &str) -> Value<'static> {
    let path = testkit::root().join(format!("vectors/coord/good/{name}.json"));
    value(&testkit::read(&path))
}

/// The names of all good vectors, sorted.
fn good_names() -> Vec<String> {
    let folder = testkit::root().join("vectors/coord/good");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}
