//! Lexicons named on the command line: files, folders, or names of those that the binary carries.

use std::fs;
use std::path::{Path, PathBuf};

use json::Limits;
use lexicon::Document;

use crate::failure::Failure;

/// A lexicon with the place it came from.
pub(crate) struct Source {
    pub(crate) place: String,
    pub(crate) document: Document,
    /// The text as it was read.
    pub(crate) text: String,
}

/// Reads every lexicon that an argument names.
pub(crate) fn read(argument: &str) -> Result<Vec<Source>, Failure> {
    let path = Path::new(argument);
    if path.is_dir() {
        return read_folder(path);
    }
    if !path.exists()
        && let Some(definition) = definitions::lexicons().find(|lexicon| lexicon.name == argument)
    {
        return Ok(vec![parse(argument.to_owned(), definition.text.as_bytes())?]);
    }
    Ok(vec![read_file(path)?])
}

fn read_folder(folder: &Path) -> Result<Vec<Source>, Failure> {
    let mut files = Vec::new();
    list_files(folder, &mut files)?;
    files.sort();
    if files.is_empty() {
        let name = folder.display();
        return Err(
            Failure::wrong_use(format!("there is no .json file in {name}")).hint("name a folder of lexicons")
        );
    }
    files.iter().map(|file| read_file(file)).collect()
}

/// Lists the JSON files below a folder. Links are not followed, so there is no way round in circles.
fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error| Failure::unreadable(&folder.display().to_string(), &error);
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let (kind, path) = (entry.file_type().map_err(unreadable)?, entry.path());
        if kind.is_dir() {
            list_files(&path, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<Source, Failure> {
    let place = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| {
        let failure = Failure::unreadable(&place, &error);
        if error.kind() == std::io::ErrorKind::NotFound {
            return failure.hint("give a file, a folder, or a name from `convoke schema list`");
        }
        failure
    })?;
    parse(place, &bytes)
}

/// Reads a lexicon; warnings go to stderr, errors end the command.
fn parse(place: String, bytes: &[u8]) -> Result<Source, Failure> {
    let parsed = Document::parse(bytes, Limits::DOCUMENT);
    for warning in parsed.report.warnings.kept() {
        eprintln!("warning: {place}: {warning}");
    }
    match parsed.document {
        Some(document) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            Ok(Source { place, document, text })
        }
        None => {
            for error in parsed.report.errors.kept() {
                eprintln!("{place}: {error}");
            }
            let count = parsed.report.errors.count();
            let errors = if count == 1 { "1 error".to_owned() } else { format!("{count} errors") };
            let failure = Failure::wrong_use(format!("{place} is not a valid lexicon: {errors}"));
            Err(failure.hint(
                "mend the places named above; https://atproto.com/specs/lexicon describes the language",
            ))
        }
    }
}
