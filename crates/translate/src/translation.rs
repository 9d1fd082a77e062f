//! Translating one document.

use dialect::{Dialect, Encoded, Name, Names, get, put};
use json::{Finding, Findings, Limits, Value};
use message::{Message, Origin, Sha256};

use crate::edit::{apply, diff};
use crate::report::{Evidence, Report};

/// How a document is translated.
#[derive(Clone, Copy)]
pub struct Options<'o> {
    /// What agents are called.
    pub names: &'o Names,
    /// What documents may have at most.
    pub limits: Limits,
    /// Whether the origin travels with the translation.
    pub carry: Carry,
    /// Whether an origin found in a document is believed.
    pub trusts: fn(&Origin) -> bool,
}

/// Whether the origin travels with a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// It does: nothing is lost.
    Origin,
    /// It does not, because the target can be read by anybody.
    Nothing,
}

/// A document that was translated.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The text of the new document.
    pub text: String,
    /// What became of each field.
    pub report: Report,
    /// What was odd about the source.
    pub warnings: Vec<Finding>,
}

/// Why a document cannot be translated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// It is not JSON.
    #[error("not a JSON document: {0}")]
    Json(json::ParseError),
    /// It is not a document of its dialect.
    #[error("not a {dialect} document: {}", first(.findings))]
    Document {
        /// The dialect that it should be written in.
        dialect: Name,
        /// What is wrong.
        findings: Findings,
    },
}

/// Translates a document from one dialect to another. The same dialect gives the same bytes.
pub fn translate(text: &str, from: Name, to: Name, options: &Options<'_>) -> Result<Translation, Failure> {
    let source = json::parse_str(text, options.limits).map_err(Failure::Json)?;
    if from == to {
        return Ok(Translation {
            text: text.to_owned(),
            report: Report::unchanged(&source),
            warnings: Vec::new(),
        });
    }
    Job { text, source: &source, from, to, options }.run()
}

struct Job<'j> {
    text: &'j str,
    source: &'j Value<'j>,
    from: Name,
    to: Name,
    options: &'j Options<'j>,
}

/// A document that was read, with what writing it took.
struct Written {
    target: Value<'static>,
    encoded: Encoded,
}

