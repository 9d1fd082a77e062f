//! Lenses: which field of a document corresponds to which field of the canonical message, and how a value of
//! one becomes a value of the other. The same row is read in both directions.

use json::Value;

use crate::Names;

/// A correspondence between two places, both JSON Pointers.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// The place in a document of the dialect.
    pub native: &'static str,
    /// The place in the canonical message, as its JSON form has it.
    pub canonical: &'static str,
    /// How values correspond.
    pub codec: Codec,
}

/// How values correspond.
#[derive(Clone, Copy, Debug)]
pub enum Codec {
    /// They are the same, whatever they are.
    Same,
    /// They are the same text; anything else is not carried.
    Text,
    /// Words against words, the native one first; the first row that fits counts.
    Words(&'static [(&'static str, &'static str)]),
    /// An agent, which must be one.
    Agent(IdForm),
    /// An agent, a role or everyone.
    Address(IdForm),
    /// A list of agents.
    Agents(IdForm),
    /// A list of texts against a list of attachments with those URIs.
    Uris,
    /// A text against the first of a list of texts.
    First,
    /// Functions for what is special; `None` means that the value cannot be said on the other side.
    Custom {
        /// From the document to the message.
        decode: Convert,
        /// From the message to the document.
        encode: Convert,
    },
}

/// Converts a value in one direction.
pub type Convert = fn(&Value<'_>, &Names) -> Option<Value<'static>>;

/// What an agent is called in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdForm {
    /// By its name.
    Slug,
    /// By its DID, or one that stands in.
    Did,
    /// By its URI, where it has one.
    Uri,
    /// By whatever text names it.
    Opaque,
}

impl Codec {
    /// Turns a value of a document into one of the message.
    pub(crate) fn decode(self, value: &Value<'_>, names: &Names) -> Option<Value<'static>> {
        match self {
            Codec::Same => Some(value.clone().into_owned()),
            Codec::Text => value.as_str().map(|text| Value::from(text.to_owned())),
            Codec::Words(rows) => {
                let word = value.as_str()?;
                rows.iter().find(|(native, _)| *native == word).map(|(_, canonical)| Value::from(*canonical))
            }
            Codec::Agent(_) => value.as_str().map(|text| Value::from(names.agent(text).to_string())),
            Codec::Address(_) => value.as_str().map(|text| Value::from(names.address(text).to_string())),
            Codec::Agents(_) => {
                let agents = value.as_array()?.iter().filter_map(Value::as_str);
                Some(Value::Array(agents.map(|text| Value::from(names.agent(text).to_string())).collect()))
            }
            Codec::Uris => {
                let uris = value.as_array()?.iter().filter_map(Value::as_str);
                Some(Value::Array(uris.map(attachment).collect()))
            }
            Codec::First => value.as_str().map(|text| Value::Array(vec![Value::from(text.to_owned())])),
            Codec::Custom { decode, .. } => decode(value, names),
        }
    }

    /// Turns a value of the message into one of a document; tells also whether it had to be made up.
    pub(crate) fn encode(self, value: &Value<'_>, names: &Names) -> Option<(Value<'static>, bool)> {
        let told = |value| Some((value, false));
        match self {
            Codec::Same => told(value.clone().into_owned()),
            Codec::Text => told(Value::from(value.as_str()?.to_owned())),
            Codec::Words(rows) => {
                let word = value.as_str()?;
                let row = rows.iter().find(|(_, canonical)| *canonical == word)?;
                told(Value::from(row.0))
            }
            Codec::Agent(form) | Codec::Address(form) => {
                let (text, known) = form.write(value.as_str()?, names);
                Some((Value::from(text), !known))
            }
            Codec::Agents(form) => {
                let agents = value.as_array()?.iter().filter_map(Value::as_str);
                let (texts, known): (Vec<_>, Vec<_>) = agents.map(|agent| form.write(agent, names)).unzip();
                Some((Value::Array(texts.into_iter().map(Value::from).collect()), known.contains(&false)))
            }
            Codec::Uris => {
                let uris = value.as_array()?.iter().filter_map(|item| item.get("uri")?.as_str());
                told(Value::Array(uris.map(|uri| Value::from(uri.to_owned())).collect()))
            }
            Codec::First => told(Value::from(value.as_array()?.first()?.as_str()?.to_owned())),
            Codec::Custom { encode, .. } => told(encode(value, names)?),
        }
    }
}

impl IdForm {
    /// Returns what an agent is called, and whether that is known rather than made up.
    pub fn write(self, agent: &str, names: &Names) -> (String, bool) {
        match self {
            IdForm::Slug => (names.slug(agent), true),
            IdForm::Did => names.did(agent),
            IdForm::Uri => (names.uri(agent), true),
            IdForm::Opaque => (agent.to_owned(), true),
        }
    }
}

fn attachment(uri: &str) -> Value<'static> {
    Value::Object([("uri", Value::from(uri.to_owned()))].into_iter().collect())
}
