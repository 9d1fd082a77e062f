//! Registration: what is to be known of an agent, from whatever door it comes.

use broker::query::agents::{FindRegistered, RegisteredAgent};
use broker::{AgentKey, ProfileSwap, Refusal, Register, Time};
use json::Value;
use message::{Address, AgentName, Dialect};
use node::CallError;

use crate::{Code, Fields, Hub, Problem, Profile, Token, TokenNote, card};

/// What is to be known of an agent.
#[derive(Debug)]
pub struct Registration {
    /// Its name.
    pub name: AgentName,
    dialect: Option<Dialect>,
    roles: Vec<Address>,
    speaks_for: Option<Vec<AgentName>>,
    expires_ms: Option<u64>,
    texts: [Option<String>; 4],
    capabilities: Option<Vec<String>>,
    card: Option<String>,
}

/// What is known of an agent.
#[derive(Debug)]
pub struct Known {
    /// Its number.
    pub key: AgentKey,
    /// Its name.
    pub name: AgentName,
    /// The language that it speaks.
    pub dialect: Dialect,
    /// What the gateways keep of it.
    pub profile: Profile,
    /// The same as the broker has it.
    stored: Box<[u8]>,
}

/// Bytes of an Agent Card.
const CARD_BYTES_MAX: usize = 65_536;
/// How often a change is made anew because somebody else made another at the same time.
const TRIES_MAX: u32 = 100;

impl Known {
    fn of(agent: RegisteredAgent) -> Option<Self> {
        let RegisteredAgent { agent: key, name, dialect, profile: stored, .. } = agent;
        Some(Known { key, name: name.parse().ok()?, dialect, profile: Profile::read(&stored), stored })
    }
}

impl Registration {
    /// Reads what the native door says of an agent.
    pub fn read(name: &str, fields: &Fields<'_>) -> Result<Self, Problem> {
        let name: AgentName = name.parse().map_err(|error| Problem::bad_request(format!("{error}")))?;
        let text = |key: &str| fields.text(key).map(|text| text.map(str::to_owned));
        let parse = |name: &str| name.parse().map_err(|error| Problem::bad_request(format!("{error}")));
        let speaks_for = fields.texts("speaks_for")?;
        let card = card_of(fields)?;
        let stated = fields.texts("capabilities")?;
        let stated = stated.map(|texts| texts.into_iter().map(str::to_owned).collect());
        let speaks_for = speaks_for.map(|names| names.into_iter().map(parse).collect());
        Ok(Registration {
            name,
            dialect: fields.dialect("dialect")?,
            roles: fields
                .texts("roles")?
                .unwrap_or_default()
                .into_iter()
                .map(role)
                .collect::<Result<_, _>>()?,
            speaks_for: speaks_for.transpose()?,
            expires_ms: fields.duration_ms("expires")?,
            texts: [text("framework")?, text("did")?, text("handle")?, text("uri")?],
            capabilities: stated.or_else(|| card.map(card::capabilities)),
            card: card.map(Value::to_json),
        })
    }

    /// Carries it out, and gives back the token of a new agent.
    pub async fn carry_out(self, hub: &Hub, fresh: Token) -> Result<Option<Token>, Problem> {
        let name = self.name.clone();
        let is_new = register(hub, &name, |known, wall| {
            let note =
                || TokenNote { hash: fresh.hash(), expires: self.expires_ms.map(|ms| wall.plus_ms(ms)) };
            let dialect = self.dialect.or(known.map(|known| known.dialect)).unwrap_or(Dialect::Convoke);
            let profile = match known {
                Some(known) => known.profile.clone(),
                None => Profile { tokens: vec![note()], ..Profile::default() },
            };
            let profile = self.applied_to(profile);
            let register = Register {
                joins: self.roles.clone(),
                capabilities: self.capabilities.as_deref().map(boxed),
                ..written(&name, dialect, &profile)
            };
            Ok((Some(register), known.is_none()))
        });
        Ok(is_new.await?.then_some(fresh))
    }

