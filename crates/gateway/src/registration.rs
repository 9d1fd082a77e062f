//! Registration: what is to be known of an agent, from whatever door it comes.

use broker::{AgentKey, Command, Register, Reply, Time};
use json::Value;
use message::{Address, AgentName, Dialect};
use node::Turn;

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

/// Bytes of an Agent Card.
const CARD_BYTES_MAX: usize = 65_536;

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
    pub fn carry_out(self, turn: &mut Turn<'_>, fresh: Token) -> Result<Option<Token>, Problem> {
        let known = turn.broker().agent(self.name.as_str()).and_then(|agent| turn.broker().look_at(agent));
        let is_new = known.is_none();
        let mut profile = known.as_ref().map(|view| Profile::read(view.profile)).unwrap_or_default();
        let dialect = self.dialect.or(known.map(|view| view.dialect)).unwrap_or(Dialect::Convoke);
        if is_new {
            let expires = self.expires_ms.map(|ms| turn.wall().plus_ms(ms));
            profile.tokens = vec![TokenNote { hash: fresh.hash(), expires }];
        }
        let [framework, did, handle, uri] = self.texts;
        for (field, text) in [
            (&mut profile.framework, framework),
            (&mut profile.did, did),
            (&mut profile.handle, handle),
            (&mut profile.uri, uri),
        ] {
            if text.is_some() {
                *field = text;
            }
        }
        profile.speaks_for = self.speaks_for.unwrap_or(profile.speaks_for);
        profile.card = self.card.or(profile.card);
        let agent = register(turn, &self.name, dialect, &profile)?;
        for address in &self.roles {
            turn.execute(&Command::Join { agent, address: address.clone() })?;
        }
        if let Some(capabilities) = &self.capabilities {
            card::equip(turn, agent, capabilities)?;
        }
        Ok(is_new.then_some(fresh))
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

/// Writes down what is known of an agent.
pub fn register(
    turn: &mut Turn<'_>,
    name: &AgentName,
    dialect: Dialect,
    profile: &Profile,
) -> Result<AgentKey, Problem> {
    let (stored, aliases) = (profile.write(), profile.aliases());
    let aliases = aliases.iter().map(|alias| (*alias).into()).collect();
    let register = Register { name: name.clone(), aliases, dialect, profile: stored };
    match turn.execute(&Command::Register(Box::new(register)))? {
        Reply::Agent(agent) => Ok(agent),
        Reply::Done
        | Reply::Session { .. }
        | Reply::Accepted(_)
        | Reply::Taken(_)
        | Reply::Stage(_)
        | Reply::Lease(_)
        | Reply::Changed(_) => Err(Problem::new(Code::Internal, "nobody was registered")),
    }
}

/// Changes what the doors keep of an agent, and gives back what came of it when everybody goes by it.
pub async fn change_profile<R: Send + 'static>(
    hub: &Hub,
    name: AgentName,
    work: impl FnOnce(&mut Profile, Time) -> Result<R, Problem> + Send + 'static,
) -> Result<R, Problem> {
    let changed = name.clone();
    let done = hub.call(move |turn| {
        let view = turn.broker().agent(name.as_str()).and_then(|agent| turn.broker().look_at(agent));
        let view = view.ok_or_else(|| Problem::new(Code::UnknownAgent, "there is no such agent"))?;
        let (mut profile, dialect) = (Profile::read(view.profile), view.dialect);
        let done = work(&mut profile, turn.wall())?;
        register(turn, &name, dialect, &profile)?;
        Ok(done)
    });
    let done = done.await?;
    hub.refresh(changed).await?;
    Ok(done)
}

/// Reads a role, with or without `roles.` before it.
fn role(text: &str) -> Result<Address, Problem> {
    let text = if text.contains(['.', '#', ':']) { text.to_owned() } else { format!("roles.{text}") };
    text.parse().map_err(|error| Problem::bad_request(format!("{error}")))
}
