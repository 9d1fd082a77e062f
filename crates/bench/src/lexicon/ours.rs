//! Our side: the catalog of our lexicons, and the loops that are measured.

use std::hint::black_box;

use anyhow::{Context, ensure};
use json::{Limits, Value};
use lexicon::{Catalog, Document, Purpose};

use super::Measure;
use super::corpus::{Case, Record, Verdict};
use crate::figures::{self, Pace, Timing};

/// Our implementation with the records in both of their forms.
pub(crate) struct Ours<'c> {
    catalog: Catalog,
    texts: Vec<&'c [u8]>,
    values: Vec<Value<'c>>,
}

impl<'c> Ours<'c> {
    /// Compiles the lexicons and parses the records, all of which must be valid.
    pub(crate) fn new(records: &'c [Record]) -> anyhow::Result<Self> {
        let ours = Ours {
            catalog: catalog()?,
            texts: records.iter().map(|record| record.text.as_bytes()).collect(),
            values: records
                .iter()
                .map(|record| json::parse_str(record.text, Limits::DOCUMENT))
                .collect::<Result<_, _>>()?,
        };
        for (record, value) in records.iter().zip(&ours.values) {
            let report = ours.catalog.validate_record(value, Purpose::Write);
            ensure!(report.is_valid(), "{} is invalid: {:?}", record.name, report.errors.kept());
        }
        Ok(ours)
    }

    /// Runs one measure over all records, again and again.
    pub(crate) fn run(&self, measure: Measure, pace: Pace) -> Timing {
        let count = self.texts.len();
        match measure {
            Measure::FromBytes => figures::run(pace, count, || {
                for text in &self.texts {
                    black_box(self.is_valid(black_box(text)));
                }
            }),
            Measure::Values => figures::run(pace, count, || {
                for value in &self.values {
                    black_box(self.catalog.validate_record(black_box(value), Purpose::Write).is_valid());
                }
            }),
            Measure::Parse => figures::run(pace, count, || {
                for text in &self.texts {
                    black_box(json::parse(black_box(text), Limits::DOCUMENT).is_ok());
                }
            }),
            Measure::SerdeJson => figures::run(pace, count, || {
                for text in &self.texts {
                    black_box(serde_json::from_slice::<serde_json::Value>(black_box(text)).is_ok());
                }
            }),
        }
    }

    /// Says whether a document is a valid record, and what is wrong if it is not.
    pub(crate) fn verdict(&self, case: &Case) -> (Verdict, String) {
        let value = match json::parse(case.text.as_bytes(), Limits::DOCUMENT) {
            Ok(value) => value,
            Err(error) => return (Verdict::Invalid, error.to_string()),
        };
        let report = self.catalog.validate_record(&value, Purpose::Write);
        let first = report.errors.kept().first().map(ToString::to_string).unwrap_or_default();
        (Verdict::from_validity(report.is_valid()), first)
    }

    fn is_valid(&self, text: &[u8]) -> bool {
        json::parse(text, Limits::DOCUMENT)
            .is_ok_and(|value| self.catalog.validate_record(&value, Purpose::Write).is_valid())
    }
}

fn catalog() -> anyhow::Result<Catalog> {
    let mut documents = Vec::new();
    for definition in definitions::lexicons() {
        let parsed = Document::parse(definition.text.as_bytes(), Limits::DOCUMENT);
        documents.push(parsed.document.with_context(|| format!("{} is no lexicon", definition.name))?);
    }
    Ok(Catalog::new(documents)?)
}
