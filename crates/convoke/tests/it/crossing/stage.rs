//! The real bus with agents of every language, and what they are called.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use dialect::{Name, Names};
use json::{Limits, Value};
use rounds::server::{Launch, Server};
use rounds::socket::Socket;
use tempfile::TempDir;

/// How often something is looked at before it is given up; each look takes about a millisecond.
pub(crate) const LOOKS_MAX: usize = 60_000;

/// A bus with agents.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) names: Names,
    tokens: Vec<(String, String)>,
    lines: Mutex<HashMap<String, Line>>,
    _folder: TempDir,
}

/// A socket that settles what it is sent by pings, and what came over it and was not asked for yet.
struct Line {
    socket: Socket,
    came: VecDeque<String>,
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
        Stage { server, names, tokens, lines: Mutex::default(), _folder: folder }
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

    /// Waits for the next text over the socket of an agent, which stays open.
    pub(crate) fn hear(&self, agent: &str, path: &str) -> String {
        let mut lines = self.lines.lock().unwrap();
        let line = lines.entry(agent.to_owned()).or_insert_with(|| Line {
            socket: Socket::at(self.server.address(), path, self.token(agent)).unwrap(),
            came: VecDeque::new(),
        });
        if line.came.is_empty() {
            line.came.extend(line.socket.hear_to_ping().unwrap());
        }
        line.came.pop_front().unwrap()
    }

    /// Closes the socket of an agent, and waits until the bus knows.
    pub(crate) fn hang_up(&self, agent: &str) {
        drop(self.lines.lock().unwrap().remove(agent));
        let look = || text(&self.call("GET", &format!("/v1/agents/{agent}"), "", "").1, "/reachability");
        let gone = std::iter::repeat_with(look).take(LOOKS_MAX).find(|reachability| reachability != "socket");
        assert!(gone.is_some(), "{agent} is still connected");
    }

    /// Demands that an agent has nothing that nobody asked for, neither with the bus nor on its socket.
    pub(crate) fn has_nothing(&self, agent: &str) {
        let (_, inbox) = self.call("GET", &format!("/v1/agents/{agent}/inbox"), "", "");
        assert_eq!(text(&inbox, "/messages"), "[]", "{agent}");
        let lines = self.lines.lock().unwrap();
        assert!(lines.get(agent).is_none_or(|line| line.came.is_empty()), "{agent} got it over its socket");
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
