//! `convoke card`: Agent Cards, checked and turned into prompts.

use std::fs;

use dialect::Verdict;
use dialect_wire::{Registry, lint as lint_card, prompt as prompts};
use json::{Findings, Limits, Value};

use crate::answers::{Found, unreadable};
use crate::documents::Documents;
use crate::failure::{Answer, Failure};
use crate::inputs;
use crate::output::{Form, Output};

/// Checks cards.
pub(crate) fn lint(files: &[String], registry: Option<&str>, form: Form) -> Result<Answer, Failure> {
    let registry = registry.map(read_registry).transpose()?;
    let mut all_valid = true;
    inputs::for_each(files, &mut Output::new(), |output, input| {
        let parsed = inputs::parse(input.document);
        let verdict = match &parsed {
            Ok(card) => lint_card(card, registry.as_ref()),
            Err((code, message)) => Verdict { errors: unreadable(code, message), ..Verdict::new() },
        };
        let slug =
            parsed.as_ref().ok().and_then(|card| card.pointer("/identity/slug")).and_then(Value::as_str);
        let found = Found { labels: &[("card", slug)], errors: &verdict.errors, warnings: &verdict.warnings };
        found.print(output, input, form)?;
        all_valid &= verdict.is_valid();
        Ok(())
    })?;
    Ok(Answer::from_bool(all_valid))
}

/// Builds a prompt.
pub(crate) fn prompt(
    card: &str,
    brief: &str,
    skills: &[String],
    memory: Option<&str>,
    inbox: Option<&str>,
) -> Result<Answer, Failure> {
    let (card_text, brief_text) = (read(card)?, read(brief)?);
    let (card_value, brief_value) = (parse(card, &card_text)?, parse(brief, &brief_text)?);
    let skills = skills.iter().map(|skill| read(skill)).collect::<Result<Vec<_>, _>>()?;
    let skills: Vec<&str> = skills.iter().map(String::as_str).collect();
    let memory = memory.map(read).transpose()?;
    let inbox = inbox.map(read_inbox).transpose()?.unwrap_or_default();
    let prompt = prompts::assemble(&card_value, &brief_value, &skills, memory.as_deref(), &inbox)
        .map_err(|findings| refused(&findings))?;
    let mut output = Output::new();
    output.line(prompt.trim_end())?;
    output.flush()?;
    Ok(Answer::Yes)
}

fn read(file: &str) -> Result<String, Failure> {
    let bytes = fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
    String::from_utf8(bytes).map_err(|_| Failure::wrong_use(format!("{file} is not UTF-8")))
}

fn parse<'t>(file: &str, text: &'t str) -> Result<Value<'t>, Failure> {
    json::parse_str(text, Limits::DOCUMENT)
        .map_err(|error| Failure::wrong_use(format!("{file} is not a JSON document: {error}")))
}

fn read_registry(file: &str) -> Result<Registry, Failure> {
    let text = read(file)?;
    Registry::from_value(&parse(file, &text)?).map_err(|error| {
        Failure::wrong_use(format!("{file} is not a registry: {error}"))
            .hint(r#"write {"agents":["quinn"],"roles":["developer"],"output_contracts":["code_commit"]}"#)
    })
}

fn read_inbox(file: &str) -> Result<Vec<Value<'static>>, Failure> {
    let text = read(file)?;
    let mut documents = Documents::new(text.as_bytes(), Limits::DOCUMENT);
    let mut inbox = Vec::new();
    while let Some(document) = documents.next().map_err(|error| Failure::unreadable(file, &error))? {
        let place = format!("{file}:{}", document.line);
        let value = inputs::parse(&document).map_err(|(_, message)| {
            Failure::wrong_use(format!("{place} is not a JSON document: {message}"))
        })?;
        match value {
            Value::Array(items) => inbox.extend(items.into_iter().map(Value::into_owned)),
            other @ (Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)) => {
                inbox.push(other.into_owned());
            }
        }
    }
    Ok(inbox)
}

fn refused(findings: &Findings) -> Failure {
    for finding in findings.kept() {
        eprintln!("{finding}");
    }
    let count = findings.count();
    let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
    Failure::not_found(format!("no prompt can be built: {errors}"))
        .hint("`convoke card lint` and `convoke validate --dialect wire` check the parts")
}
