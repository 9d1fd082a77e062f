//! Kinds of settings: how a value is written, and within which bounds.

use std::path::{Path, PathBuf};
use std::time::Duration;

use message::parse_duration;

use super::Settings;

/// What a setting takes, and where it goes.
pub(crate) enum Kind {
    Flag(fn(&mut Settings, bool)),
    Count { min: u64, max: u64, set: fn(&mut Settings, u64) },
    Bytes { min: u64, max: u64, set: fn(&mut Settings, u64) },
    Span { min: Duration, max: Duration, set: fn(&mut Settings, Duration) },
    Text { form: &'static str, set: fn(&mut Settings, &str) -> Result<(), String> },
    Texts { form: &'static str, set: fn(&mut Settings, Vec<String>) -> Result<(), String> },
    Path(fn(&mut Settings, Option<PathBuf>)),
    Paths { form: &'static str, set: fn(&mut Settings, Vec<PathBuf>) },
}

/// A value as it was given.
pub(crate) enum Given<'g> {
    /// In quotes, or in the environment.
    Text(&'g str),
    Number(u64),
    Flag(bool),
    List(Vec<&'g str>),
    /// Something that no setting takes.
    Other(&'static str),
}

const UNITS: [(&str, u32); 4] = [("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

impl Kind {
    /// Sets a value. Paths are relative to a folder, if one is given.
    pub(crate) fn set(
        &self,
        settings: &mut Settings,
        given: &Given<'_>,
        folder: Option<&Path>,
    ) -> Result<(), String> {
        let wrong = || format!("it takes {}, and this is {}", self.form(), given.describe());
        match self {
            Kind::Flag(set) => set(settings, given.flag().ok_or_else(wrong)?),
            Kind::Count { min, max, set } => {
                let count = given.count().ok_or_else(wrong)?;
                set(settings, within(count, *min, *max, |count| count.to_string())?);
            }
            Kind::Bytes { min, max, set } => {
                let bytes = given.bytes().ok_or_else(wrong)?;
                set(settings, within(bytes, *min, *max, show_bytes)?);
            }
            Kind::Span { min, max, set } => {
                let span = given.text().and_then(|text| parse_duration(text).ok()).ok_or_else(wrong)?;
                set(settings, within(span, *min, *max, show_span)?);
            }
            Kind::Text { set, .. } => set(settings, given.text().ok_or_else(wrong)?)?,
            Kind::Texts { set, .. } => set(settings, given.list().ok_or_else(wrong)?)?,
            Kind::Path(set) => {
                let path = PathBuf::from(given.text().ok_or_else(wrong)?);
                let path = folder.map_or_else(|| path.clone(), |folder| folder.join(&path));
                set(settings, given.text().filter(|text| !text.is_empty()).map(|_| path));
            }
            Kind::Paths { set, .. } => {
                let paths = given.list().ok_or_else(wrong)?.into_iter().map(PathBuf::from);
                let whole = |path: PathBuf| folder.map_or(path.clone(), |folder| folder.join(path));
                set(settings, paths.map(whole).collect());
            }
        }
        Ok(())
    }

    /// Says what is taken.
    pub(crate) fn form(&self) -> String {
        match self {
            Kind::Flag(_) => "true or false".to_owned(),
            Kind::Count { min, max, .. } => format!("a number from {min} to {max}"),
            Kind::Bytes { min, max, .. } => {
                format!("a size from \"{}\" to \"{}\"", show_bytes(*min), show_bytes(*max))
            }
            Kind::Span { min, max, .. } => {
                format!("a duration from \"{}\" to \"{}\"", show_span(*min), show_span(*max))
            }
            Kind::Text { form, .. } | Kind::Texts { form, .. } | Kind::Paths { form, .. } => {
                (*form).to_owned()
            }
            Kind::Path(_) => "the path of a file".to_owned(),
        }
    }
}

impl<'g> Given<'g> {
    fn text(&self) -> Option<&'g str> {
        match self {
            Given::Text(text) => Some(text),
            Given::Number(_) | Given::Flag(_) | Given::List(_) | Given::Other(_) => None,
        }
    }

    fn flag(&self) -> Option<bool> {
        match self {
            Given::Flag(flag) => Some(*flag),
            Given::Text(text) => text.parse().ok(),
            Given::Number(_) | Given::List(_) | Given::Other(_) => None,
        }
    }

    fn count(&self) -> Option<u64> {
        match self {
            Given::Number(number) => Some(*number),
            Given::Text(text) => text.parse().ok(),
            Given::Flag(_) | Given::List(_) | Given::Other(_) => None,
        }
    }

    fn bytes(&self) -> Option<u64> {
        let text = match self {
            Given::Number(number) => return Some(*number),
            Given::Text(text) => *text,
            Given::Flag(_) | Given::List(_) | Given::Other(_) => return None,
        };
        for (unit, shift) in UNITS {
            if let Some(number) = text.strip_suffix(unit) {
                return number.trim_end().parse::<u64>().ok()?.checked_mul(1 << shift);
            }
        }
        text.parse().ok()
    }

    fn list(&self) -> Option<Vec<String>> {
        match self {
            Given::List(list) => Some(list.iter().map(|text| (*text).to_owned()).collect()),
            Given::Text(text) => {
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                Some(parts.map(str::to_owned).collect())
            }
            Given::Number(_) | Given::Flag(_) | Given::Other(_) => None,
        }
    }

    fn describe(&self) -> String {
        match self {
            Given::Text(text) => format!("{text:?}"),
            Given::Number(number) => number.to_string(),
            Given::Flag(flag) => flag.to_string(),
            Given::List(_) => "a list".to_owned(),
            Given::Other(what) => (*what).to_owned(),
        }
    }
}

fn within<T: PartialOrd + Copy>(value: T, min: T, max: T, show: impl Fn(T) -> String) -> Result<T, String> {
    if value < min {
        return Err(format!("{} is too small, the least is {}", show(value), show(min)));
    }
    if value > max {
        return Err(format!("{} is too large, the most is {}", show(value), show(max)));
    }
    Ok(value)
}

fn show_bytes(bytes: u64) -> String {
    let (unit, shift) = UNITS
        .into_iter()
        .find(|(_, shift)| bytes > 0 && bytes.is_multiple_of(1 << shift))
        .unwrap_or(("B", 0));
    format!("{}{unit}", bytes >> shift)
}

fn show_span(span: Duration) -> String {
    let ms = span.as_millis();
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let (unit, length) =
        units.into_iter().find(|(_, length)| ms > 0 && ms.is_multiple_of(*length)).unwrap_or(("ms", 1));
    format!("{}{unit}", ms / length)
}
