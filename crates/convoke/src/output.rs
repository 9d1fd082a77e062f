//! Standard output: data for people or, with `--json`, one value a line.

use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};

/// How data is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Lines for people.
    Text,
    /// JSON, one value a line.
    Json,
}

/// Buffered standard output.
pub(crate) struct Output {
    out: BufWriter<StdoutLock<'static>>,
}

impl Form {
    /// Returns the form that `--json` chooses.
    pub(crate) fn from_flag(json: bool) -> Self {
        if json { Form::Json } else { Form::Text }
    }
}

impl Output {
    /// Takes standard output.
    pub(crate) fn new() -> Self {
        Output { out: BufWriter::new(io::stdout().lock()) }
    }

    /// Prints a line.
    pub(crate) fn line(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.out, "{line}")
    }

    /// Prints text as it is.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())
    }

    /// Hands everything over, so that somebody who waits for an answer has it.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
