//! The command line, read by hand: it is short, and no user of the binary ever sees it.

use std::fmt;
use std::time::Duration;

use crate::AREAS;
use crate::area::{Area, Form, Length, Options};

const ROUNDS_DEFAULT: u64 = 5;
const SECONDS_DEFAULT: u64 = 1;

/// What the caller wants.
pub(crate) enum Command {
    Help,
    List { form: Form },
    Run { areas: Vec<&'static Area>, mode: Mode, options: Options },
    Work { area: &'static Area, what: String, passes: u64 },
}

/// What is done with an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Measure,
    Smoke,
    Callgrind,
}

/// The caller wrote something that we do not understand.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UsageError(String);

pub(crate) fn help() -> String {
    let mut text = String::from(
        "usage: bench [AREA] [OPTIONS]\n       bench list [--json]\n\n\
         Measures our code beside a peer on the same data: rounds in turn, medians, ratios.\n\
         Without AREA, all areas. Exit status: 0 measured, 1 the two sides disagree about\n\
         some data or something failed, 2 wrong use or something to install.\n\nareas:\n",
    );
    for area in &AREAS {
        text.push_str(&format!("  {}\n", area.line(Form::Text)));
    }
    text.push_str(
        "\noptions:\n  \
         --rounds N    rounds in which each side is measured (default 5)\n  \
         --seconds N   how long each measure takes in each round (default 1)\n  \
         --only NAME   one measure of the area `peers`, such as T4\n  \
         --quick       the area `peers` in seconds instead of minutes\n  \
         --json        print JSON, one result a line\n  \
         --smoke       our side only, for an instant\n  \
         --callgrind   count our instructions with valgrind instead of measuring time\n\n\
         examples:\n  bench dialects\n  bench lexicon --rounds 9 --seconds 3 --json\n  bench peers --only T4\n  bench --smoke\n",
    );
    text
}

pub(crate) fn parse(args: &[String]) -> Result<Command, UsageError> {
    let mut words = Words::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => return Ok(Command::Help),
            "--json" => words.form = Some(Form::Json),
            "--smoke" => words.set_mode(Mode::Smoke)?,
            "--callgrind" => words.set_mode(Mode::Callgrind)?,
            "--rounds" => words.rounds = Some(positive("--rounds", args.next())?),
            "--seconds" => words.seconds = Some(positive("--seconds", args.next())?),
            "--passes" => words.passes = Some(positive("--passes", args.next())?),
            "--work" => words.work = Some(text("--work", args.next())?),
            "--only" => words.only = Some(text("--only", args.next())?),
            "--quick" => words.length = Some(Length::Quick),
            name if !name.starts_with('-') && words.name.is_none() => words.name = Some(name.to_owned()),
            other => return Err(UsageError(format!("unknown argument `{other}`\nhint: bench --help"))),
        }
    }
    words.command()
}

/// The arguments as they came, before they are put together.
#[derive(Default)]
struct Words {
    name: Option<String>,
    mode: Option<Mode>,
    form: Option<Form>,
    rounds: Option<u64>,
    seconds: Option<u64>,
    work: Option<String>,
    passes: Option<u64>,
    only: Option<String>,
    length: Option<Length>,
}

impl Words {
    fn set_mode(&mut self, mode: Mode) -> Result<(), UsageError> {
        match self.mode.replace(mode) {
            Some(before) if before != mode => {
                Err(UsageError("--smoke and --callgrind exclude each other".to_owned()))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn command(self) -> Result<Command, UsageError> {
        let form = self.form.unwrap_or(Form::Text);
        if self.name.as_deref() == Some("list") {
            return Ok(Command::List { form });
        }
        let areas = match &self.name {
            Some(name) => vec![area(name)?],
            None => AREAS.iter().collect(),
        };
        if let Some(what) = self.work {
            let area = areas.first().ok_or_else(|| UsageError("--work wants an area".to_owned()))?;
            return Ok(Command::Work { area, what, passes: self.passes.unwrap_or(1) });
        }
        let options = Options {
            rounds: usize::try_from(self.rounds.unwrap_or(ROUNDS_DEFAULT))
                .map_err(|_| UsageError("--rounds is too large".to_owned()))?,
            duration: Duration::from_secs(self.seconds.unwrap_or(SECONDS_DEFAULT)),
            form,
            only: self.only,
            length: self.length.unwrap_or(Length::Full),
        };
        Ok(Command::Run { areas, mode: self.mode.unwrap_or(Mode::Measure), options })
    }
}

impl UsageError {
    pub(crate) fn new(text: String) -> Self {
        UsageError(text)
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

fn area(name: &str) -> Result<&'static Area, UsageError> {
    let names = || AREAS.iter().map(|area| area.name).collect::<Vec<_>>().join(", ");
    let found = AREAS.iter().find(|area| area.name == name);
    found.ok_or_else(|| UsageError(format!("unknown area `{name}`\nhint: the areas are {}", names())))
}

fn text(flag: &str, value: Option<&String>) -> Result<String, UsageError> {
    value.cloned().ok_or_else(|| UsageError(format!("{flag} wants a value")))
}

fn positive(flag: &str, value: Option<&String>) -> Result<u64, UsageError> {
    match value.map(|value| value.parse::<u64>()) {
        Some(Ok(number)) if number > 0 => Ok(number),
        Some(_) => Err(UsageError(format!("{flag} wants a whole number of at least 1"))),
        None => Err(UsageError(format!("{flag} wants a value"))),
    }
}
