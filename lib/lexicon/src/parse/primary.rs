//! Reading the primary definitions: records, queries, procedures, subscriptions, permission sets.

use json::{Object, Path, Value};

use super::Reader;
use crate::codes;
use crate::document::{
    Body, Endpoint, ErrorName, Permission, PermissionSet, Record, RecordKeyKind, Schema, Subscription,
};

impl Reader {
    pub(super) fn record(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<Record> {
        self.known_fields(object, path, &["type", "description", "key", "record"]);
        self.text(object, "description", path);
        let key = self.record_key(object, path);
        let path = path.key("record");
        let Some(value) = object.get("record") else {
            self.report.error(&path, codes::REQUIRED, || "record is required".to_owned());
            return None;
        };
        let record = self.object_at(value, &path)?;
        match self.type_word(record, &path)? {
            "object" => {
                let object = self.object_schema(record, &path);
                Some(Record { key: key?, object })
            }
            word => {
                self.report.error(&path.key("type"), codes::TYPE, || {
                    format!("a record holds an object, not {word:?}")
                });
                None
            }
        }
    }

    fn record_key(&mut self, object: &Object<'_>, path: &Path<'_>) -> Option<RecordKeyKind> {
        let text = self.required_text(object, "key", path)?;
        let literal = text.strip_prefix("literal:");
        match (text.as_str(), literal) {
            ("tid", _) => Some(RecordKeyKind::Tid),
            ("nsid", _) => Some(RecordKeyKind::Nsid),
            ("any", _) => Some(RecordKeyKind::Any),
            (_, Some(key)) if atproto_syntax::record_key::check(key).is_ok() => {
                Some(RecordKeyKind::Literal(key.to_owned()))
            }
            _ => {
                self.report.error(&path.key("key"), codes::ENUM, || {
                    format!(
                        "{:?} is not a kind of key; write tid, nsid, any or literal:KEY",
                        json::excerpt(&text)
                    )
                });
                None
            }
        }
    }

    pub(super) fn query(&mut self, object: &Object<'_>, path: &Path<'_>) -> Endpoint {
        self.known_fields(object, path, &["type", "description", "parameters", "output", "errors"]);
        self.endpoint(object, path)
    }

    pub(super) fn procedure(&mut self, object: &Object<'_>, path: &Path<'_>) -> Endpoint {
        self.known_fields(object, path, &["type", "description", "parameters", "input", "output", "errors"]);
        let input = object.get("input").and_then(|input| self.body(input, &path.key("input")));
        Endpoint { input, ..self.endpoint(object, path) }
    }

    fn endpoint(&mut self, object: &Object<'_>, path: &Path<'_>) -> Endpoint {
        self.text(object, "description", path);
        Endpoint {
            parameters: self.parameters(object, path),
            input: None,
            output: object.get("output").and_then(|output| self.body(output, &path.key("output"))),
            errors: self.errors(object, path),
        }
    }

    fn body(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Body> {
        let object = self.object_at(value, path)?;
        self.known_fields(object, path, &["description", "encoding", "schema"]);
        self.text(object, "description", path);
        let encoding = self.required_text(object, "encoding", path);
        let schema = object.get("schema").and_then(|schema| self.body_schema(schema, &path.key("schema")));
        Some(Body { encoding: encoding?, schema })
    }

    fn body_schema(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Schema> {
        let object = self.object_at(value, path)?;
        match self.type_word(object, path)? {
            "object" => Some(Schema::Object(self.object_schema(object, path))),
            "ref" | "union" => self.schema(value, path),
            word => {
                self.report.error(&path.key("type"), codes::TYPE, || {
                    format!("a body is an object, a ref or a union, not {word:?}")
                });
                None
            }
        }
    }

    pub(super) fn subscription(&mut self, object: &Object<'_>, path: &Path<'_>) -> Subscription {
        self.known_fields(object, path, &["type", "description", "parameters", "message", "errors"]);
        self.text(object, "description", path);
        let message = object.get("message").and_then(|message| {
            let path = path.key("message");
            let message = self.object_at(message, &path)?;
            self.known_fields(message, &path, &["description", "schema"]);
            self.text(message, "description", &path);
            let schema = message.get("schema");
            if schema.is_none() {
                self.report.error(&path.key("schema"), codes::REQUIRED, || "schema is required".to_owned());
            }
            let schema = self.schema(schema?, &path.key("schema"))?;
            if let Schema::Union(union) = schema {
                return Some(union);
            }
            let word = schema.type_word();
            self.report.error(&path.key("schema").key("type"), codes::TYPE, || {
                format!("the messages of a subscription are a union, not {word:?}")
            });
            None
        });
        Subscription { parameters: self.parameters(object, path), message, errors: self.errors(object, path) }
    }

    fn errors(&mut self, object: &Object<'_>, path: &Path<'_>) -> Vec<ErrorName> {
        let items = self.list(object, "errors", path).unwrap_or_default();
        let path = path.key("errors");
        let mut errors = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = path.index(index);
            let Some(error) = self.object_at(item, &path) else { continue };
            self.known_fields(error, &path, &["name", "description"]);
            self.text(error, "description", &path);
            let Some(name) = self.required_text(error, "name", &path) else { continue };
            if name.is_empty() || name.contains(char::is_whitespace) {
                self.report.error(&path.key("name"), codes::FORMAT, || {
                    "an error's name is one word without spaces".to_owned()
                });
            }
            errors.push(ErrorName { name });
        }
        errors
    }

    pub(super) fn permission_set(&mut self, object: &Object<'_>, path: &Path<'_>) -> PermissionSet {
        let known = ["type", "description", "title", "title:lang", "detail", "detail:lang", "permissions"];
        self.known_fields(object, path, &known);
        for key in ["description", "title", "detail"] {
            self.text(object, key, path);
        }
        for key in ["title:lang", "detail:lang"] {
            self.translations(object, key, path);
        }
        if !object.contains_key("permissions") {
            self.report
                .error(&path.key("permissions"), codes::REQUIRED, || "permissions is required".to_owned());
        }
        let items = self.list(object, "permissions", path).unwrap_or_default();
        let path = path.key("permissions");
        let permissions = items.iter().enumerate();
        let permissions = permissions.filter_map(|(index, item)| self.permission(item, &path.index(index)));
        PermissionSet { permissions: permissions.collect() }
    }

    fn permission(&mut self, value: &Value<'_>, path: &Path<'_>) -> Option<Permission> {
        let object = self.object_at(value, path)?;
        if self.type_word(object, path)? != "permission" {
            self.report.error(&path.key("type"), codes::TYPE, || "expected the type permission".to_owned());
        }
        let resource = self.required_text(object, "resource", path)?;
        if resource.is_empty() {
            self.report.error(&path.key("resource"), codes::MIN_LENGTH, || "resource is empty".to_owned());
        }
        let mut parameters = Vec::new();
        for (key, value) in object.iter().filter(|(key, _)| !matches!(*key, "type" | "resource")) {
            if !is_permission_value(value) {
                self.report.error(&path.key(key), codes::TYPE, || {
                    "expected a string, an integer, true or false, or a list of these".to_owned()
                });
            }
            parameters.push((key.to_owned(), value.to_string()));
        }
        parameters.sort();
        self.resource_names(&resource, object, path);
        Some(Permission { resource, parameters })
    }

    /// Checks the names that the two common resources are narrowed by.
    fn resource_names(&mut self, resource: &str, object: &Object<'_>, path: &Path<'_>) {
        let key = match resource {
            "repo" => "collection",
            "rpc" => "lxm",
            _ => return,
        };
        self.texts(object, key, path);
        let path = path.key(key);
        for (index, name) in Self::placed(object, key).filter(|(_, name)| *name != "*") {
            if let Err(error) = atproto_syntax::nsid::check(name) {
                self.report.error(&path.index(index), codes::FORMAT, || error.to_string());
            }
        }
    }
}

fn is_permission_value(value: &Value<'_>) -> bool {
    match value {
        Value::String(_) | Value::Bool(_) => true,
        Value::Number(number) => number.as_integer().is_some(),
        Value::Array(items) => {
            items.iter().all(|item| item.as_array().is_none() && is_permission_value(item))
        }
        Value::Null | Value::Object(_) => false,
    }
}
