//! Submissions: documents on their way from a peer to the broker.
//!
//! Everything that does not need the state is done before: reading, checking, finding out who sends it.

use std::sync::Arc;

use broker::{Accept, AgentKey, Blocker, Command, Identity, Receipted, Sign, WithRecipients};
use dialect::Name;
use json::Value;
use message::{
    Address, AgentRef, Envelope, Guarantee, Kind, Message, MessageId, NativeId, PresenceState, Priority,
    Receipt, Skimmed, Warning,
};

use crate::intake::{self, is_for_the_bus};
use crate::source_cache::Decoded;
use crate::{Asking, Code, Hub, Principal, Problem, Reading, receive};

/// A document that was read: the message that the broker is to accept, and what its receipt says.
#[derive(Debug)]
pub struct Submission {
    /// The message. Who sends it, and what is asked beside the document, is set before it is submitted.
    pub accept: Box<Accept>,
    /// The language in which it is written.
    pub dialect: Name,
    /// Who the document says sends it.
    pub sender: AgentRef,
    /// The id that its sender gave it.
    pub native_id: Option<NativeId>,
    /// What was odd about it.
    pub warnings: Vec<Warning>,
    /// What it says, if it was decoded.
    pub(crate) decoded: Option<Arc<Decoded>>,
}

/// What a receipt says of the document itself.
#[derive(Debug)]
pub struct ReceiptHead {
    kind: Kind,
    dialect: Name,
    sender: AgentRef,
    native_id: Option<NativeId>,
    to: Vec<Address>,
    priority: Priority,
    guarantee: Guarantee,
    warnings: Vec<Warning>,
}

impl Submission {
    /// Reads a document and checks whose it is.
    pub fn read(
        hub: &Hub,
        principal: &Principal,
        bytes: &[u8],
        dialect: Option<Name>,
        asking: Asking<'_>,
    ) -> Result<Self, Problem> {
        let read = hub.reading(|reading| receive(bytes, dialect, Reading { trace: asking.trace, ..reading }));
        Submission::checked(hub, principal, read?, asking)
    }

