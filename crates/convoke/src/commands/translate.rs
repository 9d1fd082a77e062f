//! `convoke translate`: documents of one dialect in, of another out, one a line.

use std::fs;

use dialect::{Name, Names};
use json::{Limits, Object, Value};
use translate::{Carry, Options, Reports, Translation};

use crate::answers::list;
use crate::cli::DialectChoice;
use crate::commands::validate::UNKNOWN_DIALECT;
use crate::failure::{Answer, Failure};
use crate::inputs::{self, Input};
use crate::output::Output;

pub(crate) fn run(
    from: DialectChoice,
    to: Name,
    identities: Option<&str>,
    reports: Reports,
    file: Option<String>,
) -> Result<Answer, Failure> {
    let names = names(identities)?;
    // The user of the command line is trusted with his own files.
    let (names, limits, carry) = (&names, Limits::DOCUMENT, Carry::Origin);
    let options =
        Options { names, limits, carry, reports, trusts: &|_| true, seals: None, came: None, to: None };
    let files: Vec<String> = file.into_iter().collect();
    let mut all_done = true;
    inputs::for_each(&files, &mut Output::new(), |output, input| {
        match translate_one(from, to, &options, input) {
            Ok(translation) => print(output, input, &translation)?,
            Err(refusal) => {
                all_done = false;
                output.line(&refusal)?;
                tell(input, &refusal, reports);
            }
        }
        Ok(())
    })?;
    Ok(Answer::from_bool(all_done))
}

fn translate_one(
    from: DialectChoice,
    to: Name,
    options: &Options<'_>,
    input: &Input<'_>,
) -> Result<Translation, Value<'static>> {
    let value = inputs::parse(input.document)
        .map_err(|(code, message)| refusal(code, message, Value::Array(vec![])))?;
    let Some(from) = from.of(&value) else {
        return Err(refusal("unknown_dialect", UNKNOWN_DIALECT.to_owned(), Value::Array(vec![])));
    };
    let bytes = input.document.bytes.as_deref().unwrap_or_default();
    let text = std::str::from_utf8(bytes)
        .map_err(|error| refusal("utf8", error.to_string(), Value::Array(vec![])))?;
    translate::translate_parsed(text.trim(), &value, from, to, options).map_err(|failure| {
        let findings = match &failure {
            translate::Failure::Document { findings, .. } => list(findings).into_owned(),
            translate::Failure::Json(_) | translate::Failure::Target { .. } => Value::Array(vec![]),
        };
        refusal("document", failure.to_string(), findings)
    })
}

fn refusal(code: &'static str, message: String, errors: Value<'static>) -> Value<'static> {
    let error: Object<'static> =
        [("code", Value::from(code)), ("message", Value::from(message)), ("errors", errors)]
            .into_iter()
            .collect();
    Value::Object([("error", Value::Object(error))].into_iter().collect())
}

fn print(output: &mut Output, input: &Input<'_>, translation: &Translation) -> Result<(), Failure> {
    output.line(one_line(&translation.text))?;
    match &translation.report {
        Some(report) => eprintln!("{}", report.to_value()),
        None => {
            for warning in &translation.warnings {
                eprintln!("warning: {}:{}: {warning}", input.name, input.document.line);
            }
        }
    }
    Ok(())
}

fn tell(input: &Input<'_>, refusal: &Value<'_>, reports: Reports) {
    match reports {
        Reports::Wanted => eprintln!("{refusal}"),
        Reports::Unwanted => {
            let message = refusal.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
            eprintln!("error: {}:{}: {message}", input.name, input.document.line);
        }
    }
}

/// Documents go out one a line. Line breaks stand between the values of a document, never inside one, so a
/// space says the same.
fn one_line(text: &str) -> String {
    text.replace("\r\n", " ").replace(['\n', '\r'], " ")
}

fn names(file: Option<&str>) -> Result<Names, Failure> {
    let Some(file) = file else { return Ok(Names::default()) };
    let bytes = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
    let value = json::parse(&bytes, Limits::DOCUMENT)
        .map_err(|error| Failure::wrong_use(format!("{file} is not a JSON document: {error}")))?;
    Names::from_value(&value).map_err(|error| {
        Failure::wrong_use(format!("{file} is not a registry of identities: {error}"))
            .hint(r#"write [{"slug":"ann","did":"did:plc:…","handle":"…","uri":"codex://ann","framework":"codex"}]"#)
    })
}
