//! What a command is, how it ends, and how it complains about its arguments.

use std::fmt;

/// One command of `cargo xtask`.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// One line for the list of commands.
    pub(crate) summary: &'static str,
    /// The whole text of `--help`, examples included.
    pub(crate) help: &'static str,
    pub(crate) run: fn(&[String]) -> anyhow::Result<Outcome>,
}

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
}

/// The caller wrote something that the command does not understand.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl Outcome {
    pub(crate) fn from_success(success: bool) -> Self {
        if success { Self::Passed } else { Self::Failed }
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// Whether the user asks for the help of this command; what follows `--` is somebody else's.
pub(crate) fn asks_for_help(args: &[String]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h")
}

/// Reads the positive number that follows a flag.
pub(crate) fn positive_number(flag: &str, value: Option<&String>) -> Result<u64, UsageError> {
    match value.map(|value| value.parse::<u64>()) {
        Some(Ok(number)) if number > 0 => Ok(number),
        Some(_) => Err(UsageError(format!("{flag} wants a whole number of at least 1"))),
        None => Err(UsageError(format!("{flag} wants a value"))),
    }
}

/// The complaint about an argument that a command does not know.
pub(crate) fn unknown_argument(command: &str, argument: &str) -> UsageError {
    UsageError(format!("unknown argument `{argument}`\nhint: cargo xtask {command} --help"))
}
