//! What the file of a message is called: `msg-{YYYYMMDD}-{HHMMSS}-{agent}-{hex4}.json`, and how files are ordered.
//!
//! The agent in the name may hold hyphens and may be an abbreviation; the field `from` says who sent the message.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use message::{Sha256, Timestamp};

use crate::channel_name::FILE_NAME_BYTES_MAX;

const PREFIX: &str = "msg-";
const SUFFIX: &str = ".json";
const HEX_DIGITS: usize = 4;
const AGENT_BYTES_MAX: usize = 200;

/// The parts of a message's file name; `Display` writes its stem, which is the message's id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName<'a> {
    /// The date in UTC, as `YYYYMMDD`.
    pub date: Cow<'a, str>,
    /// The time in UTC, as `HHMMSS`.
    pub time: Cow<'a, str>,
    /// Who sent it, perhaps abbreviated.
    pub agent: Cow<'a, str>,
    /// What keeps messages of the same second apart: four hexadecimal digits, or more.
    pub hex: Cow<'a, str>,
}

impl<'a> FileName<'a> {
    /// Reads a file's name or its stem. A name with upper-case digits, or of a file that is still written, is none.
    pub fn parse(name: &'a str) -> Option<Self> {
        Self::parse_stem(name.strip_suffix(SUFFIX).unwrap_or(name))
    }

    /// Reads a stem.
    pub(crate) fn parse_stem(stem: &'a str) -> Option<Self> {
        if stem.len() + SUFFIX.len() > FILE_NAME_BYTES_MAX {
            return None;
        }
        let rest = stem.strip_prefix(PREFIX)?;
        let (date, rest) = digits(rest, 8)?;
        let (time, rest) = digits(rest, 6)?;
        // The last hyphen parts them: hexadecimal digits have none, agents may.
        let (agent, hex) = rest.rsplit_once('-')?;
        let good_agent =
            !agent.is_empty() && !agent.contains(|letter: char| letter == '/' || letter.is_control());
        let good_hex = hex.len() >= HEX_DIGITS && hex.bytes().all(is_lower_hex);
        (good_agent && good_hex).then(|| FileName {
            date: date.into(),
            time: time.into(),
            agent: agent.into(),
            hex: hex.into(),
        })
    }

    /// Makes the name of a message that an agent sends at that instant.
    ///
    /// What cannot stand in a file's name becomes a hyphen.
    pub fn make(at: Timestamp, agent: &str, hex: u16) -> FileName<'static> {
        let [date, time] = second_of(at);
        let kept = |letter: char| {
            let plain = letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
            if plain { letter } else { '-' }
        };
        let agent: String = agent.chars().map(kept).take(AGENT_BYTES_MAX).collect();
        let agent = if agent.is_empty() { "agent".to_owned() } else { agent };
        FileName {
            date: date.into(),
            time: time.into(),
            agent: agent.into(),
            hex: format!("{hex:04x}").into(),
        }
    }

    /// Returns the name with its suffix.
    pub fn file(&self) -> String {
        format!("{self}{SUFFIX}")
    }

    /// Tells whether the name has exactly the four digits of the specification.
    pub fn has_hex4(&self) -> bool {
        self.hex.len() == HEX_DIGITS
    }

    /// Tells whether the name states the second of a timestamp; `None` if that is no timestamp.
    pub fn states_second_of(&self, timestamp: &str) -> Option<bool> {
        if let Some(text) = timestamp.strip_suffix('Z')
            && text.len() >= 19
            && text.is_ascii()
        {
            let parts = [&text[..4], &text[5..7], &text[8..10], &text[11..13], &text[14..16], &text[17..19]];
            let mut stated = parts.iter().flat_map(|part| part.bytes());
            let is_time = stated.clone().all(|byte| byte.is_ascii_digit());
            return is_time.then(|| stated.by_ref().eq(self.date.bytes().chain(self.time.bytes())));
        }
        let at = timestamp.parse().ok()?;
        let [date, time] = second_of(at);
        Some(date == self.date && time == self.time)
    }
}

impl fmt::Display for FileName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}-{}-{}-{}", self.date, self.time, self.agent, self.hex)
    }
}

/// Makes the id of a message that has another one elsewhere: always the same for the same message.
pub fn id_for(native_id: &str, created: Timestamp, agent: &str) -> String {
    let digest = Sha256::of(native_id.as_bytes()).to_bytes();
    FileName::make(created, agent, u16::from_be_bytes([digest[0], digest[1]])).to_string()
}

/// Orders messages, each by its timestamp and file name: by milliseconds, then by name, never by a file's times.
pub fn order(left: (Timestamp, &str), right: (Timestamp, &str)) -> Ordering {
    let millis = |at: Timestamp| at.unix_micros().div_euclid(1_000);
    millis(left.0).cmp(&millis(right.0)).then_with(|| left.1.cmp(right.1))
}

fn digits(text: &str, count: usize) -> Option<(&str, &str)> {
    let (digits, rest) = text.split_at_checked(count)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    Some((digits, rest.strip_prefix('-')?))
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// Returns date and time in the form of a file's name.
fn second_of(at: Timestamp) -> [String; 2] {
    let text = at.to_string();
    let digits = |from: usize, to: usize| text[from..to].chars().filter(char::is_ascii_digit).collect();
    [digits(0, 10), digits(11, 19)]
}
