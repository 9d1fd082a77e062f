//! What a subscriber wants to see.

use std::collections::BTreeSet;

use gateway::Query;
use json::{Limits, Value};

use crate::refused::Refused;
use crate::visitor::covers;

/// Collections and repositories that a subscriber names at most.
const COLLECTIONS_MAX: usize = 100;
const DIDS_MAX: usize = 10_000;

/// What a subscriber wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wishes {
    /// The collections, or how their names begin; all if there are none.
    collections: Vec<String>,
    /// The repositories, by their DIDs; all if there are none.
    dids: BTreeSet<String>,
    /// Bytes of an event at most; 0 is any number.
    bytes_max: u64,
    /// Behind which time to begin, in microseconds.
    pub(super) cursor: Option<u64>,
    /// Whether the subscriber will say what it wants before it wants anything.
    pub(super) awaits_hello: bool,
}

impl Wishes {
    pub(super) fn of_query(query: Query<'_>) -> Result<Self, Refused> {
        if query.flag("compress")? {
            return Err(Refused::invalid("this stream is not compressed: leave `compress` out"));
        }
        let all = |key: &str| -> Result<Vec<String>, Refused> {
            Ok(query.all(key)?.into_iter().map(|value| value.into_owned()).collect())
        };
        let mut wishes = Wishes {
            bytes_max: query.number("maxMessageSizeBytes")?.unwrap_or(0),
            cursor: query.number("cursor")?,
            awaits_hello: query.flag("requireHello")?,
            ..Wishes::default()
        };
        wishes.choose(all("wantedCollections")?, all("wantedDids")?).map_err(Refused::invalid)?;
        Ok(wishes)
    }

    /// Reads what a subscriber says later: all wishes anew.
    pub(super) fn update(&mut self, text: &str) -> Result<(), ()> {
        let value = json::parse_str(text, Limits::DOCUMENT).map_err(drop)?;
        if value.get("type").and_then(Value::as_str) != Some("options_update") {
            return Err(());
        }
        let payload = value.get("payload").ok_or(())?;
        let list = |key: &str| -> Result<Vec<String>, ()> {
            let Some(items) = payload.get(key).filter(|items| !items.is_null()) else {
                return Ok(Vec::new());
            };
            let texts = items.as_array().ok_or(())?.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<_>>().ok_or(())
        };
        let bytes_max = payload.get("maxMessageSizeBytes").and_then(Value::as_integer).unwrap_or(0);
        self.choose(list("wantedCollections")?, list("wantedDids")?).map_err(drop)?;
        self.bytes_max = u64::try_from(bytes_max).unwrap_or(0);
        self.awaits_hello = false;
        Ok(())
    }

    fn choose(&mut self, collections: Vec<String>, dids: Vec<String>) -> Result<(), String> {
        if collections.len() > COLLECTIONS_MAX || dids.len() > DIDS_MAX {
            return Err(format!("at most {COLLECTIONS_MAX} collections and {DIDS_MAX} DIDs"));
        }
        let is_wrong = |collection: &&String| {
            // A prefix ends where a segment does.
            let name =
                collection.strip_suffix(".*").map_or((*collection).clone(), |start| format!("{start}.x"));
            atproto_syntax::nsid::check(&name).is_err()
        };
        if let Some(wrong) = collections.iter().find(is_wrong) {
            return Err(format!("{wrong:?} is not the name of a collection, nor the beginning of some"));
        }
        (self.collections, self.dids) = (collections, dids.into_iter().collect());
        Ok(())
    }

    pub(super) fn wants_collection(&self, collection: &str) -> bool {
        self.collections.is_empty() || self.collections.iter().any(|pattern| covers(pattern, collection))
    }

    pub(super) fn wants_did(&self, did: &str) -> bool {
        self.dids.is_empty() || self.dids.contains(did)
    }

    pub(super) fn wants_size(&self, bytes: usize) -> bool {
        self.bytes_max == 0 || bytes as u64 <= self.bytes_max
    }
}
