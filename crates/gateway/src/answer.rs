//! Answers: JSON put together from texts that are JSON already, so that documents leave as they are.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use json::{Value, write_string, write_value};

/// A JSON object that is being written.
pub struct Answer {
    text: String,
}

impl Default for Answer {
    fn default() -> Self {
        Answer::new()
    }
}

impl Answer {
    /// Begins an object.
    pub fn new() -> Self {
        Answer { text: String::from("{") }
    }

    /// Begins an object of about so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        let mut text = String::with_capacity(bytes);
        text.push('{');
        Answer { text }
    }

    /// Adds a string.
    pub fn text(mut self, key: &str, text: &str) -> Self {
        self.key(key);
        write_string(&mut self.text, text).expect("a string takes whatever is written");
        self
    }

    /// Adds a string, if there is one.
    pub fn maybe(self, key: &str, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(key, text),
            None => self,
        }
    }

    /// Adds a number.
    pub fn number(mut self, key: &str, number: u64) -> Self {
        self.key(key);
        self.text.push_str(&number.to_string());
        self
    }

    /// Adds yes or no.
    pub fn flag(self, key: &str, holds: bool) -> Self {
        self.raw(key, if holds { "true" } else { "false" })
    }

    /// Adds a value.
    pub fn value(mut self, key: &str, value: &Value<'_>) -> Self {
        self.key(key);
        write_value(&mut self.text, value).expect("a string takes whatever is written");
        self
    }

    /// Adds every member of an object.
    pub fn members(self, object: &Value<'_>) -> Self {
        let members = object.as_object().into_iter().flat_map(|object| object.iter());
        members.fold(self, |answer, (key, value)| answer.value(key, value))
    }

    /// Adds every member of an object that is JSON already, compact and not empty.
    pub fn members_of(mut self, object: &str) -> Self {
        let members = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        self.comma();
        self.text.push_str(members.unwrap_or_default());
        self
    }

    /// Adds what is JSON already.
    pub fn raw(mut self, key: &str, json: &str) -> Self {
        self.key(key);
        self.text.push_str(json);
        self
    }

    /// Adds a list of strings.
    pub fn texts(self, key: &str, texts: impl IntoIterator<Item = String>) -> Self {
        self.list(key, texts.into_iter().map(|text| Value::from(text).to_json()))
    }

    /// Adds a list of what is JSON already.
    pub fn list(mut self, key: &str, items: impl IntoIterator<Item = String>) -> Self {
        self.key(key);
        self.text.push('[');
        for (number, item) in items.into_iter().enumerate() {
            if number > 0 {
                self.text.push(',');
            }
            self.text.push_str(&item);
        }
        self.text.push(']');
        self
    }

    /// Returns the text.
    pub fn end(mut self) -> String {
        self.text.push('}');
        self.text
    }

    /// Answers with it.
    pub fn respond(self, status: StatusCode) -> Response {
        (status, [(header::CONTENT_TYPE, "application/json")], self.end()).into_response()
    }

    fn key(&mut self, key: &str) {
        self.comma();
        write_string(&mut self.text, key).expect("a string takes whatever is written");
        self.text.push(':');
    }

    fn comma(&mut self) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
    }
}
