//! What others wrote, made safe for a terminal, and colours where they are wanted.
//!
//! A message must not move the cursor, change the title, or hide a part of a line: whatever controls a terminal or
//! turns the direction of text is shown by its number instead.

use std::fmt::Write;
use std::io::{self, IsTerminal};

const WIDTH: usize = 80;

/// What is set off by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Names and headings.
    Strong,
    /// What is seldom read.
    Faint,
}

/// How standard output is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    is_coloured: bool,
    /// Columns, if lines must be cut to fit.
    pub(crate) width: Option<usize>,
}

impl Screen {
    /// Looks at where standard output goes.
    pub(crate) fn of_stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        Screen { is_coloured: is_terminal && !plain, width: is_terminal.then_some(columns.unwrap_or(WIDTH)) }
    }

    /// A screen without colours.
    #[cfg(test)]
    pub(crate) fn plain(width: Option<usize>) -> Self {
        Screen { is_coloured: false, width }
    }

    /// Sets text off, if there are colours.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if !self.is_coloured || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Makes text safe to be shown in one line.
pub(crate) fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            other => push(&mut shown, other),
        }
    }
    shown
}

/// Makes text safe to be shown in several lines.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| {
        let mut shown = String::with_capacity(line.len());
        for character in line.strip_suffix('\r').unwrap_or(line).chars() {
            match character {
                '\t' => shown.push_str("    "),
                other => push(&mut shown, other),
            }
        }
        shown
    })
}

/// Counts the columns that text takes.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Cuts text to a number of columns; what was cut is marked.
pub(crate) fn cut(text: &str, width_max: usize) -> String {
    if width(text) <= width_max {
        return text.to_owned();
    }
    let mut taken = 0;
    let fits = |character: &char| {
        taken += columns(*character);
        taken < width_max
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

fn push(shown: &mut String, character: char) {
    if controls(character) {
        write!(shown, "\\u{{{:x}}}", u32::from(character)).expect("writing to a string does not fail");
    } else {
        shown.push(character);
    }
}

/// Control characters, and those that are not seen but change how the others look.
fn controls(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0x00ad | 0x061c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff
            | 0xfff9..=0xfffb | 0xe0000..=0xe007f)
}

/// Most characters take one column, those of East Asia and pictures two, marks that combine none.
fn columns(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}