impl Job<'_> {
    fn run(&self) -> Result<Translation, Failure> {
        match self.origin() {
            None => self.afresh(None),
            Some(origin) if !origin.verify() => self.afresh(Some("origin_mismatch")),
            Some(origin) if !(self.options.trusts)(&origin) || origin.dialect == self.from => {
                self.afresh(None)
            }
            Some(origin) => self.by_origin(&origin),
        }
    }

    fn origin(&self) -> Option<Origin> {
        let place = crate::dialect(self.from).origin_place();
        let value = get(self.source.as_object()?, place)?;
        Origin::from_value(value)
    }

    /// Translates a document that nobody translated before.
    fn afresh(&self, ignored_origin: Option<&'static str>) -> Result<Translation, Failure> {
        let decoded = decode(self.from, self.source, self.options)?;
        let written = self.write(&decoded.message, self.text);
        let evidence = Evidence {
            source: self.source,
            source_origin: "",
            target: &Value::Object(written.encoded.document),
            decoded: &decoded.links,
            encoded: &written.encoded.links,
            invented: &written.encoded.invented,
        };
        let mut report = Report::of(&evidence);
        report.lossless = self.options.carry == Carry::Origin && ignored_origin.is_none();
        let mut warnings = decoded.warnings.into_kept();
        if let Some(code) = ignored_origin {
            let path = crate::dialect(self.from).origin_place().to_owned();
            let message =
                "the origin does not have the digest that stands beside it and is ignored".to_owned();
            warnings.push(Finding { path, code, source: json::Source::Rule, message });
        }
        Ok(Translation { text: written.target.to_string(), report, warnings })
    }

    /// Translates a document that was translated before: from its origin, if nobody edited it.
    fn by_origin(&self, origin: &Origin) -> Result<Translation, Failure> {
        let Ok(root) = json::parse_str(&origin.document, self.options.limits) else {
            return self.afresh(None);
        };
        let given = bare(self.source.clone().into_owned(), self.from);
        if origin.copy.is_none_or(|copy| copy != digest(&given)) {
            let Ok(decoded) = decode(origin.dialect, &root, self.options) else { return self.afresh(None) };
            return self.edited(origin, &root, &decoded.message, &given);
        }
        if self.to == origin.dialect {
            let report = Report::unchanged(&given);
            return Ok(Translation { text: origin.document.clone(), report, warnings: Vec::new() });
        }
        let from_root = Job { text: &origin.document, source: &root, from: origin.dialect, ..*self };
        from_root.afresh(None)
    }

    /// Merges the edits of a copy into what its origin says; the edited copy becomes the origin.
    fn edited(
        &self,
        origin: &Origin,
        root: &Value<'_>,
        message: &Message,
        given: &Value<'static>,
    ) -> Result<Translation, Failure> {
        let expected = crate::dialect(self.from).encode(message, self.options.names);
        let expected = bare(Value::Object(expected.document), self.from);
        let before = decode(self.from, &expected, self.options);
        let after = decode(self.from, given, self.options)?;
        let edits = before.map(|before| diff(&before.message.to_value(), &after.message.to_value()));
        let mut merged = message.to_value().into_owned();
        apply(&mut merged, &edits.unwrap_or_default());
        let merged = message::from_value(merged).map_or(after.message, |merged| merged.message);
        let text = given.to_string();
        let mut written = self.write(&merged, &text);
        if self.to == origin.dialect {
            self.merge_into(root, message, &mut written, &text);
        }
        let evidence = Evidence {
            source: given,
            source_origin: "",
            target: &Value::Object(written.encoded.document),
            decoded: &after.links,
            encoded: &written.encoded.links,
            invented: &written.encoded.invented,
        };
        let mut report = Report::of(&evidence);
        report.edited = diff(&expected, given).iter().map(crate::edit::Edit::path).collect();
        report.lossless = self.options.carry == Carry::Origin;
        Ok(Translation { text: written.target.to_string(), report, warnings: after.warnings.into_kept() })
    }

    /// Makes the edits in the original document, so that what nobody touched stays as its sender wrote it.
    fn merge_into(&self, root: &Value<'_>, message: &Message, written: &mut Written, origin_text: &str) {
        let unedited = crate::dialect(self.to).encode(message, self.options.names).document;
        let edits = diff(&Value::Object(unedited), &Value::Object(written.encoded.document.clone()));
        let mut target = root.clone().into_owned();
        apply(&mut target, &edits);
        if let Value::Object(document) = &target {
            written.encoded.document = document.clone();
        }
        written.target = self.with_origin(target, origin_text);
    }

    fn write(&self, message: &Message, origin_text: &str) -> Written {
        let encoded = crate::dialect(self.to).encode(message, self.options.names);
        let target = self.with_origin(Value::Object(encoded.document.clone()), origin_text);
        Written { target, encoded }
    }

    fn with_origin(&self, mut target: Value<'static>, origin_text: &str) -> Value<'static> {
        if self.options.carry == Carry::Nothing {
            return target;
        }
        let version = self.source.as_object().and_then(|source| crate::dialect(self.from).version(source));
        let mut origin = Origin::of(self.from, version, origin_text.to_owned());
        origin.copy = Some(digest(&bare(target.clone(), self.to)));
        if let Some(object) = target.as_object_mut() {
            put(object, crate::dialect(self.to).origin_place(), origin.to_value().into_owned());
        }
        target
    }
}

fn decode(from: Name, document: &Value<'_>, options: &Options<'_>) -> Result<dialect::Decoded, Failure> {
    let dialect: &dyn Dialect = crate::dialect(from);
    dialect.decode(document, options.names).map_err(|findings| Failure::Document { dialect: from, findings })
}

fn first(findings: &Findings) -> String {
    findings.kept().first().map_or_else(|| "nothing was found wrong".to_owned(), Finding::to_string)
}

/// Returns a document without its origin, and without an object that would hold nothing else.
fn bare(mut document: Value<'static>, name: Name) -> Value<'static> {
    let place = crate::dialect(name).origin_place();
    let (parent, name) = place.rsplit_once('/').unwrap_or_default();
    let Some(object) = document.as_object_mut() else { return document };
    match parent.strip_prefix('/') {
        None => drop(object.remove(name)),
        Some(holder) => {
            if let Some(Value::Object(inner)) = object.get_mut(holder) {
                inner.remove(name);
                if inner.is_empty() {
                    object.remove(holder);
                }
            }
        }
    }
    document
}

/// Returns the digest of a document, whatever the order of its members and the space between them.
fn digest(document: &Value<'_>) -> Sha256 {
    let mut text = String::new();
    write_sorted(document, &mut text);
    Sha256::of(text.as_bytes())
}

fn write_sorted(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Object(object) => {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            for (nth, (key, value)) in members.into_iter().enumerate() {
                out.push(if nth == 0 { '{' } else { ',' });
                out.push_str(&Value::from(key).to_string());
                out.push(':');
                write_sorted(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.push_str(&value.to_string())
        }
    }
}
