//! Checking data against compiled types: one walk over the value, everything wrong reported.
//!
//! What a schema does not describe (unexpected fields, `unknown`, foreign members of open unions) is still
//! held to the data model.

use std::collections::HashSet;

use json::{Object, Path, Value, excerpt};
use unicode_segmentation::UnicodeSegmentation;

use crate::catalog::{Catalog, Fields, Node, NodeId, Target};
use crate::data::{self, Meaning, meaning};
use crate::document::{Blob, Boolean, Bounds, Integer, RecordKeyKind, StringSchema, TypeName};
use crate::{Report, blob, codes};

/// What the data is checked for: new data is held to more than data that is already out there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be stored: old forms are refused.
    Write,
    /// To be read: old forms are accepted with a warning.
    Read,
}

impl Catalog {
    /// Checks a record against the lexicon that its `$type` names.
    pub fn validate_record(&self, value: &Value<'_>, purpose: Purpose) -> Report {
        let mut report = Report::new();
        let Some(name) = self.record_type(value, &mut report) else { return report };
        match self.record(name) {
            Some(record) => self.walk(record.node, value, purpose, &mut report),
            None => {
                report.error(&Path::ROOT.key("$type"), codes::UNKNOWN_LEXICON, || {
                    format!("no lexicon with a record named {:?} is known", excerpt(name))
                });
                report.errors_of_data(value);
            }
        }
        report
    }

    /// Checks data against a target; the `$type` of a record must be there and name it.
    pub fn validate(&self, target: Target<'_>, value: &Value<'_>, purpose: Purpose) -> Report {
        let mut report = Report::new();
        // The walk itself reports what is no object and a `$type` that is no text.
        let open = value.as_object().is_some_and(|object| {
            object.get("$type").is_none_or(|name| name.as_str().is_some_and(|name| !name.is_empty()))
        });
        if let Target::Record(id) = target
            && open
            && let Some(name) = self.record_type(value, &mut report)
            && name != id
        {
            report.error(&Path::ROOT.key("$type"), codes::TYPE_FIELD, || {
                format!("expected {id:?}, found {:?}", excerpt(name))
            });
        }
        match self.node_of(target) {
            Some(node) => self.walk(node, value, purpose, &mut report),
            None => report.error(&Path::ROOT, codes::NO_DEFINITION, || target.missing()),
        }
        report
    }

    /// Checks that a record key is of the kind that the lexicon demands; unknown lexicons demand nothing.
    pub fn check_record_key(&self, id: &str, key: &str) -> Result<(), String> {
        atproto_syntax::record_key::check(key).map_err(|error| error.to_string())?;
        let Some(record) = self.record(id) else { return Ok(()) };
        match &record.key {
            RecordKeyKind::Any => Ok(()),
            RecordKeyKind::Tid => atproto_syntax::tid::check(key).map_err(|error| error.to_string()),
            RecordKeyKind::Nsid => atproto_syntax::nsid::check(key).map_err(|error| error.to_string()),
            RecordKeyKind::Literal(literal) if literal == key => Ok(()),
            RecordKeyKind::Literal(literal) => {
                Err(format!("the only key of this record type is {literal:?}"))
            }
        }
    }

    fn walk(&self, node: NodeId, value: &Value<'_>, purpose: Purpose, report: &mut Report) {
        Walker { catalog: self, purpose, report }.node(node, value, &Path::ROOT);
    }

    /// Returns the `$type` of a record, which must be there and be the name of a lexicon.
    fn record_type<'v>(&self, value: &'v Value<'_>, report: &mut Report) -> Option<&'v str> {
        let path = Path::ROOT.key("$type");
        let Value::Object(object) = value else {
            let found = value.type_name();
            report.error(&Path::ROOT, codes::TYPE, || format!("expected a record, found {found}"));
            return None;
        };
        match object.get("$type") {
            Some(Value::String(name)) if name.ends_with("#main") => {
                report.error(&path, codes::TYPE_FIELD, || {
                    format!(
                        "write {:?}: main is named by its lexicon alone",
                        excerpt(name.trim_end_matches("#main"))
                    )
                });
                None
            }
            Some(Value::String(name)) if !name.is_empty() => Some(name),
            Some(_) => {
                report.error(&path, codes::TYPE_FIELD, || "$type must be a non-empty string".to_owned());
                None
            }
            None => {
                report.error(&path, codes::REQUIRED, || {
                    "a record needs $type, the name of its lexicon".to_owned()
                });
                None
            }
        }
    }
}

