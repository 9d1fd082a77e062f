//! Presence, both ways: presence files become the presence of their agents, and how agents of the bus are that are in
//! a root's channels is shown by files.
//!
//! What was last told either way is remembered by agent, so that nothing goes round in a circle: a file says what the
//! bus said before, and is no news.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use broker::query::agents::RegistryPage;
use broker::{AgentKey, Command, Time};
use channel_root::{Heartbeat, Seen};
use dialect_channel::presence::REFRESH_AFTER;
use gateway::{AGENTS_MAX, Principal, Problem};
use message::{PresenceState, Timestamp};

use crate::site::Site;

const CHANNEL: &str = "channel:";

/// How an agent is, when that was said, and in which channel.
type Told = (PresenceState, Timestamp, Option<String>);

/// What was told last, by agent.
#[derive(Default)]
pub(crate) struct Presences {
    told: HashMap<String, Told>,
    /// When files were last looked at that the bus writes.
    shown: Option<Duration>,
}

/// How an agent of the bus is.
struct OnBus {
    agent: String,
    state: PresenceState,
    at: Time,
    channel: String,
}

impl Presences {
    /// Tells the bus what is new. Who was never seen and is not there is nobody's news.
    pub(crate) async fn tell(&mut self, site: &Arc<Site>, seen: &[Seen]) {
        for seen in seen {
            let now = (seen.state(), seen.at, seen.channel.clone());
            let told = self.told.get(&seen.agent);
            let is_news = told.map_or(!seen.is_stale, |told| *told != now);
            if is_news && let Ok(agent) = speaker(site, &seen.agent).await {
                note(site, agent, seen.state());
                self.watches(site, seen, agent).await;
                self.told.insert(seen.agent.clone(), now);
            }
        }
    }

    /// Whoever watches a channel is in it.
    async fn watches(&self, site: &Arc<Site>, seen: &Seen, agent: AgentKey) {
        let Some(channel) = seen.channel.as_deref().filter(|_| !seen.is_stale) else { return };
        let was_there =
            self.told.get(&seen.agent).is_some_and(|(_, _, told)| told.as_deref() == Some(channel));
        if !was_there && site.root.channels().is_ok_and(|channels| channels.iter().any(|it| it == channel)) {
            // One membership too many is no reason to be silent about the rest.
            drop(site.join(agent, dialect_channel::channel_of(channel)).await);
        }
    }

    /// Shows by files how agents of the bus are, as often as a watcher writes its own. What an agent's own file says
    /// since then counts more.
    pub(crate) async fn show(&mut self, site: &Arc<Site>, seen: &[Seen], channels: &[String]) {
        let now = site.hub.node().steady();
        if self.shown.is_some_and(|shown| now.saturating_sub(shown) < REFRESH_AFTER.min(5 * site.poll)) {
            return;
        }
        self.shown = Some(now);
        for on_bus in on_bus(site, channels).await.unwrap_or_default() {
            let said = on_bus.at.timestamp();
            let own = seen.iter().find(|seen| seen.agent == on_bus.agent);
            let told = self.told.get(&on_bus.agent);
            let is_told = told.is_some_and(|(state, at, _)| *state == on_bus.state && *at >= said);
            // What came from a file a moment ago is on the bus a little later than in the file.
            let is_own = own.is_some_and(|own| own.at >= said || own.state() == on_bus.state);
            if is_told || is_own {
                continue;
            }
            let heartbeat = Heartbeat::stating(&on_bus.agent, on_bus.state, None, &on_bus.channel);
            let written = site.with_shelf(move |site, _| site.root.write_presence(&heartbeat, said)).await;
            match written {
                Some(Ok(())) => {
                    let told = (on_bus.state, milliseconds(said), Some(on_bus.channel));
                    self.told.insert(on_bus.agent, told);
                }
                Some(Err(error)) => tracing::debug!("{}: {error}", site.path),
                None => {}
            }
        }
    }
}

/// Returns how those are who are in a channel of the root and have said how they are.
async fn on_bus(site: &Arc<Site>, channels: &[String]) -> Result<Vec<OnBus>, Problem> {
    let folders: HashMap<String, String> = channels
        .iter()
        .map(|folder| (format!("{CHANNEL}{}", dialect_channel::channel_of(folder)), folder.clone()))
        .collect();
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let (agents, next) = site.hub.query(RegistryPage { after, max: AGENTS_MAX }).await?;
        found.extend(agents.into_iter().filter_map(|agent| {
            let (state, at) = agent.presence?;
            let channel = agent.memberships.iter().find_map(|it| folders.get(it.as_str()))?.clone();
            Some(OnBus { agent: agent.name.to_string(), state, at, channel })
        }));
        after = next;
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Returns an instant as files have it.
fn milliseconds(at: Timestamp) -> Timestamp {
    Timestamp::from_unix_micros(at.unix_micros() / 1_000 * 1_000).unwrap_or(at)
}

async fn speaker(site: &Site, agent: &str) -> Result<AgentKey, Problem> {
    match site.speaker(agent).await? {
        Principal::Agent(speaker) => Ok(speaker.key),
        Principal::Operator | Principal::Anybody => Err(Problem::nobody(agent)),
    }
}

/// A sign of life: nobody relies on it, so nothing waits until it is durable.
fn note(site: &Site, agent: AgentKey, state: PresenceState) {
    site.hub.node().note(Command::SetPresence { agent, state, detail: Vec::new() });
}
