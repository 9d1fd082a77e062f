//! The agents of the demo, one for each dialect.

use client::{AgentSettings, Client, Token};
use dialect::Name;

use crate::failure::Failure;

use super::{client, told};

/// Name, dialect and what it pretends to run on.
const AGENTS: [(&str, Name, &str); 6] = [
    ("cleo", Name::Comms, "letta"),
    ("cora", Name::Coord, "swarm"),
    ("bea", Name::Bus, "codex"),
    ("chad", Name::Channel, "opencode"),
    ("wim", Name::Wire, "runner"),
    ("kim", Name::Convoke, "claude-code"),
];

/// The agents with their clients.
pub(super) struct Cast {
    agents: Vec<(&'static str, Name, Client)>,
}

impl Cast {
    /// Makes them known to the bus.
    pub(super) async fn register(url: &str, operator: &str) -> Result<Self, Failure> {
        let operator = client(url, operator)?;
        let mut agents = Vec::new();
        for (name, dialect, framework) in AGENTS {
            let mut settings = AgentSettings::default();
            (settings.dialect, settings.framework) = (Some(dialect), Some(framework.to_owned()));
            settings.did = Some(format!("did:web:{name}.example"));
            settings.uri = Some(format!("{framework}://{name}"));
            let made = told(operator.put_agent(name, &settings).await)?;
            let token = made.token.as_ref().map(Token::reveal).unwrap_or_default();
            agents.push((name, dialect, client(url, token)?));
        }
        Ok(Cast { agents })
    }

    /// Finds an agent by its name.
    pub(super) fn name(&self, name: &str) -> Result<&'static str, Failure> {
        self.find(name).map(|(name, _, _)| *name)
    }

    pub(super) fn dialect(&self, name: &str) -> Name {
        self.find(name).map_or(Name::Convoke, |(_, dialect, _)| *dialect)
    }

    pub(super) fn client(&self, name: &str) -> Result<&Client, Failure> {
        self.find(name).map(|(_, _, client)| client)
    }

    fn find(&self, wanted: &str) -> Result<&(&'static str, Name, Client), Failure> {
        let found = self.agents.iter().find(|(name, _, _)| *name == wanted);
        found.ok_or_else(|| Failure::wrong_use(format!("there is no {wanted:?} in the demo")))
    }
}
