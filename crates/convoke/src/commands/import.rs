//! `convoke import`: reads an export back. Agents are made, messages are sent again as their senders wrote them.
//!
//! What is there already stays: an agent keeps its tokens, a message that its sender has sent before is a duplicate.
//! Each message is sent as its sender, by a token that is made for this and revoked afterwards where the agent is
//! not new.

mod line;
mod senders;

use std::io::BufRead;

use client::{AgentSettings, SendOptions};
use json::{Limits, Object, Value};

use crate::cli::remote::RemoteArgs;
use crate::commands::agent;
use crate::documents::Documents;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::Remote;
use crate::{screen, source};

use self::line::{ExportedAgent, ExportedMessage, Line};
use self::senders::Senders;

/// A line holds a document, its receipt and a little more.
const LINE: Limits = Limits {
    bytes_max: 4 * Limits::DOCUMENT.bytes_max,
    depth_max: Limits::DOCUMENT.depth_max + 8,
    number_bytes_max: Limits::DOCUMENT.number_bytes_max,
};

/// What of an export is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    effect: Effect,
    messages: Messages,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Done,
    OnlySaid,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Messages {
    All,
    Unsettled,
}

/// What was done, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    agents_made: u64,
    agents_known: u64,
    memberships: u64,
    lexicons: u64,
    sent: u64,
    duplicates: u64,
    left_out: u64,
    refused: u64,
}

struct Import<'i> {
    remote: &'i Remote,
    senders: Senders<'i>,
    wanted: Wanted,
    counts: Counts,
}

impl Wanted {
    pub(crate) fn from_flags(dry_run: bool, unsettled: bool) -> Self {
        Wanted {
            effect: if dry_run { Effect::OnlySaid } else { Effect::Done },
            messages: if unsettled { Messages::Unsettled } else { Messages::All },
        }
    }
}

pub(crate) async fn run(args: &RemoteArgs, file: &str, wanted: Wanted) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let reader = source::open(file)?;
    let (senders, counts) = (Senders::new(&remote, args), Counts::default());
    let mut import = Import { remote: &remote, senders, wanted, counts };
    let read = import.read(file, reader).await;
    // Whatever went wrong, no token of ours stays behind.
    let revoked = import.senders.revoke().await;
    read.and(revoked)?;
    import.counts.print(wanted.effect, remote.form)?;
    Ok(Answer::from_bool(import.counts.refused == 0))
}

impl Import<'_> {
    async fn read(&mut self, file: &str, reader: Box<dyn BufRead>) -> Result<(), Failure> {
        let mut documents = Documents::new(reader, LINE);
        let mut is_first = true;
        while let Some(document) = documents.next().map_err(|error| Failure::unreadable(file, &error))? {
            let bytes = document.bytes.unwrap_or_default();
            let line = line::read(&bytes, LINE).map_err(|reason| {
                Failure::wrong_use(format!("{file}:{}: {reason}", document.line))
                    .hint("give what `convoke export` wrote")
            })?;
            match (line, std::mem::replace(&mut is_first, false)) {
                (Line::Head, true) => {}
                (Line::Agent(agent), false) => self.agent(&agent).await?,
                (Line::Lexicon(document), false) => self.lexicon(&document).await?,
                (Line::Message(message), false) => self.message(&message).await?,
                (Line::Gone, false) => self.counts.left_out += 1,
                (Line::Head, false)
                | (Line::Agent(_) | Line::Lexicon(_) | Line::Message(_) | Line::Gone, true) => {
                    return Err(Failure::wrong_use(format!("{file}:{}: not an export", document.line))
                        .hint("the first line says that it is one, and no other does"));
                }
            }
        }
        if is_first {
            return Err(
                Failure::wrong_use(format!("{file} is empty")).hint("give what `convoke export` wrote")
            );
        }
        Ok(())
    }

    async fn agent(&mut self, agent: &ExportedAgent) -> Result<(), Failure> {
        let remote = self.remote;
        let is_known = self.senders.is_known(&agent.name).await?;
        *(if is_known { &mut self.counts.agents_known } else { &mut self.counts.agents_made }) += 1;
        self.counts.memberships += agent.memberships.len() as u64;
        if self.wanted.effect == Effect::OnlySaid || agent.is_reserved() {
            return Ok(());
        }
        if !is_known {
            let made = remote.client.put_agent(&agent.name, &settings(agent)).await;
            let made = made.map_err(|error| remote.failure(&error))?;
            agent::keep(remote, &made)?;
            self.senders.add(&made)?;
        }
        for address in &agent.memberships {
            let joined = remote.client.join(&agent.name, address).await;
            joined.map_err(|error| remote.failure(&error))?;
        }
        Ok(())
    }

    async fn lexicon(&mut self, document: &str) -> Result<(), Failure> {
        self.counts.lexicons += 1;
        if self.wanted.effect == Effect::Done {
            let added = self.remote.client.put_lexicon(document, false).await;
            added.map_err(|error| self.remote.failure(&error))?;
        }
        Ok(())
    }

    async fn message(&mut self, message: &ExportedMessage) -> Result<(), Failure> {
        if self.wanted.messages == Messages::Unsettled && message.is_settled {
            self.counts.left_out += 1;
            return Ok(());
        }
        if self.wanted.effect == Effect::OnlySaid {
            self.counts.sent += 1;
            return Ok(());
        }
        let mut options = SendOptions::default();
        options.dialect = message.dialect;
        // A document without an id of its own is known again by the id that it had.
        options.key = Some(message.id.clone());
        let sent = match self.senders.client(&message.from).await {
            Ok(client) => client.send(&message.document, &options).await,
            Err(error) => Err(error),
        };
        match sent {
            Ok(sent) if sent.receipt().duplicate => self.counts.duplicates += 1,
            Ok(_) => self.counts.sent += 1,
            Err(error) => {
                let failure = self.remote.failure(&error);
                if error.problem().is_none() {
                    return Err(failure);
                }
                self.counts.refused += 1;
                failure.tell(&format!("{}: ", screen::line(&message.id)));
            }
        }
        Ok(())
    }
}

impl Counts {
    fn print(&self, effect: Effect, form: Form) -> Result<(), Failure> {
        let mut output = Output::new();
        let counts = [
            ("agents_made", self.agents_made),
            ("agents_known", self.agents_known),
            ("memberships", self.memberships),
            ("lexicons", self.lexicons),
            ("sent", self.sent),
            ("duplicates", self.duplicates),
            ("left_out", self.left_out),
            ("refused", self.refused),
        ];
        match form {
            Form::Json => {
                let mut members: Object<'_> =
                    counts.into_iter().map(|(key, count)| (key, Value::from(count))).collect();
                members.insert("dry_run", effect == Effect::OnlySaid);
                output.line(Value::Object(members))?;
            }
            Form::Text => {
                let would = if effect == Effect::OnlySaid { "would be done: " } else { "" };
                let said = counts.map(|(key, count)| format!("{} {count}", key.replace('_', " ")));
                output.line(format_args!("{would}{}", said.join(", ")))?;
            }
        }
        Ok(output.flush()?)
    }
}

fn settings(agent: &ExportedAgent) -> AgentSettings {
    let mut settings = AgentSettings::default();
    (settings.dialect, settings.framework) = (agent.dialect, agent.framework.clone());
    settings.speaks_for.clone_from(&agent.speaks_for);
    for alias in &agent.aliases {
        let place = if alias.starts_with("did:") {
            &mut settings.did
        } else if alias.contains("://") {
            &mut settings.uri
        } else {
            &mut settings.handle
        };
        place.get_or_insert_with(|| alias.clone());
    }
    settings
}
