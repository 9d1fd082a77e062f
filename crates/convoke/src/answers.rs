//! Answers about documents: valid or not, and everything that was found.

use std::io;

use json::{Finding, Findings, Object, Value};

use crate::inputs::Input;
use crate::output::{Form, Output};

/// What was found about one document.
pub(crate) struct Found<'f> {
    /// What the document says it is: a name for the field in JSON, and the value.
    pub(crate) labels: &'f [(&'static str, Option<&'f str>)],
    pub(crate) errors: &'f Findings,
    pub(crate) warnings: &'f Findings,
}

impl Found<'_> {
    /// Prints the answer: one line of JSON, or a line for people with the findings below it.
    pub(crate) fn print(&self, output: &mut Output, input: &Input<'_>, form: Form) -> io::Result<()> {
        match form {
            Form::Json => output.line(self.to_value(input.index)),
            Form::Text => self.lines(output, input),
        }
    }

    fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    fn lines(&self, output: &mut Output, input: &Input<'_>) -> io::Result<()> {
        let verdict = if self.is_valid() { "valid" } else { "invalid" };
        let labels: Vec<&str> = self.labels.iter().filter_map(|(_, label)| *label).collect();
        let labels = if labels.is_empty() { "(no type)".to_owned() } else { labels.join(" ") };
        output.line(format_args!("{}:{}: {verdict} {labels}", input.name, input.document.line))?;
        for error in self.errors.kept() {
            output.line(format_args!("  {error}"))?;
        }
        if self.errors.beyond() > 0 {
            output.line(format_args!("  and {} more", self.errors.beyond()))?;
        }
        for warning in self.warnings.kept() {
            output.line(format_args!("  warning: {warning}"))?;
        }
        Ok(())
    }

    fn to_value(&self, index: usize) -> Value<'_> {
        let mut members: Object<'_> =
            [("index", Value::from(index as u64)), ("valid", Value::from(self.is_valid()))]
                .into_iter()
                .collect();
        for (name, label) in self.labels {
            members.insert(*name, label.map_or(Value::Null, Value::from));
        }
        members.insert("errors", list(self.errors));
        members.insert("warnings", list(self.warnings));
        if self.errors.beyond() > 0 {
            members.insert("more_errors", self.errors.beyond() as u64);
        }
        Value::Object(members)
    }
}

/// Returns findings as a list of objects.
pub(crate) fn list(findings: &Findings) -> Value<'_> {
    Value::Array(findings.kept().iter().map(Finding::to_value).collect())
}

/// Returns the one finding of a document that cannot be read.
pub(crate) fn unreadable(code: &'static str, message: &str) -> Findings {
    let mut findings = Findings::new(1);
    findings.schema(&json::Path::ROOT, code, || message.to_owned());
    findings
}
