//! `convoke lexicon hoist`: a lexicon without inline objects.

use std::fs;
use std::path::Path;

use json::Limits;

use crate::failure::{Answer, Failure};
use crate::output::Output;

pub(crate) fn run(lexicon: &str) -> Result<Answer, Failure> {
    let path = Path::new(lexicon);
    let bytes = match definitions::lexicons().find(|definition| definition.name == lexicon) {
        Some(definition) if !path.exists() => definition.text.as_bytes().to_vec(),
        _ => fs::read(path).map_err(|error| Failure::unreadable(lexicon, &error))?,
    };
    let value = json::parse(&bytes, Limits::DOCUMENT)
        .map_err(|error| Failure::wrong_use(format!("{lexicon} is not a JSON document: {error}")))?;
    let mut output = Output::new();
    output.line(lexicon::hoist(&value))?;
    output.flush()?;
    Ok(Answer::Yes)
}
