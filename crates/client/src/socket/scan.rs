//! The members of a frame without building a tree of it: each key with the text of its value.
//!
//! The bus writes frames; what is not one ends the scan, and whoever needed a member that did not come says so.

use std::borrow::Cow;
use std::ops::Range;

use json::Limits;

/// Goes through the members of a JSON object: the key as it is written, and where its value stands.
pub(crate) struct Members<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Members<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Members { text, at: 0 }
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn skip(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    /// Passes a string, from its first quote to behind its last.
    fn string(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.skip(b'"')?;
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at)? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(start..self.at)
    }

    fn value(&mut self) -> Option<Range<usize>> {
        match self.peek()? {
            b'"' => self.string(),
            b'{' | b'[' => self.nested(),
            _ => {
                let start = self.at;
                let rest = &self.text.as_bytes()[start..];
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace();
                self.at += rest.iter().position(is_end)?;
                Some(start..self.at)
            }
        }
    }

    fn nested(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.text.as_bytes().get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(start..self.at);
            }
        }
    }
}

impl<'t> Iterator for Members<'t> {
    type Item = (&'t str, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        self.skip(if self.at == 0 { b'{' } else { b',' })?;
        self.peek()?;
        let key = self.string()?;
        self.skip(b':')?;
        let value = self.value()?;
        let key = self.text.get(key.start + 1..key.end - 1)?;
        Some((key, value))
    }
}

/// Returns what a value says: the text of a string, anything else as it is written.
pub(crate) fn plain(value: &str) -> Cow<'_, str> {
    let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Cow::Borrowed(value);
    };
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    match json::parse_str(value, Limits::DOCUMENT) {
        Ok(json::Value::String(text)) => text,
        Ok(_) | Err(_) => Cow::Borrowed(inner),
    }
}