    /// Returns a profile with what the registration says.
    fn applied_to(&self, mut profile: Profile) -> Profile {
        let [framework, did, handle, uri] = &self.texts;
        for (field, text) in [
            (&mut profile.framework, framework),
            (&mut profile.did, did),
            (&mut profile.handle, handle),
            (&mut profile.uri, uri),
            (&mut profile.card, &self.card),
        ] {
            if text.is_some() {
                field.clone_from(text);
            }
        }
        if let Some(names) = &self.speaks_for {
            profile.speaks_for.clone_from(names);
        }
        profile
    }
}

/// Returns the Agent Card of a registration.
fn card_of<'f>(fields: &'f Fields<'_>) -> Result<Option<&'f Value<'f>>, Problem> {
    let Some(card) = fields.value().get("card") else { return Ok(None) };
    if card.as_object().is_none() {
        return Err(Problem::bad_request("`card` is an Agent Card, a JSON object"));
    }
    if card.to_json().len() > CARD_BYTES_MAX {
        return Err(Problem::new(Code::TooLarge, format!("a card has at most {CARD_BYTES_MAX} bytes")));
    }
    Ok(Some(card))
}

/// Returns what the registry knows of an agent, by its name or an alias.
pub async fn known(hub: &Hub, name: &str) -> Result<Option<Known>, Problem> {
    let (agent, _) = hub.query(FindRegistered { name: name.into() }).await?;
    Ok(agent.and_then(Known::of))
}

/// Returns the command that writes down what is to be known of an agent.
pub fn written(name: &AgentName, dialect: Dialect, profile: &Profile) -> Register {
    let aliases = profile.aliases().iter().map(|alias| (*alias).into()).collect();
    Register { aliases, dialect, profile: profile.write(), ..Register::of(name.clone()) }
}

/// Returns what an agent can do as the broker keeps it.
pub fn boxed(capabilities: &[String]) -> Vec<Box<str>> {
    capabilities.iter().map(|text| text.as_str().into()).collect()
}

/// Registers an agent, or changes what is known of it, and answers when everybody goes by it. `work` makes the command
/// of what is known and of the wall clock's time, or nothing if there is nothing to change; it is asked again if
/// somebody else changed that at the same time.
pub async fn register<R>(
    hub: &Hub,
    name: &AgentName,
    mut work: impl FnMut(Option<&Known>, Time) -> Result<(Option<Register>, R), Problem>,
) -> Result<R, Problem> {
    let mut tries_left = TRIES_MAX;
    loop {
        // An alias of another agent is not the name of this one; the broker refuses it.
        let known = known(hub, name.as_str()).await?.filter(|known| known.name == *name);
        let (register, done) = work(known.as_ref(), hub.node().wall())?;
        let Some(register) = register else { return Ok(done) };
        let swap = known.map_or(ProfileSwap::New, |known| ProfileSwap::Is(known.stored));
        match hub.node().execute(Register { swap, ..register }).await {
            Ok(_) => {
                hub.refresh(name.clone()).await?;
                return Ok(done);
            }
            Err(CallError::Refused(Refusal::ProfileChanged { .. })) if tries_left > 0 => tries_left -= 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Changes what the gateways keep of an agent, and gives back what came of it when everybody goes by it.
pub async fn change_profile<R>(
    hub: &Hub,
    name: AgentName,
    mut work: impl FnMut(&mut Profile, Time) -> Result<R, Problem>,
) -> Result<R, Problem> {
    let changed = register(hub, &name, |known, wall| {
        let known = known.ok_or_else(|| Problem::new(Code::UnknownAgent, "there is no such agent"))?;
        let mut profile = known.profile.clone();
        let done = work(&mut profile, wall)?;
        Ok((Some(written(&name, known.dialect, &profile)), done))
    });
    changed.await
}

/// Reads a role, with or without `roles.` before it.
fn role(text: &str) -> Result<Address, Problem> {
    let text = if text.contains(['.', '#', ':']) { text.to_owned() } else { format!("roles.{text}") };
    text.parse().map_err(|error| Problem::bad_request(format!("{error}")))
}
