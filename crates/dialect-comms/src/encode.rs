//! Writing a message as a record.
//!
//! The record's own fields are written first. What a reader of these fields would not learn of the message is
//! found by reading them, and goes into an envelope; so the two cannot drift apart.

mod content;
mod fields;
mod response;
mod rest;

use dialect::{Encoded, Names, Sheet};
use message::Message;

use crate::Record;

/// Writes a message.
pub(crate) fn encode(message: &Message, names: &Names) -> Encoded {
    let record = Record::of(message);
    let mut sheet = Sheet::new(message, names);
    sheet.set("/$type", "/kind", record.name());
    let shows = match record {
        Record::Message => fields::message(&mut sheet),
        Record::Broadcast => fields::broadcast(&mut sheet),
        Record::Request => fields::request(&mut sheet),
        Record::Response => fields::response(&mut sheet),
        Record::Handoff => fields::handoff(&mut sheet),
    };
    let mut encoded = sheet.finish();
    rest::write(message, names, record, shows, &mut encoded);
    encoded
}
