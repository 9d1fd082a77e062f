//! `convoke gate`: what waits for a human's yes or no.

use json::{Object, Value};

use crate::cli::work::{GateArgs, GateCommand};
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::table::Table;

pub(crate) async fn run(command: GateCommand) -> Result<Answer, Failure> {
    match command {
        GateCommand::List { all, remote } => list(&Remote::administer(&remote)?, all).await,
        GateCommand::Approve(args) => judge(&args, true).await,
        GateCommand::Reject(args) => judge(&args, false).await,
    }
}

async fn list(remote: &Remote, all: bool) -> Result<Answer, Failure> {
    let gates = remote.client.gates(all).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for gate in &gates {
                output.line(&gate.json)?;
            }
        }
        Form::Text if gates.is_empty() => eprintln!("nothing waits for you"),
        Form::Text => {
            let mut table = Table::new(&["gate", "asker", "task", "since", "decision", "why"]);
            for gate in &gates {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let decision = gate.decision.clone().unwrap_or_else(|| "open".to_owned());
                let (asker, task, since) = (text(&gate.asker), text(&gate.task), text(&gate.since));
                table.row([gate.id.clone(), asker, task, since, decision, text(&gate.why)]);
            }
            table.print(&mut output)?;
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

async fn judge(args: &GateArgs, approve: bool) -> Result<Answer, Failure> {
    let remote = Remote::administer(&args.remote)?;
    let judged = remote.client.judge(&args.id, approve, args.reason.as_deref()).await;
    judged.map_err(|error| remote.failure(&error))?;
    let word = if approve { "approved" } else { "rejected" };
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            let members: Object<'_> =
                [("gate", Value::from(args.id.as_str())), ("decision", Value::from(word))]
                    .into_iter()
                    .collect();
            output.line(Value::Object(members))?;
        }
        Form::Text => output.line(format_args!("{} {word}", args.id))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}
