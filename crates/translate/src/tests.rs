//! Tests of translation: every pair, chains through all, edits, reports, golden files.

mod edits;
mod golden;
mod reports;
mod round_trips;

use dialect::{Name, Names, get};
use json::{Limits, Value};
use message::Origin;
use proptest::prelude::*;

use crate::{Carry, Options, Report, Reports, Translation, translate};

const LIMITS: Limits = Limits { bytes_max: 64 << 20, ..Limits::DOCUMENT };

fn parse(text: &str) -> Value<'_> {
    json::parse_str(text, LIMITS).unwrap()
}

fn with_names(text: &str, from: Name, to: Name, names: &Names) -> Translation {
    let options = options(names);
    translate(text, from, to, &options).unwrap_or_else(|failure| panic!("{from} to {to}: {failure}\n{text}"))
}

/// What the command line asks for.
fn options(names: &Names) -> Options<'_> {
    Options {
        names,
        limits: LIMITS,
        carry: Carry::Origin,
        reports: Reports::Wanted,
        trusts: &|_| true,
        seals: None,
        came: None,
        to: None,
    }
}

fn report(translation: Translation) -> Report {
    translation.report.unwrap()
}

fn plain(text: &str, from: Name, to: Name) -> Translation {
    with_names(text, from, to, &Names::default())
}

/// A registry that knows some of the agents that the generators name.
fn some_names() -> Names {
    let registry = r#"[
        {"slug":"ann","did":"did:plc:ann4711","handle":"ann.example","uri":"codex://ann","framework":"codex","roles":["developer"]},
        {"slug":"bob","did":"did:web:bob.example","uri":"opencode://bob","framework":"opencode"},
        {"slug":"zoe","did":"did:plc:zoe"}]"#;
    Names::from_value(&parse(registry)).unwrap()
}

/// Any document of a dialect.
fn document(name: Name) -> BoxedStrategy<Value<'static>> {
    use testkit::generate::{bus, channel, comms, convoke, coord, wire};
    match name {
        Name::Comms => comms::document().boxed(),
        Name::Coord => coord::document().boxed(),
        Name::Bus => bus::document().boxed(),
        Name::Channel => channel::document().boxed(),
        Name::Wire => wire::document().boxed(),
        Name::Convoke => convoke::document().boxed(),
    }
}

/// Any document of any dialect.
fn any_document() -> impl Strategy<Value = (Name, Value<'static>)> {
    proptest::sample::select(Name::ALL)
        .prop_flat_map(|name| document(name).prop_map(move |document| (name, document)))
}

/// What a dialect's own validator finds wrong.
fn findings(name: Name, text: &str) -> Vec<String> {
    let verdict = crate::dialect(name).validate(&parse(text));
    verdict.errors.kept().iter().map(json::Finding::to_string).collect()
}

fn origin_of(name: Name, text: &str) -> Option<Origin> {
    let value = parse(text);
    get(value.as_object()?, crate::dialect(name).origin_place()).and_then(Origin::from_value)
}
