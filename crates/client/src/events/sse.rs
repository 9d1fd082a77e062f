//! Server-sent events, as far as our bus writes them
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream>).

use std::collections::VecDeque;

/// Bytes of a line or of the data of one event at most: an event holds the head of a text, never a document.
const EVENT_BYTES_MAX: usize = 4 << 20;

/// One event, not yet understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) id: Option<String>,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// Takes bytes, gives events.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    line: Vec<u8>,
    current: Raw,
    has_data: bool,
    /// A line may end with CR, LF or both.
    after_return: bool,
    complete: VecDeque<Raw>,
}

impl Parser {
    /// Takes bytes as they come; says why when they cannot be events.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    self.end_line()?;
                }
                other => {
                    self.after_return = false;
                    self.line.push(*other);
                }
            }
            if self.line.len() > EVENT_BYTES_MAX {
                return Err("an event is too large".to_owned());
            }
        }
        Ok(())
    }

    /// Returns the next event that is complete.
    pub(crate) fn next(&mut self) -> Option<Raw> {
        self.complete.pop_front()
    }

    fn end_line(&mut self) -> Result<(), String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let raw = std::mem::take(&mut self.current);
            if std::mem::take(&mut self.has_data) {
                self.complete.push_back(raw);
            }
            return Ok(());
        }
        let line = String::from_utf8(line).map_err(|_| "an event is not UTF-8".to_owned())?;
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.add_data(value)?,
            "event" => self.current.event = value.to_owned(),
            "id" => self.current.id = Some(value.to_owned()),
            // Comments keep the line alive; what is new is not for us.
            _ => {}
        }
        Ok(())
    }

    fn add_data(&mut self, value: &str) -> Result<(), String> {
        if std::mem::replace(&mut self.has_data, true) {
            self.current.data.push('\n');
        }
        self.current.data.push_str(value);
        if self.current.data.len() > EVENT_BYTES_MAX {
            return Err("an event is too large".to_owned());
        }
        Ok(())
    }
}
