//! Tests of the engine: public vectors, our own vectors as data, properties, hostile input.

mod comms;
mod comparing;
mod coverage;
mod data_model;
mod dice;
mod documents;
mod generate;
mod hoisting;
mod hostile;
mod interop;
mod no_panics;
mod promises;
mod values;
mod vectors;
mod writing;

use definitions::{Definition, Language};
use json::{Findings, Limits, Value};

use crate::{Catalog, Document};

/// The lexicons that we ship.
fn shipped() -> impl Iterator<Item = &'static Definition> {
    definitions::ALL.iter().filter(|definition| definition.language == Language::Lexicon)
}

fn value(text: &str) -> Value<'_> {
    json::parse_str(text, Limits::DOCUMENT).unwrap()
}

fn document(text: &str) -> Document {
    document_of(&value(text))
}

fn document_of(value: &Value<'_>) -> Document {
    let parsed = Document::from_value(value);
    parsed.document.unwrap_or_else(|| panic!("{:#?}", parsed.report.errors.kept()))
}

fn catalog(texts: &[&str]) -> Catalog {
    Catalog::new(texts.iter().map(|text| document(text)).collect()).unwrap()
}

/// Writes findings as vectors do: `path code`, or only the code for the place that the case is about.
fn shown(findings: &Findings, prefix: &str) -> Vec<String> {
    let show = |finding: &json::Finding| match finding.path.strip_prefix(prefix) {
        Some("") => finding.code.to_owned(),
        Some(path) => format!("{path} {}", finding.code),
        None => format!("outside {} {}", finding.path, finding.code),
    };
    findings.kept().iter().map(show).collect()
}
