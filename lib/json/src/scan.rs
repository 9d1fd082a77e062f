//! Going over a text once, checking all of it and keeping nothing: for whoever wants a few fields of a document.
//!
//! A scan accepts nothing that the reader refuses. It gives up, without saying why, on what is wrong and on what is
//! unusual, such as a key with an escape; whoever wants to know more reads the text.

use crate::Limits;
use crate::parse::{DEPTH_CEILING, hex4, special_from};

/// Keys of the objects around one place at most; texts with more are unusual.
const KEYS_MAX: usize = 48;

/// A text that is gone over. Each method takes one value or nothing at all; `None` means that the scan is over.
#[derive(Debug)]
pub struct Scan<'a> {
    text: &'a str,
    at: usize,
    depth_left: usize,
    number_bytes_max: usize,
    /// The keys of the objects around this place, outermost first.
    keys: [&'a str; KEYS_MAX],
    keys_count: usize,
    is_compact: bool,
}

/// A value as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether there are no blanks between its tokens.
    pub is_compact: bool,
}

impl<'a> Scan<'a> {
    /// Starts at the value of a text; nothing if the text is too large.
    pub fn of(text: &'a str, limits: Limits) -> Option<Self> {
        if text.len() > limits.bytes_max {
            return None;
        }
        let mut scan = Scan {
            text,
            at: 0,
            depth_left: limits.depth_max.min(DEPTH_CEILING),
            number_bytes_max: limits.number_bytes_max,
            keys: [""; KEYS_MAX],
            keys_count: 0,
            is_compact: true,
        };
        scan.skip_space();
        Some(scan)
    }

    /// Ends the scan: nothing may follow.
    pub fn end(mut self) -> Option<()> {
        self.skip_space();
        (self.at == self.text.len()).then_some(())
    }

    /// Takes an object; `each` is called with every key, in order, and takes its value.
    pub fn object(&mut self, mut each: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.enter(b'{')?;
        let outer_count = self.keys_count;
        // Most keys are told apart by one bit each.
        let mut bits = 0_u64;
        if !self.take(b'}') {
            loop {
                let key = self.string()?;
                let bit = bit_of(key);
                if bits & bit != 0 && self.keys.get(outer_count..self.keys_count)?.contains(&key) {
                    return None;
                }
                bits |= bit;
                *self.keys.get_mut(self.keys_count)? = key;
                self.keys_count += 1;
                self.skip_space();
                self.expect(b':')?;
                each(self, key)?;
                self.skip_space();
                if self.take(b'}') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.keys_count = outer_count;
        self.depth_left += 1;
        Some(())
    }

    /// Takes an array; `each` is called for every item and takes it.
    pub fn array(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.enter(b'[')?;
        if !self.take(b']') {
            loop {
                each(self)?;
                self.skip_space();
                if self.take(b']') {
                    break;
                }
                self.expect(b',')?;
            }
        }
        self.depth_left += 1;
        Some(())
    }

    /// Takes a string without escapes.
    #[inline]
    pub fn string(&mut self) -> Option<&'a str> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let begin = self.at + 1;
        let end = special_from(self.text.as_bytes(), begin);
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return None;
        }
        self.at = end + 1;
        self.text.get(begin..end)
    }

    /// Tells whether a string stands here.
    pub fn is_string(&self) -> bool {
        self.peek() == Some(b'"')
    }

    /// Takes `null`, if it stands here.
    #[inline]
    pub fn null(&mut self) -> bool {
        self.peek() == Some(b'n') && self.word("null").is_some()
    }

    /// Takes `true` or `false`.
    pub fn boolean(&mut self) -> Option<bool> {
        let is_true = self.peek() == Some(b't');
        self.word(if is_true { "true" } else { "false" })?;
        Some(is_true)
    }

    /// Takes a number as it was written.
    pub fn number(&mut self) -> Option<&'a str> {
        let begin = self.at;
        self.take(b'-');
        let first = self.at;
        self.digits()?;
        if self.at > first + 1 && self.text.as_bytes().get(first) == Some(&b'0') {
            return None;
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
        self.text.get(begin..self.at).filter(|lexeme| lexeme.len() <= self.number_bytes_max)
    }

    /// Takes any string.
    pub fn skip_string(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        if self.peek() != Some(b'"') {
            return None;
        }
        self.at += 1;
        loop {
            self.at = special_from(bytes, self.at);
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(());
                }
                b'\\' => self.skip_escape()?,
                _ => return None,
            }
        }
    }

    /// Takes a value by `take`; returns also how it was written.
    pub fn with_text<T>(&mut self, take: impl FnOnce(&mut Self) -> Option<T>) -> Option<(T, Written<'a>)> {
        let begin = self.at;
        let outer_is_compact = std::mem::replace(&mut self.is_compact, true);
        let taken = take(self)?;
        let written = Written { text: self.text.get(begin..self.at)?, is_compact: self.is_compact };
        self.is_compact &= outer_is_compact;
        Some((taken, written))
    }

    /// Takes any value.
    pub fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => self.object(|scan, _| scan.skip()),
            b'[' => self.array(Self::skip),
            b't' | b'f' => self.boolean().map(drop),
            b'n' => self.word("null"),
            _ => self.number().map(drop),
        }
    }

    fn enter(&mut self, bracket: u8) -> Option<()> {
        self.depth_left = self.depth_left.checked_sub(1)?;
        self.expect(bracket)
    }

    fn skip_escape(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let first = hex4(bytes, self.at + 2)?;
                if char::from_u32(first).is_some() {
                    self.at += 6;
                    return Some(());
                }
                let is_pair = bytes.get(self.at + 6..)?.starts_with(b"\\u")
                    && matches!((first, hex4(bytes, self.at + 8)?), (0xd800..=0xdbff, 0xdc00..=0xdfff));
                self.at += 12;
                return is_pair.then_some(());
            }
            _ => return None,
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let begin = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > begin).then_some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        rest.starts_with(word.as_bytes()).then(|| self.at += word.len())
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == Some(byte);
        self.at += usize::from(is_here);
        is_here
    }

    /// Takes a byte that must be here, and the blanks behind it.
    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then(|| self.skip_space())
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
            self.is_compact = false;
        }
    }
}

/// Returns the bit that stands for a key; another key may have the same.
fn bit_of(key: &str) -> u64 {
    let bytes = key.as_bytes();
    let of = |byte: Option<&u8>, factor: usize| usize::from(byte.copied().unwrap_or(0)).wrapping_mul(factor);
    let middle = bytes.get(bytes.len() / 2);
    1 << ((bytes.len() + of(bytes.first(), 7) + of(middle, 13) + of(bytes.last(), 29)) % 64)
}
