//! Translating one document.

use dialect::{Dialect, Encoded, Link, Name, Names, get, put};
use json::{Finding, Findings, Limits, Value};
use message::{Address, Message, Origin, Timestamp, WrittenTimestamp, codes};

use crate::copy::{bare, digest};
use crate::edit::{Edit, apply, diff};
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
    /// Whether somebody wants to know what became of each field.
    pub reports: Reports,
    /// Whether an origin found in a document is believed.
    pub trusts: &'o dyn Fn(&Origin) -> bool,
    /// What makes the seal of an origin by which it is believed later, if anything does.
    pub seals: Option<&'o dyn Fn(&Origin) -> String>,
    /// When the document came, for those that do not say when they were made.
    pub came: Option<Timestamp>,
    /// To whom it went, for those that do not say so themselves.
    pub to: Option<&'o [Address]>,
}

/// Whether the origin travels with a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// It does: nothing is lost.
    Origin,
    /// It does not, because the target can be read by anybody.
    Nothing,
}

/// Whether somebody wants to know what became of each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// Yes: the two documents are compared field by field.
    Wanted,
    /// No.
    Unwanted,
}

/// A document that was translated.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The text of the new document.
    pub text: String,
    /// What became of each field, if that was asked for.
    pub report: Option<Report>,
    /// What was odd about the source.
    pub warnings: Vec<Finding>,
}

/// A document that was decoded, with what else its translation says of it.
#[derive(Clone, Debug)]
pub struct Source {
    /// What the document says.
    pub message: Message,
    /// The version of the dialect that it states.
    pub version: Option<String>,
}

/// Why a document cannot be translated.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    /// It is not JSON.
    #[error("not a JSON document: {0}")]
    Json(json::ParseError),
    /// The translation would be larger or deeper than documents may be, so nobody could read it back.
    #[error("the translation would have {what}, which is more than documents may have")]
    Target {
        /// How large or deep it would be.
        what: String,
    },
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
    translate_parsed(text, &source, from, to, options)
}

/// Translates a document whose text has been parsed already.
pub fn translate_parsed(
    text: &str,
    source: &Value<'_>,
    from: Name,
    to: Name,
    options: &Options<'_>,
) -> Result<Translation, Failure> {
    let job = Job { text, source, from, to, options };
    if from == to {
        return Ok(Translation { text: text.to_owned(), report: job.unchanged(), warnings: Vec::new() });
    }
    job.run()
}

/// Translates a document that was decoded with the same names, into another dialect. An origin inside of it is data, as
/// it is when none is believed; nothing is reported.
pub fn translate_decoded(
    text: &str,
    source: &Source,
    from: Name,
    to: Name,
    options: &Options<'_>,
) -> Result<String, Failure> {
    let target = Target { from, to, options };
    target.finish(target.write(&source.message), source.version.clone(), text)
}

/// In which dialect a message is written, and how.
#[derive(Clone, Copy)]
struct Target<'t> {
    from: Name,
    to: Name,
    options: &'t Options<'t>,
}

#[derive(Clone, Copy)]
struct Job<'j> {
    text: &'j str,
    source: &'j Value<'j>,
    from: Name,
    to: Name,
    options: &'j Options<'j>,
}

/// A message that was written, before the origin is put into it.
struct Written {
    target: Value<'static>,
    links: Vec<Link>,
    invented: Vec<String>,
}

