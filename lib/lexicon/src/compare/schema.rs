//! Comparing the types of values.

use std::collections::HashSet;
use std::fmt::{Debug, Display};
use std::hash::Hash;

use json::Path;

use super::{Comparer, article, only_in};
use crate::document::{Blob, Boolean, Bounds, Def, Document, Integer, Schema, StringSchema, TypeName, Union};

impl<'c> Comparer<'c> {
    pub(super) fn schemas(&mut self, old: &'c Schema, new: &'c Schema, path: &Path<'_>) {
        match (old, new) {
            (Schema::Boolean(old), Schema::Boolean(new)) => self.booleans(old, new, path),
            (Schema::Integer(old), Schema::Integer(new)) => self.integers(old, new, path),
            (Schema::String(old), Schema::String(new)) => self.strings(old, new, path),
            (Schema::Bytes(old), Schema::Bytes(new)) => self.bounds(*old, *new, LENGTHS, path),
            (Schema::Blob(old), Schema::Blob(new)) => self.blobs(old, new, path),
            (Schema::Array(old), Schema::Array(new)) => {
                self.bounds(old.length, new.length, LENGTHS, path);
                self.schemas(&old.items, &new.items, &path.key("items"));
            }
            (Schema::Object(old), Schema::Object(new)) => self.objects(old, new, path),
            (Schema::Ref(old), Schema::Ref(new)) => self.refs(old, new, path),
            (Schema::Union(old), Schema::Union(new)) => self.unions(old, new, path),
            (Schema::Null, Schema::Null)
            | (Schema::CidLink, Schema::CidLink)
            | (Schema::Unknown, Schema::Unknown) => {}
            (Schema::Object(_), Schema::Ref(name)) if local(self.new, name).is_some() => {
                let Some(target) = local(self.new, name) else { return };
                self.safe(path, "hoisted", format!("the inline object moved to the definition {name}"));
                self.follow(old, target, path);
            }
            (Schema::Ref(name), Schema::Object(_)) if local(self.old, name).is_some() => {
                let Some(target) = local(self.old, name) else { return };
                self.safe(path, "inlined", format!("the definition {name} now stands inline"));
                self.follow(target, new, path);
            }
            (old, new) => {
                let message = format!("{} became {}", article(old.type_word()), article(new.type_word()));
                self.breaking(&path.key("type"), "type_changed", message);
            }
        }
    }

    /// Compares what a reference leads to, each pair once: definitions may lead back to themselves.
    fn follow(&mut self, old: &'c Schema, new: &'c Schema, path: &Path<'_>) {
        let pair = (std::ptr::from_ref(old).addr(), std::ptr::from_ref(new).addr());
        if self.followed.insert(pair) {
            self.schemas(old, new, path);
        }
    }

    pub(super) fn unions(&mut self, old: &'c Union, new: &'c Union, path: &Path<'_>) {
        match (old.closed, new.closed) {
            (false, true) => {
                let message = "the union was closed; types that were allowed no longer are".to_owned();
                self.breaking(&path.key("closed"), "union_closed", message);
            }
            (true, false) => {
                let message = "the union was opened; readers of the old version refuse new types".to_owned();
                self.breaking(&path.key("closed"), "union_opened", message);
            }
            (true, true) | (false, false) => {}
        }
        let path = path.key("refs");
        for (index, name) in only_in(&old.refs, &new.refs) {
            let message =
                format!("{name} is no longer in the union; data of that type is no longer described");
            self.breaking(&path.index(index), "union_member_removed", message);
        }
        for (index, name) in only_in(&new.refs, &old.refs) {
            if old.closed {
                let message =
                    format!("{name} was added to a closed union; readers of the old version refuse it");
                self.breaking(&path.index(index), "union_member_added", message);
            } else {
                let message =
                    format!("{name} was added to an open union; readers of the old version pass over it");
                self.safe(&path.index(index), "union_member_added", message);
            }
        }
    }

    fn refs(&mut self, old: &TypeName, new: &TypeName, path: &Path<'_>) {
        if old != new {
            let message = format!("the reference changed from {old} to {new}");
            self.breaking(&path.key("ref"), "ref_changed", message);
        }
    }

    fn booleans(&mut self, old: &Boolean, new: &Boolean, path: &Path<'_>) {
        self.constants(old.constant, new.constant, path);
        self.defaults(old.default, new.default, path);
    }

    fn integers(&mut self, old: &Integer, new: &Integer, path: &Path<'_>) {
        self.bounds(old.bounds, new.bounds, RANGE, path);
        self.enums(old.values.as_deref(), new.values.as_deref(), path);
        self.constants(old.constant, new.constant, path);
        self.defaults(old.default, new.default, path);
    }

    fn strings(&mut self, old: &StringSchema, new: &StringSchema, path: &Path<'_>) {
        if old.format != new.format {
            let named = |format: Option<atproto_syntax::Format>| {
                format.map_or("no format".to_owned(), |format| format!("{:?}", format.name()))
            };
            let message = format!("the format changed from {} to {}", named(old.format), named(new.format));
            self.breaking(&path.key("format"), "format_changed", message);
        }
        self.bounds(old.length, new.length, LENGTHS, path);
        self.bounds(old.graphemes, new.graphemes, GRAPHEMES, path);
        self.enums(old.values.as_deref(), new.values.as_deref(), path);
        self.constants(old.constant.as_ref(), new.constant.as_ref(), path);
        self.defaults(old.default.as_ref(), new.default.as_ref(), path);
        if old.known_values != new.known_values {
            let message = "the known values changed; other values were always allowed".to_owned();
            self.safe(&path.key("knownValues"), "known_values_changed", message);
        }
    }

