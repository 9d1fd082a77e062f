//! The real bus with agents of every language, and what they are called.

use dialect::{Name, Names};
use json::{Limits, Value};
use rounds::server::{Launch, Server};
use tempfile::TempDir;

/// A bus with agents.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) names: Names,
    tokens: Vec<(String, String)>,
    _folder: TempDir,
}

impl Stage {
    /// Starts a bus with these agents, each of which has a name in every language.
    pub(crate) fn start(agents: &[(String, Name)]) -> Self {
        let folder = TempDir::new().unwrap();
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_convoke"));
        let server = Launch::new(binary, folder.path()).start().unwrap();
        let (mut tokens, mut identities) = (Vec::new(), Vec::new());
        for (agent, dialect) in agents {
            let known = format!(
                r#""did":"did:web:{agent}.example.com","handle":"{agent}.example.com","uri":"codex://{agent}","framework":"codex""#
            );
            let options = format!(r#"{{"dialect":"{}",{known}}}"#, dialect.name());
            let made =
                server.call("PUT", &format!("/v1/agents/{agent}"), server.operator(), &options).unwrap();
            tokens.push((agent.clone(), made.text("token").unwrap_or_else(|| panic!("{made}"))));
            identities.push(format!(r#"{{"slug":"{agent}",{known}}}"#));
        }
        let list = format!("[{}]", identities.join(","));
        let names = Names::from_value(&json::parse_str(&list, Limits::DOCUMENT).unwrap()).unwrap();
        Stage { server, names, tokens, _folder: folder }
    }

    pub(crate) fn token(&self, agent: &str) -> &str {
        &self.tokens.iter().find(|(name, _)| name == agent).unwrap().1
    }

    /// Calls as an agent, or as the operator with an empty name.
    pub(crate) fn call(&self, method: &str, path: &str, agent: &str, body: &str) -> (u16, Value<'static>) {
        let token = if agent.is_empty() { self.server.operator() } else { self.token(agent) };
        let answer = self.server.call(method, path, token, body).unwrap();
        let value = answer.json().unwrap_or_else(|| panic!("{method} {path}: {answer}")).into_owned();
        (answer.status, value)
    }

    /// Returns how far a message has come.
    pub(crate) fn receipt(&self, id: &str) -> Value<'static> {
        let (status, receipt) = self.call("GET", &format!("/v1/messages/{id}/receipt"), "", "");
        assert_eq!(status, 200, "{receipt}");
        receipt
    }
}

/// Returns a text that a JSON Pointer leads to, empty if there is none.
pub(crate) fn text(value: &Value<'_>, pointer: &str) -> String {
    let found = value.as_object().and_then(|object| dialect::get(object, pointer));
    found.map(|found| found.as_str().map_or_else(|| found.to_json(), str::to_owned)).unwrap_or_default()
}