impl Report {
    /// Adds what the data model alone says about a value whose schema is not known.
    fn errors_of_data(&mut self, value: &Value<'_>) {
        data::check_value(value, &Path::ROOT, self);
    }
}

impl Target<'_> {
    fn missing(&self) -> String {
        match self {
            Target::Record(id) => format!("no lexicon with a record named {id:?} is known"),
            Target::Parameters(id) => format!("{id:?} is not known or takes no parameters"),
            Target::Input(id) => format!("{id:?} is not known or describes no input"),
            Target::Output(id) => format!("{id:?} is not known or describes no output"),
            Target::Message(id) => format!("{id:?} is not known or sends no messages"),
            Target::Definition(name) => format!("no definition named {name:?} is known"),
        }
    }
}

struct Walker<'w> {
    catalog: &'w Catalog,
    purpose: Purpose,
    report: &'w mut Report,
}

impl<'w> Walker<'w> {
    fn node(&mut self, id: NodeId, value: &Value<'_>, path: &Path<'_>) {
        let catalog: &'w Catalog = self.catalog;
        match catalog.node(id) {
            Node::String(schema) => self.string(schema, value, path),
            Node::Object(fields) => self.object(fields, value, path),
            Node::Integer(schema) => self.integer(schema, value, path),
            Node::Array { items, length } => self.array(*items, *length, value, path),
            Node::Boolean(schema) => self.boolean(schema, value, path),
            Node::Union { members, closed } => self.union(members, *closed, value, path),
            Node::Unknown => self.unknown(value, path),
            Node::Blob(schema) => self.blob(schema, value, path),
            Node::Bytes(length) => self.bytes(*length, value, path),
            Node::CidLink => {
                if let Some(object) =
                    self.special(value, path, "a link", |meaning| matches!(meaning, Meaning::Link))
                {
                    data::check_link(object, path, self.report);
                }
            }
            Node::Token(name) => {
                if value.as_str() != Some(name.as_str()) {
                    self.report
                        .error(path, codes::CONST, || format!("expected the token {:?}", name.as_str()));
                }
            }
            Node::Null => {
                if !value.is_null() {
                    self.wrong_type("null", value, path);
                }
            }
            Node::Unresolved(name) => {
                self.report.error(path, codes::UNRESOLVED_REF, || {
                    format!(
                        "the definition {:?} is not known; give the lexicon {:?} too",
                        name.as_str(),
                        name.lexicon()
                    )
                });
                data::check_value(value, path, self.report);
            }
        }
    }

    fn object(&mut self, fields: &'w Fields, value: &Value<'_>, path: &Path<'_>) {
        let Value::Object(object) = value else { return self.wrong_type("an object", value, path) };
        let (mut hint, mut required_seen) = (0, 0);
        for (key, value) in object.iter() {
            let Some(at) = fields.find(key, hint) else {
                self.unexpected(object, key, value, path);
                continue;
            };
            let field = &fields.list[at];
            hint = at + 1;
            required_seen += usize::from(field.required);
            match value {
                Value::Null if field.nullable => {}
                Value::Null if !matches!(self.catalog.node(field.node), Node::Null) => {
                    self.report.error(&path.key(key), codes::NULL, || {
                        format!("{key:?} must not be null; leave it out instead")
                    });
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_)
                | Value::Object(_) => self.node(field.node, value, &path.key(key)),
            }
        }
        if required_seen < fields.required_count {
            let present: HashSet<&str> = object.iter().map(|(key, _)| key).collect();
            for field in fields.list.iter().filter(|field| field.required && !present.contains(&*field.name))
            {
                self.report.error(&path.key(&field.name), codes::REQUIRED, || {
                    format!("{:?} is required", field.name)
                });
            }
        }
    }

    /// Fields that the schema does not name are allowed, but must obey the data model; a reserved name may
    /// say that this is no object at all.
    fn unexpected(&mut self, object: &Object<'_>, key: &str, value: &Value<'_>, path: &Path<'_>) {
        if key.starts_with('$') {
            let found = match meaning(object) {
                Meaning::Map => {
                    data::check_reserved(key, value, path, self.report);
                    return data::check_value(value, &path.key(key), self.report);
                }
                Meaning::Link => "a link",
                Meaning::Bytes => "bytes",
                Meaning::Blob => "a blob",
            };
            self.report.error(path, codes::TYPE, || format!("expected an object, found {found}"));
            return;
        }
        data::check_value(value, &path.key(key), self.report);
    }

