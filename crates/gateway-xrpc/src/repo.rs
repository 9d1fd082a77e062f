//! What calls about records have in common: what they name, and who may read what is there.

use std::str::FromStr;

use atproto_syntax::{AtIdentifier, Cid, SyntaxError};
use broker::{AgentKey, Digest};
use dialect::Recipients;
use dialect_comms::Record;
use gateway::{Fields, Hub, Principal, Query};
use json::{Limits, Value};
use message::{Address, AgentName, Envelope};

use crate::refused::Refused;
use crate::visitor::Visitor;

/// What the running network calls a request.
const DRIFTED_REQUEST: &str = "agent.comms.task";
/// Where a record carries the document that it was made of.
const ORIGIN: &str = "xOrigin";

/// Returns a parameter that must be there.
pub(crate) fn param<'q>(query: Query<'q>, name: &str) -> Result<std::borrow::Cow<'q, str>, Refused> {
    query.get(name)?.ok_or_else(|| Refused::invalid(format!("Error: Params must have the property {name:?}")))
}

/// Returns a text that must be in the body.
pub(crate) fn input<'f>(fields: &'f Fields<'_>, name: &str) -> Result<&'f str, Refused> {
    fields.text(name)?.ok_or_else(|| Refused::invalid(format!("Input must have the property {name:?}")))
}

/// Refuses a text that is not what it must be.
pub(crate) fn well_formed<T: FromStr<Err = SyntaxError>>(name: &str, text: &str) -> Result<(), Refused> {
    let wrong = |error: SyntaxError| Refused::invalid(format!("Input/{name}: {error}"));
    text.parse::<T>().map(drop).map_err(wrong)
}

/// Refuses a text that cannot be the DID, the handle or the name of anybody.
pub(crate) fn identifier(name: &str, text: &str) -> Result<(), Refused> {
    if text.parse::<AgentName>().is_ok() {
        return Ok(());
    }
    well_formed::<AtIdentifier>(name, text)
}

/// Reads a CID that something is compared with.
pub(crate) fn digest(name: &str, text: &str) -> Result<Digest, Refused> {
    let cid = text.parse::<Cid>().ok().and_then(|cid| cid.decode().ok());
    let digest = cid.and_then(|parts| parts.digest.try_into().ok()).map(Digest);
    digest.ok_or_else(|| Refused::invalid(format!("Input/{name} must be a cid string")))
}

/// Returns the record that the log holds, as text; for whoever reads what everybody may read, without the document
/// that it was made of.
pub(crate) fn text(visitor: &Visitor, body: &[u8]) -> Option<String> {
    let envelope = Envelope::open(body)?;
    let text = std::str::from_utf8(envelope.document).ok()?;
    if visitor.principal.is_some() || !text.contains(ORIGIN) {
        return Some(text.to_owned());
    }
    let mut value = json::parse_str(text, Limits::DOCUMENT).ok()?;
    value.as_object_mut()?.remove(ORIGIN);
    Some(value.to_json())
}

impl Visitor {
    /// Tells whether a record of somebody may be read: by its owner, by those to whom it goes, by the operator, and by
    /// everybody where it is meant for everybody.
    pub(crate) fn may_read(&self, repo: AgentKey, collection: &str, body: &[u8]) -> bool {
        match &self.principal {
            None => self.door.is_public(collection),
            Some(principal) => {
                principal.acts_as(repo)
                    || self.door.is_public(collection)
                    || !is_private(collection)
                    || is_party(&self.hub, principal, body)
            }
        }
    }
}

/// Tells whether records of a collection are for those alone to whom they go.
fn is_private(collection: &str) -> bool {
    match Record::from_name(collection) {
        Some(Record::Message | Record::Request | Record::Response | Record::Handoff) => true,
        Some(Record::Broadcast) => false,
        None => collection == DRIFTED_REQUEST,
    }
}

/// Tells whether a record goes to somebody, or to whoever takes it. One that cannot be understood goes to nobody.
fn is_party(hub: &Hub, principal: &Principal, body: &[u8]) -> bool {
    let Some(envelope) = Envelope::open(body) else { return false };
    let Ok(value) = json::parse(envelope.document, Limits::DOCUMENT) else { return false };
    let Some(recipients) = value.as_object().and_then(dialect_comms::recipients) else { return false };
    let is_it = |name: &str| hub.resolve(name).is_some_and(|(_, agent)| principal.acts_as(agent));
    match recipients {
        Recipients::Everyone | Recipients::Anyone => true,
        Recipients::One(one) => is_it(one),
        Recipients::Each(items) => {
            items.iter().filter_map(Value::as_str).any(|item| is_group(item) || is_it(item))
        }
    }
}

fn is_group(address: &str) -> bool {
    match address.parse::<Address>() {
        Ok(Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All) => true,
        Ok(Address::Agent(_) | Address::Session { .. }) | Err(_) => false,
    }
}
