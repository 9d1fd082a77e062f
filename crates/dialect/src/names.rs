//! What agents are called: one name here, a DID, a handle, a URI elsewhere.
//!
//! Without an entry a stand-in is made, the same every time and valid in its place; whoever writes it reports
//! it as invented.

use std::collections::HashMap;

use json::{Object, Value};
use message::{Address, AgentName, AgentRef, Alias};

const STAND_IN_SUFFIX: &str = ".agent.invalid";
const STAND_IN_PREFIX: &str = "did:web:";
const LABEL_BYTES_MAX: usize = 63;

/// The identities of agents, by every name they have.
#[derive(Clone, Debug, Default)]
pub struct Names {
    identities: Vec<Identity>,
    by_alias: HashMap<String, usize>,
    /// Agents whose names are no labels of a host name, by the labels that stand in for them.
    by_label: HashMap<String, AgentName>,
    revision: u64,
}

/// One agent and what it is called in each dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity {
    /// Its name on the bus.
    pub slug: AgentName,
    /// Its DID.
    pub did: Option<String>,
    /// Its handle.
    pub handle: Option<String>,
    /// Its URI, such as `codex://ann`.
    pub uri: Option<String>,
    /// What it runs on.
    pub framework: Option<String>,
    /// The roles whose queues it serves.
    pub roles: Vec<String>,
}

/// Why a registry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityError {
    /// Where, as a JSON Pointer.
    pub path: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for IdentityError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if self.path.is_empty() { "(document)" } else { &self.path };
        write!(f, "{place}: {}", self.message)
    }
}

impl std::error::Error for IdentityError {}

impl Names {
    /// Reads a registry: a list of identities, or an object with the list `agents`.
    pub fn from_value(value: &Value<'_>) -> Result<Self, IdentityError> {
        let (list, place) = match value.get("agents") {
            Some(agents) => (agents, "/agents"),
            None => (value, ""),
        };
        let Value::Array(items) = list else {
            return Err(error(place, "expected a list of agents, each with its slug"));
        };
        let mut names = Names::default();
        for (index, item) in items.iter().enumerate() {
            let place = format!("{place}/{index}");
            let identity = Identity::from_value(item, &place)?;
            names
                .add(identity)
                .map_err(|alias| error(&place, &format!("{alias:?} belongs to another agent")))?;
        }
        Ok(names)
    }

    /// Returns how often an identity was added or removed. What was computed from these names holds for as long as
    /// the revision stays the same.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Adds an identity; an alias that belongs to another one is returned, and nothing is added.
    pub fn add(&mut self, identity: Identity) -> Result<(), String> {
        let at = self.identities.len();
        if let Some(taken) = identity.aliases().find(|alias| self.by_alias.contains_key(*alias)) {
            return Err(taken.to_owned());
        }
        self.revision += 1;
        self.by_alias.extend(identity.aliases().map(|alias| (alias.to_owned(), at)));
        let label = label(identity.slug.as_str());
        if label != identity.slug.as_str() {
            self.by_label.entry(label).or_insert_with(|| identity.slug.clone());
        }
        self.identities.push(identity);
        Ok(())
    }

    /// Forgets the identity that has this slug.
    pub fn remove(&mut self, slug: &str) {
        let Some(at) = self.by_alias.get(slug).copied() else { return };
        if self.identities[at].slug.as_str() != slug {
            return;
        }
        self.revision += 1;
        let gone = self.identities.swap_remove(at);
        let label = label(slug);
        if self.by_label.get(&label).is_some_and(|other| other.as_str() == slug) {
            self.by_label.remove(&label);
        }
        for alias in gone.aliases() {
            self.by_alias.remove(alias);
        }
        // The last one has its place now.
        if let Some(moved) = self.identities.get(at) {
            self.by_alias.extend(moved.aliases().map(|alias| (alias.to_owned(), at)));
        }
    }

    /// Returns the identity that has this name or alias.
    pub fn find(&self, alias: &str) -> Option<&Identity> {
        self.by_alias.get(alias).map(|at| &self.identities[*at])
    }

    /// Returns who is meant by a name that stands in a document, as a sender or one recipient.
    pub fn agent(&self, native: &str) -> AgentRef {
        if let Some(identity) = self.find(native) {
            return AgentRef::Name(identity.slug.clone());
        }
        if let Some(name) = stood_in(native) {
            let meant = self.by_label.get(name.as_str()).filter(|_| self.find(name.as_str()).is_none());
            return AgentRef::Name(meant.cloned().unwrap_or(name));
        }
        let name = Names::proposed(native);
        // Who has a URI of its own is not meant by another one that happens to end like its name.
        let is_another =
            native.contains("://") && self.find(name.as_str()).is_some_and(|it| it.uri.is_some());
        if (native.starts_with("did:") || is_another)
            && let Ok(alias) = native.parse::<Alias>()
        {
            return AgentRef::Alias(alias);
        }
        AgentRef::Name(name)
    }

    /// Returns the name that an agent of whom nobody has heard would get here.
    pub fn proposed(native: &str) -> AgentName {
        slug(native.split_once("://").map_or(native, |(_, path)| path))
    }

