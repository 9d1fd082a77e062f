//! Presence files become the presence of their agents.

use std::collections::HashMap;
use std::sync::Arc;

use broker::{AgentKey, Command};
use channel_root::Seen;
use gateway::{Principal, Problem};
use message::{PresenceState, Timestamp};

use crate::site::Site;

/// What was told the bus last, by agent.
#[derive(Default)]
pub(crate) struct Presences {
    told: HashMap<String, (PresenceState, Timestamp, Option<String>)>,
}

impl Presences {
    /// Tells the bus what is new. Who was never seen and is not there is nobody's news.
    pub(crate) async fn tell(&mut self, site: &Arc<Site>, seen: Vec<Seen>) {
        for seen in seen {
            let now = (seen.state(), seen.at, seen.channel.clone());
            let told = self.told.get(&seen.agent);
            let is_news = told.map_or(!seen.is_stale, |told| *told != now);
            if is_news && let Ok(agent) = speaker(site, &seen.agent).await {
                note(site, agent, seen.state());
                self.watches(site, &seen, agent).await;
                self.told.insert(seen.agent, now);
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
}

async fn speaker(site: &Site, agent: &str) -> Result<AgentKey, Problem> {
    match site.speaker(agent).await? {
        Principal::Agent(speaker) => Ok(speaker.key),
        Principal::Operator | Principal::Anybody => Err(Problem::nobody(agent)),
    }
}

/// A sign of life: nobody relies on it, so nothing waits until it is durable.
fn note(site: &Site, agent: AgentKey, state: PresenceState) {
    site.hub.node().note(move |turn| {
        drop(turn.execute(&Command::SetPresence { agent, state, detail: b"" }));
    });
}
