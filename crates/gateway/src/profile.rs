//! Profiles: what the doors keep of an agent besides its names. The broker stores it and does not read it.

use dialect::Identity;
use json::{Limits, Object, Value};
use message::AgentName;

use crate::TokenHash;

/// What the doors keep of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The hashes of the tokens that speak for it.
    pub tokens: Vec<TokenHash>,
    /// What it runs on.
    pub framework: Option<String>,
    /// Its DID.
    pub did: Option<String>,
    /// Its handle.
    pub handle: Option<String>,
    /// Its URI, such as `codex://ann`.
    pub uri: Option<String>,
}

impl Profile {
    /// Reads a profile as it was stored; what cannot be read counts as absent.
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(value) = json::parse(bytes, Limits::DOCUMENT) else { return Profile::default() };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let tokens = value.get("tokens").and_then(Value::as_array).unwrap_or_default();
        Profile {
            tokens: tokens.iter().filter_map(Value::as_str).filter_map(|hash| hash.parse().ok()).collect(),
            framework: text("framework"),
            did: text("did"),
            handle: text("handle"),
            uri: text("uri"),
        }
    }

    /// Writes the profile to be stored.
    pub fn write(&self) -> Vec<u8> {
        let mut members: Object<'_> = Object::new();
        let tokens = self.tokens.iter().map(|hash| Value::from(hash.to_string())).collect();
        members.insert("tokens", Value::Array(tokens));
        let texts = [
            ("framework", &self.framework),
            ("did", &self.did),
            ("handle", &self.handle),
            ("uri", &self.uri),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                members.insert(key, Value::from(text.as_str()));
            }
        }
        Value::Object(members).to_json().into_bytes()
    }

    /// Returns every other name of the agent.
    pub fn aliases(&self) -> Vec<&str> {
        [&self.did, &self.handle, &self.uri].into_iter().flatten().map(String::as_str).collect()
    }

    /// Returns what translation needs to know of the agent.
    pub fn identity(&self, name: AgentName) -> Identity {
        let mut identity = Identity::new(name);
        (identity.did, identity.handle) = (self.did.clone(), self.handle.clone());
        (identity.uri, identity.framework) = (self.uri.clone(), self.framework.clone());
        identity
    }
}
