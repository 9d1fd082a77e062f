//! The reader: one pass over checked UTF-8, every limit tested before anything is kept.

use std::borrow::Cow;
use std::fmt;

use crate::{Number, Object, Value};

/// Nesting that the recursion of this crate can always stand, whatever limit the caller asks for.
pub(crate) const DEPTH_CEILING: usize = 512;
/// Up to this many members a key is compared with those before it; beyond, the keys are sorted once.
const MEMBERS_COMPARED_MAX: usize = 32;

/// Chunks of eight bytes after which a text is no longer short.
const SHORT_CHUNKS: usize = 4;
/// Bytes of a long text that are looked at together.
const LONG_CHUNK_BYTES: usize = 64;

/// What a document may have at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the whole document.
    pub bytes_max: usize,
    /// Levels of arrays and objects inside each other; more than 512 are never read.
    pub depth_max: usize,
    /// Characters of one number.
    pub number_bytes_max: usize,
}

/// Why a text is not a JSON document that we read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// What was wrong.
    pub kind: ParseErrorKind,
    /// The byte at which it was noticed.
    pub offset: usize,
    /// The line of that byte, from 1.
    pub line: usize,
    /// The column of that byte in characters, from 1.
    pub column: usize,
}

/// What can be wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// The text is not UTF-8.
    Utf8,
    /// The text has more bytes than allowed.
    TooLarge {
        /// How many there are.
        bytes: usize,
        /// How many there may be.
        bytes_max: usize,
    },
    /// Arrays and objects are nested deeper than allowed.
    TooDeep {
        /// How deep they may be nested.
        depth_max: usize,
    },
    /// A number has more characters than allowed.
    NumberTooLong {
        /// How many it may have.
        number_bytes_max: usize,
    },
    /// The text ends in the middle of a value.
    Truncated,
    /// Something else stands where this was expected.
    Expected(&'static str),
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// An escape is unknown or names half a surrogate pair.
    Escape,
    /// An object has a key twice.
    DuplicateKey(String),
    /// Something follows the value.
    Trailing,
}

/// Reads one JSON document.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Value<'_>, ParseError> {
    too_large(bytes.len(), limits)?;
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_str(text, limits),
        Err(error) => Err(ParseError::at(bytes, error.valid_up_to(), ParseErrorKind::Utf8)),
    }
}

/// Reads one JSON document from text that is known to be UTF-8.
pub fn parse_str(text: &str, limits: Limits) -> Result<Value<'_>, ParseError> {
    too_large(text.len(), limits)?;
    let depth_max = limits.depth_max.min(DEPTH_CEILING);
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth_left: depth_max, limits };
    reader
        .document()
        .map_err(|kind| ParseError::at(text.as_bytes(), reader.at.min(text.len()), reader.name_limit(kind)))
}

impl Limits {
    /// What fits any single document of the protocols we know: 8 MiB, 128 levels, numbers of 512 characters.
    pub const DOCUMENT: Limits = Limits { bytes_max: 8 << 20, depth_max: 128, number_bytes_max: 512 };
}

impl ParseErrorKind {
    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ParseErrorKind::Utf8 => "utf8",
            ParseErrorKind::TooLarge { .. } => "too_large",
            ParseErrorKind::TooDeep { .. } => "too_deep",
            ParseErrorKind::NumberTooLong { .. } => "number_too_long",
            ParseErrorKind::DuplicateKey(_) => "duplicate_key",
            ParseErrorKind::Truncated
            | ParseErrorKind::Expected(_)
            | ParseErrorKind::ControlCharacter
            | ParseErrorKind::Escape
            | ParseErrorKind::Trailing => "json",
        }
    }
}

impl ParseError {
    fn at(bytes: &[u8], offset: usize, kind: ParseErrorKind) -> Self {
        let before = &bytes[..offset];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let is_char_start = |byte: &&u8| (**byte & 0xc0) != 0x80;
        ParseError {
            kind,
            offset,
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
            column: 1 + before[line_start..].iter().filter(is_char_start).count(),
        }
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseErrorKind::Utf8 => f.write_str("the text is not UTF-8"),
            ParseErrorKind::TooLarge { bytes, bytes_max } => {
                write!(f, "the document has {bytes} bytes, at most {bytes_max} are read")
            }
            ParseErrorKind::TooDeep { depth_max } => {
                write!(f, "arrays and objects are nested deeper than {depth_max} levels")
            }
            ParseErrorKind::NumberTooLong { number_bytes_max } => {
                write!(f, "a number has more than {number_bytes_max} characters")
            }
            ParseErrorKind::Truncated => f.write_str("the text ends in the middle of a value"),
            ParseErrorKind::Expected(what) => write!(f, "expected {what}"),
            ParseErrorKind::ControlCharacter => {
                f.write_str("a control character stands in a string; write it as an escape")
            }
            ParseErrorKind::Escape => {
                f.write_str("the escape in this string is unknown or half of a surrogate pair")
            }
            ParseErrorKind::DuplicateKey(key) => write!(f, "the key {key:?} stands twice in one object"),
            ParseErrorKind::Trailing => f.write_str("something follows the value"),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {}, column {}", self.kind, self.line, self.column)
    }
}

