//! `convoke agent`: makes agents, gives them tokens, takes both away.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use client::{AgentSettings, Registered, Token};
use json::{Object, Value};

use crate::cli::remote::RemoteArgs;
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::remote::{Remote, token_file};

/// What a coding agent has to know, to be put into the file that it reads first.
const INSTRUCTIONS: &str = include_str!("agent/instructions.md");

/// Makes an agent, or changes what is known of it.
pub(crate) async fn add(args: &RemoteArgs, name: &str, settings: &AgentSettings) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let made = remote.client.put_agent(name, settings).await;
    let made = made.map_err(|error| remote.failure(&error))?;
    let kept = keep(&remote, &made)?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(to_value(&made))?,
        Form::Text => match &made.token {
            None => output.line(format_args!("{} was there; its tokens stay as they are", made.agent))?,
            Some(token) => introduce(&mut output, &remote, &made.agent, token, kept.as_deref())?,
        },
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Makes one more token.
pub(crate) async fn token(
    args: &RemoteArgs,
    name: &str,
    expires: Option<Duration>,
) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let made = remote.client.add_token(name, expires).await.map_err(|error| remote.failure(&error))?;
    let kept = keep(&remote, &made)?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(to_value(&made))?,
        Form::Text => {
            let token = made.token.as_ref().map(Token::reveal).unwrap_or_default();
            output.line(token)?;
            output.flush()?;
            eprintln!("shown this once{}", kept_at(kept.as_deref()));
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

/// Forgets an agent, and the token that the data folder keeps.
pub(crate) async fn remove(args: &RemoteArgs, name: &str) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    remote.client.remove_agent(name).await.map_err(|error| remote.failure(&error))?;
    forget(&remote, name);
    tell(&remote, name, "removed")
}

/// Revokes one token, or all.
pub(crate) async fn revoke(args: &RemoteArgs, name: &str, label: Option<&str>) -> Result<Answer, Failure> {
    let remote = Remote::administer(args)?;
    let revoked = remote.client.revoke_token(name, label.unwrap_or("all")).await;
    revoked.map_err(|error| remote.failure(&error))?;
    if label.is_none() {
        forget(&remote, name);
    }
    tell(&remote, name, "revoked")
}

/// Keeps a new token where only its owner can read it, if the bus is this machine's.
pub(crate) fn keep(remote: &Remote, made: &Registered) -> Result<Option<PathBuf>, Failure> {
    let (Some(data), Some(token)) = (&remote.data, &made.token) else { return Ok(None) };
    let path = token_file(data, &made.agent);
    write_private(&path, token.reveal()).map_err(|error| {
        Failure::wrong_use(format!("cannot keep the token in {}: {error}", path.display()))
            .hint(format!("`convoke agent token {}` makes another", made.agent))
    })?;
    Ok(Some(path))
}

/// Removes a token that opens nothing any more.
fn forget(remote: &Remote, name: &str) {
    let Some(data) = &remote.data else { return };
    match fs::remove_file(token_file(data, name)) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => eprintln!("warning: its token is still in {}: {error}", data.display()),
    }
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // A file that is there keeps its mode when it is written anew, so it is made anew.
    match fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{text}")
}

fn introduce(
    output: &mut Output,
    remote: &Remote,
    agent: &str,
    token: &Token,
    kept: Option<&Path>,
) -> io::Result<()> {
    output.line(format_args!("agent {agent} is there; its token, shown this once{}:", kept_at(kept)))?;
    output.line(format_args!("{}\n", token.reveal()))?;
    output.line("# to make a shell speak as this agent")?;
    output.line(format_args!("export CONVOKE_URL={}", remote.client.url()))?;
    output.line(format_args!("export CONVOKE_AGENT={agent}"))?;
    if kept.is_none() {
        output.line(format_args!("export CONVOKE_TOKEN={}", token.reveal()))?;
    } else if let Some(data) = std::env::var_os("CONVOKE_DATA").filter(|data| !data.is_empty()) {
        output.line(format_args!("export CONVOKE_DATA={}", data.display()))?;
    }
    output.line("\n# to put into CLAUDE.md or AGENTS.md")?;
    output.text(&INSTRUCTIONS.replace("{agent}", agent))
}

fn kept_at(kept: Option<&Path>) -> String {
    kept.map(|path| format!(" and kept in {}", path.display())).unwrap_or_default()
}

fn to_value(made: &Registered) -> Value<'_> {
    let mut members: Object<'_> = Object::new();
    members.insert("agent", made.agent.as_str());
    if let Some(token) = &made.token {
        members.insert("token", token.reveal());
    }
    if let Some(label) = &made.label {
        members.insert("label", label.as_str());
    }
    Value::Object(members)
}

fn tell(remote: &Remote, name: &str, done: &'static str) -> Result<Answer, Failure> {
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            let members: Object<'_> =
                [("agent", Value::from(name)), (done, Value::from(true))].into_iter().collect();
            output.line(Value::Object(members))?;
        }
        Form::Text => output.line(format_args!("{name}: {done}"))?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}
