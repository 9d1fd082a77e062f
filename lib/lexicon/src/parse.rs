//! Reading documents: the frame, the definitions, records, endpoints and permission sets.
//!
//! Everything wrong is reported; a document comes out only when nothing is. What one of the known parsers
//! refuses and another accepts is accepted here with a warning.

mod primary;
mod schema;

use atproto_syntax::{Nsid, language};
use json::{Limits, Object, Path, Value};

use crate::document::{Def, Document, Parsed};
use crate::{Report, codes};

const DEFINITION_NAME_BYTES_MAX: usize = 255;
const LANGUAGE_VERSION: i64 = 1;

/// Reads a document from bytes.
pub(crate) fn from_bytes(bytes: &[u8], limits: Limits) -> Parsed {
    match json::parse(bytes, limits) {
        Ok(value) => from_value(&value),
        Err(error) => {
            let mut report = Report::new();
            report.error(&Path::ROOT, error.kind.code(), || error.to_string());
            Parsed { document: None, report }
        }
    }
}

/// Reads a document from a value.
pub(crate) fn from_value(value: &Value<'_>) -> Parsed {
    let mut reader = Reader { id: String::new(), report: Report::new() };
    let document = reader.document(value);
    let document = document.filter(|_| reader.report.is_valid());
    Parsed { document, report: reader.report }
}

/// Carries the name of the document, which completes local references, and what was found.
struct Reader {
    id: String,
    report: Report,
}