    /// Returns who is meant by an address that stands in a document: agents, but also roles and everyone.
    pub fn address(&self, native: &str) -> Address {
        if self.find(native).is_none()
            && let Ok(address) = native.parse::<Address>()
            && !matches!(address, Address::Agent(_))
        {
            return address;
        }
        Address::Agent(self.agent(native))
    }

    /// Returns the name of an agent in the form of a slug.
    pub fn slug(&self, agent: &str) -> String {
        if let Some(identity) = self.find(agent) {
            return identity.slug.to_string();
        }
        if agent.parse::<AgentName>().is_ok()
            || agent.parse::<Address>().is_ok_and(|address| !matches!(address, Address::Agent(_)))
        {
            return agent.to_owned();
        }
        slug(agent).to_string()
    }

    /// Returns the DID of an agent, and whether it is known or stands in.
    pub fn did(&self, agent: &str) -> (String, bool) {
        let known = self.find(agent).and_then(|identity| identity.did.clone());
        match known {
            Some(did) => (did, true),
            None if agent.starts_with("did:") => (agent.to_owned(), true),
            None => (format!("{STAND_IN_PREFIX}{}{STAND_IN_SUFFIX}", label(agent)), false),
        }
    }

    /// Returns the URI of an agent where it has one, else its name.
    pub fn uri(&self, agent: &str) -> String {
        let known = self.find(agent).and_then(|identity| identity.uri.clone());
        known.unwrap_or_else(|| agent.to_owned())
    }

    /// Returns what an agent runs on: by its entry, or by the scheme of its URI.
    pub fn framework(&self, agent: &str) -> Option<String> {
        let known = self.find(agent).and_then(|identity| identity.framework.clone());
        known.or_else(|| agent.split_once("://").map(|(scheme, _)| scheme.to_owned()))
    }

    /// Returns the handle of an agent.
    pub fn handle(&self, agent: &str) -> Option<&str> {
        self.find(agent).and_then(|identity| identity.handle.as_deref())
    }
}

impl Identity {
    /// Makes an identity of which only the name is known.
    pub fn new(slug: AgentName) -> Self {
        Identity { slug, did: None, handle: None, uri: None, framework: None, roles: Vec::new() }
    }

    /// Returns everything that it is called.
    fn aliases(&self) -> impl Iterator<Item = &str> {
        let others = [&self.did, &self.handle, &self.uri].into_iter().flatten().map(String::as_str);
        std::iter::once(self.slug.as_str()).chain(others)
    }

    fn from_value(value: &Value<'_>, place: &str) -> Result<Self, IdentityError> {
        let Value::Object(object) = value else { return Err(error(place, "expected an object with slug")) };
        let text = |key: &str| match object.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(error(&format!("{place}/{key}"), "expected a string")),
        };
        let slug = text("slug")?.ok_or_else(|| error(&format!("{place}/slug"), "slug is required"))?;
        let slug = slug.parse().map_err(|wrong| error(&format!("{place}/slug"), &format!("{wrong}")))?;
        Ok(Identity {
            slug,
            did: text("did")?,
            handle: text("handle")?,
            uri: text("uri")?,
            framework: text("framework")?,
            roles: roles(object, place)?,
        })
    }
}

fn roles(object: &Object<'_>, place: &str) -> Result<Vec<String>, IdentityError> {
    let Some(roles) = object.get("roles") else { return Ok(Vec::new()) };
    let wrong = || error(&format!("{place}/roles"), "expected a list of strings");
    let roles = roles.as_array().ok_or_else(wrong)?;
    roles.iter().map(|role| role.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn error(path: &str, message: &str) -> IdentityError {
    IdentityError { path: path.to_owned(), message: message.to_owned() }
}

/// Makes a valid name of any text: lower case, other characters as hyphens, never a reserved form.
fn slug(text: &str) -> AgentName {
    let kept = |letter: char| match letter.to_ascii_lowercase() {
        letter @ ('a'..='z' | '0'..='9' | '.' | '_' | '-') => letter,
        _ => '-',
    };
    let mut name: String = text.chars().map(kept).take(message::limits::NAME_BYTES_MAX).collect();
    name = name.trim_start_matches(['.', '_', '-']).to_owned();
    if let Ok(name) = name.parse() {
        return name;
    }
    let prefixed: String = format!("agent-{name}").chars().take(message::limits::NAME_BYTES_MAX).collect();
    prefixed.parse().expect("a prefix of letters and allowed characters make a name")
}

/// Makes a label of a host name: letters, digits and inner hyphens.
fn label(agent: &str) -> String {
    let slug = slug(agent.split_once("://").map_or(agent, |(_, path)| path)).to_string();
    let label = slug.replace(['.', '_'], "-");
    let label: String = label.trim_matches('-').chars().take(LABEL_BYTES_MAX).collect();
    let label = label.trim_matches('-');
    if label.is_empty() { "agent".to_owned() } else { label.to_owned() }
}

/// Returns the agent for whom a DID stands in.
fn stood_in(did: &str) -> Option<AgentName> {
    did.strip_prefix(STAND_IN_PREFIX)?.strip_suffix(STAND_IN_SUFFIX)?.parse().ok()
}
