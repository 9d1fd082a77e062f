//! The commands, one file each.

mod agent;
mod card;
pub(crate) mod channel;
mod completions;
mod dead;
mod delivery;
mod demo;
mod doctor;
mod down;
mod export;
mod gate;
mod import;
mod inbox;
mod lexicon_add;
mod lexicon_check;
mod lexicon_hoist;
mod lexicon_validate;
mod log;
mod membership;
mod policy;
mod receipt;
mod reply;
mod schema;
mod search;
mod send;
mod service;
mod state;
mod tail;
mod talk;
mod task;
mod translate;
mod unsend;
mod up;
mod validate;
mod watch;
mod who;

use ::translate::Reports;

use crate::cli::{CardCommand, Command, LexiconCommand, LogCommand, SchemaCommand};
use crate::failure::{Answer, Failure};
use crate::output::Form;
use crate::remote::block_on;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Validate { dialect, files, json } => validate::run(dialect, &files, Form::from_flag(json)),
        Command::Translate { from, to, identities, report, file } => {
            let reports = if report { Reports::Wanted } else { Reports::Unwanted };
            translate::run(from, to, identities.as_deref(), reports, file)
        }
        Command::Channel(command) => channel::run(command),
        Command::Card(CardCommand::Lint { files, registry, json }) => {
            card::lint(&files, registry.as_deref(), Form::from_flag(json))
        }
        Command::Card(CardCommand::Prompt { card, brief, skills, memory, inbox }) => {
            card::prompt(&card, &brief, &skills, memory.as_deref(), inbox.as_deref())
        }
        Command::Lexicon(LexiconCommand::Check { old, new, json }) => {
            lexicon_check::run(&old, &new, Form::from_flag(json))
        }
        Command::Lexicon(LexiconCommand::Validate { lexicons, records, read, json }) => {
            let purpose = if read { lexicon::Purpose::Read } else { lexicon::Purpose::Write };
            lexicon_validate::run(&lexicons, &records, purpose, Form::from_flag(json))
        }
        Command::Lexicon(LexiconCommand::Hoist { lexicon }) => lexicon_hoist::run(&lexicon),
        Command::Lexicon(LexiconCommand::Add { lexicons, force, remote }) => {
            block_on(lexicon_add::add(&remote, &lexicons, force))
        }
        Command::Lexicon(LexiconCommand::List { speaker, remote }) => {
            block_on(lexicon_add::list(&remote, &speaker))
        }
        Command::Schema(SchemaCommand::List { json }) => schema::list(Form::from_flag(json)),
        Command::Schema(SchemaCommand::Show { name }) => schema::show(&name),
        Command::Up(args) => up::run(&args),
        Command::Down(args) => down::run(&args),
        Command::Service(args) => service::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Log(LogCommand::Verify { data, json }) => log::verify(data, Form::from_flag(json)),
        Command::Log(LogCommand::Salvage { data, json }) => log::salvage(data, Form::from_flag(json)),
        Command::Log(LogCommand::Trim(args)) => block_on(log::trim(&args)),
        Command::Talk(command) => talk::run(command),
        Command::Watch(args) => watch::run(&args),
        Command::Completions { shell } => completions::run(shell),
    }
}
