//! Registering and unregistering agents.
//!
//! The operator registers anybody; an agent registers itself by its own token. `codex://ann` becomes `ann`, or
//! `ann.codex` where there is an `ann` already, and its URI an alias. What an agent says of itself is kept, so that
//! saying the same again changes nothing.

use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Command};
use dialect::{Name, Names};
use gateway::{Answer, At, Body, Caller, Code, Principal, Problem, Profile, Token, TokenNote};
use json::{Limits, Value};
use message::AgentName;
use node::Turn;

/// Bytes of what an agent may say of itself.
const DESCRIPTOR_BYTES_MAX: usize = 64 << 10;

/// An agent that wants to be known.
struct Wanted {
    principal: Principal,
    agent_id: String,
    framework: String,
    descriptor: String,
    /// What it may be called, with the token that it then gets; the first that is free counts.
    names: [(AgentName, Token); 2],
}

/// Makes an agent known. A new agent's token is shown in the answer, once.
pub(crate) async fn register(caller: Caller, body: Body) -> Result<Response, Problem> {
    let body = gateway::body(body)?;
    let wanted = Wanted::read(&body, caller.principal.clone())?;
    let agent_id = wanted.agent_id.clone();
    let (name, token) = caller.hub.call(move |turn| wanted.carry_out(turn)).await?;
    caller.hub.refresh(name.clone()).await?;
    let answer = Answer::new().flag("success", true).text("agent_id", &agent_id).text("agent", name.as_str());
    let token = token.map(|token| token.reveal());
    Ok(answer.maybe("token", token.as_deref()).respond(StatusCode::OK))
}

/// Forgets an agent, for the operator. An agent itself takes back what it said of itself, and stays: its token and
/// what waits for it would be gone otherwise whenever it stops.
pub(crate) async fn remove(caller: Caller, At(id): At<String>) -> Result<Response, Problem> {
    let Ok(agent) = caller.agent(&id).map(|agent| agent.key) else { return Ok(not_registered(&id)) };
    caller.principal.must_be(agent)?;
    let is_operator = caller.principal.is_operator();
    let Some(name) = caller.hub.name_of(agent) else { return Ok(not_registered(&id)) };
    let removed = caller.hub.call(move |turn| {
        if is_operator {
            turn.execute(&Command::Remove { agent })?;
            return Ok(true);
        }
        withdraw(turn, agent)
    });
    let removed = removed.await?;
    caller.hub.refresh(name).await?;
    Ok(if removed {
        Answer::new().flag("success", true).respond(StatusCode::OK)
    } else {
        not_registered(&id)
    })
}

/// Says that somebody is not registered, as the origin does: an answer that looks well and says no.
fn not_registered(id: &str) -> Response {
    let answer = Answer::new().flag("success", false).text("error", &format!("Agent {id} is not registered"));
    answer.text("code", Code::UnknownAgent.name()).respond(StatusCode::OK)
}

/// Takes back what an agent said of itself; tells whether it had said anything.
fn withdraw(turn: &mut Turn<'_>, agent: AgentKey) -> Result<bool, Problem> {
    let Known { name, dialect, mut profile } = Known::look(turn, agent)?;
    if profile.descriptor.take().is_none() {
        return Ok(false);
    }
    gateway::register(turn, &name, dialect, &profile).map(|_| true)
}

impl Wanted {
    fn read(body: &[u8], principal: Principal) -> Result<Self, Problem> {
        let document = json::parse(body, Limits::DOCUMENT);
        let document = document.map_err(|error| Problem::new(Code::NotJson, format!("not JSON: {error}")))?;
        let registration = dialect_bus::registration(&document).map_err(|errors| {
            let errors = errors.into_kept().iter().map(|finding| finding.to_value().into_owned()).collect();
            Problem::new(Code::Invalid, "Invalid agent descriptor").with("errors", Value::Array(errors))
        })?;
        let (agent_id, framework) = (registration.agent_id.to_owned(), registration.framework.to_owned());
        if dialect_bus::is_for_the_bus(&agent_id) {
            return Err(Problem::new(Code::NameReserved, format!("{agent_id} is the bus itself")));
        }
        let descriptor = Value::Object(registration.descriptor.clone()).to_json();
        if descriptor.len() > DESCRIPTOR_BYTES_MAX {
            let detail = format!("a descriptor has at most {DESCRIPTOR_BYTES_MAX} bytes");
            return Err(Problem::new(Code::TooLarge, detail));
        }
        let first = Names::proposed(&agent_id);
        let second = Names::proposed(&format!("{first}.{framework}"));
        let names = [with_token(first)?, with_token(second)?];
        Ok(Wanted { principal, agent_id, framework, descriptor, names })
    }

