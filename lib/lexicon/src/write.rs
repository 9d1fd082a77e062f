//! Writing a record as a PDS does: the type is filled in, the key checked, the data validated as far as the
//! caller wants, the bytes and the CID made.

use atproto_syntax::Cid;
use json::{Finding, Path, Value};

use crate::{Catalog, Purpose, Report, Target, blob, data};

/// What a client asks a PDS to do about validation (`validate` in the request).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Validation {
    /// `true`: the lexicon must be known and the record valid.
    Required,
    /// `false`: nothing beyond the data model is checked.
    Skip,
    /// Unset: checked if the lexicon is known, stored as `unknown` if not.
    #[default]
    Optimistic,
}

/// What a PDS answers about validation (`validationStatus`); a skipped one has no status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValidationStatus {
    /// The record was checked.
    Valid,
    /// The lexicon is not known.
    Unknown,
}

/// A record to be written.
#[derive(Clone, Copy, Debug)]
pub struct Write<'w> {
    /// The collection, which is the name of the record's lexicon.
    pub collection: &'w str,
    /// The record key.
    pub record_key: &'w str,
    /// The record, with or without `$type`.
    pub record: &'w Value<'w>,
    /// How much to validate.
    pub validation: Validation,
}

/// A record that may be stored.
#[derive(Clone, Debug)]
pub struct Prepared<'w> {
    /// The record with its `$type`.
    pub record: Value<'w>,
    /// Its bytes as DAG-CBOR.
    pub bytes: Vec<u8>,
    /// The CID of these bytes.
    pub cid: Cid,
    /// What to answer about validation.
    pub status: Option<ValidationStatus>,
    /// What is allowed but should be known.
    pub warnings: Vec<Finding>,
}

/// Why a record is not stored. A PDS answers each with 400 and the error `InvalidRequest`; `Display` gives
/// the message that it sends.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Refusal {
    /// The record names another type than its collection.
    #[error("Invalid $type: expected {expected}, got {got}")]
    Type {
        /// The collection.
        expected: String,
        /// What the record says.
        got: String,
    },
    /// The key is not a record key.
    #[error("Invalid record key: {0}")]
    RecordKeySyntax(String),
    /// The key is not of the kind that the lexicon demands.
    #[error("Invalid record key for {collection}: {reason}")]
    RecordKey {
        /// The collection.
        collection: String,
        /// What is wrong with the key.
        reason: String,
    },
    /// Validation was required and the lexicon is not known.
    #[error("Unknown lexicon type: {0}")]
    UnknownLexicon(String),
    /// The record is not what its lexicon says, or not data of the AT Protocol at all.
    #[error("Invalid {collection} record: {}", first(report))]
    Record {
        /// The collection.
        collection: String,
        /// Everything that is wrong.
        report: Box<Report>,
    },
    /// The record holds a blob in the old form.
    #[error("Legacy blobs are not allowed ({0})")]
    LegacyBlob(String),
}

impl ValidationStatus {
    /// Returns the word that a PDS answers with.
    pub fn name(self) -> &'static str {
        match self {
            ValidationStatus::Valid => "valid",
            ValidationStatus::Unknown => "unknown",
        }
    }
}

impl Refusal {
    /// The status that a PDS answers a refused record with.
    pub const HTTP_STATUS: u16 = 400;
    /// The name of the error in its answer.
    pub const ERROR_NAME: &'static str = "InvalidRequest";

    /// Returns everything that is wrong with the record, where that was the reason.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Refusal::Record { report, .. } => report.errors.kept(),
            Refusal::Type { .. }
            | Refusal::RecordKeySyntax(_)
            | Refusal::RecordKey { .. }
            | Refusal::UnknownLexicon(_)
            | Refusal::LegacyBlob(_) => &[],
        }
    }
}

/// Checks a record that is to be written and makes what a repository stores of it.
pub fn prepare_write<'w>(catalog: &Catalog, write: Write<'w>) -> Result<Prepared<'w>, Refusal> {
    let record = with_type(write)?;
    let collection = write.collection;
    if atproto_syntax::record_key::check(write.record_key).is_err() {
        return Err(Refusal::RecordKeySyntax(json::excerpt(write.record_key)));
    }
    let (status, warnings) = validate(catalog, write, &record)?;
    if let Some(cid) = legacy_blob(&record) {
        return Err(Refusal::LegacyBlob(cid.to_owned()));
    }
    match data::to_dag_cbor(&record) {
        Ok(bytes) => Ok(Prepared { cid: data::cid_of_dag_cbor(&bytes), record, bytes, status, warnings }),
        Err(report) => Err(Refusal::Record { collection: collection.to_owned(), report: Box::new(report) }),
    }
}

/// Fills in `$type` where it is missing; one that names another type is refused in every mode.
fn with_type<'w>(write: Write<'w>) -> Result<Value<'w>, Refusal> {
    let mut record = write.record.clone();
    let Some(object) = record.as_object_mut() else { return Ok(record) };
    match object.get("$type") {
        None => {
            object.insert("$type", write.collection);
        }
        Some(Value::String(name)) if *name == write.collection => {}
        Some(other) => {
            let got = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
            return Err(Refusal::Type { expected: write.collection.to_owned(), got: json::excerpt(&got) });
        }
    }
    Ok(record)
}

fn validate(
    catalog: &Catalog,
    write: Write<'_>,
    record: &Value<'_>,
) -> Result<(Option<ValidationStatus>, Vec<Finding>), Refusal> {
    let collection = write.collection.to_owned();
    match (write.validation, catalog.has_record(write.collection)) {
        (Validation::Skip, _) => Ok((None, Vec::new())),
        (Validation::Required, false) => Err(Refusal::UnknownLexicon(collection)),
        (Validation::Optimistic, false) => Ok((Some(ValidationStatus::Unknown), Vec::new())),
        (Validation::Required | Validation::Optimistic, true) => {
            if let Err(reason) = catalog.check_record_key(write.collection, write.record_key) {
                return Err(Refusal::RecordKey { collection, reason });
            }
            let report = catalog.validate(Target::Record(write.collection), record, Purpose::Write);
            if report.is_valid() {
                return Ok((Some(ValidationStatus::Valid), report.warnings.into_kept()));
            }
            Err(Refusal::Record { collection, report: Box::new(report) })
        }
    }
}

/// Finds a blob in the old form anywhere in a record.
fn legacy_blob<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    match value {
        Value::Object(object) => match blob::legacy(object) {
            Some((cid, _)) => Some(cid),
            None => object.iter().find_map(|(_, value)| legacy_blob(value)),
        },
        Value::Array(items) => items.iter().find_map(legacy_blob),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn first(report: &Report) -> String {
    match report.errors.kept() {
        [] => Path::ROOT.to_string(),
        [first, ..] => first.to_string(),
    }
}
