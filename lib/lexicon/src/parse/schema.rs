//! Reading the types of values: primitives, bytes, links, blobs, arrays, objects, references, unions.

use atproto_syntax::Format;
use json::{Object, Path, Value};
use unicode_segmentation::UnicodeSegmentation;

use super::Reader;
use crate::codes;
use crate::document::{
    self, Array, Blob, Boolean, Bounds, Integer, Property, Schema, StringSchema, TypeName, Union,
};

/// The types that a value can have, for messages.
const TYPE_WORDS: &str =
    "null, boolean, integer, string, bytes, cid-link, blob, array, object, ref, union or unknown";

impl Reader {
    /// Reads the type of a value.
    pub(super) fn schema(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Schema> {
        let object = self.object_at(value, path)?;
        let word = self.type_word(object, path)?;
        if word != "object" {
            self.text(object, "description", path);
        }
        match word {
            "null" | "cid-link" | "unknown" => {
                self.known_fields(object, path, &["type", "description"]);
                match word {
                    "null" => Some(Schema::Null),
                    "cid-link" => Some(Schema::CidLink),
                    _ => Some(Schema::Unknown),
                }
            }
            "boolean" => Some(Schema::Boolean(self.boolean(object, path))),
            "integer" => Some(Schema::Integer(self.integer_schema(object, path))),
            "string" => Some(Schema::String(Box::new(self.string_schema(object, path)))),
            "bytes" => {
                self.known_fields(object, path, &["type", "description", "minLength", "maxLength"]);
                Some(Schema::Bytes(self.lengths(object, path)))
            }
            "blob" => Some(Schema::Blob(self.blob(object, path))),
            "array" => self.array(object, path).map(Schema::Array),
            "object" => Some(Schema::Object(self.object_schema(object, path))),
            "ref" => self.reference(object, path).map(Schema::Ref),
            "union" => Some(Schema::Union(self.union(object, path))),
            other => {
                self.report.error(&path.key("type"), codes::ENUM, || {
                    format!("{:?} is not a type of a value; there are {TYPE_WORDS}", json::excerpt(other))
                });
                None
            }
        }
    }

    /// Reads the fields of an object.
    pub(super) fn object_schema(&mut self, object: &Object<'_>, path: &Path<'_>) -> document::Object {
        self.known_fields(object, path, &["type", "description", "required", "nullable", "properties"]);
        self.text(object, "description", path);
        let mut properties = self.properties(object, path, Self::property_schema);
        self.texts(object, "nullable", path);
        let nullable = Self::placed(object, "nullable");
        self.mark(&mut properties, nullable, &path.key("nullable"), |property| &mut property.nullable);
        properties
    }

    /// Reads the parameters of an endpoint.
    pub(super) fn parameters(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<document::Object> {
        let value = object.get("parameters")?;
        let path = &path.key("parameters");
        let object = self.object_at(value, path)?;
        self.known_fields(object, path, &["type", "description", "required", "properties"]);
        self.text(object, "description", path);
        if self.type_word(object, path)? != "params" {
            self.report
                .error(&path.key("type"), codes::TYPE, || "parameters have the type params".to_owned());
        }
        Some(self.properties(object, path, Self::parameter_schema))
    }

    fn properties(
        &mut self,
        object: &Object<'_>,
        path: &Path<'_>,
        read: fn(&mut Self, &Value<'_>, &Path<'_>) -> Option<Schema>,
    ) -> document::Object {
        self.texts(object, "required", path);
        let members = self.field(object, "properties", path, "an object", Value::as_object);
        let mut properties = Vec::with_capacity(members.map_or(0, Object::len));
        let in_properties = path.key("properties");
        for (name, value) in members.into_iter().flat_map(Object::iter) {
            let path = in_properties.key(name);
            if name.starts_with('$') {
                self.report.warn(&path, codes::RESERVED_FIELD, || {
                    "names that start with $ are reserved for the protocol".to_owned()
                });
            }
            // A document with an unreadable property is refused as a whole; its name still counts below.
            let schema = read(self, value, &path).unwrap_or(Schema::Unknown);
            properties.push(Property { name: name.to_owned(), required: false, nullable: false, schema });
        }
        let mut properties = document::Object { properties };
        let required = Self::placed(object, "required");
        self.mark(&mut properties, required, &path.key("required"), |property| &mut property.required);
        properties
    }

    /// Sets a mark on the properties that a list names, and reports names that no property has.
    fn mark<'v>(
        &mut self,
        object: &mut document::Object,
        names: impl Iterator<Item = (usize, &'v str)>,
        path: &Path<'_>,
        mark: fn(&mut Property) -> &mut bool,
    ) {
        let mut order: Vec<usize> = (0..object.properties.len()).collect();
        order.sort_unstable_by(|left, right| {
            object.properties[*left].name.cmp(&object.properties[*right].name)
        });
        for (index, name) in names {
            match order.binary_search_by(|at| object.properties[*at].name.as_str().cmp(name)) {
                Ok(found) => *mark(&mut object.properties[order[found]]) = true,
                Err(_) => self.report.error(&path.index(index), codes::CONTRADICTION, || {
                    format!("there is no property {:?}", json::excerpt(name))
                }),
            }
        }
    }

    fn property_schema(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Schema> {
        let schema = self.schema(value, path)?;
        if matches!(schema, Schema::Object(_)) {
            self.report.warn(path, codes::INLINE_OBJECT, || {
                "some parsers refuse an object here; move it to a definition and refer to it".to_owned()
            });
        }
        Some(schema)
    }

    fn parameter_schema(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Schema> {
        let schema = self.schema(value, path)?;
        let simple = |schema: &Schema| {
            matches!(schema, Schema::Boolean(_) | Schema::Integer(_) | Schema::String(_) | Schema::Unknown)
        };
        let fits = if let Schema::Array(array) = &schema { simple(&array.items) } else { simple(&schema) };
        if !fits {
            let word = schema.type_word();
            self.report.error(&path.key("type"), codes::TYPE, || {
                format!("a parameter is a boolean, an integer, a string, or a list of these, not {word:?}")
            });
        }
        Some(schema)
    }

    fn boolean(&mut self, object: &Object<'_>, path: &Path<'_>) -> Boolean {
        self.known_fields(object, path, &["type", "description", "default", "const"]);
        let schema = Boolean {
            default: self.truth(object, "default", path),
            constant: self.truth(object, "const", path),
        };
        self.not_both(object, path);
        schema
    }

    fn integer_schema(&mut self, object: &Object<'_>, path: &Path<'_>) -> Integer {
        let known = ["type", "description", "minimum", "maximum", "enum", "default", "const"];
        self.known_fields(object, path, &known);
        let bounds =
            Bounds { min: self.integer(object, "minimum", path), max: self.integer(object, "maximum", path) };
        self.in_order(bounds, &path.key("minimum"));
        let schema = Integer {
            bounds,
            values: self.list_of(object, "enum", path, "an integer", |value| value.as_integer()),
            default: self.integer(object, "default", path),
            constant: self.integer(object, "const", path),
        };
        self.not_both(object, path);
        for (key, value) in [("default", schema.default), ("const", schema.constant)] {
            let Some(value) = value else { continue };
            let listed = schema.values.as_ref().is_none_or(|values| values.contains(&value));
            self.fits(listed && bounds.hold(value), &path.key(key));
        }
        schema
    }

    fn string_schema(&mut self, object: &Object<'_>, path: &Path<'_>) -> StringSchema {
        let known = [
            "type",
            "description",
            "format",
            "minLength",
            "maxLength",
            "minGraphemes",
            "maxGraphemes",
            "enum",
            "knownValues",
            "default",
            "const",
        ];
        self.known_fields(object, path, &known);
        let graphemes = Bounds {
            min: self.length(object, "minGraphemes", path),
            max: self.length(object, "maxGraphemes", path),
        };
        self.in_order(graphemes, &path.key("minGraphemes"));
        let schema = StringSchema {
            format: self.format(object, path),
            length: self.lengths(object, path),
            graphemes,
            values: self.texts(object, "enum", path),
            known_values: self.texts(object, "knownValues", path),
            default: self.text(object, "default", path),
            constant: self.text(object, "const", path),
        };
        self.not_both(object, path);
        for (key, value) in [("default", &schema.default), ("const", &schema.constant)] {
            let Some(value) = value else { continue };
            let listed = schema.values.as_ref().is_none_or(|values| values.contains(value));
            let formed = schema.format.is_none_or(|format| format.check(value).is_ok());
            let long = schema.length.hold(value.len() as i64)
                && schema.graphemes.hold(value.graphemes(true).count() as i64);
            self.fits(listed && formed && long, &path.key(key));
        }
        schema
    }

    fn format(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<Format> {
        let name = self.text(object, "format", path)?;
        let format = Format::from_name(&name);
        if format.is_none() {
            self.report.error(&path.key("format"), codes::ENUM, || {
                format!("{:?} is not a format that the language knows", json::excerpt(&name))
            });
        }
        format
    }

    fn blob(&mut self, object: &Object<'_>, path: &Path<'_>) -> Blob {
        self.known_fields(object, path, &["type", "description", "accept", "maxSize"]);
        let accept = self.texts(object, "accept", path);
        for (index, pattern) in Self::placed(object, "accept") {
            if !is_media_pattern(pattern) {
                self.report.error(&path.key("accept").index(index), codes::FORMAT, || {
                    format!("{:?} is not a media type, type/* or */*", json::excerpt(pattern))
                });
            }
        }
        Blob { accept, size_max: self.length(object, "maxSize", path) }
    }

    fn array(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<Array> {
        self.known_fields(object, path, &["type", "description", "items", "minLength", "maxLength"]);
        let length = self.lengths(object, path);
        let path = path.key("items");
        let Some(items) = object.get("items") else {
            self.report.error(&path, codes::REQUIRED, || "items is required".to_owned());
            return None;
        };
        let items = self.property_schema(items, &path)?;
        if matches!(items, Schema::Array(_)) {
            self.report.warn(&path, codes::INLINE_ARRAY, || {
                "some parsers refuse an array directly in an array; refer to a definition".to_owned()
            });
        }
        Some(Array { items: Box::new(items), length })
    }

    fn reference(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<TypeName> {
        self.known_fields(object, path, &["type", "description", "ref"]);
        let text = self.required_text(object, "ref", path)?;
        self.type_name(&text, &path.key("ref"))
    }

    fn union(&mut self, object: &Object<'_>, path: &Path<'_>) -> Union {
        self.known_fields(object, path, &["type", "description", "refs", "closed"]);
        if !object.contains_key("refs") {
            self.report.error(&path.key("refs"), codes::REQUIRED, || "refs is required".to_owned());
        }
        self.texts(object, "refs", path);
        let in_refs = path.key("refs");
        let refs = Self::placed(object, "refs");
        let refs: Vec<_> = refs.filter_map(|(nth, text)| self.type_name(text, &in_refs.index(nth))).collect();
        let closed = self.truth(object, "closed", path).unwrap_or(false);
        if closed && object.get("refs").and_then(Value::as_array).is_some_and(<[_]>::is_empty) {
            self.report
                .error(path, codes::CONTRADICTION, || "a closed union of nothing allows nothing".to_owned());
        }
        Union { refs, closed }
    }

    /// Makes a reference absolute.
    fn type_name(&mut self, text: &str, path: &Path<'_>) -> Option<TypeName> {
        let (id, name) = text.split_once('#').unwrap_or((text, "main"));
        let local = id.is_empty() && text.starts_with('#');
        let named = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if named && (local || atproto_syntax::nsid::check(id).is_ok()) {
            return Some(TypeName::new(if local { &self.id } else { id }, name));
        }
        self.report.error(path, codes::FORMAT, || {
            format!("{:?} is not a reference; write #name, an NSID or NSID#name", json::excerpt(text))
        });
        None
    }

    /// Reads `minLength` and `maxLength`.
    fn lengths(&mut self, object: &Object<'_>, path: &Path<'_>) -> Bounds {
        let bounds = Bounds {
            min: self.length(object, "minLength", path),
            max: self.length(object, "maxLength", path),
        };
        self.in_order(bounds, &path.key("minLength"));
        bounds
    }

    fn length(&mut self, object: &Object<'_>, key: &str, path: &Path<'_>) -> Option<i64> {
        let length = self.integer(object, key, path)?;
        if length < 0 {
            self.report.error(&path.key(key), codes::MINIMUM, || format!("{key} must not be negative"));
            return None;
        }
        Some(length)
    }

    fn in_order(&mut self, bounds: Bounds, path: &Path<'_>) {
        if let (Some(min), Some(max)) = (bounds.min, bounds.max)
            && min > max
        {
            self.report.error(path, codes::CONTRADICTION, || format!("{min} is above the maximum {max}"));
        }
    }

    fn not_both(&mut self, object: &Object<'_>, path: &Path<'_>) {
        if object.contains_key("default") && object.contains_key("const") {
            self.report.error(&path.key("default"), codes::CONTRADICTION, || {
                "default and const exclude each other".to_owned()
            });
        }
    }

    fn fits(&mut self, fits: bool, path: &Path<'_>) {
        if !fits {
            self.report.error(path, codes::CONTRADICTION, || {
                "this value does not fit the schema that it stands in".to_owned()
            });
        }
    }
}

impl Bounds {
    /// Tells whether a value lies within.
    pub fn hold(&self, value: i64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }
}

fn is_media_pattern(pattern: &str) -> bool {
    let part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    match pattern.split_once('/') {
        Some(("*", subtype)) => subtype == "*",
        Some((kind, subtype)) => {
            part(kind) && !kind.contains('*') && part(subtype) && (subtype == "*" || !subtype.contains('*'))
        }
        None => false,
    }
}