impl std::error::Error for ParseError {}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth_left: usize,
    limits: Limits,
}

type Read<T> = Result<T, ParseErrorKind>;

impl<'a> Reader<'a> {
    fn document(&mut self) -> Read<Value<'a>> {
        self.skip_space();
        let value = self.value()?;
        self.skip_space();
        if self.at < self.bytes.len() { Err(ParseErrorKind::Trailing) } else { Ok(value) }
    }

    /// Reads the value that starts here; white space before it has been skipped.
    fn value(&mut self) -> Read<Value<'a>> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(_) => Err(ParseErrorKind::Expected("a value")),
            None => Err(ParseErrorKind::Truncated),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Value<'a>>) -> Read<Value<'a>> {
        if self.depth_left == 0 {
            return Err(ParseErrorKind::TooDeep { depth_max: 0 });
        }
        self.depth_left -= 1;
        self.at += 1;
        let value = read(self)?;
        self.depth_left += 1;
        Ok(value)
    }

    fn array(&mut self) -> Read<Value<'a>> {
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            self.expect(b',', "a comma or the end of the array")?;
            self.skip_space();
        }
    }

    fn object(&mut self) -> Read<Value<'a>> {
        let mut members: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        let mut seen = SeenKeys::default();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(Object::new()));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.expected("a key in quotes"));
            }
            let key_at = self.at;
            let key = self.string()?;
            if seen.repeats(&key, &members) {
                self.at = key_at;
                return Err(ParseErrorKind::DuplicateKey(key.into_owned()));
            }
            self.skip_space();
            self.expect(b':', "a colon")?;
            self.skip_space();
            let value = self.value()?;
            members.push((key, value));
            self.skip_space();
            if self.take(b'}') {
                return unique(members);
            }
            self.expect(b',', "a comma or the end of the object")?;
            self.skip_space();
        }
    }

    fn string(&mut self) -> Read<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        self.at = special_from(self.bytes, start);
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[start..self.at - 1]));
        }
        let mut text = String::from(&self.text[start..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => return Err(ParseErrorKind::ControlCharacter),
                None => return Err(ParseErrorKind::Truncated),
            }
            let plain_from = self.at;
            self.at = special_from(self.bytes, plain_from);
            text.push_str(&self.text[plain_from..self.at]);
        }
    }

    /// Reads the escape that starts at this backslash.
    fn escape(&mut self) -> Read<char> {
        let Some(letter) = self.bytes.get(self.at + 1).copied() else {
            return Err(ParseErrorKind::Truncated);
        };
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(ParseErrorKind::Escape),
        };
        self.at += 2;
        Ok(plain)
    }

    fn unicode_escape(&mut self) -> Read<char> {
        let first = hex4(self.bytes, self.at + 2).ok_or(ParseErrorKind::Escape)?;
        if let Some(plain) = char::from_u32(first) {
            self.at += 6;
            return Ok(plain);
        }
        let second =
            if self.bytes[self.at + 6..].starts_with(b"\\u") { hex4(self.bytes, self.at + 8) } else { None };
        let pair = match (first, second) {
            (0xd800..=0xdbff, Some(low @ 0xdc00..=0xdfff)) => {
                char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (low - 0xdc00))
            }
            _ => None,
        };
        let pair = pair.ok_or(ParseErrorKind::Escape)?;
        self.at += 12;
        Ok(pair)
    }

    fn number(&mut self) -> Read<Value<'a>> {
        let start = self.at;
        self.take(b'-');
        if self.take(b'0') {
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(ParseErrorKind::Expected("a number without leading zeros"));
            }
        } else {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        let lexeme = &self.text[start..self.at];
        if lexeme.len() > self.limits.number_bytes_max {
            self.at = start;
            return Err(ParseErrorKind::NumberTooLong { number_bytes_max: self.limits.number_bytes_max });
        }
        Ok(Value::Number(Number::from_lexeme(lexeme)))
    }

    fn digits(&mut self) -> Read<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str, value: Value<'a>) -> Read<Value<'a>> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(ParseErrorKind::Expected("a value"))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    fn expect(&mut self, byte: u8, what: &'static str) -> Read<()> {
        if self.take(byte) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn expected(&self, what: &'static str) -> ParseErrorKind {
        if self.at < self.bytes.len() { ParseErrorKind::Expected(what) } else { ParseErrorKind::Truncated }
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The depth in an error is the limit that was in force, not what was left of it.
    fn name_limit(&self, kind: ParseErrorKind) -> ParseErrorKind {
        match kind {
            ParseErrorKind::TooDeep { .. } => {
                ParseErrorKind::TooDeep { depth_max: self.limits.depth_max.min(DEPTH_CEILING) }
            }
            ParseErrorKind::Utf8
            | ParseErrorKind::TooLarge { .. }
            | ParseErrorKind::NumberTooLong { .. }
            | ParseErrorKind::Truncated
            | ParseErrorKind::Expected(_)
            | ParseErrorKind::ControlCharacter
            | ParseErrorKind::Escape
            | ParseErrorKind::DuplicateKey(_)
            | ParseErrorKind::Trailing => kind,
        }
    }
}

/// Tells most keys apart by one bit each, so that small objects are checked without comparing strings.
#[derive(Default)]
struct SeenKeys {
    bits: u64,
}

impl SeenKeys {
    fn repeats(&mut self, key: &str, members: &[(Cow<'_, str>, Value<'_>)]) -> bool {
        if members.len() > MEMBERS_COMPARED_MAX {
            return false;
        }
        let (first, last) = (key.bytes().next().unwrap_or(0), key.bytes().next_back().unwrap_or(0));
        let mixed = key.len() + usize::from(first).wrapping_mul(7) + usize::from(last).wrapping_mul(29);
        let bit = 1_u64 << (mixed % 64);
        let maybe = self.bits & bit != 0;
        self.bits |= bit;
        maybe && members.iter().any(|(name, _)| name == key)
    }
}

/// Finishes an object; large ones are checked here, in n log n, so that a million keys cost no more.
fn unique<'a>(members: Vec<(Cow<'a, str>, Value<'a>)>) -> Read<Value<'a>> {
    if members.len() > MEMBERS_COMPARED_MAX {
        let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_ref()).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(ParseErrorKind::DuplicateKey(pair[0].to_owned()));
        }
    }
    Ok(Value::Object(Object::from_members(members)))
}

