//! Receipts in words: one line for who has just sent, a table for who asks later.

use std::collections::HashMap;

use client::Client;
use message::{Address, Reachability, Receipt, RecipientReceipt, Stage};

use crate::output::Output;
use crate::screen;
use crate::table::Table;

/// Recipients that are looked up one by one; for more, how much waits for each is not told.
const LOOKED_UP_MAX: usize = 4;

/// Says in one line what became of a message and how each recipient can be reached.
pub(crate) async fn in_one_line(client: &Client, receipt: &Receipt) -> String {
    let waiting = waiting(client, receipt).await;
    let parts: Vec<String> =
        receipt.recipients.iter().map(|recipient| with_recipient(recipient, &waiting)).collect();
    let parts = match parts.is_empty() {
        true => "stored, and nobody is there to get it yet".to_owned(),
        false => parts.join("; "),
    };
    let before = if receipt.duplicate { "was sent before: " } else { "" };
    format!("{} {before}{parts}", receipt.id)
}

/// Tells the sender what it should know.
pub(crate) fn warn(receipt: &Receipt) {
    for warning in &receipt.warnings {
        let place = if warning.path.is_empty() { String::new() } else { format!("{}: ", warning.path) };
        let (place, message) = (screen::line(&place), screen::line(&warning.message));
        eprintln!("warning: {place}{message} [{}]", screen::line(&warning.code));
    }
}

/// Prints every step of a message.
pub(crate) fn print(receipt: &Receipt, output: &mut Output) -> std::io::Result<()> {
    let to: Vec<String> = receipt.to.iter().map(ToString::to_string).collect();
    let from = screen::line(receipt.from.as_str());
    let about =
        format!("{} from {from} to {}, {}", receipt.kind, screen::line(&to.join(" ")), receipt.priority);
    output.line(format_args!("{}  {}", receipt.id, receipt.stage()))?;
    output.line(format_args!(
        "{about}, {}, {}",
        receipt.guarantee.name().replace('_', " "),
        receipt.dialect
    ))?;
    let mut table = Table::new(&["recipient", "stage", "at", "by"]);
    for recipient in &receipt.recipients {
        let mut name = recipient.agent.to_string();
        for entry in &recipient.stages {
            let by = entry.by.clone().unwrap_or_default();
            table.row([std::mem::take(&mut name), entry.stage.to_string(), entry.at.to_string(), by]);
        }
        if recipient.stages.is_empty() {
            table.row([name, recipient.stage.to_string(), String::new(), String::new()]);
        }
    }
    if receipt.recipients.is_empty() { Ok(()) } else { table.print(output) }
}

/// Says how somebody can be reached.
pub(crate) fn way(reachability: Reachability) -> &'static str {
    match reachability {
        Reachability::Socket => "socket: is connected",
        Reachability::Watcher => "watcher: is woken",
        Reachability::Runner => "runner: is started",
        Reachability::Poll => "poll: looks by itself",
        Reachability::Nobody => "nobody: is not looking now",
    }
}

fn with_recipient(recipient: &RecipientReceipt, waiting: &HashMap<String, u64>) -> String {
    let name = screen::line(&recipient.agent.to_string());
    let stage = match recipient.stage {
        Stage::Accepted | Stage::Stored => format!("stored for {name}"),
        Stage::Dispatched => format!("handed to {name}"),
        Stage::Surfaced => format!("shown to {name}"),
        Stage::Acknowledged => format!("acknowledged by {name}"),
        Stage::Answered => format!("answered by {name}"),
        Stage::Dead => format!("dead: could not be brought to {name}"),
        Stage::Expired => format!("expired before {name} took it"),
        Stage::Withdrawn => format!("withdrawn from {name}"),
        Stage::Unconfirmed => format!("handed to {name} at most once, unconfirmed"),
    };
    if recipient.stage.is_end() {
        return stage;
    }
    let way = way(recipient.reachability);
    match waiting.get(&recipient.agent.to_string()) {
        Some(count) => format!("{stage} ({way}, {count} waiting)"),
        None => format!("{stage} ({way})"),
    }
}

/// Looks up how much waits for each recipient that is an agent; who cannot be looked up is left out.
async fn waiting(client: &Client, receipt: &Receipt) -> HashMap<String, u64> {
    let mut waiting = HashMap::new();
    if receipt.recipients.len() > LOOKED_UP_MAX {
        return waiting;
    }
    for recipient in &receipt.recipients {
        if let (Address::Agent(name), false) = (&recipient.agent, recipient.stage.is_end())
            && let Ok(agent) = client.agent(name.as_str()).await
        {
            waiting.insert(recipient.agent.to_string(), agent.waiting);
        }
    }
    waiting
}
