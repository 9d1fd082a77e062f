//! `convoke task`: what work there is, who has it, and saying how it goes.

use client::{Claim, ClaimOptions, Task, TaskQuery, TaskWord};
use json::{Limits, Value};

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::cli::work::{TaskCommand, WordArgs};
use crate::commands::send;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::{Remote, Speaker};
use crate::table::Table;
use crate::{screen, show};

pub(crate) async fn run(command: TaskCommand) -> Result<Answer, Failure> {
    match command {
        TaskCommand::List { open, late, status, holder, requester, role, max, speaker, remote } => {
            let mut query = TaskQuery::default();
            (query.open, query.late, query.status) = (open, late, status);
            (query.holder, query.requester, query.role, query.limit) = (holder, requester, role, max);
            list(&remote, &speaker, &query).await
        }
        TaskCommand::Show { id, speaker, remote } => one(&remote, &speaker, &id).await,
        TaskCommand::Claim { id, role, lease, key, speaker, remote } => {
            let mut options = ClaimOptions::default();
            (options.task, options.role, options.lease, options.key) = (id, role, lease, key);
            claim(&remote, &speaker, &options).await
        }
        TaskCommand::Renew(args) => say("renew", &args).await,
        TaskCommand::Update(args) => say("progress", &args).await,
        TaskCommand::Complete(args) => say("done", &args).await,
        TaskCommand::Fail(args) => say("fail", &args).await,
        TaskCommand::Reject(args) => say("reject", &args).await,
        TaskCommand::Block(args) => say("block", &args).await,
        TaskCommand::Handoff(args) => say("handoff", &args).await,
        TaskCommand::Accept(args) => say("accept", &args).await,
        TaskCommand::Decline(args) => say("decline", &args).await,
        TaskCommand::Review(args) => say("review", &args).await,
        TaskCommand::Cancel(args) => say("cancel", &args).await,
    }
}

async fn list(args: &RemoteArgs, speaker: &SpeakerArgs, query: &TaskQuery) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let tasks = remote.client.tasks(query).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for task in &tasks {
                output.line(&task.json)?;
            }
        }
        Form::Text if tasks.is_empty() => eprintln!("there are no such tasks"),
        Form::Text => {
            let mut table = Table::new(&["task", "status", "holder", "requester", "deadline", "title"]);
            for task in &tasks {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let deadline = task.json.get("deadline").and_then(Value::as_str).unwrap_or_default();
                let (holder, requester) = (text(&task.holder), text(&task.requester));
                let (status, title) = (status(task), text(&task.title));
                table.row([&task.id, &status, &holder, &requester, deadline, &title]);
            }
            table.print(&mut output)?;
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Returns how far a task is, and what keeps it.
fn status(task: &Task) -> String {
    let open: Vec<&str> = task
        .json
        .get("waits_for")
        .and_then(Value::as_array)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !open.is_empty() {
        return format!("{}, waits for {}", task.status, open.join(" "));
    }
    match task.json.get("gate").and_then(Value::as_str) {
        Some(_) => format!("{}, waits for a human", task.status),
        None => task.status.clone(),
    }
}

async fn one(args: &RemoteArgs, speaker: &SpeakerArgs, id: &str) -> Result<Answer, Failure> {
    let remote = Remote::look(args, speaker)?;
    let task = remote.client.task(id).await.map_err(|error| remote.failure(&error))?;
    print(&task, remote.form)?;
    Ok(Answer::Yes)
}

/// Prints a task: its heading, its figures, its history, what was asked for.
fn print(task: &Task, form: Form) -> Result<(), Failure> {
    let mut output = Output::new();
    if form == Form::Json {
        output.line(&task.json)?;
        output.flush()?;
        return Ok(());
    }
    let title = task.title.as_deref().map(|title| format!(": {title}")).unwrap_or_default();
    output.line(screen::line(&format!("{} is {}{title}", task.id, status(task))))?;
    let text = |key: &str| match task.json.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Some(screen::line(text)),
        Some(Value::Number(number)) => Some(number.lexeme().to_owned()),
        Some(Value::Array(items)) if !items.is_empty() => {
            Some(items.iter().filter_map(Value::as_str).map(screen::line).collect::<Vec<_>>().join(", "))
        }
        Some(_) | None => None,
    };
    for key in [
        "requester",
        "holder",
        "asked",
        "role",
        "lease_until",
        "deadline",
        "blocker",
        "reason",
        "dependencies",
        "capabilities",
        "budget_usd",
        "reserved_usd",
        "cost_usd",
        "tokens",
        "chain",
        "version",
    ] {
        if let Some(value) = text(key).filter(|value| !value.is_empty()) {
            output.line(format_args!("  {:<13} {value}", key.replace('_', " ")))?;
        }
    }
    let history = task.json.get("history").and_then(Value::as_array).unwrap_or_default();
    for event in history {
        let field = |key: &str| event.get(key).and_then(Value::as_str).map(screen::line).unwrap_or_default();
        output.line(format_args!(
            "  {} {} {}",
            field("timestamp"),
            field("event_type"),
            field("agent_id")
        ))?;
    }
    if let Some(document) = task.json.get("document").filter(|document| !document.is_null()) {
        let dialect = task.json.get("dialect").and_then(Value::as_str).and_then(dialect::Name::from_name);
        for line in show::content(document, dialect.or_else(|| translate::detect(document))) {
            output.line(line)?;
        }
    }
    output.flush()?;
    Ok(())
}

