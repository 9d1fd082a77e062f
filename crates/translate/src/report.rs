//! The report of a translation: what became of each field, told by comparing the two documents and by the
//! links that reading and writing left behind.

use std::collections::{BTreeSet, HashMap};

use dialect::Link;
use json::{Object, Path, Value};

/// What became of the fields of a document. Every field of the source is in exactly one of the first four
/// lists (`carried`, `renamed`, `encoded`, `origin_only`); a field is what holds a value of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Fields of the source that stand unchanged at the same place.
    pub carried: Vec<String>,
    /// Fields of the source whose values stand unchanged at another place.
    pub renamed: Vec<String>,
    /// Fields of the source that arrived in another form.
    pub encoded: Vec<String>,
    /// Fields of the source that only the origin holds.
    pub origin_only: Vec<String>,
    /// Fields of the target that the source does not say.
    pub invented: Vec<String>,
    /// Fields of the source that somebody edited after it was translated.
    pub edited: Vec<String>,
    /// Whether the source can be had back exactly.
    pub lossless: bool,
}

/// What a report is made from.
pub(crate) struct Evidence<'e> {
    pub(crate) source: &'e Value<'e>,
    pub(crate) target: &'e Value<'e>,
    pub(crate) decoded: &'e [Link],
    pub(crate) encoded: &'e [Link],
    pub(crate) invented: &'e [String],
}

impl Report {
    /// Returns the report as a JSON object.
    pub fn to_value(&self) -> Value<'_> {
        let list =
            |paths: &'_ [String]| Value::Array(paths.iter().map(|path| Value::from(path.clone())).collect());
        let mut members: Object<'_> = [
            ("carried", list(&self.carried)),
            ("renamed", list(&self.renamed)),
            ("encoded", list(&self.encoded)),
            ("invented", list(&self.invented)),
            ("origin_only", list(&self.origin_only)),
            ("lossless", Value::Bool(self.lossless)),
        ]
        .into_iter()
        .collect();
        if !self.edited.is_empty() {
            members.insert("edited", list(&self.edited));
        }
        Value::Object(members)
    }

    /// Reports a document that was passed on as it is.
    pub(crate) fn unchanged(source: &Value<'_>) -> Self {
        let carried = leaves(source).into_iter().map(|(path, _)| path).collect();
        Report { carried, lossless: true, ..Report::default() }
    }

    /// Reports what became of every field.
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let source = leaves(evidence.source);
        let target = leaves(evidence.target);
        let tracer = Tracer::new(evidence, &target);
        let mut report = Report::default();
        for (path, value) in &source {
            match tracer.fate(path, value) {
                Fate::Carried => report.carried.push(path.clone()),
                Fate::Renamed => report.renamed.push(path.clone()),
                Fate::Encoded => report.encoded.push(path.clone()),
                Fate::OriginOnly => report.origin_only.push(path.clone()),
            }
        }
        report.invented = invented(evidence, &source, &target);
        report
    }
}

enum Fate {
    Carried,
    Renamed,
    Encoded,
    OriginOnly,
}

struct Tracer<'t> {
    evidence: &'t Evidence<'t>,
    target: &'t [(String, &'t Value<'t>)],
    /// Where each telling value stands in the target.
    places: HashMap<String, Vec<&'t str>>,
}

impl<'t> Tracer<'t> {
    fn new(evidence: &'t Evidence<'t>, target: &'t [(String, &'t Value<'t>)]) -> Self {
        let mut places: HashMap<String, Vec<&str>> = HashMap::new();
        for (path, value) in target.iter().filter(|(_, value)| is_telling(value)) {
            places.entry(value.to_string()).or_default().push(path);
        }
        Tracer { evidence, target, places }
    }

