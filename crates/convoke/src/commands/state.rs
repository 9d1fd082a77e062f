//! `convoke state`: the shared state, and changes of it.

use json::{Limits, Value};

use crate::cli::work::StateCommand;
use crate::failure::{Answer, Failure};
use crate::inputs;
use crate::output::{Form, Output};
use crate::remote::Remote;

pub(crate) async fn run(command: StateCommand) -> Result<Answer, Failure> {
    match command {
        StateCommand::Get { speaker, remote } => {
            let remote = Remote::look(&remote, &speaker)?;
            let state = remote.client.state().await.map_err(|error| remote.failure(&error))?;
            let mut output = Output::new();
            output.line(&state)?;
            output.flush()?;
            Ok(Answer::Yes)
        }
        StateCommand::Apply { file, speaker, remote } => {
            let text = inputs::text(&file)?;
            let remote = Remote::look(&remote, &speaker)?;
            apply(&remote, &text).await
        }
    }
}

/// Applies one document, or one a line; goes on after one that is refused, and says so in the end.
async fn apply(remote: &Remote, text: &str) -> Result<Answer, Failure> {
    let whole = json::parse_str(text.trim(), Limits::DOCUMENT).is_ok();
    let documents: Vec<&str> =
        if whole { vec![text.trim()] } else { text.lines().filter(|line| !line.trim().is_empty()).collect() };
    let mut output = Output::new();
    let mut answer = Answer::Yes;
    for document in documents {
        match remote.client.change_state(document).await {
            Ok(outcome) => tell(&mut output, &outcome, remote.form)?,
            Err(error) if error.problem().is_some_and(|problem| problem.status == 409) => {
                answer = Answer::No;
                output.flush()?;
                remote.failure(&error).tell("");
            }
            Err(error) => return Err(remote.failure(&error)),
        }
    }
    output.flush()?;
    Ok(answer)
}

fn tell(output: &mut Output, outcome: &Value<'_>, form: Form) -> Result<(), Failure> {
    match form {
        Form::Json => output.line(outcome)?,
        Form::Text => {
            let word = outcome.get("outcome").and_then(Value::as_str).unwrap_or("applied");
            let version = outcome.get("version").and_then(Value::as_integer).unwrap_or(0);
            output.line(format_args!("{word}, version {version}"))?;
        }
    }
    Ok(())
}
