//! Hoisting: inline objects become definitions that are referred to. Data that fits one form fits the other.

use std::collections::{HashMap, HashSet};

use json::{Object, Value};

/// Definitions may have longer names, but a word in front and a number must fit too.
const NAME_CHARS_MAX: usize = 200;

/// Returns a Lexicon document without inline objects, for parsers that refuse them.
///
/// Each object that stands inside a property or an item moves to `defs` under the name of its property; a
/// number is added where that name is taken. Whatever else the document holds stays as it is.
pub fn hoist<'a>(document: &Value<'a>) -> Value<'a> {
    let mut document = document.clone();
    let Some(defs) = document.as_object_mut().and_then(|object| object.get_mut("defs")) else {
        return document;
    };
    let Value::Object(defs) = defs else { return document };
    let taken = defs.iter().map(|(name, _)| name.to_owned()).collect();
    let mut hoisted = Hoisted { taken, moved: Vec::new(), places: HashMap::new(), numbers: HashMap::new() };
    let mut kept = Object::new();
    for (name, mut def) in std::mem::take(defs) {
        hoisted.from_def(&mut def);
        kept.insert(name, def);
    }
    for (name, schema) in hoisted.moved {
        kept.insert(name, schema);
    }
    *defs = kept;
    document
}

struct Hoisted<'a> {
    /// The names of all definitions, old and new.
    taken: HashSet<String>,
    /// The new definitions.
    moved: Vec<(String, Value<'a>)>,
    /// Where an object went, by its wanted name and its text, so that equal ones share a definition.
    places: HashMap<(String, String), String>,
    /// The last number that was added to a name.
    numbers: HashMap<String, usize>,
}

impl<'a> Hoisted<'a> {
    /// An object may stand inline where a definition, a record or a body is described; not further inside.
    #[expect(clippy::wrong_self_convention, reason = "the objects are hoisted from the definition")]
    fn from_def(&mut self, def: &mut Value<'a>) {
        let places: &[&[&str]] = match type_word(def) {
            "record" => &[&["record"]],
            "query" => &[&["output", "schema"]],
            "procedure" => &[&["input", "schema"], &["output", "schema"]],
            _ => return self.from_inside(def),
        };
        for place in places {
            if let Some(schema) = place.iter().try_fold(&mut *def, |at, key| at.as_object_mut()?.get_mut(key))
            {
                self.from_inside(schema);
            }
        }
    }

    /// Fields that do not belong to a type are not looked at: they mean nothing and may hold anything.
    #[expect(clippy::wrong_self_convention, reason = "the objects are hoisted from the inside of the schema")]
    fn from_inside(&mut self, schema: &mut Value<'a>) {
        let word = type_word(schema).to_owned();
        let Some(object) = schema.as_object_mut() else { return };
        if word == "object"
            && let Some(Value::Object(properties)) = object.get_mut("properties")
        {
            let names: Vec<String> = properties.iter().map(|(name, _)| name.to_owned()).collect();
            for name in names {
                if let Some(property) = properties.get_mut(&name) {
                    self.replace(property, &name);
                }
            }
        }
        if word == "array"
            && let Some(items) = object.get_mut("items")
        {
            self.replace(items, "item");
        }
    }

    /// Hoists the innermost objects first, then the schema itself if it is an object.
    fn replace(&mut self, schema: &mut Value<'a>, name: &str) {
        match type_word(schema) {
            "array" => {
                if let Some(items) = schema.as_object_mut().and_then(|object| object.get_mut("items")) {
                    self.replace(items, name);
                }
            }
            "object" => {
                self.from_inside(schema);
                let name = self.place(schema, name);
                let reference: Object<'a> =
                    [("type", Value::from("ref")), ("ref", Value::from(format!("#{name}")))]
                        .into_iter()
                        .collect();
                *schema = Value::Object(reference);
            }
            _ => {}
        }
    }

    /// Moves a schema to a definition and returns its name; an equal one that was moved before serves again.
    fn place(&mut self, schema: &mut Value<'a>, wanted: &str) -> String {
        let usable = wanted.chars().filter(char::is_ascii_alphanumeric);
        let wanted: String = usable.take(NAME_CHARS_MAX).collect();
        let starts = wanted.starts_with(|first: char| first.is_ascii_alphabetic());
        let wanted = if starts { wanted } else { format!("object{wanted}") };
        let schema = std::mem::replace(schema, Value::Null);
        let key = (wanted.clone(), schema.to_string());
        if let Some(name) = self.places.get(&key) {
            return name.clone();
        }
        let mut name = wanted.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(wanted.clone()).or_insert(1);
            *number += 1;
            name = format!("{wanted}{number}");
        }
        self.moved.push((name.clone(), schema));
        self.places.insert(key, name.clone());
        name
    }
}

fn type_word<'v>(schema: &'v Value<'_>) -> &'v str {
    schema.get("type").and_then(Value::as_str).unwrap_or_default()
}
