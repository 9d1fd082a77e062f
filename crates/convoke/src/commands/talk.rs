//! The commands that speak to a bus: which one it is.

use crate::cli::talk::{AgentCommand, DeadCommand, TalkCommand};
use crate::commands::{
    agent, channel, dead, delivery, demo, export, gate, import, inbox, membership, policy, receipt, reply,
    search, send, state, tail, task, unsend, who,
};
use crate::failure::{Answer, Failure};
use crate::output::Form;
use crate::remote::block_on;

/// Runs a command.
pub(crate) fn run(command: TalkCommand) -> Result<Answer, Failure> {
    match command {
        TalkCommand::Agent(command) => administer(command),
        TalkCommand::Who { agent, root: Some(root), remote, .. } => {
            channel::who_in_root(&root, agent.as_deref(), Form::from_flag(remote.json))
        }
        TalkCommand::Who { agent: None, speaker, remote, .. } => block_on(who::everybody(&remote, &speaker)),
        TalkCommand::Who { agent: Some(agent), speaker, remote, .. } => {
            block_on(who::one(&remote, &speaker, &agent))
        }
        TalkCommand::Send(args) => block_on(send::run(&args)),
        TalkCommand::Inbox(args) => block_on(inbox::run(&args)),
        TalkCommand::Reply { id, text, kind, speaker, remote } => {
            block_on(reply::run(&remote, &speaker, &id, &text, kind))
        }
        TalkCommand::Unsend(message) => block_on(unsend::unsend(&message)),
        TalkCommand::Amend { file, dialect, message } => block_on(unsend::amend(&message, &file, dialect)),
        TalkCommand::Join(args) => block_on(membership::join(&args)),
        TalkCommand::Leave(args) => block_on(membership::leave(&args)),
        TalkCommand::Ack(args) => block_on(delivery::ack(&args)),
        TalkCommand::Nack { reason, delay, last, deliveries } => {
            block_on(delivery::nack(&deliveries, reason, delay, last))
        }
        TalkCommand::Surfaced(args) => block_on(delivery::surfaced(&args)),
        TalkCommand::Extend { lease, deliveries } => block_on(delivery::extend(&deliveries, lease)),
        TalkCommand::Receipt(message) => block_on(receipt::run(&message)),
        TalkCommand::Tail { agent, thread, task, after, speaker, remote } => {
            block_on(tail::run(&remote, &speaker, tail::filter(agent, thread, task, after)))
        }
        TalkCommand::Search { query, agent, max, speaker, remote } => {
            block_on(search::run(&remote, &speaker, &query.join(" "), agent, max))
        }
        TalkCommand::Dead(command) => bury(command),
        TalkCommand::Task(command) => block_on(task::run(command)),
        TalkCommand::State(command) => block_on(state::run(command)),
        TalkCommand::Policy(command) => block_on(policy::run(command)),
        TalkCommand::Gate(command) => block_on(gate::run(command)),
        TalkCommand::Export { remote } => block_on(export::run(&remote)),
        TalkCommand::Import { file, dry_run, unsettled, remote } => {
            let wanted = import::Wanted::from_flags(dry_run, unsettled);
            block_on(import::run(&remote, &file, wanted))
        }
        TalkCommand::Demo { json } => block_on(demo::run(Form::from_flag(json))),
    }
}

fn administer(command: AgentCommand) -> Result<Answer, Failure> {
    match command {
        AgentCommand::Add {
            name,
            roles,
            dialect,
            framework,
            did,
            handle,
            uri,
            speaks_for,
            capabilities,
            expires,
            remote,
        } => {
            let mut settings = client::AgentSettings::default();
            (settings.dialect, settings.framework, settings.did) = (dialect, framework, did);
            (settings.handle, settings.uri, settings.roles) = (handle, uri, roles);
            (settings.speaks_for, settings.expires) = (speaks_for, expires);
            settings.capabilities = capabilities;
            block_on(agent::add(&remote, &name, &settings))
        }
        AgentCommand::List { remote } => block_on(who::list(&remote)),
        AgentCommand::Show { name, remote } => block_on(who::show(&remote, &name)),
        AgentCommand::Rm { name, remote } => block_on(agent::remove(&remote, &name)),
        AgentCommand::Token { name, expires, remote } => block_on(agent::token(&remote, &name, expires)),
        AgentCommand::Revoke { name, label, all: _, remote } => {
            block_on(agent::revoke(&remote, &name, label.as_deref()))
        }
    }
}

fn bury(command: DeadCommand) -> Result<Answer, Failure> {
    match command {
        DeadCommand::List { speaker, remote } => block_on(dead::list(&remote, &speaker)),
        DeadCommand::Show(message) => block_on(dead::show(&message)),
        DeadCommand::Retry(message) => block_on(dead::retry(&message)),
        DeadCommand::Drop(message) => block_on(dead::drop_letters(&message)),
    }
}