async fn claim(args: &RemoteArgs, speaker: &SpeakerArgs, options: &ClaimOptions) -> Result<Answer, Failure> {
    let speaker = Speaker::find(args, speaker).await?;
    let remote = &speaker.remote;
    let claim = remote.client.claim(options).await.map_err(|error| remote.failure(&error))?;
    if remote.form == Form::Json {
        let mut output = Output::new();
        output.line(&claim.json)?;
        output.flush()?;
        return Ok(answer(&claim));
    }
    match &claim.task {
        Some(task) if claim.outcome == "claimed" => print(task, Form::Text)?,
        Some(_) | None => {
            let detail = claim.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            let mut output = Output::new();
            output.line(screen::line(&format!("{}{detail}", claim.outcome)))?;
            output.flush()?;
        }
    }
    Ok(answer(&claim))
}

fn answer(claim: &Claim) -> Answer {
    if claim.outcome == "claimed" { Answer::Yes } else { Answer::No }
}

async fn say(verb: &str, args: &WordArgs) -> Result<Answer, Failure> {
    let mut word = TaskWord::default();
    word.text = send::text(&args.text)?;
    word.data = args.data.as_deref().map(data).transpose()?;
    (word.reason, word.tokens, word.blocker) = (args.reason.clone(), args.tokens, args.blocker.clone());
    (word.waits_for, word.to, word.lease) = (args.waits_for.clone(), args.to.clone(), args.lease);
    word.artifacts = args.artifacts.clone();
    word.cost_usd = args.cost.clone();
    word.approve = match (args.approve, args.disapprove) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    let remote = &speaker.remote;
    let task =
        remote.client.say_of_task(&args.id, verb, &word).await.map_err(|error| remote.failure(&error))?;
    match remote.form {
        Form::Json => print(&task, Form::Json)?,
        Form::Text => {
            let holder =
                task.holder.as_deref().map(|holder| format!(", {holder} has it")).unwrap_or_default();
            let mut output = Output::new();
            output.line(screen::line(&format!("{} is {}{holder}", task.id, status(&task))))?;
            output.flush()?;
        }
    }
    Ok(Answer::Yes)
}

fn data(text: &str) -> Result<Value<'static>, Failure> {
    let value = json::parse_str(text, Limits::DOCUMENT);
    let value = value.map_err(|error| Failure::wrong_use(format!("--data is not JSON: {error}")))?;
    Ok(value.into_owned())
}
