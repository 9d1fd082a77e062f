//! Looking at the members of an object without reading them: where each begins and ends.
//!
//! For frames that carry a document: the frame is looked at, the document is read by whom it concerns, once.

use crate::parse::special_from;

/// A text whose outermost form is not that of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAnObject;

/// The members of an object as they were written. What stands in a value is not checked here: whoever reads it does
/// that. Of a key that stands twice, both are visited.
#[derive(Clone, Debug)]
pub struct Shallow<'a> {
    text: &'a str,
    at: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    First,
    Next,
    Over,
}

impl<'a> Shallow<'a> {
    /// Starts to look at an object.
    pub fn of(text: &'a str) -> Result<Self, NotAnObject> {
        let mut shallow = Shallow { text, at: 0, state: State::First };
        shallow.skip_space();
        if shallow.take(b'{') { Ok(shallow) } else { Err(NotAnObject) }
    }

    /// Returns the next member: its key without the quotation marks, escapes left as they are, and the text of its
    /// value. Nothing after the last one.
    pub fn next_member(&mut self) -> Result<Option<(&'a str, &'a str)>, NotAnObject> {
        self.skip_space();
        if self.state == State::Over {
            return Ok(None);
        }
        if self.state == State::Next || self.peek() == Some(b'}') {
            if self.take(b'}') {
                self.state = State::Over;
                self.skip_space();
                return if self.at == self.text.len() { Ok(None) } else { Err(NotAnObject) };
            }
            if !self.take(b',') {
                return Err(NotAnObject);
            }
            self.skip_space();
        }
        let key = self.string()?;
        self.skip_space();
        if !self.take(b':') {
            return Err(NotAnObject);
        }
        self.skip_space();
        let begin = self.at;
        self.skip_value()?;
        self.state = State::Next;
        Ok(Some((&key[1..key.len() - 1], &self.text[begin..self.at])))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Passes over a string and returns it with its quotation marks.
    fn string(&mut self) -> Result<&'a str, NotAnObject> {
        let begin = self.at;
        if !self.take(b'"') {
            return Err(NotAnObject);
        }
        loop {
            self.at = special_from(self.text.as_bytes(), self.at.min(self.text.len()));
            match self.peek() {
                None => return Err(NotAnObject),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.text[begin..self.at]);
                }
                // Whatever is escaped is one byte here: the end of a longer escape has no quotation mark.
                Some(b'\\') => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }

    fn skip_value(&mut self) -> Result<(), NotAnObject> {
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                None => return Err(NotAnObject),
                Some(b'"') => drop(self.string()?),
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b'}' | b']' | b',' | b':') if depth == 0 => return Err(NotAnObject),
                Some(b',' | b':' | b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                Some(_) => self.skip_scalar(),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn skip_scalar(&mut self) {
        while !matches!(
            self.peek(),
            None | Some(b',' | b':' | b'}' | b']' | b'{' | b'[' | b'"' | b' ' | b'\t' | b'\n' | b'\r')
        ) {
            self.at += 1;
        }
    }
}
