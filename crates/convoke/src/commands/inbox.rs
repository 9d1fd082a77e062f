//! `convoke inbox`: what waits, looked at or taken.

use client::{Delivery, Inbox, Look, Take, Taken};
use dialect::Name;
use json::Value;

use crate::cli::talk::InboxArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Speaker;
use crate::screen::{self, Screen, Tone};
use crate::show;

pub(crate) async fn run(args: &InboxArgs) -> Result<Answer, Failure> {
    let speaker = Speaker::find(&args.remote, &args.speaker).await?;
    if args.take { take(args, &speaker).await } else { look(args, &speaker).await }
}

async fn look(args: &InboxArgs, speaker: &Speaker) -> Result<Answer, Failure> {
    let remote = &speaker.remote;
    let mut look = Look::default();
    (look.max, look.max_tokens) = (args.max, args.max_tokens);
    look.dialect = wanted_dialect(args.dialect, remote.form);
    let inbox = remote.client.inbox(&speaker.name, &look).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(&inbox.json)?,
        Form::Text => print_inbox(&inbox, args.dialect, &speaker.name, &mut output)?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

async fn take(args: &InboxArgs, speaker: &Speaker) -> Result<Answer, Failure> {
    let remote = &speaker.remote;
    let mut take = Take::default();
    (take.max, take.max_tokens, take.wait, take.lease) = (args.max, args.max_tokens, args.wait, args.lease);
    take.dialect = wanted_dialect(args.dialect, remote.form);
    let taken = remote.client.take(&speaker.name, &take).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(&taken.json)?,
        Form::Text => print_taken(&taken, args.dialect, &speaker.name, &mut output)?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// People read the canonical form; programs get the agent's own dialect unless they ask for another.
fn wanted_dialect(asked: Option<Name>, form: Form) -> Option<Name> {
    match form {
        Form::Json => asked,
        Form::Text => asked.or(Some(Name::Convoke)),
    }
}

fn print_inbox(inbox: &Inbox, asked: Option<Name>, name: &str, output: &mut Output) -> Result<(), Failure> {
    let screen = Screen::of_stdout();
    for waiting in &inbox.messages {
        output.line(headline(
            &screen,
            waiting.from.as_deref(),
            waiting.kind.as_deref(),
            &waiting.document,
        ))?;
        let stage = waiting.stage.map(|stage| format!(", {stage}")).unwrap_or_default();
        let at = waiting.at.as_ref().map(|at| format!(", came {}", screen::line(at))).unwrap_or_default();
        output.line(format_args!("  id {}{stage}{at}", waiting.id))?;
        content(&waiting.document, waiting.dialect, asked, output)?;
    }
    output.flush()?;
    if inbox.messages.is_empty() {
        eprintln!("nothing waits for {name}");
    } else {
        let more = if inbox.more > 0 { format!("; {} more", inbox.more) } else { String::new() };
        eprintln!("{} waiting for {name}{more}; `convoke inbox --take` takes", inbox.messages.len());
    }
    Ok(())
}

fn print_taken(taken: &Taken, asked: Option<Name>, name: &str, output: &mut Output) -> Result<(), Failure> {
    let screen = Screen::of_stdout();
    for delivery in &taken.deliveries {
        output.line(headline(
            &screen,
            delivery.from.as_deref(),
            delivery.kind.as_deref(),
            &delivery.document,
        ))?;
        output.line(format_args!("  id {}", delivery.id))?;
        output.line(format_args!("  delivery {}{}", delivery.delivery, lease(delivery)))?;
        content(&delivery.document, delivery.dialect, asked, output)?;
    }
    output.flush()?;
    if taken.deliveries.is_empty() {
        eprintln!("nothing waits for {name}");
    } else {
        let more = if taken.more > 0 { format!("{} more wait; ", taken.more) } else { String::new() };
        eprintln!("{more}`convoke ack DELIVERY` when done, `convoke reply ID TEXT` to answer");
    }
    Ok(())
}

/// Says who sent it and what about: a canonical document says more than its envelope.
fn headline(screen: &Screen, from: Option<&str>, kind: Option<&str>, document: &Value<'_>) -> String {
    let from = screen::line(from.unwrap_or("somebody"));
    let about = match document.get("convoke") {
        Some(_) => show::heading(document),
        None => screen::line(kind.unwrap_or_default()),
    };
    format!("from {}: {about}", screen.paint(Tone::Strong, &from))
}

fn lease(delivery: &Delivery) -> String {
    let until = delivery.lease_until.as_ref().map(|until| format!(", until {}", screen::line(until)));
    let again = (delivery.attempt > 1).then(|| format!(", attempt {}", delivery.attempt));
    [until, again].into_iter().flatten().collect()
}

fn content(
    document: &Value<'_>,
    dialect: Option<Name>,
    asked: Option<Name>,
    output: &mut Output,
) -> Result<(), Failure> {
    let lines = match asked {
        Some(_) => show::verbatim(document),
        None => show::content(document, dialect),
    };
    for line in lines {
        output.line(line)?;
    }
    Ok(())
}