    fn array(&mut self, items: NodeId, length: Bounds, value: &Value<'_>, path: &Path<'_>) {
        let Value::Array(values) = value else { return self.wrong_type("an array", value, path) };
        self.length(length, values.len(), "items", path);
        for (index, value) in values.iter().enumerate() {
            self.node(items, value, &path.index(index));
        }
    }

    fn string(&mut self, schema: &StringSchema, value: &Value<'_>, path: &Path<'_>) {
        let Value::String(text) = value else { return self.wrong_type("a string", value, path) };
        if let Some(format) = schema.format
            && let Err(error) = format.check(text)
        {
            self.report.error(path, codes::FORMAT, || error.to_string());
        }
        self.length(schema.length, text.len(), "bytes", path);
        if schema.graphemes != Bounds::default() {
            self.graphemes(schema.graphemes, text, path);
        }
        if let Some(constant) = &schema.constant
            && **text != **constant
        {
            self.report.error(path, codes::CONST, || format!("the only value allowed is {constant:?}"));
        }
        if let Some(values) = &schema.values
            && !values.iter().any(|allowed| **text == **allowed)
        {
            self.report.error(path, codes::ENUM, || {
                format!(
                    "{:?} is not one of {}",
                    excerpt(text),
                    listed(values.iter().map(|value| format!("{value:?}")))
                )
            });
        }
    }

    fn graphemes(&mut self, bounds: Bounds, text: &str, path: &Path<'_>) {
        // A grapheme has at least one byte, so most texts need no counting.
        let bytes = text.len() as i64;
        if bounds.min.is_none() && bounds.max.is_some_and(|max| bytes <= max) {
            return;
        }
        let count = text.graphemes(true).count() as i64;
        if let Some(min) = bounds.min.filter(|min| count < *min) {
            self.report.error(path, codes::MIN_GRAPHEMES, || {
                format!("{count} graphemes, at least {min} are needed")
            });
        }
        if let Some(max) = bounds.max.filter(|max| count > *max) {
            self.report.error(path, codes::MAX_GRAPHEMES, || {
                format!("{count} graphemes, at most {max} are allowed")
            });
        }
    }

    fn integer(&mut self, schema: &Integer, value: &Value<'_>, path: &Path<'_>) {
        let Some(integer) = data::check_integer(value, path, self.report) else { return };
        if let Some(min) = schema.bounds.min.filter(|min| integer < *min) {
            self.report.error(path, codes::MINIMUM, || format!("{integer} is less than {min}"));
        }
        if let Some(max) = schema.bounds.max.filter(|max| integer > *max) {
            self.report.error(path, codes::MAXIMUM, || format!("{integer} is more than {max}"));
        }
        if let Some(constant) = schema.constant.filter(|constant| integer != *constant) {
            self.report.error(path, codes::CONST, || format!("the only value allowed is {constant}"));
        }
        if let Some(values) = &schema.values
            && !values.contains(&integer)
        {
            self.report.error(path, codes::ENUM, || {
                format!("{integer} is not one of {}", listed(values.iter().map(i64::to_string)))
            });
        }
    }

    fn boolean(&mut self, schema: &Boolean, value: &Value<'_>, path: &Path<'_>) {
        let Value::Bool(truth) = value else { return self.wrong_type("a boolean", value, path) };
        if let Some(constant) = schema.constant.filter(|constant| truth != constant) {
            self.report.error(path, codes::CONST, || format!("the only value allowed is {constant}"));
        }
    }

    fn bytes(&mut self, length: Bounds, value: &Value<'_>, path: &Path<'_>) {
        let is_bytes = |meaning: &Meaning| matches!(meaning, Meaning::Bytes);
        if let Some(object) = self.special(value, path, "bytes", is_bytes)
            && let Some(count) = data::check_bytes(object, path, self.report)
        {
            self.length(length, count, "bytes", path);
        }
    }

