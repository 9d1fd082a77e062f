//! Who lives in a root, and in whose name its files may speak.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use broker::{AgentKey, Command, ProfileSwap, Register};
use dialect::Names;
use dialect_channel::channel_of;
use gateway::{Code, Hub, Listed, Principal, Problem, Profile, Speaker};
use json::{Limits, Object, Value};
use message::{Address, AgentName, ChannelName, Dialect};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::inward::Joined;
use crate::outward;
use crate::site::Site;

/// How the name of a root's own agent begins.
const ROOT_AGENT: &str = "files.";
/// Agents that live in one root: whoever can write files can make up names.
const RESIDENTS_MAX: usize = 1_000;
/// What such agents run on.
const FRAMEWORK: &str = "channel-files";

/// The streams of those who live in a root.
#[derive(Default)]
pub(crate) struct Residents {
    streams: HashMap<AgentKey, JoinHandle<()>>,
    /// Who lived in the root when the registry was read last, and the root's own agent.
    agents: Vec<AgentKey>,
    /// Tells when the registry has changed since.
    changes: Option<watch::Receiver<u64>>,
}

impl Residents {
    /// Looks who lives in the root now, and lets letters come for whoever is new.
    pub(crate) async fn refresh(&mut self, site: &Arc<Site>) -> Result<(), Problem> {
        let changes = self.changes.get_or_insert_with(|| {
            let mut changes = site.hub.registry_changes();
            changes.mark_changed();
            changes
        });
        // A hub that is gone has no more agents.
        if changes.has_changed().unwrap_or(false) {
            changes.mark_unchanged();
            self.agents = residents(site);
            site.residents.store(self.agents.len(), Ordering::Relaxed);
            self.agents.push(site.agent);
        }
        let agents = &self.agents;
        self.streams.retain(|agent, stream| {
            let stays = agents.contains(agent) && !stream.is_finished();
            if !stays {
                stream.abort();
            }
            stays
        });
        for agent in agents.iter().copied() {
            let site = Arc::clone(site);
            self.streams.entry(agent).or_insert_with(|| tokio::spawn(outward::deliver(site, agent)));
        }
        Ok(())
    }

    /// Waits until every stream has ended, after the bus was told to stop.
    pub(crate) async fn stopped(mut self) {
        for (_, stream) in self.streams.drain() {
            // One that panicked has said so.
            drop(stream.await);
        }
    }
}

/// Returns who lives in a root, as the directory says.
fn residents(site: &Site) -> Vec<AgentKey> {
    let directory = site.hub.directory();
    let is_here = |listed: &&Listed| {
        let home = home_in(listed.profile.descriptor.as_deref());
        home.map_or(site.is_first, |home| home == site.name.as_str())
    };
    directory.speaking(Dialect::Channel).filter(is_here).map(|listed| listed.key).collect()
}

impl Drop for Residents {
    fn drop(&mut self) {
        self.streams.values().for_each(JoinHandle::abort);
    }
}

impl Site {
    /// Returns who speaks by a file that names its sender so; makes the agent known if it is first seen here.
    pub(crate) async fn speaker(&self, from: &str) -> Result<Principal, Problem> {
        let is_listed = self.agents.iter().any(|agent| agent == from);
        let (name, key) = match self.hub.find(from) {
            Some((name, key, dialect)) if is_listed || self.may_speak_for(&name, key, dialect) => (name, key),
            Some((name, ..)) => return Err(not_ours(&self.path, name.as_str())),
            None if is_listed || self.agents.is_empty() => self.welcome(from).await?,
            None => return Err(not_ours(&self.path, from)),
        };
        Ok(Principal::Agent(Speaker { key, name, also: Vec::new() }))
    }

    /// Tells whether files may speak for an agent whom the settings do not name.
    fn may_speak_for(&self, name: &AgentName, key: AgentKey, dialect: Dialect) -> bool {
        let is_free = self.agents.is_empty() && dialect == Dialect::Channel && key != self.agent;
        is_free
            && home_in(self.hub.descriptor_of(name).as_deref()).is_none_or(|home| home == self.name.as_str())
    }

