//! Hostile requests: every call that the server describes, with bodies, paths, heads and frames that nobody sane sends.
//!
//! Whatever comes, the server answers with something that it documents, or closes the connection; it never panics and
//! never says that it is at fault. The calls are those of `/v1/openapi.json`, so a new one is covered from its first
//! day.

mod bodies;
mod frames;
mod heads;

use std::collections::HashSet;
use std::io;

use anyhow::{Context, bail, ensure};
use json::Value;

use crate::faults::{Saw, Stage};
use crate::http::{Answer, Line};
use crate::random::Dice;
use crate::server::{Launch, Server};

/// Every code that may be told, as documented.
const ERRORS: &str = include_str!("../../../errors.toml");

/// Statuses of our own fault that are documented: who waits may be told that there is no reply, that the bus stops or
/// is full, that the history is behind.
const EXCUSED: [u16; 3] = [503, 504, 507];

/// What is under attack.
struct Target {
    server: Server,
    agent: String,
    codes: HashSet<String>,
    calls: Vec<Call>,
    count: usize,
}

/// One call.
#[derive(Clone, Debug)]
struct Call {
    method: String,
    path: String,
}

/// What may come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// An answer, in our own words.
    Answer,
    /// What is wrong lies beneath HTTP: the connection may end, or the answer may be a bare one.
    AnswerOrEnd,
}

/// Attacks a bus of its own; `extra` more bodies by chance for each call.
pub fn run(stage: &Stage, extra: usize) -> anyhow::Result<Saw> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let launch = Launch::new(&stage.binary, folder.path());
    let server = launch.start()?;
    let agent = server.agent("ann")?;
    let codes = ERRORS.lines().filter_map(|line| line.strip_prefix("code = \"")?.strip_suffix('"'));
    let codes = codes.map(str::to_owned).collect();
    let calls = calls(&server)?;
    let mut target = Target { server, agent, codes, calls, count: 0 };
    let mut dice = Dice::new(stage.seed, 0);
    bodies::attack(&mut target, &mut dice, extra)?;
    heads::attack(&mut target, &mut dice)?;
    frames::attack(&mut target, &mut dice)?;
    target.server.must_be_well()?;
    let code = target.server.stop()?;
    ensure!(code == Some(0), "after all that it stopped with {code:?}");
    let (calls, count) = (target.calls.len(), target.count);
    Ok(Saw::This(format!(
        "seed {}: {count} hostile requests and frames at {calls} calls, all answered in documented ways",
        stage.seed
    )))
}

/// Asks the server what there is. What could end the run by doing what it says is given a name that leads nowhere.
fn calls(server: &Server) -> anyhow::Result<Vec<Call>> {
    let described = server.call("GET", "/v1/openapi.json", "", "")?;
    let value = described.json().context("the description is no JSON")?;
    let paths = value.get("paths").and_then(Value::as_object).context("a description without paths")?;
    let mut calls = Vec::new();
    for (path, methods) in paths.iter() {
        for (method, _) in methods.as_object().context("a path without methods")?.iter() {
            let method = method.to_ascii_uppercase();
            if ["GET", "PUT", "POST", "DELETE", "PATCH"].contains(&method.as_str()) {
                calls.push(Call { method, path: fill(path) });
            }
        }
    }
    ensure!(calls.len() > 20, "only {} calls are described", calls.len());
    Ok(calls)
}

fn fill(template: &str) -> String {
    let mut path = String::new();
    for piece in template.split('/').skip(1) {
        path.push('/');
        path.push_str(match piece {
            "{agent}" => "bob",
            "{address}" => "%23topic",
            "{label}" => "0000",
            "{what}" => "ack",
            piece if piece.starts_with('{') => "0193a5b0-0000-7000-8000-000000000001",
            piece => piece,
        });
    }
    path
}

impl Target {
    /// Sends bytes on a connection of their own and judges what comes back.
    fn send(&mut self, bytes: &[u8], expect: Expect, what: &str) -> anyhow::Result<()> {
        self.count += 1;
        let answer = self.exchange(bytes, expect);
        self.judge(answer, expect).with_context(|| format!("{what}: {:?}", excerpt(bytes)))
    }

    fn exchange(&self, bytes: &[u8], expect: Expect) -> io::Result<Answer> {
        let mut line = Line::connect(self.server.address())?;
        // Whoever refuses a body early may close before all of it is written.
        let mut written = line.write(bytes);
        // Whoever has not sent all of a request says so; who has may not, since that counts as leaving.
        if expect == Expect::AnswerOrEnd {
            written = written.and_then(|()| line.end());
        }
        let head = match line.head() {
            Ok(head) => head,
            Err(error) => return Err(written.err().unwrap_or(error)),
        };
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        // What never ends is not read to its end.
        let is_stream = head.to_ascii_lowercase().contains("text/event-stream");
        if status == 101 || is_stream {
            return Ok(Answer { status, head, body: Vec::new() });
        }
        line.answer_after(head)
    }

    fn judge(&mut self, answer: io::Result<Answer>, expect: Expect) -> anyhow::Result<()> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(_) if expect == Expect::AnswerOrEnd => return self.server.must_be_well(),
            Err(error) => {
                self.server.must_be_well()?;
                bail!("no answer: {error}");
            }
        };
        let status = answer.status;
        ensure!(status < 500 || EXCUSED.contains(&status), "it says that it is at fault: {answer}");
        if status >= 400 {
            let is_bare = answer.body.is_empty() && expect == Expect::AnswerOrEnd;
            let kind = answer.header("content-type").unwrap_or_default();
            ensure!(is_bare || kind == "application/problem+json", "a refusal as {kind:?}: {answer}");
            let code = answer.code();
            ensure!(is_bare || self.codes.contains(&code), "{code:?} is not documented: {answer}");
        }
        Ok(())
    }

    /// Returns the head of a request, without its empty line.
    fn head(&self, method: &str, path: &str) -> String {
        let (address, token) = (self.server.address(), self.server.operator());
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n")
    }
}

fn excerpt(bytes: &[u8]) -> String {
    let head: String = String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned();
    // A token is nobody's business, not even one of a bus that is about to go.
    let lines = head.lines().filter(|line| !line.starts_with("Authorization:"));
    lines.collect::<Vec<_>>().join("\n").chars().take(300).collect()
}
