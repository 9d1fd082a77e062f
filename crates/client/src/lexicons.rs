//! Lexicons: what records and the content of messages are checked against.

use hyper::Method;
use json::Value;

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, read};

const LEXICONS: &str = "/v1/lexicons";

/// A lexicon that the bus knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Lexicon {
    /// Its name.
    pub id: String,
    /// From whom the bus has it: `convoke` or `operator`.
    pub source: Option<String>,
    /// What it says of itself.
    pub description: Option<String>,
    /// The lexicon itself, where it is the operator's and was asked for.
    pub document: Option<Value<'static>>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// A lexicon that was added.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LexiconAdded {
    /// Its name.
    pub id: String,
    /// Whether the bus had it otherwise, or not at all.
    pub changed: bool,
    /// What lexicons refer to and the bus does not know.
    pub unresolved: Vec<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

impl Client {
    /// Lists the lexicons that the bus knows.
    pub async fn lexicons(&self) -> Result<Vec<Lexicon>, ClientError> {
        self.look_up(Target::new(LEXICONS), |value| read::list(&value, "lexicons", lexicon)).await
    }

    /// Lists the lexicons that the bus knows, those of the operator with what they say.
    pub async fn lexicon_documents(&self) -> Result<Vec<Lexicon>, ClientError> {
        let target = Target::new(LEXICONS).maybe("documents", Some(true));
        self.look_up(target, |value| read::list(&value, "lexicons", lexicon)).await
    }

    /// Adds a lexicon, or replaces the one of the same name; one that breaks it only if that is forced.
    pub async fn put_lexicon(&self, document: &str, force: bool) -> Result<LexiconAdded, ClientError> {
        let target = Target::new(LEXICONS).maybe("force", force.then_some(true)).into_text();
        self.ask(Call::new(Method::PUT, target).body(document), |value| added(&value)).await
    }
}

fn lexicon(value: &Value<'_>) -> Result<Lexicon, ClientError> {
    Ok(Lexicon {
        id: read::text(value, "id")?,
        source: read::text_maybe(value, "source"),
        description: read::text_maybe(value, "description"),
        document: value.get("document").cloned().map(Value::into_owned),
        json: value.clone().into_owned(),
    })
}

fn added(value: &Value<'_>) -> Result<LexiconAdded, ClientError> {
    let unresolved = value.get("unresolved").and_then(Value::as_array).unwrap_or_default();
    Ok(LexiconAdded {
        id: read::text(value, "id")?,
        changed: value.get("changed").and_then(Value::as_bool).unwrap_or(false),
        unresolved: unresolved.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        json: value.clone().into_owned(),
    })
}
