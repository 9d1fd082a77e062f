//! `convoke lexicon validate`: records against lexicons, one answer each, in constant memory.

use json::Value;
use lexicon::{Catalog, Purpose, Report};

use crate::answers::{Found, unreadable};
use crate::failure::{Answer, Failure};
use crate::inputs::{self, Input};
use crate::lexicons::{self, Source};
use crate::output::{Form, Output};

pub(crate) fn run(
    lexicons: &[String],
    records: &[String],
    purpose: Purpose,
    form: Form,
) -> Result<Answer, Failure> {
    let catalog = catalog(lexicons)?;
    let mut all_valid = true;
    inputs::for_each(records, &mut Output::new(), |output, input| {
        let report = answer(&catalog, purpose, form, output, input)?;
        all_valid &= report.is_valid();
        Ok(())
    })?;
    Ok(Answer::from_bool(all_valid))
}

fn answer(
    catalog: &Catalog,
    purpose: Purpose,
    form: Form,
    output: &mut Output,
    input: &Input<'_>,
) -> Result<Report, Failure> {
    let parsed = inputs::parse(input.document);
    let (record_type, report) = match &parsed {
        Ok(value) => (value.get("$type").and_then(Value::as_str), catalog.validate_record(value, purpose)),
        Err((code, message)) => (None, Report { errors: unreadable(code, message), ..Report::new() }),
    };
    let found =
        Found { labels: &[("type", record_type)], errors: &report.errors, warnings: &report.warnings };
    found.print(output, input, form)?;
    Ok(report)
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