    fn blobs(&mut self, old: &Blob, new: &Blob, path: &Path<'_>) {
        let sizes = |size_max| Bounds { min: None, max: size_max };
        self.bounds(sizes(old.size_max), sizes(new.size_max), SIZE, path);
        let path = path.key("accept");
        let (narrowed, widened) = (not_covered(old, new), not_covered(new, old));
        if !narrowed.is_empty() {
            let message = format!("media types are no longer accepted: {}", narrowed.join(", "));
            self.breaking(&path, "accept_narrowed", message);
        }
        if !widened.is_empty() {
            let message =
                format!("more media types are accepted: {}; old readers may refuse them", widened.join(", "));
            self.safe(&path, "accept_widened", message);
        }
    }

    fn enums<T: Eq + Hash + Debug>(&mut self, old: Option<&[T]>, new: Option<&[T]>, path: &Path<'_>) {
        let path = path.key("enum");
        match (old, new) {
            (None, None) => {}
            (None, Some(_)) => {
                let message = "any value was allowed and now only some are".to_owned();
                self.breaking(&path, "enum_added", message);
            }
            (Some(_), None) => {
                let message =
                    "only some values were allowed and now any is; old readers refuse others".to_owned();
                self.breaking(&path, "enum_removed", message);
            }
            (Some(old), Some(new)) => {
                for (_, value) in only_in(old, new) {
                    let message =
                        format!("{value:?} is no longer allowed; what was written before may have it");
                    self.breaking(&path, "enum_value_removed", message);
                }
                for (_, value) in only_in(new, old) {
                    let message = format!("{value:?} was added; readers of the old version refuse it");
                    self.breaking(&path, "enum_value_added", message);
                }
            }
        }
    }

    fn constants<T: PartialEq + Debug>(&mut self, old: Option<T>, new: Option<T>, path: &Path<'_>) {
        if old != new {
            let message = format!("the only value allowed changed from {} to {}", shown(&old), shown(&new));
            self.breaking(&path.key("const"), "const_changed", message);
        }
    }

    fn defaults<T: PartialEq + Debug>(&mut self, old: Option<T>, new: Option<T>, path: &Path<'_>) {
        if old != new {
            let message = format!(
                "the default changed from {} to {}; old and new readers take an absent value differently",
                shown(&old),
                shown(&new)
            );
            self.safe(&path.key("default"), "default_changed", message);
        }
    }

    fn bounds(&mut self, old: Bounds, new: Bounds, names: BoundNames, path: &Path<'_>) {
        let raised = new.min.unwrap_or(names.least).cmp(&old.min.unwrap_or(names.least));
        let lowered = old.max.unwrap_or(i64::MAX).cmp(&new.max.unwrap_or(i64::MAX));
        for (narrower, name, old, new) in
            [(raised, names.min, old.min, new.min), (lowered, names.max, old.max, new.max)]
        {
            let change = format!("{name} changed from {} to {}", limit(old), limit(new));
            if narrower.is_gt() {
                let message = format!("{change}; what was written before may be outside");
                self.breaking(&path.key(name), "bounds_narrowed", message);
            } else if narrower.is_lt() {
                let message =
                    format!("{change}; strict readers of the old version may refuse what is outside theirs");
                self.safe(&path.key(name), "bounds_widened", message);
            }
        }
    }
}

/// What a pair of bounds is called in a document.
#[derive(Clone, Copy)]
struct BoundNames {
    min: &'static str,
    max: &'static str,
    /// What no value is below, so that such a minimum says nothing.
    least: i64,
}

const LENGTHS: BoundNames = BoundNames { min: "minLength", max: "maxLength", least: 0 };
const GRAPHEMES: BoundNames = BoundNames { min: "minGraphemes", max: "maxGraphemes", least: 0 };
const RANGE: BoundNames = BoundNames { min: "minimum", max: "maximum", least: i64::MIN };
const SIZE: BoundNames = BoundNames { min: "minSize", max: "maxSize", least: 0 };

/// Returns the schema that a reference to the same document leads to.
fn local<'d>(document: &'d Document, name: &TypeName) -> Option<&'d Schema> {
    if name.lexicon() != document.id.as_str() {
        return None;
    }
    match document.def(name.definition()) {
        Some(Def::Schema(schema @ Schema::Object(_))) => Some(schema),
        Some(_) | None => None,
    }
}

/// Returns the media types that one blob accepts and the other does not.
fn not_covered(blob: &Blob, other: &Blob) -> Vec<String> {
    let every = ["*/*".to_owned()];
    let wider: HashSet<&str> = other.accept.as_deref().unwrap_or(&every).iter().map(String::as_str).collect();
    let covered = |pattern: &str| {
        let kind = pattern.split('/').next().unwrap_or_default();
        wider.contains("*/*") || wider.contains(format!("{kind}/*").as_str()) || wider.contains(pattern)
    };
    let accept = blob.accept.as_deref().unwrap_or(&every);
    accept.iter().filter(|pattern| !covered(pattern)).cloned().collect()
}

fn limit(bound: Option<i64>) -> String {
    bound.map_or("none".to_owned(), |bound| bound.to_string())
}

fn shown<T: Debug>(value: &Option<T>) -> impl Display {
    value.as_ref().map_or("none".to_owned(), |value| format!("{value:?}"))
}
