//! Reading a document member by member: everything wrong is reported, nothing stops at the first.
//!
//! A reader is a function from a value and its [`Place`] to `Option`: `None` means that it has reported why.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use json::{Finding, Findings, Number, Object, Path, Source, Value};

use crate::codes;
use crate::limits::{FINDINGS_MAX, MEMBERS_MAX};
use crate::words::Word;

/// An error of a checked type, with the code under which it is reported.
pub(crate) trait Coded: Display {
    fn code(&self) -> &'static str;
}

/// What was found while reading: errors refuse the document, warnings go with it.
pub(crate) struct Report {
    errors: Findings,
    warnings: Findings,
}

/// Where a value stands, and where to report about it.
pub(crate) struct Place<'p, 'r> {
    path: &'p Path<'p>,
    report: &'r mut Report,
}

/// The members of one object, taken out one by one; what is left at the end is unknown to us.
pub(crate) struct Fields<'v, 'p, 'r> {
    members: Object<'v>,
    path: &'p Path<'p>,
    report: &'r mut Report,
}

/// Reads a whole document; findings that are errors refuse it.
pub(crate) fn document<T>(
    value: Value<'_>,
    read: fn(&mut Fields<'_, '_, '_>) -> Option<T>,
) -> Result<(T, Vec<Finding>), Vec<Finding>> {
    let mut report = Report { errors: Findings::new(FINDINGS_MAX), warnings: Findings::new(FINDINGS_MAX) };
    let mut place = Place { path: &Path::ROOT, report: &mut report };
    let read = object(read)(value, &mut place);
    match read {
        Some(read) if report.errors.is_empty() => Ok((read, listed(report.warnings))),
        Some(_) | None => Err(listed(report.errors)),
    }
}

/// Reads a part of a document about which there is nothing to say, neither good nor bad.
pub(crate) fn without_a_word<T>(
    value: Value<'_>,
    read: impl FnOnce(Value<'_>, &mut Place<'_, '_>) -> Option<T>,
) -> Option<T> {
    let mut report = Report { errors: Findings::new(FINDINGS_MAX), warnings: Findings::new(FINDINGS_MAX) };
    let read = read(value, &mut Place { path: &Path::ROOT, report: &mut report })?;
    (report.errors.is_empty() && report.warnings.is_empty()).then_some(read)
}

/// Reads any string.
pub(crate) fn string(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<String> {
    text(value, place).map(Cow::into_owned)
}

/// Reads any string, as it was read.
fn text<'v>(value: Value<'v>, place: &mut Place<'_, '_>) -> Option<Cow<'v, str>> {
    match value {
        Value::String(text) => Some(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            place.wrong_type("a string", &value)
        }
    }
}

/// Reads a string that must pass the check of its type.
pub(crate) fn parsed<T>(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<T>
where
    T: FromStr,
    T::Err: Coded,
{
    match text(value, place)?.parse::<T>() {
        Ok(checked) => Some(checked),
        Err(error) => place.refuse(error.code(), || error.to_string()),
    }
}

/// Reads a word of a closed list.
pub(crate) fn word<T: Word>(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<T> {
    let text = text(value, place)?;
    let found = T::ALL.iter().copied().find(|known| known.word() == text);
    found.or_else(|| {
        place.refuse(codes::ENUM, || {
            let known: Vec<_> = T::ALL.iter().map(|known| known.word()).collect();
            format!("{text:?} is none of {}", known.join(", "))
        })
    })
}

/// Reads `true` or `false`.
pub(crate) fn boolean(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<bool> {
    value.as_bool().or_else(|| place.wrong_type("a boolean", &value))
}

/// Reads any value; `null` does not come here, it counts as absent.
pub(crate) fn anything(value: Value<'_>, _: &mut Place<'_, '_>) -> Option<Value<'static>> {
    Some(value.into_owned())
}

/// Reads any number, and keeps how it was written.
pub(crate) fn number(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<Number<'static>> {
    match value {
        Value::Number(number) => Some(number.into_owned()),
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            place.wrong_type("a number", &value)
        }
    }
}

/// Reads a number that is not negative, and keeps how it was written.
pub(crate) fn quantity(value: Value<'_>, place: &mut Place<'_, '_>) -> Option<Number<'static>> {
    let number = number(value, place)?;
    if number.lexeme().starts_with('-') {
        return place.refuse(codes::RANGE, || format!("{} is negative", number.lexeme()));
    }
    Some(number)
}

/// Makes a reader of integers within bounds.
pub(crate) fn integer<T: TryFrom<i64>>(
    allowed: RangeInclusive<i64>,
) -> impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<T> {
    move |value, place| {
        let number = number(value, place)?;
        let within = number.as_integer().filter(|integer| allowed.contains(integer));
        within.and_then(|integer| T::try_from(integer).ok()).or_else(|| {
            place.refuse(codes::RANGE, || {
                let (first, last) = (allowed.start(), allowed.end());
                format!("{} is not an integer from {first} to {last}", number.lexeme())
            })
        })
    }
}

/// Makes a reader of objects from one that reads the fields of an object.
pub(crate) fn object<T>(
    read: fn(&mut Fields<'_, '_, '_>) -> Option<T>,
) -> impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<T> {
    move |value, place| match value {
        Value::Object(members) if members.len() > MEMBERS_MAX => place.refuse(codes::TOO_MANY, || {
            format!("there are {} members, at most {MEMBERS_MAX} are allowed", members.len())
        }),
        Value::Object(members) => read(&mut Fields { members, path: place.path, report: place.report }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            place.wrong_type("an object", &value)
        }
    }
}

/// Makes a reader of boxed parts: most messages have none, and a pointer costs them little.
pub(crate) fn boxed<T>(
    read: fn(&mut Fields<'_, '_, '_>) -> Option<T>,
) -> impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<Box<T>> {
    move |value, place| object(read)(value, place).map(Box::new)
}

/// Makes a reader of lists from a reader of their items.
pub(crate) fn list<T>(
    items_max: usize,
    read: impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<T>,
) -> impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<Vec<T>> {
    move |value, place| match value {
        Value::Array(items) if items.len() > items_max => place.refuse(codes::TOO_MANY, || {
            format!("there are {} items, at most {items_max} are allowed", items.len())
        }),
        Value::Array(items) => Some(
            items
                .into_iter()
                .enumerate()
                .filter_map(|(index, item)| {
                    let path = place.path.index(index);
                    read(item, &mut Place { path: &path, report: place.report })
                })
                .collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            place.wrong_type("an array", &value)
        }
    }
}

impl Fields<'_, '_, '_> {
    /// Tells whether a field is there; `null` counts as absent.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.members.get(key).is_some_and(|value| !value.is_null())
    }

    /// Takes a field out and reads it; `null` counts as absent.
    pub(crate) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value<'_>, &mut Place<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        let value = self.members.remove(key).filter(|value| !value.is_null())?;
        let path = self.path.key(key);
        read(value, &mut Place { path: &path, report: self.report })
    }

    /// Takes a field out and reads it, and reports where there is none.
    pub(crate) fn required<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(Value<'_>, &mut Place<'_, '_>) -> Option<T>,
    ) -> Option<T> {
        if !self.has(key) {
            return self
                .at(key, |place| place.refuse(codes::REQUIRED, || format!("the field `{key}` is missing")));
        }
        self.optional(key, read)
    }

    /// Takes a list out and reads it; where there is none, it is empty.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        items_max: usize,
        read: impl Fn(Value<'_>, &mut Place<'_, '_>) -> Option<T>,
    ) -> Vec<T> {
        self.optional(key, list(items_max, read)).unwrap_or_default()
    }

    /// Reports about a field that was read before.
    pub(crate) fn at<T>(&mut self, key: &str, report: impl FnOnce(&mut Place<'_, '_>) -> T) -> T {
        let path = self.path.key(key);
        report(&mut Place { path: &path, report: self.report })
    }

    /// Hands out what was not taken: the fields that we do not know.
    pub(crate) fn rest(&mut self) -> Object<'static> {
        std::mem::take(&mut self.members).into_owned()
    }
}

impl Place<'_, '_> {
    /// Reports an error and returns nothing.
    pub(crate) fn refuse<T>(&mut self, code: &'static str, message: impl FnOnce() -> String) -> Option<T> {
        self.report.errors.schema(self.path, code, message);
        None
    }

    /// Reports something odd that does not refuse the document.
    pub(crate) fn warn(&mut self, code: &'static str, message: impl FnOnce() -> String) {
        self.report.warnings.rule(self.path, code, message);
    }

    fn wrong_type<T>(&mut self, wanted: &str, found: &Value<'_>) -> Option<T> {
        self.refuse(codes::TYPE, || format!("expected {wanted}, found {}", found.type_name()))
    }
}

/// Lists what was kept, and says how much was not.
fn listed(findings: Findings) -> Vec<Finding> {
    let beyond = findings.beyond();
    let mut list = findings.into_kept();
    if beyond > 0 {
        let message = format!("{beyond} more findings are not listed");
        list.push(Finding { path: String::new(), code: codes::TOO_MANY, source: Source::Rule, message });
    }
    list
}