    /// A value that tells by itself is found by looking; others only where the links lead.
    fn fate(&self, path: &str, value: &Value<'_>) -> Fate {
        let linked = self.linked(path);
        let same = |at: &str| self.evidence.target.pointer(at).is_some_and(|there| there == value);
        if same(path) && (is_telling(value) || linked.iter().any(|at| at == path)) {
            return Fate::Carried;
        }
        if is_telling(value) && self.places.contains_key(&value.to_string()) {
            return Fate::Renamed;
        }
        if linked.iter().any(|at| same(at)) {
            return Fate::Renamed;
        }
        if linked.is_empty() { Fate::OriginOnly } else { Fate::Encoded }
    }

    /// Returns the fields of the target that a field of the source led to.
    fn linked(&self, path: &str) -> Vec<String> {
        let mut reached = BTreeSet::new();
        for link in self.evidence.decoded.iter().filter(|link| is_within(path, &link.native)) {
            let canonical = format!("{}{}", link.canonical, &path[link.native.len()..]);
            for onward in self.evidence.encoded {
                if is_within(&canonical, &onward.canonical) {
                    self.reach(&onward.native, &canonical[onward.canonical.len()..], &mut reached);
                } else if is_within(&onward.canonical, &canonical) {
                    self.reach(&onward.native, "", &mut reached);
                }
            }
        }
        reached.into_iter().collect()
    }

    /// Adds the field at a place, or those inside it where the values took another shape on the way.
    fn reach(&self, place: &str, rest: &str, reached: &mut BTreeSet<String>) {
        let exact = format!("{place}{rest}");
        if self.target.iter().any(|(path, _)| *path == exact) {
            reached.insert(exact);
            return;
        }
        let inside = self.target.iter().filter(|(path, _)| is_within(path, place));
        reached.extend(inside.map(|(path, _)| path.clone()));
    }
}

/// Returns the fields of the target that were made up, or that nothing accounts for.
fn invented(
    evidence: &Evidence<'_>,
    source: &[(String, &Value<'_>)],
    target: &[(String, &Value<'_>)],
) -> Vec<String> {
    let said: BTreeSet<String> =
        source.iter().filter(|(_, value)| is_telling(value)).map(|(_, value)| value.to_string()).collect();
    let read = |canonical: &str| {
        evidence
            .decoded
            .iter()
            .any(|link| is_within(canonical, &link.canonical) || is_within(&link.canonical, canonical))
    };
    let told = |path: &str| {
        evidence.encoded.iter().any(|link| {
            let rest = is_within(path, &link.native).then(|| &path[link.native.len()..]);
            rest.is_some_and(|rest| read(&format!("{}{rest}", link.canonical)) || read(&link.canonical))
        })
    };
    let made_up = |path: &str| evidence.invented.iter().any(|place| is_within(path, place));
    let invented = target.iter().filter(|(path, value)| {
        let repeats = is_telling(value) && said.contains(&value.to_string());
        !repeats && (made_up(path) || !told(path))
    });
    invented.map(|(path, _)| path.clone()).collect()
}

/// Returns every field that holds a value of its own: neither object nor array, or empty ones.
pub(crate) fn leaves<'v, 'a>(value: &'v Value<'a>) -> Vec<(String, &'v Value<'a>)> {
    let mut leaves = Vec::new();
    collect(value, &Path::ROOT, &mut leaves);
    leaves
}

fn collect<'v, 'a>(value: &'v Value<'a>, path: &Path<'_>, leaves: &mut Vec<(String, &'v Value<'a>)>) {
    match value {
        Value::Object(object) if !object.is_empty() => {
            for (key, value) in object.iter() {
                collect(value, &path.key(key), leaves);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                collect(value, &path.index(index), leaves);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            leaves.push((path.to_string(), value));
        }
    }
}

/// Tells whether a value is unlikely to stand in two documents by chance.
fn is_telling(value: &Value<'_>) -> bool {
    match value {
        Value::String(text) => text.len() >= 2,
        Value::Number(number) => number.lexeme().len() >= 3,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Tells whether one place is another, or lies inside it.
fn is_within(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
