//! Constraints of a task: figures in this dialect, sentences in the message.
//!
//! Each figure becomes one line, `max_tokens: 5000`, that people and other dialects can read, and that becomes
//! the same figure again. The deadline is not among them: it has a place of its own.

use json::{Limits, Object, Value};

const FIGURES: [&str; 3] = ["max_tokens", "budget_usd", "quality_threshold"];
const CAPABILITY: &str = "required_capability";

/// Returns the lines that say what the constraints say.
pub(crate) fn lines(constraints: &Object<'_>) -> Vec<String> {
    let figure = |key: &&str| match constraints.get(key) {
        Some(Value::Number(number)) => Some(format!("{key}: {}", number.lexeme())),
        _ => None,
    };
    let capabilities = constraints.get("required_capabilities").and_then(Value::as_array);
    let capabilities = capabilities.into_iter().flatten().filter_map(Value::as_str);
    FIGURES
        .iter()
        .filter_map(figure)
        .chain(capabilities.map(|capability| format!("{CAPABILITY}: {capability}")))
        .collect()
}

/// Makes constraints of lines, and returns the lines that cannot be said so.
pub(crate) fn from_lines<'l>(lines: impl Iterator<Item = &'l str>) -> (Object<'static>, Vec<Value<'static>>) {
    let mut constraints = Object::new();
    let (mut capabilities, mut rest) = (Vec::new(), Vec::new());
    for line in lines {
        match line.split_once(": ") {
            Some((CAPABILITY, capability)) => capabilities.push(Value::from(capability.to_owned())),
            Some((key, lexeme)) if FIGURES.contains(&key) && !constraints.contains_key(key) => {
                match quantity(lexeme) {
                    Some(figure) => drop(constraints.insert(key.to_owned(), figure)),
                    None => rest.push(Value::from(line.to_owned())),
                }
            }
            Some(_) | None => rest.push(Value::from(line.to_owned())),
        }
    }
    constraints.insert("required_capabilities", capabilities);
    (constraints, rest)
}

/// Reads a number that is not negative and written as JSON would.
fn quantity(lexeme: &str) -> Option<Value<'static>> {
    let value = json::parse_str(lexeme, Limits::DOCUMENT).ok()?.into_owned();
    let is_exact =
        value.as_number().is_some_and(|number| number.lexeme() == lexeme && number.as_f64() >= 0.0);
    is_exact.then_some(value)
}
