//! Language tags of BCP 47, as in `pt-BR`.

use std::fmt;
use std::iter::Peekable;
use std::str::{FromStr, Split};

use crate::{Format, SyntaxError, class};

const BYTES_MAX: usize = 128;

/// The tags that [RFC 5646](https://www.rfc-editor.org/rfc/rfc5646#section-2.2.8) keeps although they break its grammar.
const IRREGULAR: [&str; 17] = [
    "en-GB-oed",
    "i-ami",
    "i-bnn",
    "i-default",
    "i-enochian",
    "i-hak",
    "i-klingon",
    "i-lux",
    "i-mingo",
    "i-navajo",
    "i-pwn",
    "i-tao",
    "i-tay",
    "i-tsu",
    "sgn-BE-FR",
    "sgn-BE-NL",
    "sgn-CH-DE",
];

/// Holds a text that is a valid [BCP 47 tag](https://www.rfc-editor.org/rfc/rfc5646#section-2.1) of the [`language` format](https://atproto.com/specs/lexicon#language).
///
/// Whether its subtags are registered is not looked up.
///
/// ```
/// use atproto_syntax::Language;
///
/// let language: Language = "zh-Hant-TW".parse()?;
/// assert_eq!(language.primary(), "zh");
/// assert_eq!(language.script(), Some("Hant"));
/// assert_eq!(language.region(), Some("TW"));
/// # Ok::<(), atproto_syntax::SyntaxError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(Box<str>);

impl Language {
    /// Returns the text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first subtag: a language of two or three letters, or `i`, or `x` for a private tag.
    pub fn primary(&self) -> &str {
        self.subtags().next().unwrap_or_default()
    }

    /// Returns the four letters of the script, if the tag names one.
    pub fn script(&self) -> Option<&str> {
        parse(&self.0).ok()?.script
    }

    /// Returns the two letters or three digits of the region, if the tag names one.
    pub fn region(&self) -> Option<&str> {
        parse(&self.0).ok()?.region
    }

    /// Walks over what stands between the hyphens.
    pub fn subtags(&self) -> impl Iterator<Item = &str> {
        self.0.split('-')
    }
}

impl FromStr for Language {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        check(text)?;
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Language {
    type Error = SyntaxError;

    fn try_from(text: String) -> Result<Self, SyntaxError> {
        check(&text)?;
        Ok(Self(text.into_boxed_str()))
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.0.into()
    }
}

impl AsRef<str> for Language {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Checks that a tag is well-formed and repeats no variant or extension, without allocating.
///
/// Stricter than BCP 47 in one point: the primary language must be two or three letters in lower case.
pub fn check(text: &str) -> Result<(), SyntaxError> {
    match parse(text) {
        Ok(_) => Ok(()),
        Err(_) if IRREGULAR.iter().any(|tag| is_irregular(text, tag)) => Ok(()),
        Err(reason) => Err(SyntaxError::new(Format::Language, reason)),
    }
}

type Subtags<'a> = Peekable<Split<'a, char>>;

#[derive(Default)]
struct Parts<'a> {
    script: Option<&'a str>,
    region: Option<&'a str>,
}

/// Compares without regard to case, except in the primary subtag, where lower case is demanded of every tag.
fn is_irregular(text: &str, tag: &str) -> bool {
    text.eq_ignore_ascii_case(tag) && class::is(text.as_bytes()[0], class::LOWER)
}

/// Takes the subtags from left to right; what no step takes is out of place.
fn parse(text: &str) -> Result<Parts<'_>, &'static str> {
    if text.len() > BYTES_MAX {
        return Err("it is longer than 128 bytes");
    }
    let mut subtags = text.split('-').peekable();
    let mut parts = Parts::default();
    if !subtags.peek().is_some_and(|subtag| subtag.eq_ignore_ascii_case("x")) {
        take_language(&mut subtags)?;
        parts.script = subtags.next_if(|subtag| is(subtag, 4..=4, class::ALPHA));
        parts.region = subtags.next_if(|subtag| is_region(subtag));
        take_variants(&mut subtags)?;
        take_extensions(&mut subtags)?;
    }
    take_private(&mut subtags)?;
    match subtags.next() {
        None => Ok(parts),
        Some("") => Err("a subtag must not be empty"),
        Some(_) => Err("a subtag is malformed or out of place"),
    }
}

fn take_language(subtags: &mut Subtags<'_>) -> Result<(), &'static str> {
    subtags
        .next_if(|subtag| is(subtag, 2..=3, class::LOWER))
        .ok_or("its language must be two or three lower-case letters")?;
    for _extended in 0..3 {
        subtags.next_if(|subtag| is(subtag, 3..=3, class::ALPHA));
    }
    Ok(())
}

fn take_variants(subtags: &mut Subtags<'_>) -> Result<(), &'static str> {
    let variants = subtags.clone();
    let mut count = 0;
    while let Some(variant) = subtags.next_if(|subtag| is_variant(subtag)) {
        if variants.clone().take(count).any(|earlier| earlier.eq_ignore_ascii_case(variant)) {
            return Err("a variant must not be repeated");
        }
        count += 1;
    }
    Ok(())
}

fn take_extensions(subtags: &mut Subtags<'_>) -> Result<(), &'static str> {
    let mut seen = 0_u128;
    while let Some(singleton) = subtags.next_if(|subtag| is_singleton(subtag)) {
        let bit = 1 << singleton.as_bytes()[0].to_ascii_lowercase();
        if seen & bit != 0 {
            return Err("an extension must not be repeated");
        }
        seen |= bit;
        if take_while(subtags, |subtag| is(subtag, 2..=8, class::ALPHANUMERIC)) == 0 {
            return Err("an extension needs a subtag of two to eight letters or digits");
        }
    }
    Ok(())
}

fn take_private(subtags: &mut Subtags<'_>) -> Result<(), &'static str> {
    if subtags.next_if(|subtag| subtag.eq_ignore_ascii_case("x")).is_some()
        && take_while(subtags, |subtag| is(subtag, 1..=8, class::ALPHANUMERIC)) == 0
    {
        return Err("its private part needs a subtag of one to eight letters or digits");
    }
    Ok(())
}

fn take_while(subtags: &mut Subtags<'_>, matches: impl Fn(&str) -> bool) -> usize {
    let mut count = 0;
    while subtags.next_if(|subtag| matches(subtag)).is_some() {
        count += 1;
    }
    count
}

fn is_region(subtag: &str) -> bool {
    is(subtag, 2..=2, class::ALPHA) || is(subtag, 3..=3, class::DIGIT)
}

fn is_variant(subtag: &str) -> bool {
    is(subtag, 5..=8, class::ALPHANUMERIC)
        || (is(subtag, 4..=4, class::ALPHANUMERIC) && class::is(subtag.as_bytes()[0], class::DIGIT))
}

fn is_singleton(subtag: &str) -> bool {
    is(subtag, 1..=1, class::ALPHANUMERIC) && !subtag.eq_ignore_ascii_case("x")
}

fn is(subtag: &str, bytes: std::ops::RangeInclusive<usize>, classes: u8) -> bool {
    bytes.contains(&subtag.len()) && subtag.bytes().all(|byte| class::is(byte, classes))
}
