//! Which part of what a command prints is its answer. No patterns: a rule is one of four plain ones.

use std::fmt;
use std::str::FromStr;

use json::{Limits, Value};

/// Which part of the output is the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extraction {
    /// All of it.
    Whole,
    /// So many lines at its end.
    LastLines(usize),
    /// What a JSON Pointer finds in it: in the whole, else in the last line where it finds anything.
    Json(String),
    /// What stands between two marks, the last pair of them.
    Between(String, String),
}

/// Why there is no answer in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// Nothing was printed, or nothing but white space.
    #[error("the command printed no answer")]
    Empty,
    /// The pointer finds nothing.
    #[error("the output holds no JSON in which the pointer finds text")]
    NoJson,
    /// The marks are not there.
    #[error("the output does not hold both marks")]
    NoMarks,
}

impl Extraction {
    /// Takes the answer out of an output, without the white space around it.
    pub fn take(&self, output: &str) -> Result<String, NoAnswer> {
        let answer = match self {
            Extraction::Whole => output.to_owned(),
            Extraction::LastLines(count) => last_lines(output, *count),
            Extraction::Json(pointer) => in_json(output, pointer).ok_or(NoAnswer::NoJson)?,
            Extraction::Between(open, close) => {
                between(output, open, close).ok_or(NoAnswer::NoMarks)?.to_owned()
            }
        };
        let answer = answer.trim();
        if answer.is_empty() { Err(NoAnswer::Empty) } else { Ok(answer.to_owned()) }
    }
}

/// Reads a rule: `whole`, `last:20`, `json:/result` or `between:<answer>,</answer>`.
impl FromStr for Extraction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{text:?} is none of whole, last:LINES, json:POINTER and between:START,END");
        match text.split_once(':') {
            None if text == "whole" => Ok(Extraction::Whole),
            Some(("last", count)) => match count.parse() {
                Ok(count) if count > 0 => Ok(Extraction::LastLines(count)),
                Ok(_) | Err(_) => Err(wrong()),
            },
            Some(("json", pointer)) if pointer.is_empty() || pointer.starts_with('/') => {
                Ok(Extraction::Json(pointer.to_owned()))
            }
            Some(("between", marks)) => match marks.split_once(',') {
                Some((open, close)) if !open.is_empty() && !close.is_empty() => {
                    Ok(Extraction::Between(open.to_owned(), close.to_owned()))
                }
                Some(_) | None => Err(wrong()),
            },
            Some(_) | None => Err(wrong()),
        }
    }
}

impl fmt::Display for Extraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extraction::Whole => f.write_str("whole"),
            Extraction::LastLines(count) => write!(f, "last:{count}"),
            Extraction::Json(pointer) => write!(f, "json:{pointer}"),
            Extraction::Between(open, close) => write!(f, "between:{open},{close}"),
        }
    }
}

fn last_lines(output: &str, count: usize) -> String {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

fn in_json(output: &str, pointer: &str) -> Option<String> {
    let find = |text: &str| {
        let limits = Limits { bytes_max: text.len(), ..Limits::DOCUMENT };
        let value = json::parse_str(text, limits).ok()?;
        match value.pointer(pointer)? {
            Value::String(text) => Some(text.to_string()),
            Value::Null => None,
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                Some(other.to_json())
            }
        }
    };
    find(output.trim()).or_else(|| output.lines().rev().find_map(|line| find(line.trim())))
}

fn between<'o>(output: &'o str, open: &str, close: &str) -> Option<&'o str> {
    let (before, _) = output.rsplit_once(close)?;
    before.rsplit_once(open).map(|(_, answer)| answer)
}
