//! `convoke policy`: what work may cost and risk, and who is asked.

use json::Value;
use toml::de::{DeTable, DeValue};

use crate::cli::work::PolicyCommand;
use crate::failure::{Answer, Failure};
use crate::inputs;
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::screen;
use crate::table::Table;

pub(crate) async fn run(command: PolicyCommand) -> Result<Answer, Failure> {
    match command {
        PolicyCommand::Show { remote } => {
            let remote = Remote::administer(&remote)?;
            let policy = remote.client.policy().await.map_err(|error| remote.failure(&error))?;
            print(&policy, remote.form)
        }
        PolicyCommand::Set { file, dry_run, last, remote } => {
            let text = policy(&file)?;
            let remote = Remote::administer(&remote)?;
            if dry_run {
                let tried = remote.client.try_policy(&text, last).await;
                return differences(&tried.map_err(|error| remote.failure(&error))?, remote.form);
            }
            let policy = remote.client.set_policy(&text).await.map_err(|error| remote.failure(&error))?;
            print(&policy, remote.form)
        }
    }
}

/// Reads a policy as JSON; one in TOML says the same in other signs.
fn policy(file: &str) -> Result<String, Failure> {
    let text = inputs::text(file)?;
    if text.trim_start().starts_with('{') {
        return Ok(text);
    }
    let table = DeTable::parse(&text).map_err(|error| {
        Failure::wrong_use(format!("{} is neither JSON nor TOML: {}", screen::line(file), error.message()))
    })?;
    Ok(object(table.get_ref()).to_json())
}

fn object(table: &DeTable<'_>) -> Value<'static> {
    let members = table.iter().map(|(key, value)| (key.get_ref().to_string(), value_of(value.get_ref())));
    Value::Object(members.collect())
}

fn value_of(value: &DeValue<'_>) -> Value<'static> {
    match value {
        DeValue::String(text) => Value::from(text.to_string()),
        DeValue::Integer(number) => number_of(number.as_str()),
        DeValue::Float(number) => number_of(number.as_str()),
        DeValue::Boolean(value) => Value::from(*value),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().map(|item| value_of(item.get_ref())).collect()),
        DeValue::Table(table) => object(table),
    }
}

/// Returns a number as it is written; what JSON has no number for is a text, which the bus refuses by name.
fn number_of(text: &str) -> Value<'static> {
    let parsed = json::parse_str(text, json::Limits::DOCUMENT).map(Value::into_owned);
    parsed.unwrap_or_else(|_| Value::from(text.to_owned()))
}

fn print(policy: &Value<'_>, form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    match form {
        Form::Json => output.line(policy)?,
        Form::Text => {
            let version = policy.get("version").and_then(Value::as_integer).unwrap_or(0);
            if version == 0 {
                output.line("there is no policy: nothing is limited")?;
            } else {
                output.line(format_args!("version {version}"))?;
            }
            for (key, label) in [("spent_usd", "spent"), ("reserved_usd", "set aside")] {
                if let Some(figure) = policy.get(key).and_then(Value::as_number) {
                    output.line(format_args!("{label} {} USD", figure.lexeme()))?;
                }
            }
            if let Some(document) = policy.get("policy").filter(|document| !document.is_null()) {
                output.line(document.to_json())?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn differences(tried: &Value<'_>, form: Form) -> Result<Answer, Failure> {
    let mut output = Output::new();
    let changed = tried.get("changed").and_then(Value::as_array).unwrap_or_default();
    match form {
        Form::Json => output.line(tried)?,
        Form::Text => {
            let decisions = tried.get("decisions").and_then(Value::as_integer).unwrap_or(0);
            output
                .line(format_args!("{} of the last {decisions} decisions would be others", changed.len()))?;
            if !changed.is_empty() {
                let mut table = Table::new(&["at", "task", "agent", "was", "would be", "why"]);
                for one in changed {
                    let text =
                        |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
                    table.row(["at", "task", "agent", "was", "would_be", "why"].map(text));
                }
                table.print(&mut output)?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}
