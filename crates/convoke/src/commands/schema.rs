//! `convoke schema`: the schemas that the binary carries.

use definitions::Definition;
use json::{Object, Value};

use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};

/// Lists the schemas.
pub(crate) fn list(form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    let width = definitions::ALL.iter().map(|definition| definition.name.len()).max().unwrap_or(0);
    for definition in definitions::ALL {
        match form {
            Form::Json => output.line(to_value(definition))?,
            Form::Text => {
                let Definition { name, language, summary, .. } = definition;
                output.line(format_args!("{name:width$}  {:11}  {summary}", language.name()))?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Shows one schema.
pub(crate) fn show(name: &str) -> Result<Answer, Failure> {
    let Some(definition) = definitions::find(name) else {
        let failure = Failure::not_found(format!("there is no schema named {name:?}"));
        let ends = |definition: &&Definition| definition.name.rsplit(['.', '/']).next() == Some(name);
        let near = definitions::ALL.iter().find(ends);
        return Err(failure.hint(match near {
            Some(near) => format!("did you mean {}?", near.name),
            None => "`convoke schema list` lists their names".to_owned(),
        }));
    };
    let mut output = Output::new();
    output.text(definition.text)?;
    output.flush()?;
    Ok(Answer::Yes)
}

fn to_value(definition: &Definition) -> Value<'static> {
    let members: Object<'static> = [
        ("name", definition.name),
        ("language", definition.language.name()),
        ("summary", definition.summary),
    ]
    .into_iter()
    .collect();
    Value::Object(members)
}