impl Job<'_> {
    fn run(&self) -> Result<Translation, Failure> {
        match self.origin() {
            None => self.afresh(),
            Some(origin) if !origin.verify() => self.without_origin(),
            Some(origin) if !(self.options.trusts)(&origin) || origin.dialect == self.from => self.afresh(),
            Some(origin) => self.by_origin(&origin),
        }
    }

    fn origin(&self) -> Option<Origin> {
        let place = crate::dialect(self.from).origin_place();
        let value = get(self.source.as_object()?, place)?;
        Origin::from_value(value)
    }

    /// Translates a document that nobody translated before.
    fn afresh(&self) -> Result<Translation, Failure> {
        let decoded = decode(self.from, self.source, self.options)?;
        let written = self.write(&decoded.message);
        let report = self.report(self.source, &decoded.links, &written);
        let text = self.finish(written, self.text)?;
        Ok(Translation { text, report, warnings: decoded.warnings.into_kept() })
    }

    /// Translates a document whose origin is damaged, by its visible fields alone.
    fn without_origin(&self) -> Result<Translation, Failure> {
        let mut translation = self.afresh()?;
        if let Some(report) = &mut translation.report {
            report.lossless = false;
        }
        translation.warnings.push(Finding {
            path: crate::dialect(self.from).origin_place().to_owned(),
            code: codes::ORIGIN_MISMATCH,
            source: json::Source::Rule,
            message: "the origin does not have the digest that stands beside it and is ignored".to_owned(),
        });
        Ok(translation)
    }

    /// Translates a document that was translated before: from its origin, if nobody edited it.
    fn by_origin(&self, origin: &Origin) -> Result<Translation, Failure> {
        let Ok(root) = json::parse_str(&origin.document, self.options.limits) else { return self.afresh() };
        if origin.copy != Some(digest(self.source, self.from)) {
            let Ok(decoded) = decode(origin.dialect, &root, self.options) else { return self.afresh() };
            return self.edited(origin, &root, &decoded.message);
        }
        if self.to == origin.dialect {
            let text = origin.document.clone();
            return Ok(Translation { text, report: self.unchanged(), warnings: Vec::new() });
        }
        Job { text: &origin.document, source: &root, from: origin.dialect, ..*self }.afresh()
    }

    /// Merges the edits of a copy into what its origin says; the edited copy becomes the origin.
    fn edited(&self, origin: &Origin, root: &Value<'_>, message: &Message) -> Result<Translation, Failure> {
        let given = bare(self.source, self.from);
        let after = decode(self.from, &given, self.options)?;
        // Where the origin has no time the copy was given one, which nobody edited.
        let mut dated = message.clone();
        dated.created = dated.created.or_else(|| after.message.created.clone());
        let expected = crate::dialect(self.from).encode(&dated, self.options.names);
        let expected = bare(&Value::Object(expected.document), self.from);
        let before = decode(self.from, &expected, self.options);
        let edits = before.map(|before| diff(&before.message.to_value(), &after.message.to_value()));
        let mut merged = message.to_value().into_owned();
        apply(&mut merged, &edits.unwrap_or_default());
        let merged = message::from_value(merged).map_or(after.message, |merged| merged.message);
        let mut written = self.write(&merged);
        if self.to == origin.dialect {
            written.target = self.merge_into(root, message, &written.target);
        }
        let mut report = self.report(&given, &after.links, &written);
        if let Some(report) = &mut report {
            report.edited = diff(&expected, &given).iter().map(Edit::path).collect();
        }
        let text = self.finish(written, &given.to_json())?;
        Ok(Translation { text, report, warnings: after.warnings.into_kept() })
    }

    /// Makes the edits in the original document, so that what nobody touched stays as its sender wrote it.
    fn merge_into(&self, root: &Value<'_>, message: &Message, edited: &Value<'_>) -> Value<'static> {
        let unedited = crate::dialect(self.to).encode(message, self.options.names).document;
        let mut target = root.clone().into_owned();
        apply(&mut target, &diff(&Value::Object(unedited), edited));
        target
    }

    fn report(&self, source: &Value<'_>, decoded: &[Link], written: &Written) -> Option<Report> {
        if self.options.reports == Reports::Unwanted {
            return None;
        }
        let (target, encoded, invented) = (&written.target, &written.links, &written.invented);
        let mut report = Report::of(&Evidence { source, target, decoded, encoded, invented });
        report.lossless = self.options.carry == Carry::Origin;
        Some(report)
    }

    fn unchanged(&self) -> Option<Report> {
        (self.options.reports == Reports::Wanted).then(|| Report::unchanged(self.source))
    }

    fn target(&self) -> Target<'_> {
        Target { from: self.from, to: self.to, options: self.options }
    }

    fn write(&self, message: &Message) -> Written {
        self.target().write(message)
    }

    fn finish(&self, written: Written, origin_text: &str) -> Result<String, Failure> {
        let version = self.source.as_object().and_then(|source| crate::dialect(self.from).version(source));
        self.target().finish(written, version, origin_text)
    }
}

impl Target<'_> {
    fn write(&self, message: &Message) -> Written {
        let came = self.options.came.filter(|_| message.created.is_none());
        let told = (came.is_some() || self.options.to.is_some()).then(|| {
            let mut told = message.clone();
            told.created = told.created.or(came.map(WrittenTimestamp::from));
            told.to = self.options.to.map_or(told.to, <[Address]>::to_vec);
            told
        });
        let message = told.as_ref().unwrap_or(message);
        let Encoded { document, links, invented } =
            crate::dialect(self.to).encode(message, self.options.names);
        Written { target: Value::Object(document), links, invented }
    }

    /// Puts the origin into a document and writes it, if it can be read again.
    fn finish(
        &self,
        written: Written,
        version: Option<String>,
        origin_text: &str,
    ) -> Result<String, Failure> {
        let mut target = written.target;
        if self.options.carry == Carry::Origin {
            let mut origin = Origin::of(self.from, version, origin_text.to_owned());
            origin.copy = Some(digest(&target, self.to));
            origin.seal = self.options.seals.map(|seal| seal(&origin));
            if let Some(object) = target.as_object_mut() {
                put(object, crate::dialect(self.to).origin_place(), origin.to_value().into_owned());
            }
        }
        let (text, levels, limits) = (target.to_json(), depth(&target), self.options.limits);
        if text.len() > limits.bytes_max {
            return Err(Failure::Target { what: format!("{} bytes", text.len()) });
        }
        if levels > limits.depth_max {
            return Err(Failure::Target { what: format!("{levels} levels") });
        }
        Ok(text)
    }
}

/// Counts the levels of arrays and objects inside each other.
fn depth(value: &Value<'_>) -> usize {
    match value {
        Value::Object(object) => 1 + object.iter().map(|(_, value)| depth(value)).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn decode(from: Name, document: &Value<'_>, options: &Options<'_>) -> Result<dialect::Decoded, Failure> {
    let dialect: &dyn Dialect = crate::dialect(from);
    dialect.decode(document, options.names).map_err(|findings| Failure::Document { dialect: from, findings })
}

fn first(findings: &Findings) -> String {
    findings.kept().first().map_or_else(|| "nothing was found wrong".to_owned(), Finding::to_string)
}
