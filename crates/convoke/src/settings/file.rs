//! The settings file: TOML, read with the line of everything that is wrong.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Settings;
use super::kind::Given;
use super::problem::Problem;
use super::table::{Setting, TABLE};

/// Sets what a file says. What is wrong keeps the value that it had, and is told.
pub(super) fn read(path: &Path, text: &str, settings: &mut Settings, problems: &mut Vec<Problem>) {
    let file = File { path, text };
    match DeTable::parse(text) {
        Ok(table) => {
            let mut found = Vec::new();
            file.walk("", table.get_ref(), settings, &mut found);
            found.sort_by_key(|(offset, _)| *offset);
            problems.extend(found.into_iter().map(|(_, problem)| problem));
        }
        Err(error) => {
            let place = file.place(error.span().map_or(0, |span| span.start));
            let message = error.message().lines().next().unwrap_or("not TOML").to_owned();
            problems.push(Problem::new(place, message).hint("the file is TOML: a name, `=`, a value"));
        }
    }
}

struct File<'f> {
    path: &'f Path,
    text: &'f str,
}

impl File<'_> {
    /// Sets what a section says; what is wrong is told with where it stands.
    fn walk(
        &self,
        prefix: &str,
        table: &DeTable<'_>,
        settings: &mut Settings,
        found: &mut Vec<(usize, Problem)>,
    ) {
        for (key, value) in table {
            let name = format!("{prefix}{}", key.get_ref());
            let offset = key.span().start;
            match (setting(&name), value.get_ref()) {
                (Some(setting), value) => {
                    if let Err(what) = setting.kind.set(settings, &given(value), self.path.parent()) {
                        found.push((offset, Problem::new(self.place(offset), format!("{name}: {what}"))));
                    }
                }
                (None, DeValue::Table(table)) if is_section(&name) => {
                    self.walk(&format!("{name}."), table, settings, found);
                }
                (None, _) => found.push((offset, unknown(self.place(offset), &name))),
            }
        }
    }

    fn place(&self, offset: usize) -> String {
        let line = self.text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1;
        format!("{}:{line}", self.path.display())
    }
}

fn setting(name: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| setting.key == name)
}

fn is_section(name: &str) -> bool {
    TABLE.iter().any(|setting| setting.key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

fn unknown(place: String, name: &str) -> Problem {
    let problem = Problem::new(place, format!("there is no setting `{name}`"));
    match nearest(name) {
        Some(nearest) => problem.hint(format!("did you mean `{nearest}`?")),
        None => problem,
    }
}

/// Returns the setting whose name is most like one, if any is at all.
fn nearest(name: &str) -> Option<&'static str> {
    let (distance, key) = TABLE.iter().map(|setting| (distance(name, setting.key), setting.key)).min()?;
    (distance <= 1 + name.len() / 6).then_some(key)
}

/// Counts the letters that must be changed, added or left out to make one text of another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in to.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

fn given<'v>(value: &'v DeValue<'_>) -> Given<'v> {
    match value {
        DeValue::String(text) => Given::Text(text),
        DeValue::Integer(number) => match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Given::Number(number),
            Err(_) => Given::Other("a number below zero, or beyond all bounds"),
        },
        DeValue::Boolean(flag) => Given::Flag(*flag),
        DeValue::Array(array) => {
            let texts: Option<Vec<&str>> = array.iter().map(Spanned::get_ref).map(DeValue::as_str).collect();
            texts.map_or(Given::Other("a list of something else than texts"), Given::List)
        }
        DeValue::Float(_) => Given::Other("a number with a fraction"),
        DeValue::Datetime(_) => Given::Other("a date"),
        DeValue::Table(_) => Given::Other("a section"),
    }
}
