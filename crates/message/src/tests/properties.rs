//! Properties of reading and writing: nothing is lost, nothing panics, every refusal has a reason.

use json::{Limits, Source, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::generators::{json_value, message};
use super::parse;
use crate::{
    Attachment, Brief, DeliveryWishes, Failure, Gate, Handoff, Message, Metrics, Origin, Presence, decode,
    from_value,
};

/// Fields whose value is an object, with the fields inside.
const PARTS: [(&str, &[&str]); 9] = [
    ("attachments", Attachment::FIELDS),
    ("delivery", DeliveryWishes::FIELDS),
    ("error", Failure::FIELDS),
    ("metrics", Metrics::FIELDS),
    ("presence", Presence::FIELDS),
    ("gate", Gate::FIELDS),
    ("brief", Brief::FIELDS),
    ("handoff", Handoff::FIELDS),
    ("origin", Origin::FIELDS),
];

/// One change of a byte string.
#[derive(Clone, Debug)]
pub(super) enum Damage {
    Set(Index, u8),
    Insert(Index, u8),
    Remove(Index),
    Cut(Index),
}

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let byte = prop_oneof![any::<u8>(), select(b"{}[]\":,0\\-ntf".as_slice())];
    prop_oneof![
        4 => (any::<Index>(), byte.clone()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        4 => (any::<Index>(), byte).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        4 => any::<Index>().prop_map(Damage::Remove),
        1 => any::<Index>().prop_map(Damage::Cut),
    ]
}

impl Damage {
    pub(super) fn apply(&self, bytes: &mut Vec<u8>) {
        let count = bytes.len();
        if count == 0 {
            return;
        }
        match self {
            Damage::Set(at, byte) => bytes[at.index(count)] = *byte,
            Damage::Insert(at, byte) => bytes.insert(at.index(count), *byte),
            Damage::Remove(at) => drop(bytes.remove(at.index(count))),
            Damage::Cut(at) => bytes.truncate(at.index(count)),
        }
    }
}

/// A message with anything in some of its known fields, so that every reader sees everything.
pub(super) fn jumble() -> impl Strategy<Value = Value<'static>> {
    let part = select(PARTS.as_slice()).prop_flat_map(|(key, fields)| {
        let members = vec((select(fields), json_value()), 0..6);
        members.prop_map(move |members| {
            let part = Value::Object(members.into_iter().collect());
            (key, if key == "attachments" { Value::Array(vec![part]) } else { part })
        })
    });
    let member = prop_oneof![(select(Message::FIELDS), json_value()), part];
    vec(member, 0..6).prop_map(|members| {
        let mut document = parse(r#"{"kind":"note","from":"ann","to":["bob"]}"#);
        let object = document.as_object_mut().unwrap();
        for (key, value) in members {
            object.insert(key, value);
        }
        document
    })
}

/// Either there is a message that survives, or there is a reason why not.
fn sound(bytes: &[u8]) -> Result<(), TestCaseError> {
    match decode(bytes, Limits::DOCUMENT) {
        Ok(decoded) => {
            let again = decode(decoded.message.encode().as_bytes(), Limits::DOCUMENT);
            prop_assert_eq!(again.unwrap().message, decoded.message);
        }
        Err(findings) => prop_assert!(!findings.is_empty()),
    }
    Ok(())
}

proptest! {
    #[test]
    fn messages_survive(message in message()) {
        let text = message.encode();
        let decoded = decode(text.as_bytes(), Limits::DOCUMENT).unwrap();
        prop_assert_eq!(&decoded.message, &message);
        prop_assert_eq!(decoded.message.encode(), text);
        prop_assert!(decoded.warnings.iter().all(|warning| warning.source == Source::Rule));
        prop_assert_eq!(from_value(message.to_value()).unwrap().message, message);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..64)) {
        sound(&bytes)?;
    }

    #[test]
    fn any_json_is_read_or_refused(value in json_value()) {
        sound(value.to_string().as_bytes())?;
    }

    #[test]
    fn any_values_in_known_fields_are_read_or_refused(value in jumble()) {
        sound(value.to_string().as_bytes())?;
    }

    #[test]
    fn damaged_documents_are_read_or_refused(message in message(), damages in vec(damage(), 1..4)) {
        let mut bytes = message.encode().into_bytes();
        damages.iter().for_each(|damage| damage.apply(&mut bytes));
        sound(&bytes)?;
    }
}
