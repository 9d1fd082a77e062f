//! Registering and unregistering agents.
//!
//! The operator registers anybody; an agent registers itself by its own token. `codex://ann` becomes `ann`, or
//! `ann.codex` where there is an `ann` already, and its URI an alias. What an agent says of itself is kept, so that
//! saying the same again changes nothing.

use axum::http::StatusCode;
use axum::response::Response;
use broker::{AgentKey, Command, Register};
use dialect::{Name, Names};
use gateway::{Answer, At, Body, Caller, Code, Hub, Known, Principal, Problem, Profile, Token, TokenNote};
use json::{Limits, Value};
use message::AgentName;

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
    let (name, token) = wanted.carry_out(&caller.hub).await?;
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
    let removed = if is_operator {
        caller.hub.execute(Command::Remove { agent }).await?;
        caller.hub.refresh(name).await?;
        true
    } else {
        withdraw(&caller.hub, &name).await?
    };
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
async fn withdraw(hub: &Hub, name: &AgentName) -> Result<bool, Problem> {
    let withdrawn = gateway::register(hub, name, |known, _| {
        let known = known.ok_or_else(gone)?;
        let mut profile = known.profile.clone();
        let had_said = profile.descriptor.take().is_some();
        Ok((had_said.then(|| gateway::written(name, known.dialect, &profile)), had_said))
    });
    withdrawn.await
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
    async fn carry_out(self, hub: &Hub) -> Result<(AgentName, Option<Token>), Problem> {
        let known = match gateway::known(hub, &self.agent_id).await? {
            Some(known) => Some(known),
            None => self.nameless(hub).await?,
        };
        if let Some(known) = known {
            self.again(hub, known.key, &known.name).await?;
            return Ok((known.name, None));
        }
        self.principal.must_be_operator()?;
        for (name, token) in &self.names {
            if self.register_new(hub, name, token).await? {
                return Ok((name.clone(), Some(token.clone())));
            }
        }
        Err(Problem::new(Code::NameTaken, format!("every name for {} is taken", self.agent_id)))
    }

    /// Registers a new agent; tells whether the name was free.
    async fn register_new(&self, hub: &Hub, name: &AgentName, token: &Token) -> Result<bool, Problem> {
        if name.is_reserved() {
            return Ok(false);
        }
        let registered = gateway::register(hub, name, |known, _| {
            if known.is_some() {
                return Ok((None, false));
            }
            let tokens = vec![TokenNote { hash: token.hash(), expires: None }];
            let profile = self.applied_to(name, Profile { tokens, ..Profile::default() });
            Ok((Some(self.written(name, &profile)), true))
        });
        registered.await
    }

    /// Returns the agent by whose token this is said, if it has the name that is wanted and no other id yet.
    async fn nameless(&self, hub: &Hub) -> Result<Option<Known>, Problem> {
        let Principal::Agent(speaker) = &self.principal else { return Ok(None) };
        if !self.names.iter().any(|(name, _)| *name == speaker.name) {
            return Ok(None);
        }
        let known = gateway::known(hub, speaker.name.as_str()).await?;
        Ok(known.filter(|known| known.key == speaker.key && known.profile.uri.is_none()))
    }

    /// Registers an agent that is known already: nothing happens if it says the same as before.
    async fn again(&self, hub: &Hub, agent: AgentKey, name: &AgentName) -> Result<(), Problem> {
        self.principal.must_be(agent)?;
        if name.is_reserved() {
            return Err(Problem::new(Code::NameReserved, format!("{name} is nobody's to register")));
        }
        let read = |text: &str| json::parse_str(text, Limits::DOCUMENT).map(Value::into_owned).ok();
        let registered = gateway::register(hub, name, |known, _| {
            let known = known.ok_or_else(gone)?;
            match &known.profile.descriptor {
                Some(before) if read(before) == read(&self.descriptor) => return Ok((None, ())),
                Some(_) => {
                    let detail = format!("Agent {} already registered", self.agent_id);
                    return Err(Problem::new(Code::NameTaken, detail));
                }
                None => {}
            }
            let profile = self.applied_to(name, known.profile.clone());
            Ok((Some(self.written(name, &profile)), ()))
        });
        registered.await
    }

    /// Returns a profile with what the agent says of itself.
    fn applied_to(&self, name: &AgentName, mut profile: Profile) -> Profile {
        if profile.uri.is_none() {
            profile.uri = Some(self.agent_id.clone()).filter(|id| id != name.as_str());
        }
        profile.framework = Some(self.framework.clone());
        profile.descriptor = Some(self.descriptor.clone());
        profile
    }

    fn written(&self, name: &AgentName, profile: &Profile) -> Register {
        let capabilities = Some(gateway::boxed(&capabilities(profile)));
        Register { capabilities, ..gateway::written(name, Name::Bus, profile) }
    }
}

/// Returns what an agent says that it can do.
fn capabilities(profile: &Profile) -> Vec<String> {
    let descriptor = profile.descriptor.as_deref().unwrap_or_default();
    let descriptor = json::parse_str(descriptor, Limits::DOCUMENT);
    descriptor.map(|descriptor| gateway::card::capabilities(&descriptor)).unwrap_or_default()
}

fn gone() -> Problem {
    Problem::new(Code::UnknownAgent, "there is no such agent")
}

fn with_token(name: AgentName) -> Result<(AgentName, Token), Problem> {
    let token = Token::new(name.clone()).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    Ok((name, token))
}
