//! Writing the `convoke` dialect.

use json::Value;

use crate::decode::VERSION;
use crate::members::Members;
use crate::{
    Address, Attachment, Brief, DeliveryWishes, Failure, Gate, Handoff, Message, Metrics, NativeId, Origin,
    Presence, Priority, Reference, Severity, TaskId, TaskStatus, ThreadId, Uri, WrittenTimestamp,
};

impl Message {
    #[rustfmt::skip]
    pub(crate) const FIELDS: &[&str] = &[
        "convoke", "id", "native_id", "kind", "from", "to", "thread", "reply_to", "correlation", "task",
        "title", "text", "code", "data", "schema", "mime", "blob", "attachments", "refs",
        "priority", "severity", "created", "expires", "deadline", "delivery",
        "status", "result", "error", "metrics", "presence", "gate", "brief", "handoff", "origin",
    ];

    /// Writes the message as one line of JSON: its version first, what is absent left out, the unknown last.
    pub fn encode(&self) -> String {
        self.to_value().to_json()
    }

    /// Returns the message as a JSON object, in the same order.
    pub fn to_value(&self) -> Value<'_> {
        let mut members = Members::new();
        members.put("convoke", VERSION);
        self.put_head(&mut members);
        self.put_body(&mut members);
        self.put_parts(&mut members);
        members.with(&self.extra, Self::FIELDS)
    }

    /// Puts who, to whom and about what.
    fn put_head<'m>(&'m self, members: &mut Members<'m>) {
        members.maybe("id", self.id.map(|id| id.to_string()));
        members.maybe("native_id", self.native_id.as_ref().map(NativeId::as_str));
        members.put("kind", self.kind.name());
        members.put("from", self.from.as_str());
        members.put("to", self.to.iter().map(Address::to_string).map(Value::from).collect::<Vec<_>>());
        members.maybe("thread", self.thread.as_ref().map(ThreadId::as_str));
        members.maybe("reply_to", self.reply_to.as_ref().map(Reference::as_str));
        members.maybe("correlation", self.correlation.as_ref().map(Reference::as_str));
        members.maybe("task", self.task.as_ref().map(TaskId::as_str));
    }

    /// Puts what it says.
    fn put_body<'m>(&'m self, members: &mut Members<'m>) {
        members.maybe("title", self.title.as_deref());
        members.maybe("text", self.text.as_deref());
        members.maybe("code", self.code.as_deref());
        members.value("data", self.data.as_ref());
        members.maybe("schema", self.schema.as_deref());
        members.maybe("mime", self.mime.as_deref());
        members.maybe("blob", self.blob.as_ref().map(Uri::as_str));
        members.list("attachments", self.attachments.iter().map(Attachment::to_value));
        members.list("refs", self.refs.iter().map(Uri::as_str));
        members.maybe("priority", self.priority.map(Priority::name));
        members.maybe("severity", self.severity.map(Severity::name));
        members.maybe("created", self.created.as_ref().map(WrittenTimestamp::text));
        members.maybe("expires", self.expires.as_ref().map(WrittenTimestamp::text));
        members.maybe("deadline", self.deadline.as_ref().map(WrittenTimestamp::text));
    }

    /// Puts the parts that are objects of their own.
    fn put_parts<'m>(&'m self, members: &mut Members<'m>) {
        members.maybe("delivery", self.delivery.as_deref().map(DeliveryWishes::to_value));
        members.maybe("status", self.status.map(TaskStatus::name));
        members.value("result", self.result.as_ref());
        members.maybe("error", self.error.as_deref().map(Failure::to_value));
        members.maybe("metrics", self.metrics.as_deref().map(Metrics::to_value));
        members.maybe("presence", self.presence.as_deref().map(Presence::to_value));
        members.maybe("gate", self.gate.as_deref().map(Gate::to_value));
        members.maybe("brief", self.brief.as_deref().map(Brief::to_value));
        members.maybe("handoff", self.handoff.as_deref().map(Handoff::to_value));
        members.maybe("origin", self.origin.as_deref().map(Origin::to_value));
    }
}
