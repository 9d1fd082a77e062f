//! Profiles: what the doors keep of an agent besides its names. The broker stores it and does not read it.

use broker::Time;
use dialect::Identity;
use json::{Limits, Object, Value};
use message::AgentName;

use crate::{Token, TokenHash};

/// What the doors keep of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The tokens that speak for it.
    pub tokens: Vec<TokenNote>,
    /// The sessions that were opened with them.
    pub sessions: Vec<SessionNote>,
    /// Other agents in whose name its tokens speak too.
    pub speaks_for: Vec<AgentName>,
    /// What it runs on.
    pub framework: Option<String>,
    /// Its DID.
    pub did: Option<String>,
    /// Its handle.
    pub handle: Option<String>,
    /// Its URI, such as `codex://ann`.
    pub uri: Option<String>,
    /// What it says of itself at the door of its own protocol, as JSON.
    pub descriptor: Option<String>,
    /// Its Agent Card, as JSON.
    pub card: Option<String>,
}

/// What is kept of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenNote {
    /// Its hash.
    pub hash: TokenHash,
    /// When it stops to speak for its agent, if ever.
    pub expires: Option<Time>,
}

/// What is kept of a session: by what it is known, and how often it was renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionNote {
    /// By which it is known.
    pub id: String,
    /// The token with which it was opened; none where nobody needs one. It ends with its token.
    pub token: Option<TokenHash>,
    /// How often it was renewed.
    pub renewals: u64,
    /// When it was renewed last, or opened.
    pub renewed: Time,
    /// When it ends if it is not renewed.
    pub expires: Time,
}

impl SessionNote {
    fn read(value: &Value<'_>) -> Option<Self> {
        let number = |key: &str| value.get(key)?.as_integer().and_then(|number| u64::try_from(number).ok());
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(SessionNote {
            id: text("id")?.to_owned(),
            token: text("token").map(str::parse).transpose().ok()?,
            renewals: number("renewals")?,
            renewed: Time(number("renewed")?),
            expires: Time(number("expires")?),
        })
    }

    fn write(&self) -> Value<'_> {
        let mut members: Object<'_> = Object::new();
        members.insert("id", Value::from(self.id.as_str()));
        if let Some(token) = self.token {
            members.insert("token", Value::from(token.to_string()));
        }
        for (key, number) in
            [("renewals", self.renewals), ("renewed", self.renewed.0), ("expires", self.expires.0)]
        {
            members.insert(key, Value::from(number));
        }
        Value::Object(members)
    }
}

impl TokenNote {
    /// Tells whether a token is this one, and still good.
    pub fn lets_in(&self, token: &Token, wall: Time) -> bool {
        self.hash.is_of(token) && self.expires.is_none_or(|expires| wall < expires)
    }

    fn read(value: &Value<'_>) -> Option<Self> {
        let hash = value.get("hash").and_then(Value::as_str)?.parse().ok()?;
        let expires = value.get("expires").and_then(Value::as_integer);
        Some(TokenNote { hash, expires: expires.and_then(|ms| u64::try_from(ms).ok()).map(Time) })
    }

    fn write(&self) -> Value<'static> {
        let mut members: Object<'static> = Object::new();
        members.insert("hash", Value::from(self.hash.to_string()));
        if let Some(expires) = self.expires {
            members.insert("expires", Value::from(expires.0));
        }
        Value::Object(members)
    }
}

impl Profile {
    /// Reads a profile as it was stored; what cannot be read counts as absent.
    pub fn read(bytes: &[u8]) -> Self {
        let Ok(value) = json::parse(bytes, Limits::DOCUMENT) else { return Profile::default() };
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let list = |key: &str| value.get(key).and_then(Value::as_array).unwrap_or_default();
        Profile {
            tokens: list("tokens").iter().filter_map(TokenNote::read).collect(),
            sessions: list("sessions").iter().filter_map(SessionNote::read).collect(),
            speaks_for: list("speaks_for")
                .iter()
                .filter_map(Value::as_str)
                .filter_map(|name| name.parse().ok())
                .collect(),
            framework: text("framework"),
            did: text("did"),
            handle: text("handle"),
            uri: text("uri"),
            descriptor: text("descriptor"),
            card: text("card"),
        }
    }

    /// Writes the profile to be stored.
    pub fn write(&self) -> Vec<u8> {
        let mut members: Object<'_> = Object::new();
        members.insert("tokens", Value::Array(self.tokens.iter().map(TokenNote::write).collect()));
        if !self.sessions.is_empty() {
            members.insert("sessions", Value::Array(self.sessions.iter().map(SessionNote::write).collect()));
        }
        if !self.speaks_for.is_empty() {
            let names = self.speaks_for.iter().map(|name| Value::from(name.as_str())).collect();
            members.insert("speaks_for", Value::Array(names));
        }
        let texts = [
            ("framework", &self.framework),
            ("did", &self.did),
            ("handle", &self.handle),
            ("uri", &self.uri),
            ("descriptor", &self.descriptor),
            ("card", &self.card),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                members.insert(key, Value::from(text.as_str()));
            }
        }
        Value::Object(members).to_json().into_bytes()
    }

    /// Tells whether a token speaks for the agent now.
    pub fn has(&self, token: TokenHash, wall: Time) -> bool {
        let mut tokens = self.tokens.iter().filter(|note| note.expires.is_none_or(|expires| wall < expires));
        tokens.any(|note| note.hash == token)
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
