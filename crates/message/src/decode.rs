//! Reading the `convoke` dialect.

use json::{Finding, Limits, Source, Value};

use crate::limits::{LIST_ITEMS_MAX, RECIPIENTS_MAX};
use crate::read::{self, Fields, Place, anything, boxed, list, number, object, parsed, string, word};
use crate::{
    Address, Attachment, Brief, DeliveryWishes, Failure, Gate, Handoff, Message, Metrics, Origin, Presence,
    WrittenTimestamp, codes,
};

/// The version of the format that we read and write.
pub(crate) const VERSION: i64 = 1;

/// A message that was read, and what was odd about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Decoded {
    /// The message.
    pub message: Message,
    /// What its sender should know, though the message is valid.
    pub warnings: Vec<Finding>,
}

/// Reads a message, or reports everything that is wrong with it.
pub fn decode(bytes: &[u8], limits: Limits) -> Result<Decoded, Vec<Finding>> {
    match json::parse(bytes, limits) {
        Ok(value) => from_value(value),
        Err(error) => Err(vec![Finding {
            path: String::new(),
            code: error.kind.code(),
            source: Source::Schema,
            message: error.to_string(),
        }]),
    }
}

/// Reads a message from a parsed document, or reports everything that is wrong with it.
pub fn from_value(value: Value<'_>) -> Result<Decoded, Vec<Finding>> {
    let (message, warnings) = read::document(value, read_message)?;
    Ok(Decoded { message, warnings })
}

fn read_message(fields: &mut Fields<'_, '_, '_>) -> Option<Message> {
    // Another version may mean anything else by its fields, so nothing is said about them.
    let stated = fields.has("convoke");
    if fields.optional("convoke", version).is_none() && stated {
        return None;
    }
    let kind = fields.required("kind", word);
    let from = fields.required("from", parsed);
    let to = fields.required("to", recipients);
    let message = Message {
        id: fields.optional("id", parsed),
        native_id: fields.optional("native_id", parsed),
        thread: fields.optional("thread", parsed),
        reply_to: fields.optional("reply_to", parsed),
        correlation: fields.optional("correlation", parsed),
        task: fields.optional("task", parsed),
        title: fields.optional("title", string),
        text: fields.optional("text", string),
        code: fields.optional("code", string),
        data: fields.optional("data", anything),
        schema: fields.optional("schema", string),
        mime: fields.optional("mime", string),
        blob: fields.optional("blob", parsed),
        attachments: fields.list("attachments", LIST_ITEMS_MAX, object(Attachment::read)),
        refs: fields.list("refs", LIST_ITEMS_MAX, parsed),
        priority: fields.optional("priority", word),
        severity: fields.optional("severity", word),
        created: fields.optional("created", parsed),
        expires: fields.optional("expires", parsed),
        deadline: fields.optional("deadline", parsed),
        delivery: fields.optional("delivery", boxed(DeliveryWishes::read)),
        status: fields.optional("status", word),
        result: fields.optional("result", anything),
        error: fields.optional("error", boxed(Failure::read)),
        metrics: fields.optional("metrics", boxed(Metrics::read)),
        presence: fields.optional("presence", boxed(Presence::read)),
        gate: fields.optional("gate", boxed(Gate::read)),
        brief: fields.optional("brief", boxed(Brief::read)),
        handoff: fields.optional("handoff", boxed(Handoff::read)),
        origin: fields.optional("origin", boxed(Origin::read)),
        extra: fields.rest(),
        // The required ones last: what comes before is read, and reported, also where they are missing.
        kind: kind?,
        from: from?,
        to: to?,
    };
    warn_of_odd_id(&message, fields);
    warn_of_odd_times(&message, fields);
    Some(message)
}

fn version(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<()> {
    let stated = number(value, place)?;
    if stated.as_integer() == Some(VERSION) {
        return Some(());
    }
    place.refuse(codes::UNSUPPORTED_VERSION, || {
        format!("version {} is not read here, only {VERSION}", stated.lexeme())
    })
}

/// Reads the recipients. One string in place of the list is plain enough to be taken.
fn recipients(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<Vec<Address>> {
    if value.as_str().is_some() {
        let recipient = parsed(value, place)?;
        place.warn(codes::BARE_RECIPIENT, || format!("write a list: [\"{recipient}\"]"));
        return Some(vec![recipient]);
    }
    if value.as_array().is_some_and(<[_]>::is_empty) {
        return place.refuse(codes::REQUIRED, || "name at least one recipient".to_owned());
    }
    list(RECIPIENTS_MAX, parsed)(value, place)
}

fn warn_of_odd_id(message: &Message, fields: &mut Fields<'_, '_, '_>) {
    if message.id.is_some_and(|id| !id.is_v7()) {
        fields.at("id", |place| {
            place.warn(codes::ID_NOT_V7, || {
                "our ids are UUIDs of version 7; put yours into `native_id`".to_owned()
            });
        });
    }
}

fn warn_of_odd_times(message: &Message, fields: &mut Fields<'_, '_, '_>) {
    let Some(created) = message.created.as_ref().map(WrittenTimestamp::at) else {
        return;
    };
    let ends = [
        ("expires", &message.expires, codes::EXPIRES_BEFORE_CREATED),
        ("deadline", &message.deadline, codes::DEADLINE_BEFORE_CREATED),
    ];
    for (key, end, code) in ends {
        if end.as_ref().is_some_and(|end| end.at() < created) {
            fields.at(key, |place| place.warn(code, || "it lies before `created`".to_owned()));
        }
    }
}
