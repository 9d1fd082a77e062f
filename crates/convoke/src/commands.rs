//! The commands, one file each.

mod completions;
mod lexicon_check;
mod lexicon_hoist;
mod lexicon_validate;
mod schema;

use crate::cli::{Command, LexiconCommand, SchemaCommand};
use crate::failure::{Answer, Failure};
use crate::output::Form;

/// Runs a command.
pub(crate) fn run(command: Command) -> Result<Answer, Failure> {
    match command {
        Command::Lexicon(LexiconCommand::Check { old, new, json }) => {
            lexicon_check::run(&old, &new, Form::from_flag(json))
        }
        Command::Lexicon(LexiconCommand::Validate { lexicons, records, read, json }) => {
            let purpose = if read { lexicon::Purpose::Read } else { lexicon::Purpose::Write };
            lexicon_validate::run(&lexicons, &records, purpose, Form::from_flag(json))
        }
        Command::Lexicon(LexiconCommand::Hoist { lexicon }) => lexicon_hoist::run(&lexicon),
        Command::Schema(SchemaCommand::List { json }) => schema::list(Form::from_flag(json)),
        Command::Schema(SchemaCommand::Show { name }) => schema::show(&name),
        Command::Completions { shell } => completions::run(shell),
    }
}