    /// Registers a name that is first seen here.
    async fn welcome(&self, from: &str) -> Result<(AgentName, AgentKey), Problem> {
        if self.residents.fetch_add(1, Ordering::Relaxed) >= RESIDENTS_MAX {
            let detail = format!("{RESIDENTS_MAX} agents live in {} already", self.path);
            return Err(Problem::new(Code::NotYours, detail));
        }
        let name: AgentName = from.parse().map_err(|error| {
            Problem::bad_request(format!("{from:?} cannot be an agent of the bus: {error}"))
        })?;
        let profile = Profile { descriptor: Some(descriptor(&self.name)), ..profile() };
        make_known(&self.hub, name, profile).await
    }

    /// Makes an agent a member of a channel, once. Who has too many already can talk all the same.
    pub(crate) async fn enter(&self, agent: AgentKey, channel: &str, joined: &mut Joined) {
        if joined.insert((agent, channel.to_owned()))
            && let Err(problem) = self.join(agent, channel_of(channel)).await
        {
            let name = self.hub.name_of(agent).map(|name| name.to_string()).unwrap_or_default();
            tracing::warn!("{}: {name} is not in the channel {channel}: {}", self.path, problem.detail);
        }
    }

    /// Makes an agent a member of a channel: it posts in it, or watches it.
    pub(crate) async fn join(&self, agent: AgentKey, channel: ChannelName) -> Result<(), Problem> {
        let address = Address::Channel(channel);
        self.hub.execute(Command::Join { agent, address }).await.map(drop)
    }
}

/// Returns the agent that a root has for itself; it is known by where the root lies.
pub(crate) async fn root_agent(hub: &Hub, path: &Path) -> Result<(AgentName, AgentKey), Problem> {
    let lies = path.display().to_string();
    let folder = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let base: String = Names::proposed(&folder).as_str().chars().take(48).collect();
    for number in 1..100 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let name = format!("{ROOT_AGENT}{base}{suffix}");
        let Ok(name) = name.parse::<AgentName>() else { continue };
        let profile = Profile { descriptor: Some(root_descriptor(&lies)), ..profile() };
        match hub.descriptor_of(&name) {
            None if hub.find(name.as_str()).is_none() => return make_known(hub, name, profile).await,
            Some(known) if Some(&known) == profile.descriptor.as_ref() => {
                let key = hub.key_of(name.as_str());
                return key.map(|key| (name.clone(), key)).ok_or_else(|| Problem::nobody(name.as_str()));
            }
            None | Some(_) => {}
        }
    }
    Err(Problem::new(Code::NameTaken, format!("there is no name left for the agent of {lies}")))
}

async fn make_known(hub: &Hub, name: AgentName, profile: Profile) -> Result<(AgentName, AgentKey), Problem> {
    let register = Register { swap: ProfileSwap::New, ..gateway::written(&name, Dialect::Channel, &profile) };
    let key = hub.execute(register).await?;
    hub.refresh(name.clone()).await?;
    Ok((name, key))
}

fn profile() -> Profile {
    Profile { framework: Some(FRAMEWORK.to_owned()), ..Profile::default() }
}

/// Says in which root an agent lives.
fn descriptor(home: &AgentName) -> String {
    written("home", home.as_str())
}

fn root_descriptor(lies: &str) -> String {
    written("root", lies)
}

fn written(key: &'static str, text: &str) -> String {
    Value::Object(Object::from_iter([(key, Value::from(text.to_owned()))])).to_json()
}

/// Returns the root in which an agent lives; a root's own agent lives in none but its own.
fn home_in(descriptor: Option<&str>) -> Option<String> {
    let value = json::parse_str(descriptor?, Limits::DOCUMENT).ok()?;
    let home = value.get("home").or_else(|| value.get("root"))?;
    home.as_str().map(str::to_owned)
}

fn not_ours(path: &str, agent: &str) -> Problem {
    let detail = format!(
        "files of {path} may not speak for `{agent}`: name it in channels.roots, as in \"{path}={agent}\""
    );
    Problem::new(Code::NotYours, detail)
}
