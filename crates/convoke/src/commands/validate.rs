//! `convoke validate`: documents of any dialect, checked strictly, one answer each.

use dialect::{Name, Verdict};

use crate::answers::{Found, unreadable};
use crate::cli::DialectChoice;
use crate::failure::{Answer, Failure};
use crate::inputs::{self, Input};
use crate::output::{Form, Output};

pub(crate) fn run(choice: DialectChoice, files: &[String], form: Form) -> Result<Answer, Failure> {
    let mut all_valid = true;
    inputs::for_each(files, &mut Output::new(), |output, input| {
        let verdict = answer(choice, form, output, input)?;
        all_valid &= verdict.is_valid();
        Ok(())
    })?;
    Ok(Answer::from_bool(all_valid))
}

fn answer(
    choice: DialectChoice,
    form: Form,
    output: &mut Output,
    input: &Input<'_>,
) -> Result<Verdict, Failure> {
    let (dialect, verdict) = match inputs::parse(input.document) {
        Ok(value) => match choice.of(&value) {
            Some(name) => (Some(name), translate::dialect(name).validate(&value)),
            None => {
                (None, Verdict { errors: unreadable("unknown_dialect", UNKNOWN_DIALECT), ..Verdict::new() })
            }
        },
        Err((code, message)) => (None, Verdict { errors: unreadable(code, &message), ..Verdict::new() }),
    };
    let found = Found {
        labels: &[("dialect", dialect.map(Name::name)), ("kind", verdict.kind.map(message::Kind::name))],
        errors: &verdict.errors,
        warnings: &verdict.warnings,
    };
    found.print(output, input, form)?;
    Ok(verdict)
}

/// Said of a document that looks like nothing we know.
pub(crate) const UNKNOWN_DIALECT: &str =
    "this looks like no dialect that we know; name it with --dialect or --from";