    fn blob(&mut self, schema: &Blob, value: &Value<'_>, path: &Path<'_>) {
        let Value::Object(object) = value else { return self.wrong_type("a blob", value, path) };
        let blob = match (meaning(object), blob::legacy(object)) {
            (Meaning::Blob, _) => blob::check(object, path, self.report),
            (_, Some((_, legacy))) => {
                let message = || {
                    "the old form {cid, mimeType} of a blob; new records need $type, ref and size".to_owned()
                };
                match self.purpose {
                    Purpose::Write => self.report.error(path, codes::LEGACY_BLOB, message),
                    Purpose::Read => self.report.warn(path, codes::LEGACY_BLOB, message),
                }
                Some(legacy)
            }
            _ => return self.wrong_type("a blob", value, path),
        };
        let Some(blob) = blob else { return };
        if let Some(accept) = &schema.accept
            && !accept.iter().any(|pattern| accepts(pattern, blob.mime_type))
        {
            self.report.error(&path.key("mimeType"), codes::BLOB_ACCEPT, || {
                format!("{:?} is not one of {}", excerpt(blob.mime_type), listed(accept.iter().cloned()))
            });
        }
        if let (Some(size), Some(max)) = (blob.size, schema.size_max)
            && size > max
        {
            self.report.error(&path.key("size"), codes::BLOB_SIZE, || {
                format!("{size} bytes, at most {max} are allowed")
            });
        }
    }

    fn union(&mut self, members: &'w [(TypeName, NodeId)], closed: bool, value: &Value<'_>, path: &Path<'_>) {
        let Value::Object(object) = value else {
            return self.wrong_type("an object with $type", value, path);
        };
        let name = object.get("$type").and_then(Value::as_str).filter(|name| !name.is_empty());
        let Some(name) = name else {
            self.report.error(&path.key("$type"), codes::TYPE_FIELD, || {
                "a member of a union needs $type, a non-empty string".to_owned()
            });
            return;
        };
        match members.binary_search_by(|(member, _)| member.as_str().cmp(name)) {
            Ok(at) => self.node(members[at].1, value, path),
            Err(_) if closed => self.report.error(&path.key("$type"), codes::UNION, || {
                let members = members.iter().map(|(member, _)| member.to_string());
                format!("{:?} is not one of {}", excerpt(name), listed(members))
            }),
            Err(_) => data::check_value(value, path, self.report),
        }
    }

    fn unknown(&mut self, value: &Value<'_>, path: &Path<'_>) {
        let is_map = |meaning: &Meaning| matches!(meaning, Meaning::Map);
        if self.special(value, path, "an object", is_map).is_some() {
            data::check_value(value, path, self.report);
        }
    }

    /// Returns the object that a value is, if it stands for what is wanted.
    fn special<'v, 'a>(
        &mut self,
        value: &'v Value<'a>,
        path: &Path<'_>,
        expected: &str,
        wanted: impl Fn(&Meaning) -> bool,
    ) -> Option<&'v Object<'a>> {
        let object = value.as_object().filter(|object| wanted(&meaning(object)));
        if object.is_none() {
            self.wrong_type(expected, value, path);
        }
        object
    }

    fn length(&mut self, bounds: Bounds, count: usize, unit: &str, path: &Path<'_>) {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(min) = bounds.min.filter(|min| count < *min) {
            self.report
                .error(path, codes::MIN_LENGTH, || format!("{count} {unit}, at least {min} are needed"));
        }
        if let Some(max) = bounds.max.filter(|max| count > *max) {
            self.report
                .error(path, codes::MAX_LENGTH, || format!("{count} {unit}, at most {max} are allowed"));
        }
    }

    fn wrong_type(&mut self, expected: &str, value: &Value<'_>, path: &Path<'_>) {
        let found = match value.as_object().map(meaning) {
            Some(Meaning::Link) => "a link",
            Some(Meaning::Bytes) => "bytes",
            Some(Meaning::Blob) => "a blob",
            Some(Meaning::Map) | None => value.type_name(),
        };
        self.report.error(path, codes::TYPE, || format!("expected {expected}, found {found}"));
    }
}

/// Tells whether a media type fits a pattern such as `image/png`, `image/*` or `*/*`.
fn accepts(pattern: &str, mime_type: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some("*/") => true,
        Some(prefix) => mime_type.starts_with(prefix),
        None => pattern == mime_type,
    }
}

/// Lists allowed values in a message, but not thousands of them.
fn listed(values: impl ExactSizeIterator<Item = String>) -> String {
    const LISTED_MAX: usize = 12;
    let more = values.len().saturating_sub(LISTED_MAX);
    let mut listed = values.take(LISTED_MAX).collect::<Vec<_>>().join(", ");
    if more > 0 {
        listed.push_str(&format!(" and {more} more"));
    }
    listed
}
