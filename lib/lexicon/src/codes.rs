//! The stable codes of findings. A code keeps its meaning; new ones may be added.

/// The value has another type than the schema says.
pub const TYPE: &str = "type";
/// A required field is missing.
pub const REQUIRED: &str = "required";
/// The value is `null` where that is not allowed.
pub const NULL: &str = "null";
/// The value is none of those in a closed list.
pub const ENUM: &str = "enum";
/// The value is not the only one allowed.
pub const CONST: &str = "const";
/// The number is smaller than allowed.
pub const MINIMUM: &str = "minimum";
/// The number is larger than allowed.
pub const MAXIMUM: &str = "maximum";
/// The string, the bytes or the array is shorter than allowed.
pub const MIN_LENGTH: &str = "min_length";
/// The string, the bytes or the array is longer than allowed.
pub const MAX_LENGTH: &str = "max_length";
/// The string has fewer graphemes than allowed.
pub const MIN_GRAPHEMES: &str = "min_graphemes";
/// The string has more graphemes than allowed.
pub const MAX_GRAPHEMES: &str = "max_graphemes";
/// The string does not have the format that the schema names.
pub const FORMAT: &str = "format";
/// The number is not an integer; the data model has no others.
pub const FLOAT: &str = "float";
/// The integer does not fit 64 bits.
pub const INTEGER_RANGE: &str = "integer_range";
/// Warning: the integer is beyond 53 bits, where JavaScript loses digits.
pub const UNSAFE_INTEGER: &str = "unsafe_integer";
/// A `$link` does not have its form.
pub const LINK: &str = "link";
/// A `$bytes` does not have its form.
pub const BYTES: &str = "bytes";
/// A blob does not have its form.
pub const BLOB: &str = "blob";
/// The blob's media type is not accepted.
pub const BLOB_ACCEPT: &str = "blob_accept";
/// The blob is larger than allowed.
pub const BLOB_SIZE: &str = "blob_size";
/// The blob has the old form `{cid, mimeType}`: an error on write, a warning on read.
pub const LEGACY_BLOB: &str = "legacy_blob";
/// A `$type` is not a non-empty string, or not the one expected.
pub const TYPE_FIELD: &str = "type_field";
/// The type is none of a closed union.
pub const UNION: &str = "union";
/// No lexicon of that name is known.
pub const UNKNOWN_LEXICON: &str = "unknown_lexicon";
/// The lexicon has no definition that fits what was asked.
pub const NO_DEFINITION: &str = "no_definition";
/// A reference leads to a definition that is not known.
pub const UNRESOLVED_REF: &str = "unresolved_ref";
/// Warning: a field that starts with `$` and is not of the data model; such names are reserved.
pub const RESERVED_FIELD: &str = "reserved_field";
/// Warning: the schema document has a field that the language does not know.
pub const UNKNOWN_FIELD: &str = "unknown_field";
/// Warning: an object stands inline where some parsers want a reference.
pub const INLINE_OBJECT: &str = "inline_object";
/// Warning: an array stands directly in an array, which some parsers refuse.
pub const INLINE_ARRAY: &str = "inline_array";
/// The version of the Lexicon language is not 1.
pub const LANGUAGE_VERSION: &str = "language_version";
/// A definition has a name or place that is not allowed.
pub const DEFINITION: &str = "definition";
/// A schema contradicts itself, such as a minimum above the maximum.
pub const CONTRADICTION: &str = "contradiction";
