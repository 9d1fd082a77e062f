//! `convoke lexicon validate`: records against lexicons, one answer each, in constant memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use json::{Finding, Limits, Object, Value};
use lexicon::{Catalog, Purpose, Report};

use crate::documents::{Document, Documents};
use crate::failure::{Answer, Failure};
use crate::lexicons::{self, Source};
use crate::output::{Form, Output};

pub(crate) fn run(
    lexicons: &[String],
    records: &[String],
    purpose: Purpose,
    form: Form,
) -> Result<Answer, Failure> {
    let mut validate = Validate {
        catalog: catalog(lexicons)?,
        purpose,
        form,
        output: Output::new(),
        index: 0,
        all_valid: true,
    };
    for name in records {
        if name == "-" {
            validate.stream("standard input", io::stdin().lock(), Flush::EachAnswer)?;
        } else {
            let file = File::open(name).map_err(|error| {
                Failure::unreadable(name, &error).hint("--record takes a file, or - for standard input")
            })?;
            validate.stream(name, BufReader::with_capacity(1 << 16, file), Flush::AtEnd)?;
        }
    }
    Ok(Answer::from_bool(validate.all_valid))
}

/// When answers are handed over: somebody may be waiting at the other end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    EachAnswer,
    AtEnd,
}

struct Validate {
    catalog: Catalog,
    purpose: Purpose,
    form: Form,
    output: Output,
    /// The number of the next answer, over all inputs.
    index: usize,
    all_valid: bool,
}

impl Validate {
    fn stream(&mut self, name: &str, reader: impl BufRead, flush: Flush) -> Result<(), Failure> {
        let mut documents = Documents::new(reader, Limits::DOCUMENT);
        while let Some(document) = documents.next().map_err(|error| Failure::unreadable(name, &error))? {
            self.answer(name, &document)?;
            if flush == Flush::EachAnswer {
                self.output.flush()?;
            }
        }
        Ok(self.output.flush()?)
    }

    fn answer(&mut self, name: &str, document: &Document) -> Result<(), Failure> {
        let parsed = match &document.bytes {
            Some(bytes) => {
                json::parse(bytes, Limits::DOCUMENT).map_err(|error| (error.kind.code(), error.to_string()))
            }
            None => Err(too_large()),
        };
        let (record_type, report) = match &parsed {
            Ok(value) => {
                let record_type = value.get("$type").and_then(Value::as_str);
                (record_type, self.catalog.validate_record(value, self.purpose))
            }
            Err((code, message)) => (None, unreadable(code, message)),
        };
        self.all_valid &= report.is_valid();
        match self.form {
            Form::Json => self.output.line(to_value(self.index, record_type, &report))?,
            Form::Text => self.lines(name, document.line, record_type, &report)?,
        }
        self.index += 1;
        Ok(())
    }

    fn lines(
        &mut self,
        name: &str,
        line: usize,
        record_type: Option<&str>,
        report: &Report,
    ) -> io::Result<()> {
        let verdict = if report.is_valid() { "valid" } else { "invalid" };
        self.output.line(format_args!("{name}:{line}: {verdict} {}", record_type.unwrap_or("(no type)")))?;
        for error in report.errors.kept() {
            self.output.line(format_args!("  {error}"))?;
        }
        if report.errors.beyond() > 0 {
            self.output.line(format_args!("  and {} more", report.errors.beyond()))?;
        }
        for warning in report.warnings.kept() {
            self.output.line(format_args!("  warning: {warning}"))?;
        }
        Ok(())
    }
}

fn catalog(arguments: &[String]) -> Result<Catalog, Failure> {
    let mut documents = Vec::new();
    for argument in arguments {
        documents.extend(lexicons::read(argument)?.into_iter().map(|Source { document, .. }| document));
    }
    let catalog = Catalog::new(documents).map_err(|error| {
        Failure::wrong_use(error.to_string())
            .hint("give each lexicon once; `convoke lexicon check` compares versions")
    })?;
    for name in catalog.unresolved() {
        eprintln!("warning: {name} is referred to but not given; data that needs it cannot be checked");
    }
    Ok(catalog)
}

fn too_large() -> (&'static str, String) {
    let message = format!("the document has more than {} bytes", Limits::DOCUMENT.bytes_max);
    ("too_large", message)
}

fn unreadable(code: &'static str, message: &str) -> Report {
    let mut report = Report::new();
    report.errors.schema(&json::Path::ROOT, code, || message.to_owned());
    report
}

fn to_value<'a>(index: usize, record_type: Option<&'a str>, report: &'a Report) -> Value<'a> {
    let list = |findings: &'a [Finding]| Value::Array(findings.iter().map(Finding::to_value).collect());
    let mut members: Object<'a> = [
        ("index", Value::from(index as u64)),
        ("valid", Value::from(report.is_valid())),
        ("type", record_type.map_or(Value::Null, Value::from)),
        ("errors", list(report.errors.kept())),
        ("warnings", list(report.warnings.kept())),
    ]
    .into_iter()
    .collect();
    if report.errors.beyond() > 0 {
        members.insert("more_errors", Value::from(report.errors.beyond() as u64));
    }
    Value::Object(members)
}
