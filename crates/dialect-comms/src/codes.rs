//! The codes of findings that go beyond the lexicons. A code keeps its meaning; new ones may be added.
//!
//! Findings about the shape of a record have the codes of the crate `lexicon`.

pub use message::codes::{DEADLINE_BEFORE_CREATED, EXPIRES_BEFORE_CREATED};

/// The content lacks what its kind promises: text, data or a blob.
pub const CONTENT_REQUIRED: &str = "content_required";
/// A response that tells of an error or a rejection says neither code nor message.
pub const ERROR_REQUIRED: &str = "error_required";
/// A response that tells of success carries an error.
pub const ERROR_FORBIDDEN: &str = "error_forbidden";
/// Warning: a reference names its repository by a handle, which may move; a DID stays.
pub const AUTHORITY_NOT_DID: &str = "authority_not_did";
/// Warning: a reference leads to no record of these lexicons.
pub const FOREIGN_REFERENCE: &str = "foreign_reference";
/// Warning: a schema ends in a version of its own, which makes another domain its authority.
pub const VERSIONED_SCHEMA: &str = "versioned_schema";
/// Warning: content and blob state different media types.
pub const MIME_MISMATCH: &str = "mime_mismatch";
/// Warning, when reading: the form is not that of the lexicons but of the network that grew from them.
pub const DRIFTED: &str = "drifted";
/// Warning, when reading: a value is not carried because the canonical message has no room for it.
pub const LEFT_OUT: &str = "left_out";
