//! The message itself.

use json::{Object, Value};

use crate::{
    Address, AgentRef, Attachment, Brief, DeliveryWishes, Failure, Gate, Handoff, Kind, MessageId, Metrics,
    NativeId, Origin, Presence, Priority, Reference, Severity, TaskId, TaskStatus, ThreadId, Uri,
    WrittenTimestamp,
};

/// One message, whatever language its sender and its recipients speak.
///
/// Only its kind, sender and recipients are always there. Values of the sender (`data`, `result`) may be any JSON;
/// `null` in their place counts as absent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// The id on this bus.
    pub id: Option<MessageId>,
    /// The id that the sender gave.
    pub native_id: Option<NativeId>,
    /// What the message means.
    pub kind: Kind,
    /// Who sends it.
    pub from: AgentRef,
    /// To whom it goes.
    pub to: Vec<Address>,
    /// The conversation to which it belongs.
    pub thread: Option<ThreadId>,
    /// The message that it answers.
    pub reply_to: Option<Reference>,
    /// What else it belongs with.
    pub correlation: Option<Reference>,
    /// The task about which it speaks.
    pub task: Option<TaskId>,
    /// A subject, goal or short description.
    pub title: Option<String>,
    /// What it says.
    pub text: Option<String>,
    /// Code that it carries apart from the text.
    pub code: Option<String>,
    /// Structured content.
    pub data: Option<Value<'static>>,
    /// The name of the schema that `data` follows.
    pub schema: Option<String>,
    /// The media type of the content.
    pub mime: Option<String>,
    /// Where large content is.
    pub blob: Option<Uri>,
    /// What goes with it.
    pub attachments: Vec<Attachment>,
    /// What it refers to.
    pub refs: Vec<Uri>,
    /// How urgent it is.
    pub priority: Option<Priority>,
    /// How bad what it tells is.
    pub severity: Option<Severity>,
    /// When it was made.
    pub created: Option<WrittenTimestamp>,
    /// When it is no longer to be handed out.
    pub expires: Option<WrittenTimestamp>,
    /// By when what it asks for is wanted.
    pub deadline: Option<WrittenTimestamp>,
    /// How the sender would like it to be handed over.
    pub delivery: Option<Box<DeliveryWishes>>,
    /// How far the task is.
    pub status: Option<TaskStatus>,
    /// The outcome of the task.
    pub result: Option<Value<'static>>,
    /// What went wrong.
    pub error: Option<Box<Failure>>,
    /// What the work cost.
    pub metrics: Option<Box<Metrics>>,
    /// How the sender is.
    pub presence: Option<Box<Presence>>,
    /// A step that waits for approval.
    pub gate: Option<Box<Gate>>,
    /// What is to be done.
    pub brief: Option<Box<Brief>>,
    /// What is handed over.
    pub handoff: Option<Box<Handoff>>,
    /// The document as the sender wrote it.
    pub origin: Option<Box<Origin>>,
    /// Fields that we do not know.
    pub extra: Object<'static>,
}

impl Message {
    /// Copies what it is routed by, without what it says.
    pub fn routed(&self) -> Message {
        Message {
            id: self.id,
            native_id: self.native_id.clone(),
            thread: self.thread.clone(),
            reply_to: self.reply_to.clone(),
            correlation: self.correlation.clone(),
            task: self.task.clone(),
            priority: self.priority,
            severity: self.severity,
            created: self.created.clone(),
            expires: self.expires.clone(),
            deadline: self.deadline.clone(),
            delivery: self.delivery.clone(),
            status: self.status,
            ..Message::new(self.kind, self.from.clone(), self.to.clone())
        }
    }

    /// Lets go of what it says, and keeps what it is routed by.
    pub fn let_content_go(&mut self) {
        (self.title, self.text, self.code, self.schema, self.mime) = (None, None, None, None, None);
        (self.data, self.result, self.blob) = (None, None, None);
        (self.attachments, self.refs, self.extra) = (Vec::new(), Vec::new(), Object::new());
        (self.error, self.metrics, self.gate, self.brief, self.handoff) = (None, None, None, None, None);
    }

    /// Makes a message of which nothing else is known.
    pub fn new(kind: Kind, from: AgentRef, to: Vec<Address>) -> Self {
        Message {
            id: None,
            native_id: None,
            kind,
            from,
            to,
            thread: None,
            reply_to: None,
            correlation: None,
            task: None,
            title: None,
            text: None,
            code: None,
            data: None,
            schema: None,
            mime: None,
            blob: None,
            attachments: Vec::new(),
            refs: Vec::new(),
            priority: None,
            severity: None,
            created: None,
            expires: None,
            deadline: None,
            delivery: None,
            status: None,
            result: None,
            error: None,
            metrics: None,
            presence: None,
            gate: None,
            brief: None,
            handoff: None,
            origin: None,
            extra: Object::new(),
        }
    }
}
