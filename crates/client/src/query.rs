//! Paths and queries: what people and agents name is percent-encoded, so that a name is never a path.

use std::fmt::{Display, Write};

/// A path with a query, while it is written.
pub(crate) struct Target {
    text: String,
    has_query: bool,
}

impl Target {
    /// Starts at a path of our own.
    pub(crate) fn new(path: &str) -> Self {
        Target { text: path.to_owned(), has_query: false }
    }

    /// Adds a segment that somebody named.
    pub(crate) fn segment(mut self, name: &str) -> Self {
        self.text.push('/');
        encode(&mut self.text, name);
        self
    }

    /// Adds a path of our own.
    pub(crate) fn then(mut self, path: &str) -> Self {
        self.text.push_str(path);
        self
    }

    /// Adds a value to the query, if there is one.
    pub(crate) fn maybe(mut self, key: &str, value: Option<impl Display>) -> Self {
        if let Some(value) = value {
            self.text.push(if self.has_query { '&' } else { '?' });
            self.has_query = true;
            self.text.push_str(key);
            self.text.push('=');
            encode(&mut self.text, &value.to_string());
        }
        self
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

fn encode(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
}
