//! How a command ends: the answer yes or no, or a failure with a hint.

use std::io;
use std::path::Path;
use std::process::ExitCode;

const EXIT_NO: u8 = 1;
/// The exit code after wrong use, unreadable input, or a server that could not go on.
pub(crate) const EXIT_WRONG_USE: u8 = 2;

/// What a command answers when it could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done, valid, compatible.
    Yes,
    /// Invalid, breaking, not found, refused.
    No,
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
enum Kind {
    WrongUse,
    NotFound,
    Refused,
    /// Whoever read our output has gone; there is nobody to tell.
    ReaderGone,
}

impl Answer {
    /// Returns yes if it holds.
    pub(crate) fn from_bool(holds: bool) -> Self {
        if holds { Answer::Yes } else { Answer::No }
    }

    /// Returns the exit code that scripts see.
    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(EXIT_NO),
        }
    }
}

impl Failure {
    /// Wrong use or unreadable input.
    pub(crate) fn wrong_use(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, kind: Kind::WrongUse }
    }

    /// Something that was asked for does not exist.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, kind: Kind::NotFound }
    }

    /// The bus said no.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, kind: Kind::Refused }
    }

    /// A file that cannot be read.
    pub(crate) fn unreadable(name: &str, error: &io::Error) -> Self {
        Failure::wrong_use(format!("cannot read {name}: {}", reason(error)))
    }

    /// A file or folder that cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        Failure::wrong_use(format!("cannot write {}: {}", path.display(), reason(error)))
            .hint("make it yours with `chown` and see whether its disk takes anything; or name another folder with --data")
    }

    /// Returns what went wrong.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Tells the user, with the place where it went wrong in front, and goes on.
    pub(crate) fn tell(&self, place: &str) {
        eprintln!("error: {place}{}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
    }

    /// Tells the user and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        if self.kind == Kind::ReaderGone {
            return ExitCode::SUCCESS;
        }
        self.tell("");
        ExitCode::from(match self.kind {
            Kind::NotFound | Kind::Refused => EXIT_NO,
            Kind::WrongUse | Kind::ReaderGone => EXIT_WRONG_USE,
        })
    }
}

/// Writing to standard output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { Kind::ReaderGone } else { Kind::WrongUse };
        Failure { message: format!("cannot write the output: {}", reason(&error)), hint: None, kind }
    }
}

/// Puts an error and what caused it into one line.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let text = error.downcast_ref::<io::Error>().map_or_else(|| error.to_string(), reason);
    match error.source() {
        Some(cause) => format!("{text}: {}", chain(cause)),
        None => text,
    }
}

/// The reason without the number that the operating system gives it.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let plain = text.split(" (os error").next().unwrap_or_default();
    let mut letters = plain.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}
