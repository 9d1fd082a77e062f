//! Comparing two versions of a lexicon: what breaks somebody who has only the other version, and what does
//! not.
//!
//! The measure is the protocol's own: data written under the old version must stay valid under the new one
//! and the other way round, and no field may vanish from under its readers. Looser bounds are called safe,
//! with a word of caution, because readers survive longer values; everything else that either side would
//! refuse or miss is breaking, and wants a new NSID.

mod endpoint;
mod object;
mod schema;

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use json::{Path, Value};

use crate::document::{Def, Document, PermissionSet, Record};

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Every difference, in the order of the old document, additions last.
    pub changes: Vec<Change>,
}

/// One difference between two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether it breaks anybody.
    pub verdict: Verdict,
    /// The rule that says so, a stable word such as `field_removed`.
    pub rule: &'static str,
    /// The place in the document, as a JSON Pointer.
    pub path: String,
    /// What changed and whom it concerns.
    pub message: String,
    /// What to do instead.
    pub advice: Option<String>,
}

/// Whether a change breaks anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A reader or a writer of the other version fails or loses something.
    Breaking,
    /// Both versions can live side by side.
    Safe,
}

/// Compares two versions of a lexicon.
pub fn compare(old: &Document, new: &Document) -> Comparison {
    let mut comparer = Comparer { old, new, changes: Vec::new(), followed: HashSet::new() };
    comparer.documents();
    Comparison { changes: comparer.changes }
}

impl Comparison {
    /// Tells whether any change is breaking.
    pub fn is_breaking(&self) -> bool {
        self.changes.iter().any(|change| change.verdict == Verdict::Breaking)
    }
}

impl Verdict {
    /// Returns the word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Breaking => "breaking",
            Verdict::Safe => "safe",
        }
    }
}

impl Change {
    /// Returns the change as a JSON object with `verdict`, `rule`, `path`, `message` and `advice`.
    pub fn to_value(&self) -> Value<'_> {
        let advice = self.advice.as_deref().map_or(Value::Null, Value::from);
        let members: json::Object<'_> = [
            ("verdict", Value::from(self.verdict.name())),
            ("rule", Value::from(self.rule)),
            ("path", Value::from(self.path.as_str())),
            ("message", Value::from(self.message.as_str())),
            ("advice", advice),
        ]
        .into_iter()
        .collect();
        Value::Object(members)
    }
}

struct Comparer<'c> {
    old: &'c Document,
    new: &'c Document,
    changes: Vec<Change>,
    /// The pairs of schemas that were reached through a reference on one side, by their addresses.
    followed: HashSet<(usize, usize)>,
}

impl<'c> Comparer<'c> {
    fn documents(&mut self) {
        if self.old.id != self.new.id {
            let message = format!("the name changed from {} to {}", self.old.id, self.new.id);
            self.breaking(&Path::ROOT.key("id"), "id_changed", message);
        }
        let defs = Path::ROOT.key("defs");
        let (before, now) = (by_name(self.old), by_name(self.new));
        for (name, old) in &self.old.defs {
            let path = defs.key(name);
            match now.get(name.as_str()) {
                Some(new) => self.defs(old, new, &path),
                None => {
                    let message = format!("the definition {name:?} is gone; whoever refers to it fails");
                    self.breaking(&path, "def_removed", message);
                }
            }
        }
        for (name, def) in self.new.defs.iter().filter(|(name, _)| !before.contains_key(name.as_str())) {
            let message = format!("the definition {name:?} is new: {}", article(def.type_word()));
            self.safe(&defs.key(name), "def_added", message);
        }
    }

    fn defs(&mut self, old: &'c Def, new: &'c Def, path: &Path<'_>) {
        match (old, new) {
            (Def::Record(old), Def::Record(new)) => self.records(old, new, path),
            (Def::Query(old), Def::Query(new)) | (Def::Procedure(old), Def::Procedure(new)) => {
                self.endpoints(old, new, path);
            }
            (Def::Subscription(old), Def::Subscription(new)) => self.subscriptions(old, new, path),
            (Def::PermissionSet(old), Def::PermissionSet(new)) => self.permission_sets(old, new, path),
            (Def::Token, Def::Token) => {}
            (Def::Schema(old), Def::Schema(new)) => self.schemas(old, new, path),
            (old, new) => {
                let message = format!("{} became {}", article(old.type_word()), article(new.type_word()));
                self.breaking(&path.key("type"), "type_changed", message);
            }
        }
    }

    fn records(&mut self, old: &'c Record, new: &'c Record, path: &Path<'_>) {
        if old.key != new.key {
            let message =
                format!("record keys changed from {} to {}; old records have the old keys", old.key, new.key);
            self.breaking(&path.key("key"), "key_changed", message);
        }
        self.objects(&old.object, &new.object, &path.key("record"));
    }

    fn permission_sets(&mut self, old: &'c PermissionSet, new: &'c PermissionSet, path: &Path<'_>) {
        let path = path.key("permissions");
        for (index, permission) in only_in(&old.permissions, &new.permissions) {
            let message =
                format!("a permission for {:?} is gone; clients that rely on it fail", permission.resource);
            self.breaking(&path.index(index), "permission_removed", message);
        }
        for (index, permission) in only_in(&new.permissions, &old.permissions) {
            let resource = &permission.resource;
            let message =
                format!("a permission for {resource:?} is new; users who consented before grant more");
            self.safe(&path.index(index), "permission_added", message);
        }
    }

    fn breaking(&mut self, path: &Path<'_>, rule: &'static str, message: String) {
        let advice = format!("publish it under a new NSID, such as {}", next_version(self.old.id.as_str()));
        let change = Change {
            verdict: Verdict::Breaking,
            rule,
            path: path.to_string(),
            message,
            advice: Some(advice),
        };
        self.changes.push(change);
    }

    fn safe(&mut self, path: &Path<'_>, rule: &'static str, message: String) {
        self.changes.push(Change {
            verdict: Verdict::Safe,
            rule,
            path: path.to_string(),
            message,
            advice: None,
        });
    }
}

fn by_name(document: &Document) -> HashMap<&str, &Def> {
    document.defs.iter().map(|(name, def)| (name.as_str(), def)).collect()
}

/// Returns the items of one list that the other lacks, with their places.
fn only_in<'l, T: Eq + Hash>(list: &'l [T], other: &[T]) -> Vec<(usize, &'l T)> {
    let other: HashSet<&T> = other.iter().collect();
    list.iter().enumerate().filter(|(_, item)| !other.contains(item)).collect()
}

/// Names the successor of a lexicon: the last segment may have no dots or hyphens, so the version joins it.
fn next_version(id: &str) -> String {
    let stem = id.trim_end_matches(|last: char| last.is_ascii_digit());
    match (stem.strip_suffix('V'), id[stem.len()..].parse::<u32>()) {
        (Some(base), Ok(version)) if !base.ends_with('.') => format!("{base}V{}", u64::from(version) + 1),
        _ => format!("{id}V2"),
    }
}

fn article(word: &str) -> String {
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {word}", if vowel { "an" } else { "a" })
}
