//! The registry: who is there, by which tokens they speak, what they belong to.

use std::time::Duration;

use hyper::Method;
use json::{Object, Value};
use message::{Dialect, Reachability, format_duration};

use crate::http::Call;
use crate::query::Target;
use crate::{Client, ClientError, Token, read};

const AGENTS: &str = "/v1/agents";

/// What is to be known of an agent; what is left out stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentSettings {
    /// The language in which it gets documents.
    pub dialect: Option<Dialect>,
    /// What it runs on.
    pub framework: Option<String>,
    /// Its DID.
    pub did: Option<String>,
    /// Its handle.
    pub handle: Option<String>,
    /// Its URI, such as `codex://ann`.
    pub uri: Option<String>,
    /// The roles whose queues it serves.
    pub roles: Vec<String>,
    /// Whom else its tokens speak for.
    pub speaks_for: Vec<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// How long its token is good.
    pub expires: Option<Duration>,
}

/// An agent that was made or changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Registered {
    /// Its name.
    pub agent: String,
    /// A new token, shown this once.
    pub token: Option<Token>,
    /// By which name the token can be revoked.
    pub label: Option<String>,
}

/// What is known of an agent.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Agent {
    /// Its name.
    pub agent: String,
    /// What else it is called.
    pub aliases: Vec<String>,
    /// The language in which it gets documents.
    pub dialect: Option<Dialect>,
    /// What it runs on.
    pub framework: Option<String>,
    /// How it can be reached now.
    pub reachability: Option<Reachability>,
    /// How much waits for it.
    pub waiting: u64,
    /// The roles, topics and channels that it joined.
    pub memberships: Vec<String>,
    /// How it said it is.
    pub presence: Option<AgentPresence>,
    /// Its tokens, shown to the operator only.
    pub tokens: Vec<TokenLabel>,
    /// Whom else its tokens speak for.
    pub speaks_for: Vec<String>,
    /// The whole as the bus sent it.
    pub json: Value<'static>,
}

/// How an agent said it is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AgentPresence {
    /// Its word.
    pub state: String,
    /// When it said so.
    pub at: Option<String>,
}

/// A token that is good, by its label.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TokenLabel {
    /// By which name it can be revoked.
    pub label: String,
    /// Until when it is good; for ever if there is nothing.
    pub expires: Option<String>,
}

impl Client {
    /// Makes an agent, or changes what is known of it; a new one's token is in the answer.
    ///
    /// ```no_run
    /// # async fn example(operator: client::Client) -> Result<(), client::ClientError> {
    /// let made = operator.put_agent("bob", &client::AgentSettings::default()).await?;
    /// let token = made.token.expect("bob is new");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn put_agent(&self, agent: &str, settings: &AgentSettings) -> Result<Registered, ClientError> {
        let target = Target::new(AGENTS).segment(agent).into_text();
        let call = Call::new(Method::PUT, target).body(settings.to_value().to_json());
        self.ask(call, registered).await
    }

    /// Lists the agents.
    pub async fn agents(&self) -> Result<Vec<Agent>, ClientError> {
        self.look_up(Target::new(AGENTS), |value| read::list(&value, "agents", agent)).await
    }

    /// Looks an agent up by any of its names.
    pub async fn agent(&self, name: &str) -> Result<Agent, ClientError> {
        self.look_up(Target::new(AGENTS).segment(name), |value| agent(&value)).await
    }

    /// Forgets an agent.
    pub async fn remove_agent(&self, agent: &str) -> Result<(), ClientError> {
        self.tell(Method::DELETE, Target::new(AGENTS).segment(agent), String::new()).await
    }

    /// Makes one more token for an agent.
    pub async fn add_token(&self, agent: &str, expires: Option<Duration>) -> Result<Registered, ClientError> {
        let target = Target::new(AGENTS).segment(agent).then("/tokens").into_text();
        let mut members = Object::new();
        maybe(&mut members, "expires", expires.map(format_duration));
        self.ask(Call::new(Method::POST, target).body(Value::Object(members).to_json()), registered).await
    }

    /// Revokes a token by its label; `all` revokes every one.
    pub async fn revoke_token(&self, agent: &str, label: &str) -> Result<(), ClientError> {
        let target = Target::new(AGENTS).segment(agent).then("/tokens").segment(label);
        self.tell(Method::DELETE, target, String::new()).await
    }

    /// Makes an agent a member of a role, topic or channel, such as `#deploys`.
    pub async fn join(&self, agent: &str, address: &str) -> Result<(), ClientError> {
        self.tell(Method::PUT, subscription(agent, address), String::new()).await
    }

    /// Ends a membership.
    pub async fn leave(&self, agent: &str, address: &str) -> Result<(), ClientError> {
        self.tell(Method::DELETE, subscription(agent, address), String::new()).await
    }
}

impl AgentSettings {
    fn to_value(&self) -> Value<'static> {
        let mut members = Object::new();
        maybe(&mut members, "dialect", self.dialect.map(|dialect| dialect.name().to_owned()));
        maybe(&mut members, "framework", self.framework.clone());
        maybe(&mut members, "did", self.did.clone());
        maybe(&mut members, "handle", self.handle.clone());
        maybe(&mut members, "uri", self.uri.clone());
        for (key, list) in
            [("roles", &self.roles), ("speaks_for", &self.speaks_for), ("capabilities", &self.capabilities)]
        {
            if !list.is_empty() {
                members.insert(key, Value::Array(list.iter().cloned().map(Value::from).collect()));
            }
        }
        maybe(&mut members, "expires", self.expires.map(format_duration));
        Value::Object(members)
    }
}

fn maybe(members: &mut Object<'static>, key: &'static str, value: Option<String>) {
    if let Some(value) = value {
        members.insert(key, Value::from(value));
    }
}

fn subscription(agent: &str, address: &str) -> Target {
    Target::new(AGENTS).segment(agent).then("/subscriptions").segment(address)
}

fn registered(value: Value<'_>) -> Result<Registered, ClientError> {
    Ok(Registered {
        agent: read::text(&value, "agent")?,
        token: read::text_maybe(&value, "token").map(Token::new),
        label: read::text_maybe(&value, "label"),
    })
}

fn agent(value: &Value<'_>) -> Result<Agent, ClientError> {
    let presence = value.get("presence").and_then(|presence| {
        let at = read::text_maybe(presence, "at");
        read::text_maybe(presence, "state").map(|state| AgentPresence { state, at })
    });
    let token = |value: &Value<'_>| {
        let expires = read::text_maybe(value, "expires");
        read::text_maybe(value, "label").map(|label| TokenLabel { label, expires })
    };
    let tokens = value.get("tokens").and_then(Value::as_array).unwrap_or_default();
    Ok(Agent {
        agent: read::text(value, "agent")?,
        aliases: read::texts(value, "aliases"),
        dialect: read::word(value, "dialect", Dialect::from_name),
        framework: read::text_maybe(value, "framework"),
        reachability: read::word(value, "reachability", Reachability::from_name),
        waiting: read::number(value, "waiting").unwrap_or(0),
        memberships: read::texts(value, "memberships"),
        presence,
        tokens: tokens.iter().filter_map(token).collect(),
        speaks_for: read::texts(value, "speaks_for"),
        json: value.clone().into_owned(),
    })
}
