//! Documents from a file or a pipe: one JSON document, or JSON Lines, told apart by looking.
//!
//! If the first line is a JSON value by itself, every line is a document. Otherwise the whole input is one
//! document, unless that does not read and the second line is a value by itself: then it was JSON Lines with
//! a bad first line. One document is held in memory at a time; what is longer than the limit is passed over.

use std::io::{self, BufRead};

use json::Limits;

/// A stream of documents.
pub(crate) struct Documents<R> {
    reader: R,
    limits: Limits,
    mode: Mode,
    /// Bytes that were read ahead to tell the modes apart.
    ahead: io::Cursor<Vec<u8>>,
    line: usize,
}

/// One document of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// The line on which it starts, from 1.
    pub(crate) line: usize,
    /// Its bytes, or nothing if there were too many.
    pub(crate) bytes: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Undecided,
    Lines,
    Finished,
}

impl<R: BufRead> Documents<R> {
    /// Starts a stream whose documents keep to the limits.
    pub(crate) fn new(reader: R, limits: Limits) -> Self {
        let ahead = io::Cursor::new(Vec::new());
        Documents { reader, limits, mode: Mode::Undecided, ahead, line: 0 }
    }

    /// Reads the next document.
    pub(crate) fn next(&mut self) -> io::Result<Option<Document>> {
        match self.mode {
            Mode::Finished => Ok(None),
            Mode::Lines => self.next_line(),
            Mode::Undecided => self.first(),
        }
    }

    fn first(&mut self) -> io::Result<Option<Document>> {
        self.mode = Mode::Lines;
        let Some(mut first) = self.next_line()? else { return Ok(None) };
        let Some(bytes) = &mut first.bytes else { return Ok(Some(first)) };
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        if json::parse(bytes, self.limits).is_ok() {
            return Ok(Some(first));
        }
        let mut whole = std::mem::take(bytes);
        let first_line_bytes = whole.len();
        let complete = self.read_rest(&mut whole)?;
        let lines = whole[first_line_bytes..].split(|byte| *byte == b'\n');
        let second = lines.map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
        let is_document = complete && json::parse(&whole, self.limits).is_ok();
        if !is_document && second.is_some_and(|line| json::parse(line, self.limits).is_ok()) {
            let rest = whole.split_off(first_line_bytes);
            self.ahead = io::Cursor::new(rest.strip_prefix(b"\n").map_or_else(Vec::new, <[u8]>::to_vec));
            return Ok(Some(Document { bytes: Some(whole), ..first }));
        }
        self.mode = Mode::Finished;
        Ok(Some(Document { bytes: complete.then_some(whole), ..first }))
    }

    /// Appends the rest of the input after a line break; tells whether it fitted the limit.
    fn read_rest(&mut self, whole: &mut Vec<u8>) -> io::Result<bool> {
        whole.push(b'\n');
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                return Ok(true);
            }
            let room = (self.limits.bytes_max + 1).saturating_sub(whole.len());
            if room == 0 {
                return Ok(false);
            }
            let taken = chunk.len().min(room);
            whole.extend_from_slice(&chunk[..taken]);
            self.reader.consume(taken);
        }
    }

    /// Reads the next line that is not blank.
    fn next_line(&mut self) -> io::Result<Option<Document>> {
        loop {
            let mut bytes = Vec::new();
            let (mut ended, mut fits) = take_line(&mut self.ahead, &mut bytes, self.limits.bytes_max)?;
            if ended != Ended::LineBreak {
                let (end, rest_fits) = take_line(&mut self.reader, &mut bytes, self.limits.bytes_max)?;
                (ended, fits) = (end, fits && rest_fits);
            }
            if ended == Ended::Input && bytes.is_empty() && fits {
                return Ok(None);
            }
            self.line += 1;
            if fits && bytes.trim_ascii().is_empty() {
                continue;
            }
            return Ok(Some(Document { line: self.line, bytes: fits.then_some(bytes) }));
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    LineBreak,
    Input,
}

/// Appends a line without its break; what is over the limit is read and dropped.
fn take_line(reader: &mut impl BufRead, line: &mut Vec<u8>, bytes_max: usize) -> io::Result<(Ended, bool)> {
    let mut fits = true;
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok((Ended::Input, fits));
        }
        let line_break = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..line_break.unwrap_or(chunk.len())];
        fits &= line.len() + part.len() <= bytes_max;
        if fits {
            line.extend_from_slice(part);
        } else {
            *line = Vec::new();
        }
        let consumed = part.len() + usize::from(line_break.is_some());
        reader.consume(consumed);
        if line_break.is_some() {
            return Ok((Ended::LineBreak, fits));
        }
    }
}
