//! `convoke who`: who is there and how each can be reached.

use client::Agent;

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::failure::{Answer, Failure};
use crate::output::{Form, Output};
use crate::receipts::way;
use crate::remote::Remote;
use crate::screen;
use crate::table::Table;

/// Lists the agents.
pub(crate) async fn everybody(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Answer, Failure> {
    print_all(&Remote::look(args, speaker)?).await
}

/// Shows one agent.
pub(crate) async fn one(args: &RemoteArgs, speaker: &SpeakerArgs, name: &str) -> Result<Answer, Failure> {
    print_one(&Remote::look(args, speaker)?, name).await
}

/// Lists the agents for the operator.
pub(crate) async fn list(args: &RemoteArgs) -> Result<Answer, Failure> {
    print_all(&Remote::administer(args)?).await
}

/// Shows one agent to the operator.
pub(crate) async fn show(args: &RemoteArgs, name: &str) -> Result<Answer, Failure> {
    print_one(&Remote::administer(args)?, name).await
}

async fn print_all(remote: &Remote) -> Result<Answer, Failure> {
    let agents = remote.client.agents().await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => {
            for agent in &agents {
                output.line(&agent.json)?;
            }
        }
        Form::Text if agents.is_empty() => {
            eprintln!("nobody is there yet");
            eprintln!("hint: `convoke agent add NAME` makes an agent");
        }
        Form::Text => table(&agents).print(&mut output)?,
    }
    output.flush()?;
    Ok(Answer::Yes)
}

async fn print_one(remote: &Remote, name: &str) -> Result<Answer, Failure> {
    let agent = remote.client.agent(name).await.map_err(|error| remote.failure(&error))?;
    let mut output = Output::new();
    match remote.form {
        Form::Json => output.line(&agent.json)?,
        Form::Text => {
            for (what, said) in facts(&agent) {
                output.line(format_args!("{what:12}{}", screen::line(&said)))?;
            }
        }
    }
    output.flush()?;
    Ok(Answer::Yes)
}

fn table(agents: &[Agent]) -> Table {
    let mut table = Table::new(&["agent", "dialect", "reached by", "waiting", "presence", "member of"]);
    // The two that are the bus itself are of interest only when something waits for them.
    let is_shown =
        |agent: &&Agent| agent.waiting > 0 || !["system", "runner"].contains(&agent.agent.as_str());
    for agent in agents.iter().filter(is_shown) {
        table.row([
            agent.agent.clone(),
            dialect(agent),
            reached(agent),
            agent.waiting.to_string(),
            agent.presence.as_ref().map(|presence| presence.state.clone()).unwrap_or_default(),
            agent.memberships.join(" "),
        ]);
    }
    table
}

fn facts(agent: &Agent) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("agent", agent.agent.clone()),
        ("dialect", dialect(agent)),
        ("reached by", reached(agent)),
        ("waiting", agent.waiting.to_string()),
    ];
    let mut more = |what, said: String| {
        if !said.is_empty() {
            facts.push((what, said));
        }
    };
    more("aliases", agent.aliases.join(" "));
    more("framework", agent.framework.clone().unwrap_or_default());
    more("member of", agent.memberships.join(" "));
    more("speaks for", agent.speaks_for.join(" "));
    if let Some(presence) = &agent.presence {
        let since = presence.at.as_ref().map(|at| format!(" since {at}")).unwrap_or_default();
        more("presence", format!("{}{since}", presence.state));
    }
    for token in &agent.tokens {
        let expires = token.expires.as_ref().map(|expires| format!(" until {expires}")).unwrap_or_default();
        more("token", format!("{}{expires}", token.label));
    }
    facts
}

fn dialect(agent: &Agent) -> String {
    agent.dialect.map(|dialect| dialect.name().to_owned()).unwrap_or_default()
}

fn reached(agent: &Agent) -> String {
    agent.reachability.map(|reachability| way(reachability).to_owned()).unwrap_or_default()
}
