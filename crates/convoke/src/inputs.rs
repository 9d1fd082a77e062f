//! The documents that a command was given: files, or standard input, one document at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use json::Limits;

use crate::documents::{Document, Documents};
use crate::failure::Failure;
use crate::output::Output;

/// A document with the place it came from.
pub(crate) struct Input<'i> {
    /// The file, or `standard input`.
    pub(crate) name: &'i str,
    /// Its number over all files, from 0.
    pub(crate) index: usize,
    /// The document.
    pub(crate) document: &'i Document,
}

/// When answers are handed over: somebody may be waiting at the other end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flush {
    EachAnswer,
    AtEnd,
}

/// Answers every document of every file; `-`, or no file at all, is standard input.
pub(crate) fn for_each(
    files: &[String],
    output: &mut Output,
    mut answer: impl FnMut(&mut Output, &Input<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let standard_input = ["-".to_owned()];
    let files = if files.is_empty() { &standard_input } else { files };
    let mut index = 0;
    for file in files {
        if file == "-" {
            let (name, reader) = ("standard input", io::stdin().lock());
            stream(name, reader, Flush::EachAnswer, &mut index, output, &mut answer)?;
        } else {
            let reader = File::open(file).map_err(|error| {
                Failure::unreadable(file, &error).hint("give a file that exists, or - for standard input")
            })?;
            let reader = BufReader::with_capacity(1 << 16, reader);
            stream(file, reader, Flush::AtEnd, &mut index, output, &mut answer)?;
        }
    }
    Ok(())
}

/// Reads a file as text; `-` is standard input.
pub(crate) fn text(file: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let limit = Limits::DOCUMENT.bytes_max as u64;
    let read = match file {
        "-" => io::stdin().lock().take(limit).read_to_string(&mut text),
        file => File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text)),
    };
    read.map_err(|error| {
        Failure::unreadable(file, &error).hint("give a file that exists, or - for standard input")
    })?;
    Ok(text)
}

/// Parses a document, or says with a code and a sentence why it cannot be read.
pub(crate) fn parse(document: &Document) -> Result<json::Value<'_>, (&'static str, String)> {
    match &document.bytes {
        Some(bytes) => {
            json::parse(bytes, Limits::DOCUMENT).map_err(|error| (error.kind.code(), error.to_string()))
        }
        None => {
            let message = format!("the document has more than {} bytes", Limits::DOCUMENT.bytes_max);
            Err(("too_large", message))
        }
    }
}

fn stream(
    name: &str,
    reader: impl BufRead,
    flush: Flush,
    index: &mut usize,
    output: &mut Output,
    answer: &mut impl FnMut(&mut Output, &Input<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut documents = Documents::new(reader, Limits::DOCUMENT);
    while let Some(document) = documents.next().map_err(|error| Failure::unreadable(name, &error))? {
        answer(output, &Input { name, index: *index, document: &document })?;
        *index += 1;
        if flush == Flush::EachAnswer {
            output.flush()?;
        }
    }
    Ok(output.flush()?)
}