    /// Reads a document in a dialect that was parsed already, and checks whose it is. The text is that of the value.
    pub fn read_parsed(
        hub: &Hub,
        principal: &Principal,
        (text, value): (&str, Value<'_>),
        dialect: Name,
        asking: Asking<'_>,
    ) -> Result<Self, Problem> {
        let read = hub.reading(|reading| {
            let reading = Reading { trace: asking.trace, ..reading };
            intake::receive_parsed(text.as_bytes(), value, dialect, reading)
        });
        Submission::checked(hub, principal, read?, asking)
    }

    fn checked(
        hub: &Hub,
        principal: &Principal,
        mut submission: Self,
        asking: Asking<'_>,
    ) -> Result<Self, Problem> {
        let from = sender(hub, principal, &submission)?;
        submission.set_sender(hub, from);
        submission.ask(asking);
        hub.keep_decoded(&mut submission);
        Ok(submission)
    }

    /// Takes an ordinary document that was skimmed where it came in, and checks whose it is. Nothing if it must be
    /// read.
    pub fn skimmed(hub: &Hub, principal: &Principal, skimmed: Skimmed<'_>) -> Result<Option<Self>, Problem> {
        let document = (skimmed.written.text.as_bytes(), None);
        let is_schema = |schema: &str| hub.lexicons().document(schema).is_some();
        let Some(mut submission) = intake::skimmed(skimmed, document, is_schema) else { return Ok(None) };
        let from = sender(hub, principal, &submission)?;
        submission.set_sender(hub, from);
        Ok(Some(submission))
    }

    /// Takes a message that a call writes in the name of somebody who is known; repeats are known by the key.
    pub(crate) fn written(hub: &Hub, message: Message, from: AgentKey, key: &str) -> Self {
        let mut submission = intake::written(message);
        submission.set_sender(hub, from);
        submission.ask(Asking { key: Some(key), ..Asking::default() });
        submission
    }

    /// Says who sends it, and to whom a task goes that stops its sender, by the sender's own rules.
    pub(crate) fn set_sender(&mut self, hub: &Hub, from: AgentKey) {
        self.accept.from = from;
        if let Some(update) = &mut self.accept.update {
            update.by = from;
        }
        if let (Kind::TaskBlocked, Some(intent)) = (self.accept.kind, &mut self.accept.intent) {
            let blocker = intent.blocker.unwrap_or(Blocker::Ambiguity);
            intent.routes.extend(hub.routes_of(from, blocker));
        }
    }

    /// Says what its sender asks for beside the document.
    pub(crate) fn ask(&mut self, asking: Asking<'_>) {
        if let (Identity::Content, Some(key)) = (&self.accept.identity, asking.key) {
            self.accept.identity = Identity::Native(key.into());
        }
        self.accept.wait_ms = asking.wait_ms.or(self.accept.wait_ms);
        self.accept.hold |= asking.hold;
    }

    /// Sends it to others than it says, as its sender asks beside the document. The same document to others is
    /// another message.
    pub fn send_to(&mut self, to: Vec<Address>) {
        let addresses = self.pass_to(to);
        self.accept.fingerprint =
            broker::Fingerprint::of(&[&self.accept.fingerprint.0, addresses.as_bytes()]);
    }

    /// Passes it to those whom it concerns, which the document leaves to the bus to find. Returns them as a text.
    pub fn pass_to(&mut self, to: Vec<Address>) -> String {
        let addresses: Vec<String> = to.iter().map(Address::to_string).collect();
        let addresses = addresses.join(" ");
        if let Some(envelope) = Envelope::open(&self.accept.body) {
            self.accept.body = Envelope { to: Some(&addresses), ..envelope }.to_bytes().into();
        }
        self.accept.to = to;
        addresses
    }

    /// Tells whether it is for nobody but the bus itself: a sign of life or of work, which is noted and not delivered.
    pub fn is_for_the_bus(&self) -> bool {
        let says_something = self.accept.update.is_some() || self.sign().is_some();
        says_something && is_for_the_bus(&self.accept.to)
    }

    /// Tells whether it changes the shared state.
    pub fn is_update(&self) -> bool {
        self.accept.update.is_some()
    }

    /// Returns the command that notes what is for the bus alone; nothing if it is not.
    pub fn into_note(self) -> Option<Command> {
        if !self.is_for_the_bus() {
            return None;
        }
        let (agent, sign) = (self.accept.from, self.sign());
        match self.accept.update {
            Some(update) => Some(Command::ChangeState(update)),
            None => sign.map(|sign| Command::Sign { agent, sign: Box::new(sign) }),
        }
    }

    /// Returns what its sender says of itself, or that it is at work, if it tells that. Clients of the bus tell it so in
    /// more ways than others. Who tells somebody else how its work goes says nothing of itself.
    fn sign(&self) -> Option<Sign> {
        let (kind, dialect) = (self.accept.kind, self.dialect);
        let is_work = kind == Kind::TaskProgress || (dialect == Name::Bus && dialect_bus::is_status(kind));
        let busy = is_work.then(|| Sign::of(PresenceState::Busy));
        self.accept.sign.as_deref().cloned().or(busy)
    }

    /// Tells whether its sender waits for a reply.
    pub fn waits(&self) -> bool {
        self.accept.wait_ms.is_some()
    }

    /// Makes it a message like any other for whose reply nobody waits, whatever it wishes.
    pub fn without_waiting(mut self) -> Self {
        self.accept.wait_ms = None;
        self
    }

    /// Returns the message with what its receipt will say of the document; the reply is to name the recipients.
    pub fn into_parts(mut self) -> (Box<Accept>, ReceiptHead) {
        self.accept.with_recipients = WithRecipients::Always;
        let head = ReceiptHead {
            kind: self.accept.kind,
            dialect: self.dialect,
            sender: self.sender,
            native_id: self.native_id,
            to: self.accept.to.clone(),
            priority: self.accept.priority,
            guarantee: self.accept.guarantee,
            warnings: self.warnings,
        };
        (self.accept, head)
    }
}

impl ReceiptHead {
    /// Writes the receipt of a document that was just accepted, or had been before.
    pub fn receipt(self, receipted: Receipted) -> Receipt {
        let warnings: Vec<Warning> = self.warnings.into_iter().chain(receipted.warnings()).collect();
        let id: MessageId = receipted.id;
        let mut receipt = Receipt::of(id, self.guarantee, self.kind, self.sender, self.to);
        receipt.native_id = self.native_id;
        receipt.dialect = self.dialect;
        receipt.priority = self.priority;
        receipt.recipients = receipted.recipients;
        receipt.duplicate = receipted.duplicate;
        receipt.warnings = warnings;
        receipt
    }

    /// Takes what was odd about the document.
    pub fn into_warnings(self) -> Vec<Warning> {
        self.warnings
    }
}

/// Refuses a document that says that somebody else sent it.
fn sender(hub: &Hub, principal: &Principal, submission: &Submission) -> Result<AgentKey, Problem> {
    let from = submission.sender.as_str();
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
