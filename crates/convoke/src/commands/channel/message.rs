//! A message of a channel as it is printed.

use json::{Limits, Value};

use crate::failure::Failure;
use crate::output::{Form, Output};
use crate::screen::{self, Screen, Tone};

/// Prints a file of a channel. What others wrote cannot control the terminal.
pub(super) fn print(
    bytes: &[u8],
    id: &str,
    form: Form,
    screen: &Screen,
    output: &mut Output,
) -> Result<(), Failure> {
    let Ok(document) = json::parse(bytes, Limits::DOCUMENT) else {
        eprintln!("warning: {id} holds no JSON");
        return Ok(());
    };
    if form == Form::Json {
        return Ok(output.line(document.to_json())?);
    }
    let text = |pointer: &str| {
        document.pointer(pointer).and_then(Value::as_str).map(screen::line).unwrap_or_default()
    };
    let said = document.pointer("/content/text").and_then(Value::as_str).unwrap_or_default();
    let who = format!("{} → {}", text("/from"), text("/to"));
    head(&text("/timestamp"), &who, &text("/type"), id, screen, output)?;
    body(said, output)?;
    if let Some(code) = document.pointer("/content/code").and_then(Value::as_str) {
        for line in screen::lines(code) {
            output.line(format_args!("  > {line}"))?;
        }
    }
    Ok(())
}

/// Prints when who said something to whom.
pub(super) fn head(
    at: &str,
    who: &str,
    kind: &str,
    id: &str,
    screen: &Screen,
    output: &mut Output,
) -> Result<(), Failure> {
    let at = at.get(..19).unwrap_or(at).replace('T', " ");
    let (who, id) = (screen.paint(Tone::Strong, who), screen.paint(Tone::Faint, &screen::line(id)));
    Ok(output.line(format_args!("{at}  {who}  {kind}  {id}"))?)
}

/// Prints what was said.
pub(super) fn body(text: &str, output: &mut Output) -> Result<(), Failure> {
    for line in screen::lines(text) {
        output.line(format_args!("  | {line}"))?;
    }
    Ok(())
}
