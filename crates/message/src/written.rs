//! Writing an object member by member as text, where a tree would only be written and dropped.

use std::fmt::{Display, Write};

use json::write_string;

const WRITES: &str = "a string takes whatever is written";

/// An object that is written at the end of a text.
pub(crate) struct Written<'t> {
    text: &'t mut String,
    is_empty: bool,
}

impl<'t> Written<'t> {
    pub(crate) fn begin(text: &'t mut String) -> Self {
        text.push('{');
        Written { text, is_empty: true }
    }

    pub(crate) fn end(self) {
        self.text.push('}');
    }

    /// Puts a text that may have anything in it.
    pub(crate) fn text(&mut self, key: &'static str, text: &str) {
        write_string(self.key(key), text).expect(WRITES);
    }

    /// Puts a text, if there is one.
    pub(crate) fn maybe(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// Puts a word of ours, in which nothing is to be escaped.
    pub(crate) fn word(&mut self, key: &'static str, word: &str) {
        let text = self.key(key);
        text.push('"');
        text.push_str(word);
        text.push('"');
    }

    /// Puts a word of ours that is made for it.
    pub(crate) fn shown(&mut self, key: &'static str, word: impl Display) {
        write!(self.key(key), "\"{word}\"").expect(WRITES);
    }

    /// Puts yes or no.
    pub(crate) fn flag(&mut self, key: &'static str, holds: bool) {
        self.key(key).push_str(if holds { "true" } else { "false" });
    }

    /// Puts a number.
    pub(crate) fn number(&mut self, key: &'static str, number: u32) {
        self.key(key).push_str(&number.to_string());
    }

    /// Puts a list, each item as `write` writes it.
    pub(crate) fn list<I>(&mut self, key: &'static str, items: &[I], write: impl Fn(&I, &mut String)) {
        let text = self.key(key);
        text.push('[');
        for (nth, item) in items.iter().enumerate() {
            if nth > 0 {
                text.push(',');
            }
            write(item, text);
        }
        text.push(']');
    }

    /// Puts a key, and returns the text behind which its value goes.
    fn key(&mut self, key: &'static str) -> &mut String {
        self.text.push_str(if self.is_empty { "\"" } else { ",\"" });
        self.is_empty = false;
        self.text.push_str(key);
        self.text.push_str("\":");
        self.text
    }
}