impl Reader {
    fn document(&mut self, value: &Value<'_>) -> Option<Document> {
        let path = &Path::ROOT;
        let object = self.object_at(value, path)?;
        self.known_fields(object, path, &["$type", "lexicon", "id", "revision", "description", "defs"]);
        self.language_version(object);
        let id = self.id(object);
        self.id = id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned());
        self.integer(object, "revision", path);
        let description = self.text(object, "description", path);
        let defs = self.defs(object);
        Some(Document { id: id?, description, defs })
    }

    fn language_version(&mut self, object: &Object<'_>) {
        let path = Path::ROOT.key("lexicon");
        match object.get("lexicon") {
            None => self.report.error(&path, codes::REQUIRED, || "lexicon is required: 1".to_owned()),
            Some(version) if version.as_integer() == Some(LANGUAGE_VERSION) => {}
            Some(version) => self.report.error(&path, codes::LANGUAGE_VERSION, || {
                format!(
                    "version {} of the Lexicon language is not known; write 1",
                    json::excerpt(&version.to_string())
                )
            }),
        }
    }

    fn id(&mut self, object: &Object<'_>) -> Option<Nsid> {
        let text = self.required_text(object, "id", &Path::ROOT)?;
        match text.parse() {
            Ok(id) => Some(id),
            Err(error) => {
                self.report.error(&Path::ROOT.key("id"), codes::FORMAT, || format!("{error}"));
                None
            }
        }
    }

    fn defs(&mut self, object: &Object<'_>) -> Vec<(String, Def)> {
        let path = Path::ROOT.key("defs");
        let Some(value) = object.get("defs") else {
            self.report.error(&path, codes::REQUIRED, || "defs is required".to_owned());
            return Vec::new();
        };
        let Some(defs) = self.object_at(value, &path) else { return Vec::new() };
        if defs.is_empty() {
            self.report
                .error(&path, codes::DEFINITION, || "a lexicon needs at least one definition".to_owned());
        }
        let mut read = Vec::with_capacity(defs.len());
        for (name, value) in defs.iter() {
            let path = path.key(name);
            self.definition_name(name, &path);
            if let Some(def) = self.def(name, value, &path) {
                read.push((name.to_owned(), def));
            }
        }
        read
    }

    fn definition_name(&mut self, name: &str, path: &Path<'_>) {
        let starts = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let known = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !starts || !known || name.len() > DEFINITION_NAME_BYTES_MAX {
            self.report.error(path, codes::DEFINITION, || {
                "a definition's name starts with a letter and has only letters and digits".to_owned()
            });
        }
    }

    fn def(&mut self, name: &str, value: &Value<'_>, path: &Path<'_>) -> Option<Def> {
        let object = self.object_at(value, path)?;
        let word = self.type_word(object, path)?;
        let primary = matches!(word, "record" | "query" | "procedure" | "subscription" | "permission-set");
        if primary && name != "main" {
            self.report
                .error(path, codes::DEFINITION, || format!("a {word} must be the definition named main"));
        }
        match word {
            "record" => self.record(object, path).map(Def::Record),
            "query" => Some(Def::Query(self.query(object, path))),
            "procedure" => Some(Def::Procedure(self.procedure(object, path))),
            "subscription" => Some(Def::Subscription(self.subscription(object, path))),
            "permission-set" => Some(Def::PermissionSet(self.permission_set(object, path))),
            "token" => {
                self.known_fields(object, path, &["type", "description"]);
                self.text(object, "description", path);
                Some(Def::Token)
            }
            "ref" | "union" | "unknown" | "params" | "permission" | "null" => {
                self.report.error(&path.key("type"), codes::DEFINITION, || {
                    format!("a {word} cannot be a definition of its own")
                });
                None
            }
            _ => self.schema(value, path).map(Def::Schema),
        }
    }

    /// Returns the `type` of a schema.
    fn type_word<'v>(&mut self, object: &'v Object<'_>, path: &Path<'_>) -> Option<&'v str> {
        match object.get("type") {
            Some(Value::String(word)) => Some(word),
            Some(other) => {
                let found = other.type_name();
                self.report
                    .error(&path.key("type"), codes::TYPE, || format!("expected a string, found {found}"));
                None
            }
            None => {
                self.report.error(&path.key("type"), codes::REQUIRED, || "type is required".to_owned());
                None
            }
        }
    }

    fn object_at<'v, 'a>(&mut self, value: &'v Value<'a>, path: &Path<'_>) -> Option<&'v Object<'a>> {
        let object = value.as_object();
        if object.is_none() {
            let found = value.type_name();
            self.report.error(path, codes::TYPE, || format!("expected an object, found {found}"));
        }
        object
    }

    /// Reads an optional field with `read`, reporting a value of another type.
    fn field<'v, 'a, T>(
        &mut self,
        object: &'v Object<'a>,
        key: &str,
        path: &Path<'_>,
        expected: &str,
        read: impl FnOnce(&'v Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = object.get(key)?;
        let read = read(value);
        if read.is_none() {
            let found = value.type_name();
            self.report.error(&path.key(key), codes::TYPE, || format!("expected {expected}, found {found}"));
        }
        read
    }

    fn text(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<String> {
        self.field(object, key, path, "a string", |value| value.as_str().map(str::to_owned))
    }

    fn required_text(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<String> {
        if !object.contains_key(key) {
            self.report.error(&path.key(key), codes::REQUIRED, || format!("{key} is required"));
        }
        self.text(object, key, path)
    }

    fn truth(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<bool> {
        self.field(object, key, path, "true or false", Value::as_bool)
    }

    fn integer(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<i64> {
        self.field(object, key, path, "an integer", Value::as_integer)
    }

    fn list<'v, 'a>(
        &mut self,
        object: &'v Object<'a>,
        key: &str,
        path: &Path<'_>,
    ) -> Option<&'v [Value<'a>]> {
        self.field(object, key, path, "an array", Value::as_array)
    }

    /// Reads a list whose items `read` accepts; the others are reported.
    fn list_of<T>(
        &mut self,
        object: &Object<'_>,
        key: &str,
        path: &Path<'_>,
        expected: &str,
        read: impl Fn(&Value<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.list(object, key, path)?;
        let path = path.key(key);
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match read(item) {
                Some(item) => kept.push(item),
                None => {
                    let found = item.type_name();
                    self.report.error(&path.index(index), codes::TYPE, || {
                        format!("expected {expected}, found {found}")
                    });
                }
            }
        }
        Some(kept)
    }

    fn texts(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<Vec<String>> {
        self.list_of(object, key, path, "a string", |value| value.as_str().map(str::to_owned))
    }

    /// Goes through the strings of a list with their places; what is no string was reported by `texts`.
    fn placed<'v>(object: &'v Object<'_>, key: &str) -> impl Iterator<Item = (usize, &'v str)> {
        let items = object.get(key).and_then(Value::as_array).unwrap_or_default();
        items.iter().enumerate().filter_map(|(index, item)| Some((index, item.as_str()?)))
    }

    /// Reads texts by language, such as `title:lang`.
    fn translations(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) {
        let Some(value) = object.get(key) else { return };
        let path = path.key(key);
        let Some(translations) = self.object_at(value, &path) else { return };
        for (tag, text) in translations.iter() {
            let path = path.key(tag);
            if let Err(error) = language::check(tag) {
                self.report.error(&path, codes::FORMAT, || error.to_string());
            }
            if text.as_str().is_none() {
                let found = text.type_name();
                self.report.error(&path, codes::TYPE, || format!("expected a string, found {found}"));
            }
        }
    }

    /// Warns of fields that the language does not know: most are misspelt, and would silently do nothing.
    fn known_fields(&mut self, object: &Object<'_>, path: &Path<'_>, known: &[&str]) {
        for (key, _) in object.iter().filter(|(key, _)| !known.contains(key)) {
            let near = known.iter().find(|known| known.eq_ignore_ascii_case(key));
            self.report.warn(&path.key(key), codes::UNKNOWN_FIELD, || match near {
                Some(near) => format!("{key:?} is not known here and is ignored; did you mean {near:?}?"),
                None => format!("{:?} is not known here and is ignored", json::excerpt(key)),
            });
        }
    }
}
