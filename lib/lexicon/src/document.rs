//! The types of the Lexicon language, as a document says them. References are absolute here.
//!
//! See the Lexicon specification, <https://atproto.com/specs/lexicon>.

use std::fmt;

use atproto_syntax::{Format, Nsid};
use json::Limits;

use crate::{Report, parse};

/// One Lexicon document: an NSID and what it defines.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The name of the lexicon.
    pub id: Nsid,
    /// What it is for.
    pub description: Option<String>,
    /// The definitions by name, in the order of the document.
    pub defs: Vec<(String, Def)>,
}

/// A document that was read, with everything found on the way.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The document, unless there are errors.
    pub document: Option<Document>,
    /// What is wrong or odd about it.
    pub report: Report,
}

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub enum Def {
    /// A type of record in a repository.
    Record(Record),
    /// An endpoint that reads.
    Query(Endpoint),
    /// An endpoint that changes something.
    Procedure(Endpoint),
    /// A stream of messages.
    Subscription(Subscription),
    /// A bundle of permissions that a client may ask for.
    PermissionSet(PermissionSet),
    /// A name without data.
    Token,
    /// A type to refer to.
    Schema(Schema),
}

/// A type of record.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What its keys look like.
    pub key: RecordKeyKind,
    /// What it holds.
    pub object: Object,
}

/// What the keys of a record type look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordKeyKind {
    /// A timestamp identifier.
    Tid,
    /// A namespaced identifier.
    Nsid,
    /// Any valid record key.
    Any,
    /// Exactly this key: there is one such record in a repository.
    Literal(String),
}

/// A query or a procedure.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Endpoint {
    /// The parameters in the URL.
    pub parameters: Option<Object>,
    /// The body of the request; a query has none.
    pub input: Option<Body>,
    /// The body of the answer.
    pub output: Option<Body>,
    /// The errors that it names.
    pub errors: Vec<ErrorName>,
}

/// A stream of messages.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Subscription {
    /// The parameters in the URL.
    pub parameters: Option<Object>,
    /// The messages that may come.
    pub message: Option<Union>,
    /// The errors that it names.
    pub errors: Vec<ErrorName>,
}

/// The body of a request or an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its media type.
    pub encoding: String,
    /// Its shape, where it is JSON.
    pub schema: Option<Schema>,
}

/// An error that an endpoint names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ErrorName {
    /// The name, without spaces.
    pub name: String,
}

/// A bundle of permissions.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionSet {
    /// The permissions that it grants.
    pub permissions: Vec<Permission>,
}

/// One permission: a resource and what narrows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Permission {
    /// The resource, such as `repo` or `rpc`.
    pub resource: String,
    /// The other fields, each as compact JSON, in the order of their names.
    pub parameters: Vec<(String, String)>,
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Schema {
    /// Only `null`.
    Null,
    /// True or false.
    Boolean(Boolean),
    /// A whole number.
    Integer(Integer),
    /// Text.
    String(Box<StringSchema>),
    /// Bytes; the bounds count them.
    Bytes(Bounds),
    /// A link by CID.
    CidLink,
    /// A reference to a blob.
    Blob(Blob),
    /// A list.
    Array(Array),
    /// Named fields.
    Object(Object),
    /// Whatever that definition says.
    Ref(TypeName),
    /// One of several definitions, told apart by `$type`.
    Union(Union),
    /// Any object.
    Unknown,
}

/// A boolean.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Boolean {
    /// What it means when absent.
    pub default: Option<bool>,
    /// The only value allowed.
    pub constant: Option<bool>,
}

/// An integer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Integer {
    /// The values allowed.
    pub bounds: Bounds,
    /// The only values allowed.
    pub values: Option<Vec<i64>>,
    /// What it means when absent.
    pub default: Option<i64>,
    /// The only value allowed.
    pub constant: Option<i64>,
}

