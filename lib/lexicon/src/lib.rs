//! AT Protocol Lexicon v1: read schema documents, check data against them, compare two versions.
//!
//! A [`Document`] is one Lexicon file. Documents together make a [`Catalog`], which checks records and the
//! parameters, inputs, outputs and messages of endpoints, following references across documents. [`data`] is
//! the data model underneath, with DAG-CBOR and CIDs; [`prepare_write`] does what a PDS does before it stores
//! a record; [`compare`] tells which changes between two versions break a reader or a writer. Everything that
//! is wrong is reported, each with a JSON Pointer, a stable code from [`codes`] and a sentence.
//!
//! This crate does no I/O, resolves nothing over the network and knows nothing of what the records mean.
//!
//! ```
//! use json::Limits;
//! use lexicon::{Catalog, Document, Purpose};
//!
//! let schema = br#"{ "lexicon": 1, "id": "com.example.note", "defs": { "main": {
//!   "type": "record", "key": "tid",
//!   "record": { "type": "object", "required": ["text"],
//!               "properties": { "text": { "type": "string", "maxLength": 5 } } } } } }"#;
//! let parsed = Document::parse(schema, Limits::DOCUMENT);
//! let catalog = Catalog::new(vec![parsed.document.expect("the schema is valid")])?;
//!
//! let record = json::parse(br#"{"$type":"com.example.note","text":"too long"}"#, Limits::DOCUMENT)?;
//! let report = catalog.validate_record(&record, Purpose::Write);
//! assert_eq!(report.errors.kept()[0].path, "/text");
//! assert_eq!(report.errors.kept()[0].code, lexicon::codes::MAX_LENGTH);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

mod blob;
mod catalog;
mod cbor;
pub mod codes;
mod compare;
pub mod data;
mod document;
mod hoist;
mod parse;
mod report;
mod validate;
mod write;

#[cfg(test)]
mod tests;

pub use blob::{BlobLink, blobs};
pub use catalog::{Catalog, CatalogError, Target};
pub use compare::{Change, Comparison, Verdict, compare};
pub use document::{
    Array, Blob, Body, Boolean, Bounds, Def, Document, Endpoint, ErrorName, Integer, Object, Parsed,
    Permission, PermissionSet, Property, Record, RecordKeyKind, Schema, StringSchema, Subscription, TypeName,
    Union,
};
pub use hoist::hoist;
pub use report::{FINDINGS_MAX, Report};
pub use validate::Purpose;
pub use write::{Prepared, Refusal, Validation, ValidationStatus, Write, prepare_write};