fn too_large(bytes: usize, limits: Limits) -> Result<(), ParseError> {
    if bytes <= limits.bytes_max {
        return Ok(());
    }
    let kind = ParseErrorKind::TooLarge { bytes, bytes_max: limits.bytes_max };
    Err(ParseError { kind, offset: 0, line: 1, column: 1 })
}

/// Reads the four hexadecimal digits of an escape.
pub(crate) fn hex4(bytes: &[u8], from: usize) -> Option<u32> {
    let digits = bytes.get(from..from + 4)?;
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}

/// Finds the next quote, backslash or control character: eight bytes at a time in short texts, more in long ones.
#[inline]
pub(crate) fn special_from(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..SHORT_CHUNKS {
        let Some(chunk) = chunk_at::<8>(bytes, at) else { return special_in_tail(bytes, at) };
        let hits = specials_in(u64::from_le_bytes(chunk));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    special_in_long(bytes, at)
}

/// The same in what follows a text that is not short.
fn special_in_long(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(chunk) = chunk_at::<LONG_CHUNK_BYTES>(bytes, at) {
        // No branches in here, so that the compiler can take many bytes at once.
        let hits = chunk.iter().fold(0, |hits, byte| hits | u8::from(is_special(byte)));
        if hits != 0 {
            break;
        }
        at += LONG_CHUNK_BYTES;
    }
    while let Some(chunk) = chunk_at::<8>(bytes, at) {
        let hits = specials_in(u64::from_le_bytes(chunk));
        if hits != 0 {
            return at + (hits.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    special_in_tail(bytes, at)
}

fn special_in_tail(bytes: &[u8], from: usize) -> usize {
    let tail = bytes.get(from..).unwrap_or_default();
    from + tail.iter().position(is_special).unwrap_or(tail.len())
}

/// Sets the highest bit of the first of eight bytes that is special; bits above it mean nothing.
#[inline]
fn specials_in(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero_where = |mask: u64| (word ^ mask).wrapping_sub(ONES) & !(word ^ mask);
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zero_where(ONES * 0x22) | zero_where(ONES * 0x5c) | control) & HIGHS
}

#[inline]
fn chunk_at<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..)?.first_chunk().copied()
}

#[inline]
fn is_special(byte: &u8) -> bool {
    (*byte == b'"') | (*byte == b'\\') | (*byte < 0x20)
}