/// A string.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct StringSchema {
    /// Its format.
    pub format: Option<Format>,
    /// Its length in UTF-8 bytes.
    pub length: Bounds,
    /// Its length in graphemes, what a reader would count as characters.
    pub graphemes: Bounds,
    /// The only values allowed (`enum`).
    pub values: Option<Vec<String>>,
    /// Values that have a meaning; others are allowed.
    pub known_values: Option<Vec<String>>,
    /// What it means when absent.
    pub default: Option<String>,
    /// The only value allowed.
    pub constant: Option<String>,
}

/// A blob.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Blob {
    /// The media types allowed, such as `image/*`; `None` allows all.
    pub accept: Option<Vec<String>>,
    /// The largest size in bytes.
    pub size_max: Option<i64>,
}

/// A list.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The type of each item.
    pub items: Box<Schema>,
    /// How many items there may be.
    pub length: Bounds,
}

/// Named fields.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Object {
    /// The fields, in the order of the document.
    pub properties: Vec<Property>,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it may be `null`.
    pub nullable: bool,
    /// Its type.
    pub schema: Schema,
}

/// One of several definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Union {
    /// The definitions.
    pub refs: Vec<TypeName>,
    /// Whether no other is allowed.
    pub closed: bool,
}

/// An inclusive range, open where a side is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Bounds {
    /// The smallest value allowed.
    pub min: Option<i64>,
    /// The largest value allowed.
    pub max: Option<i64>,
}

/// The absolute name of a definition, as it stands in `$type`: `com.example.note` or `com.example.note#part`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeName(Box<str>);

impl Document {
    /// Reads a document from bytes.
    pub fn parse(bytes: &[u8], limits: Limits) -> Parsed {
        parse::from_bytes(bytes, limits)
    }

    /// Reads a document that is already a JSON value.
    pub fn from_value(value: &json::Value<'_>) -> Parsed {
        parse::from_value(value)
    }

    /// Returns the definition of that name.
    pub fn def(&self, name: &str) -> Option<&Def> {
        self.defs.iter().find(|(other, _)| other == name).map(|(_, def)| def)
    }
}

impl Object {
    /// Returns the field of that name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }
}

impl Schema {
    /// Returns the word that names the type in a document.
    pub fn type_word(&self) -> &'static str {
        match self {
            Schema::Null => "null",
            Schema::Boolean(_) => "boolean",
            Schema::Integer(_) => "integer",
            Schema::String(_) => "string",
            Schema::Bytes(_) => "bytes",
            Schema::CidLink => "cid-link",
            Schema::Blob(_) => "blob",
            Schema::Array(_) => "array",
            Schema::Object(_) => "object",
            Schema::Ref(_) => "ref",
            Schema::Union(_) => "union",
            Schema::Unknown => "unknown",
        }
    }
}

impl Def {
    /// Returns the word that names the type in a document.
    pub fn type_word(&self) -> &'static str {
        match self {
            Def::Record(_) => "record",
            Def::Query(_) => "query",
            Def::Procedure(_) => "procedure",
            Def::Subscription(_) => "subscription",
            Def::PermissionSet(_) => "permission-set",
            Def::Token => "token",
            Def::Schema(schema) => schema.type_word(),
        }
    }
}

impl TypeName {
    /// Names a definition of a lexicon; `main` is named by the lexicon alone.
    pub fn new(id: &str, name: &str) -> Self {
        if name == "main" { TypeName(id.into()) } else { TypeName(format!("{id}#{name}").into()) }
    }

    /// Returns the name as it stands in `$type`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the lexicon's part of the name.
    pub fn lexicon(&self) -> &str {
        self.0.split('#').next().unwrap_or_default()
    }

    /// Returns the definition's part of the name.
    pub fn definition(&self) -> &str {
        self.0.split_once('#').map_or("main", |(_, name)| name)
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RecordKeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordKeyKind::Tid => f.write_str("tid"),
            RecordKeyKind::Nsid => f.write_str("nsid"),
            RecordKeyKind::Any => f.write_str("any"),
            RecordKeyKind::Literal(key) => write!(f, "literal:{key}"),
        }
    }
}
