//! A view of a record: what its fields say, borrowed. Routing, reading and checking all ask here, so that they
//! cannot disagree.

use dialect::{Names, Recipients};
use json::{Object, Value};
use message::{Address, Guarantee, Kind, Priority, TaskStatus};

use crate::envelope::Envelope;
use crate::words::{BLOCKED, DRIFTED_REQUEST};
use crate::{Record, audience, ids, time};

/// A record and what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'v> {
    pub(crate) record: Record,
    pub(crate) object: &'v Object<'v>,
    pub(crate) envelope: Option<Envelope<'v>>,
}

/// How a response says that the work stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Partial,
    Ok,
    Error,
    Rejected,
}

impl<'v> View<'v> {
    /// Looks at a record of the lexicons.
    pub(crate) fn of_lexicon(object: &'v Object<'v>) -> Option<Self> {
        let record = object.get("$type").and_then(Value::as_str).and_then(Record::from_name)?;
        Some(View::new(record, object))
    }

    /// Looks at a record of the lexicons or of the running network.
    pub(crate) fn of_any(object: &'v Object<'v>) -> Option<Self> {
        let record = object.get("$type").and_then(Value::as_str).and_then(Record::from_drifted_name)?;
        Some(View::new(record, object))
    }

    fn new(record: Record, object: &'v Object<'v>) -> Self {
        View { record, object, envelope: Envelope::of(record, object) }
    }

