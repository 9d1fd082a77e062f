//! Sending: a document on its way from a peer to the broker.
//!
//! Everything that does not need the state is done before its turn comes: reading, checking, finding out who sends it.

use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Command, Receipted, Reply};
use dialect::Name;
use json::{Finding, Source};
use message::{Kind, PresenceState, RecipientReceipt};
use node::{Awaited, Turn};

use crate::intake::is_for_the_bus;
use crate::{Answer, Asking, Code, Hub, Incoming, Principal, Problem, Reading, receipt_of, receive, waiting};

/// A document that may be accepted: it was read, and it is its sender's.
#[derive(Debug)]
pub struct Sending {
    /// What it says.
    pub incoming: Incoming,
    /// Who sends it.
    pub from: AgentKey,
    key: Option<String>,
    wait_ms: Option<u64>,
    hold: bool,
}

/// A document that was accepted.
pub struct Accepted {
    /// What the broker says.
    pub receipted: Receipted,
    /// What has become of it with each recipient.
    pub recipients: Vec<RecipientReceipt>,
    /// The wait for its reply, if its sender waits.
    pub awaited: Option<Awaited>,
}

impl Sending {
    /// Reads a document and checks whose it is.
    pub fn read(
        hub: &Hub,
        principal: &Principal,
        bytes: &[u8],
        dialect: Option<Name>,
        asking: Asking<'_>,
    ) -> Result<Self, Problem> {
        let incoming =
            hub.reading(|reading| receive(bytes, dialect, Reading { trace: asking.trace, ..reading }))?;
        let from = sender(hub, principal, &incoming)?;
        let key = asking.key.map(str::to_owned);
        Ok(Sending { incoming, from, key, wait_ms: asking.wait_ms, hold: asking.hold })
    }

    /// Returns how its sender is, if that is all or part of what it says.
    pub fn presence(&self) -> Option<PresenceState> {
        let message = &self.incoming.message;
        let said = message.presence.as_ref().map(|presence| presence.state);
        let is_sign = matches!(message.kind, Kind::AgentStatus | Kind::AgentHeartbeat);
        // Clients of the bus tell it how their work goes; nobody else is told.
        let works = !is_sign && self.is_status_for_the_bus(message.kind);
        let otherwise = if works { PresenceState::Busy } else { PresenceState::Idle };
        (is_sign || works).then(|| said.unwrap_or(otherwise))
    }

    fn is_status_for_the_bus(&self, kind: Kind) -> bool {
        let incoming = &self.incoming;
        incoming.dialect == Name::Bus && dialect_bus::is_status(kind) && is_for_the_bus(incoming.to())
    }

    /// Tells whether it is for nobody but the bus itself: a sign of life, which is noted and not delivered.
    pub fn is_for_the_bus(&self) -> bool {
        self.presence().is_some() && is_for_the_bus(self.incoming.to())
    }

    /// Tells whether its sender waits for a reply.
    pub fn waits(&self) -> bool {
        let wishes = self.incoming.message.delivery.as_deref();
        self.wait_ms.is_some() || wishes.is_some_and(|wishes| wishes.mode == Some(message::Mode::Sync))
    }

    /// Has it accepted or noted, and answers its sender: with the receipt, or with the reply if it waits for one.
    pub async fn carry_out(self, hub: &Hub) -> Result<Response, Problem> {
        if self.is_for_the_bus() {
            return Ok(self.noted(hub));
        }
        let waits = self.waits();
        let accepted = hub.call(move |turn| {
            let accepted = self.accept_and_look(turn)?;
            Ok((self.incoming, accepted))
        });
        let (incoming, Accepted { receipted, recipients, awaited }) = accepted.await?;
        let answer = receipted.answer;
        let status = if receipted.duplicate { StatusCode::OK } else { StatusCode::CREATED };
        let receipt = receipt_of(&incoming, receipted, recipients);
        match (awaited, answer) {
            (Some(awaited), _) => waiting::reply(hub, receipt, awaited).await,
            (None, Some(reply)) => waiting::stored_reply(hub, receipt, reply).await,
            // Nobody can answer, or the time in which an answer counted is over.
            (None, None) if waits => {
                let stage = receipt.stage();
                Err(waiting::nothing(hub, receipt, stage).await)
            }
            (None, None) => Ok(crate::answer(status, &receipt.to_value())),
        }
    }

    /// Notes a sign of life. Nobody relies on it, so nothing waits until it is durable.
    fn noted(self, hub: &Hub) -> Response {
        let kind = self.incoming.message.kind;
        hub.node().note(move |turn| {
            // A bus without room keeps no signs of life; the next one is soon there.
            drop(self.note(turn));
        });
        Answer::new().text("kind", kind.name()).text("stage", "acknowledged").respond(StatusCode::ACCEPTED)
    }

    /// Notes how the sender is.
    pub fn note(&self, turn: &mut Turn<'_>) -> Result<(), Problem> {
        let Some(state) = self.presence() else { return Ok(()) };
        turn.execute(&Command::SetPresence { agent: self.from, state, detail: b"" })?;
        Ok(())
    }

    /// Has the broker accept it.
    pub fn accept(&self, turn: &mut Turn<'_>) -> Result<Receipted, Problem> {
        self.note(turn)?;
        let asking = Asking { key: self.key.as_deref(), wait_ms: self.wait_ms, hold: self.hold, trace: None };
        let accept = self.incoming.accept(self.from, asking);
        match turn.execute(&Command::Accept(Box::new(accept)))? {
            Reply::Accepted(receipted) => Ok(self.joined(turn, receipted)),
            Reply::Done
            | Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Taken(_)
            | Reply::Stage(_)
            | Reply::Lease(_) => Err(Problem::new(Code::Internal, "nothing was accepted")),
        }
    }

    /// Makes its sender a member of what it says that it is in. A message is not refused for that.
    fn joined(&self, turn: &mut Turn<'_>, mut receipted: Receipted) -> Receipted {
        let address = self.incoming.joins().filter(|_| !receipted.duplicate && !self.from.is_machinery());
        let Some(address) = address else { return receipted };
        if let Err(error) = turn.execute(&Command::Join { agent: self.from, address }) {
            let message = format!("you are not in `{address}`: {error}");
            let finding = Finding { path: String::new(), code: "not_joined", source: Source::Rule, message };
            receipted.warnings.push(finding.into());
        }
        receipted
    }

    /// Has the broker accept it, and says what has become of it and how its reply is waited for.
    pub fn accept_and_look(&self, turn: &mut Turn<'_>) -> Result<Accepted, Problem> {
        let receipted = self.accept(turn)?;
        let recipients = turn.broker().receipt(receipted.id).unwrap_or_default();
        // A repeat joins the wait of the one before it.
        let waits = receipted.wait_until.is_some() && receipted.answer.is_none();
        let awaited = waits.then(|| turn.wait_for_reply(receipted.id));
        Ok(Accepted { receipted, recipients, awaited })
    }
}

/// Refuses a document that says that somebody else sent it.
fn sender(hub: &Hub, principal: &Principal, incoming: &Incoming) -> Result<AgentKey, Problem> {
    let from = incoming.message.from.as_str();
    match hub.key_of(from) {
        Some(agent) if principal.may_send_as(agent) => Ok(agent),
        Some(_) | None => {
            Err(Problem::new(Code::NotYours, format!("this token does not speak for `{from}`")))
        }
    }
}
