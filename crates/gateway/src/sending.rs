//! Sending: a document on its way from a peer to the broker.
//!
//! Everything that does not need the state is done before its turn comes: reading, checking, finding out who sends it.

use broker::{AgentKey, Blocker, Caution, Command, Receipted, Reply};
use dialect::Name;
use message::{Kind, Message, PresenceState, RecipientReceipt, Skimmed};
use node::{Awaited, Turn};

use crate::intake::is_for_the_bus;
use crate::state::StateUpdate;
use crate::{Asking, Code, Hub, Incoming, Principal, Problem, Reading, card, receive, vitals};

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

    /// Takes an ordinary document that was skimmed where it came in, and checks whose it is. Nothing if it must be
    /// read.
    pub fn skimmed(hub: &Hub, principal: &Principal, skimmed: Skimmed<'_>) -> Result<Option<Self>, Problem> {
        let document = (skimmed.written.text.as_bytes(), None);
        let is_schema = |schema: &str| hub.lexicons().document(schema).is_some();
        let Some(incoming) = Incoming::skimmed(skimmed, document, is_schema) else { return Ok(None) };
        let from = sender(hub, principal, &incoming)?;
        Ok(Some(Sending::of(incoming, from)))
    }

    /// Takes a document that was read and is its sender's.
    pub(crate) fn of(incoming: Incoming, from: AgentKey) -> Self {
        Sending { incoming, from, key: None, wait_ms: None, hold: false }
    }

    /// Makes one of a message that a call writes in the name of somebody who is known.
    pub(crate) fn written(
        hub: &Hub,
        message: &Message,
        from: AgentKey,
        key: String,
    ) -> Result<Self, Problem> {
        let text = message.encode();
        let incoming = hub.reading(|reading| receive(text.as_bytes(), Some(Name::Convoke), reading))?;
        Ok(Sending { incoming, from, key: Some(key), wait_ms: None, hold: false })
    }

    /// Returns how its sender is, if that is all or part of what it says.
    pub fn presence(&self) -> Option<PresenceState> {
        let message = &self.incoming.message;
        let said = message.presence.as_ref().map(|presence| presence.state);
        let is_sign = matches!(message.kind, Kind::AgentStatus | Kind::AgentHeartbeat);
        is_sign.then(|| said.unwrap_or(PresenceState::Idle))
    }

    /// Tells whether it is for nobody but the bus itself: a sign of life or of work, which is noted and not delivered.
    pub fn is_for_the_bus(&self) -> bool {
        (self.sign().is_some() || self.incoming.update.is_some()) && is_for_the_bus(self.incoming.to())
    }

    /// Returns what it changes of the shared state, if anything.
    pub fn update(&self) -> Option<&StateUpdate> {
        self.incoming.update.as_deref()
    }

    /// Returns how the sender is, if it tells that, or that it is at work, if it tells that. Clients of the bus tell it
    /// so in more ways than others.
    fn sign(&self) -> Option<PresenceState> {
        let (kind, dialect) = (self.incoming.message.kind, self.incoming.dialect);
        let is_work = kind == Kind::TaskProgress || (dialect == Name::Bus && dialect_bus::is_status(kind));
        self.presence().or(is_work.then_some(PresenceState::Busy))
    }

    /// Tells whether its sender waits for a reply.
    pub fn waits(&self) -> bool {
        self.wait_ms.is_some() || self.incoming.wishes_reply()
    }

    /// Makes it a message like any other for whose reply nobody waits, whatever it wishes.
    pub fn without_waiting(mut self) -> Self {
        if let Some(wishes) = self.incoming.message.delivery.as_deref_mut() {
            wishes.mode = None;
        }
        self.wait_ms = None;
        self
    }

    /// Notes how the sender is, or makes the change that is for the bus alone.
    pub fn note(&self, turn: &mut Turn<'_>) -> Result<(), Problem> {
        let is_for_the_bus = self.is_for_the_bus();
        if let Some(update) = self.update().filter(|_| is_for_the_bus) {
            return update.apply(turn, self.from).map(drop);
        }
        // Who tells somebody else how its work goes says nothing of itself.
        let sign = if is_for_the_bus { self.sign() } else { self.presence() };
        let Some(state) = sign else { return Ok(()) };
        match self.incoming.vitals.as_deref() {
            Some(vitals) => vitals.note(turn, self.from, state),
            None => vitals::note_state(turn, self.from, state),
        }
    }

    /// Has the broker accept it.
    pub fn accept(&self, turn: &mut Turn<'_>) -> Result<Receipted, Problem> {
        let asking = Asking { key: self.key.as_deref(), wait_ms: self.wait_ms, hold: self.hold, trace: None };
        self.accept_asking(turn, asking)
    }

    /// Has the broker accept it, with what is asked beside it now.
    pub(crate) fn accept_asking(
        &self,
        turn: &mut Turn<'_>,
        asking: Asking<'_>,
    ) -> Result<Receipted, Problem> {
        self.note(turn)?;
        self.join_for_claim(turn);
        if let Some(update) = self.update() {
            update.check(turn, self.from)?;
        }
        let mut accept = self.incoming.accept(self.from, asking);
        if let (Kind::TaskBlocked, Some(intent)) = (accept.kind, &mut accept.intent) {
            let blocker = intent.blocker.unwrap_or(Blocker::Ambiguity);
            intent.routes.extend(card::routes(turn, self.from, blocker));
        }
        match turn.execute(&Command::Accept(Box::new(accept)))? {
            Reply::Accepted(receipted) => {
                if let Some(update) = self.update() {
                    update.apply(turn, self.from)?;
                }
                Ok(self.joined(turn, receipted))
            }
            Reply::Done
            | Reply::Agent(_)
            | Reply::Session { .. }
            | Reply::Taken(_)
            | Reply::Stage(_)
            | Reply::Lease(_)
            | Reply::Changed(_) => Err(Problem::new(Code::Internal, "nothing was accepted")),
        }
    }

    /// Makes whoever claims work in a role a member of it first: who is in no role has nothing to claim.
    fn join_for_claim(&self, turn: &mut Turn<'_>) {
        let address = self.incoming.joins().filter(|_| !self.from.is_machinery());
        if let Some(address) = address {
            // What keeps it out shows when it claims.
            drop(turn.execute(&Command::Join { agent: self.from, address: address.clone() }));
        }
    }

    /// Makes its sender a member of what it says that it is in. A message is not refused for that.
    fn joined(&self, turn: &mut Turn<'_>, mut receipted: Receipted) -> Receipted {
        let address = self.incoming.joins().filter(|_| !receipted.duplicate && !self.from.is_machinery());
        let Some(address) = address else { return receipted };
        if let Err(error) = turn.execute(&Command::Join { agent: self.from, address: address.clone() }) {
            let message = format!("you are not in `{address}`: {error}");
            receipted.cautions.push(Caution::now("not_joined", message));
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
    // Most speak for themselves. Whether they are still there is the broker's to say.
    if let Principal::Agent(speaker) = principal
        && speaker.name.as_str() == from
    {
        return Ok(speaker.key);
    }
    match hub.key_of(from) {
        Some(agent) if principal.may_send_as(agent) => Ok(agent),
        Some(_) | None => {
            Err(Problem::new(Code::NotYours, format!("this token does not speak for `{from}`")))
        }
    }
}