    /// Returns a field that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<&'v str> {
        self.object.get(key).and_then(Value::as_str)
    }

    /// Returns a field of an object inside the record.
    pub(crate) fn inner(&self, key: &str, inner: &str) -> Option<&'v Value<'v>> {
        self.object.get(key)?.get(inner)
    }

    /// Tells whether this is a request as the running network writes it.
    pub(crate) fn is_drifted_request(&self) -> bool {
        self.text("$type") == Some(DRIFTED_REQUEST)
    }

    /// Returns what the record means; `None` where its status is no word that we know.
    pub(crate) fn kind(&self) -> Option<Kind> {
        let extended = self.envelope.map(|envelope| envelope.kind);
        match self.record {
            Record::Message => Some(extended.unwrap_or(Kind::Note)),
            Record::Broadcast => Some(extended.unwrap_or(Kind::Announce)),
            Record::Request => Some(extended.unwrap_or(Kind::TaskRequest)),
            Record::Handoff => Some(Kind::HandoffOffer),
            Record::Response => {
                let outcome = self.outcome()?;
                let extended = extended.filter(|kind| outcome.agrees_with(*kind));
                Some(extended.unwrap_or_else(|| self.kind_of_response(outcome)))
            }
        }
    }

    /// Returns how a response says that the work stands.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        match self.text("status")? {
            "partial" | "accepted" => Some(Outcome::Partial),
            "ok" | "completed" => Some(Outcome::Ok),
            "error" | "failed" => Some(Outcome::Error),
            "rejected" => Some(Outcome::Rejected),
            _ => None,
        }
    }

    fn kind_of_response(&self, outcome: Outcome) -> Kind {
        if self.answers_handoff() {
            return Kind::HandoffReply;
        }
        let blocked = self.inner("error", "code").and_then(Value::as_str) == Some(BLOCKED);
        match outcome {
            Outcome::Partial if blocked => Kind::TaskBlocked,
            // The running network says so when somebody takes the work.
            Outcome::Partial if self.text("status") == Some("accepted") => Kind::TaskClaim,
            Outcome::Partial => Kind::TaskProgress,
            Outcome::Ok => Kind::TaskDone,
            Outcome::Error => Kind::TaskFailed,
            Outcome::Rejected => Kind::TaskRejected,
        }
    }

    fn answers_handoff(&self) -> bool {
        self.request().and_then(ids::collection_of) == Some(Record::Handoff.name())
    }

    /// Returns what a response answers.
    pub(crate) fn request(&self) -> Option<&'v str> {
        self.text("request").or_else(|| self.text("requestUri"))
    }

    /// Returns who sends it.
    pub(crate) fn from(&self) -> Option<&'v str> {
        self.text(self.sender_key())
    }

    pub(crate) fn sender_key(&self) -> &'static str {
        match self.record {
            Record::Handoff => "from",
            Record::Message | Record::Broadcast | Record::Request | Record::Response => "sender",
        }
    }

    /// Returns to whom it goes. A response goes to the one whose request it answers.
    pub(crate) fn to(&self) -> Option<Recipients<'v>> {
        if let Some(to) = self.envelope.and_then(|envelope| envelope.to()) {
            return Some(Recipients::Each(to));
        }
        let drifted = self.drifted_recipient().map(Recipients::One);
        match self.record {
            Record::Message => self.text("recipient").map(Recipients::One),
            Record::Broadcast => {
                let audience = self.object.get("audience").and_then(Value::as_array);
                let audience = audience.filter(|items| !items.is_empty()).map(Recipients::Each);
                Some(audience.or(drifted).unwrap_or(Recipients::Everyone))
            }
            Record::Request => {
                let assignee = self.text("assignee").map(Recipients::One);
                Some(assignee.or(drifted).unwrap_or(Recipients::Anyone))
            }
            Record::Response => {
                drifted.or_else(|| self.request().and_then(ids::authority_of).map(Recipients::One))
            }
            Record::Handoff => self.text("to").map(Recipients::One),
        }
    }

    /// Returns the recipient that the running network names where the lexicons have no such field.
    pub(crate) fn drifted_recipient(&self) -> Option<&'v str> {
        self.text("recipient").filter(|did| self.record != Record::Message && did.starts_with("did:"))
    }

    /// Returns the field that says to whom it goes.
    pub(crate) fn recipient_key(&self) -> &'static str {
        let listed = self.envelope.is_some_and(|envelope| envelope.to().is_some());
        let (has, drifted) = (|key: &str| self.object.contains_key(key), self.drifted_recipient().is_some());
        match self.record {
            Record::Message | Record::Broadcast if listed => "/content/data/to",
            Record::Request if listed => "/params/data/to",
            Record::Response if listed => "/result/data/to",
            Record::Handoff if listed => "/state/data/to",
            Record::Handoff => "/to",
            Record::Broadcast if has("audience") || !drifted => "/audience",
            Record::Request if has("assignee") || !drifted => "/assignee",
            Record::Response if !drifted && has("requestUri") => "/requestUri",
            Record::Response if !drifted => "/request",
            Record::Message | Record::Broadcast | Record::Request | Record::Response => "/recipient",
        }
    }

    /// Returns the address that one of several recipients stands for.
    pub(crate) fn address(&self, item: &str, names: &Names) -> Address {
        let listed = self.envelope.is_some_and(|envelope| envelope.to().is_some());
        if listed { names.address(item) } else { audience::address_of(item, self.text("topic"), names) }
    }

    /// Returns the conversation.
    pub(crate) fn thread(&self) -> Option<&'v str> {
        let own = match self.record {
            Record::Message => self.text("thread"),
            Record::Handoff => self.text("session"),
            Record::Broadcast | Record::Request | Record::Response => None,
        };
        self.reference("thread", own)
    }

    /// Returns what it answers.
    pub(crate) fn reply_to(&self) -> Option<&'v str> {
        self.reference("reply_to", self.own_reply_to())
    }

    /// Returns what the record's own field says that it answers.
    pub(crate) fn own_reply_to(&self) -> Option<&'v str> {
        match self.record {
            Record::Message => self.text("inReplyTo"),
            Record::Response => self.request(),
            Record::Request if self.is_drifted_request() => self.text("replyTo"),
            Record::Broadcast | Record::Request | Record::Handoff => None,
        }
    }

    /// Returns the task: for a response the request that it answers, for a handoff the request that stands
    /// first in its context.
    pub(crate) fn task(&self) -> Option<&'v str> {
        let own = match self.record {
            Record::Response if self.tells_of_task() => self.request(),
            Record::Handoff => self
                .object
                .get("context")
                .and_then(Value::as_array)
                .and_then(|items| items.first()?.as_str())
                .filter(|uri| ids::collection_of(uri) == Some(Record::Request.name())),
            Record::Message | Record::Broadcast | Record::Request | Record::Response => None,
        };
        self.reference("task", own)
    }

    fn tells_of_task(&self) -> bool {
        !self.answers_handoff()
            && self.kind().is_some_and(|kind| !matches!(kind, Kind::HelpReply | Kind::HandoffReply))
    }

    /// Returns how urgent it is: as it says itself, else as its severity implies.
    pub(crate) fn priority(&self) -> Option<Priority> {
        if let Some(extended) = self.extended("priority").and_then(Priority::from_name) {
            return Some(extended);
        }
        match self.record {
            Record::Message | Record::Request => {
                self.object.get("priority").and_then(Value::as_integer).and_then(priority_of)
            }
            Record::Broadcast => match self.text("severity")? {
                "info" => Some(Priority::Low),
                "notice" => Some(Priority::Normal),
                "warning" => Some(Priority::High),
                "critical" => Some(Priority::Critical),
                _ => None,
            },
            Record::Response | Record::Handoff => None,
        }
    }

    /// Returns how far the task is, where the record implies it.
    pub(crate) fn status(&self) -> Option<TaskStatus> {
        let outcome = self.outcome().filter(|_| self.record == Record::Response)?;
        match (self.kind()?, outcome) {
            (Kind::TaskClaim, _) | (Kind::HandoffReply, Outcome::Ok) => Some(TaskStatus::Claimed),
            (Kind::TaskBlocked, _) => Some(TaskStatus::Blocked),
            (Kind::TaskProgress, _) => Some(TaskStatus::Running),
            (Kind::TaskDone, _) => Some(TaskStatus::Done),
            (_, Outcome::Error) => Some(TaskStatus::Failed),
            (_, Outcome::Rejected) => Some(TaskStatus::Rejected),
            (_, Outcome::Ok | Outcome::Partial) => None,
        }
    }

    /// Tells whether it is only for those who listen now.
    pub(crate) fn is_live_only(&self) -> bool {
        self.record == Record::Broadcast && time::is_live_only(self.object)
    }

    /// Returns how hard the bus must try: presence is soon out of date, and what is live is not kept.
    pub(crate) fn guarantee(&self, kind: Kind) -> Guarantee {
        let presence = matches!(kind, Kind::AgentStatus | Kind::AgentHeartbeat);
        if presence || self.is_live_only() { Guarantee::AtMostOnce } else { Guarantee::AtLeastOnce }
    }

    /// Returns what the envelope says, else what the record's own field says, if a message can hold it.
    fn reference(&self, name: &str, own: Option<&'v str>) -> Option<&'v str> {
        let usable = |text: &&str| ids::is_reference(text);
        self.extended(name).filter(usable).or_else(|| own.filter(usable))
    }

    /// Returns a text that the envelope carries.
    pub(crate) fn extended(&self, name: &str) -> Option<&'v str> {
        self.envelope.and_then(|envelope| envelope.text(name))
    }
}

impl Outcome {
    /// Tells whether a response of this outcome can be of that kind.
    fn agrees_with(self, kind: Kind) -> bool {
        match kind {
            Kind::HelpReply | Kind::HandoffReply | Kind::ReviewVerdict => true,
            Kind::TaskClaim | Kind::TaskProgress | Kind::TaskBlocked => self == Outcome::Partial,
            Kind::TaskDone => self == Outcome::Ok,
            Kind::TaskFailed => self == Outcome::Error,
            Kind::TaskRejected => self == Outcome::Rejected,
            Kind::Note
            | Kind::Announce
            | Kind::TaskRequest
            | Kind::HelpAsk
            | Kind::HandoffOffer
            | Kind::AgentStatus
            | Kind::AgentHeartbeat
            | Kind::ErrorReport
            | Kind::Gate
            | Kind::Question
            | Kind::StateSync
            | Kind::Report => false,
        }
    }
}

/// Reads the six levels of the lexicons.
pub(crate) fn priority_of(level: i64) -> Option<Priority> {
    match level {
        0 | 1 => Some(Priority::Low),
        2 | 3 => Some(Priority::Normal),
        4 => Some(Priority::High),
        5 => Some(Priority::Critical),
        _ => None,
    }
}