    /// Carries it out, and gives back the name, and the token of a new agent.
    fn carry_out(self, turn: &mut Turn<'_>) -> Result<(AgentName, Option<Token>), Problem> {
        let known = turn.broker().agent(&self.agent_id).or_else(|| self.nameless(turn));
        if let Some(agent) = known {
            return self.again(turn, agent).map(|name| (name, None));
        }
        self.principal.must_be_operator()?;
        let (agent_id, names) = (self.agent_id, self.names);
        let is_free = |name: &AgentName| !name.is_reserved() && turn.broker().agent(name.as_str()).is_none();
        let Some((name, token)) = names.into_iter().find(|(name, _)| is_free(name)) else {
            return Err(Problem::new(Code::NameTaken, format!("every name for {agent_id} is taken")));
        };
        let mut profile = Profile {
            tokens: vec![TokenNote { hash: token.hash(), expires: None }],
            framework: Some(self.framework),
            descriptor: Some(self.descriptor),
            ..Profile::default()
        };
        profile.uri = Some(agent_id).filter(|id| id != name.as_str());
        let agent = gateway::register(turn, &name, Name::Bus, &profile)?;
        gateway::card::equip(turn, agent, &capabilities(&profile))?;
        Ok((name, Some(token)))
    }

    /// Returns the agent by whose token this is said, if it has the name that is wanted and no other id yet.
    fn nameless(&self, turn: &Turn<'_>) -> Option<AgentKey> {
        let Principal::Agent(speaker) = &self.principal else { return None };
        let is_wanted = self.names.iter().any(|(name, _)| *name == speaker.name);
        let view = turn.broker().look_at(speaker.key)?;
        (is_wanted && Profile::read(view.profile).uri.is_none()).then_some(speaker.key)
    }

    /// Registers an agent that is known already: nothing happens if it says the same as before.
    fn again(self, turn: &mut Turn<'_>, agent: AgentKey) -> Result<AgentName, Problem> {
        self.principal.must_be(agent)?;
        let Known { name, mut profile, .. } = Known::look(turn, agent)?;
        if name.is_reserved() {
            return Err(Problem::new(Code::NameReserved, format!("{name} is nobody's to register")));
        }
        let read = |text: &str| json::parse_str(text, Limits::DOCUMENT).map(Value::into_owned).ok();
        match &profile.descriptor {
            Some(before) if read(before) == read(&self.descriptor) => return Ok(name),
            Some(_) => {
                let detail = format!("Agent {} already registered", self.agent_id);
                return Err(Problem::new(Code::NameTaken, detail));
            }
            None => {}
        }
        if profile.uri.is_none() {
            profile.uri = Some(self.agent_id).filter(|id| id != name.as_str());
        }
        (profile.framework, profile.descriptor) = (Some(self.framework), Some(self.descriptor));
        gateway::register(turn, &name, Name::Bus, &profile)?;
        gateway::card::equip(turn, agent, &capabilities(&profile))?;
        Ok(name)
    }
}

/// Returns what an agent says that it can do.
fn capabilities(profile: &Profile) -> Vec<String> {
    let descriptor = profile.descriptor.as_deref().unwrap_or_default();
    let descriptor = json::parse_str(descriptor, Limits::DOCUMENT);
    descriptor.map(|descriptor| gateway::card::capabilities(&descriptor)).unwrap_or_default()
}

/// What is known of an agent.
struct Known {
    name: AgentName,
    dialect: Name,
    profile: Profile,
}

impl Known {
    fn look(turn: &Turn<'_>, agent: AgentKey) -> Result<Self, Problem> {
        let gone = || Problem::new(Code::UnknownAgent, "there is no such agent");
        let view = turn.broker().look_at(agent).ok_or_else(gone)?;
        let name = view.name.parse().map_err(|_| gone())?;
        Ok(Known { name, dialect: view.dialect, profile: Profile::read(view.profile) })
    }
}

fn with_token(name: AgentName) -> Result<(AgentName, Token), Problem> {
    let token = Token::new(name.clone()).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    Ok((name, token))
}
