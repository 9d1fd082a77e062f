//! Runs the cases of this crate and, where they are at hand, the public interoperability vectors.

use std::path::{Path, PathBuf};
use std::{env, fs};

use super::{through_type, touch_accessors};
use crate::Format;

const OWN: [(Format, &str); 11] = [
    (Format::AtIdentifier, include_str!("../../vectors/at-identifier.txt")),
    (Format::AtUri, include_str!("../../vectors/at-uri.txt")),
    (Format::Cid, include_str!("../../vectors/cid.txt")),
    (Format::Datetime, include_str!("../../vectors/datetime.txt")),
    (Format::Did, include_str!("../../vectors/did.txt")),
    (Format::Handle, include_str!("../../vectors/handle.txt")),
    (Format::Language, include_str!("../../vectors/language.txt")),
    (Format::Nsid, include_str!("../../vectors/nsid.txt")),
    (Format::RecordKey, include_str!("../../vectors/record-key.txt")),
    (Format::Tid, include_str!("../../vectors/tid.txt")),
    (Format::Uri, include_str!("../../vectors/uri.txt")),
];

/// What no format allows anywhere: blanks, control characters and anything beyond ASCII.
const INTRUDERS: [char; 10] =
    [' ', '\0', '\n', '\r', '\t', '\u{7f}', '\u{a0}', '\u{e9}', '\u{200b}', '\u{1f4a9}'];

struct Case {
    format: Format,
    text: String,
    /// Nothing for a valid text; otherwise the end of the error's sentence, where the case knows it.
    fault: Option<Option<String>>,
}

#[test]
fn own_vectors() {
    check(&own_cases());
}

#[test]
fn public_vectors() {
    check(&public_cases());
}

#[test]
fn an_intruder_anywhere_makes_a_valid_text_invalid() {
    let cases = own_cases().into_iter().chain(public_cases()).filter(|case| case.fault.is_none());
    for Case { format, text, .. } in cases {
        let step = text.len() / 100 + 1;
        for at in (0..text.len()).step_by(step).chain([text.len()]) {
            for intruder in INTRUDERS {
                let mut broken = text.clone();
                broken.insert(at, intruder);
                assert!(format.check(&broken).is_err(), "{format} accepts {broken:?}");
            }
        }
    }
}

#[test]
fn format_names_are_unique_and_found() {
    for format in Format::ALL {
        assert_eq!(Format::from_name(format.name()), Some(format));
        assert!(format.check("").is_err(), "{format} accepts the empty text");
    }
    assert_eq!(Format::from_name("DID"), None);
    assert_eq!(Format::from_name(""), None);
}

fn check(cases: &[Case]) {
    for Case { format, text, fault } in cases {
        let checked = format.check(text);
        let shown: String = text.chars().take(120).collect();
        match fault {
            None => {
                assert_eq!(checked, Ok(()), "{format} rejects {shown:?}");
                assert_eq!(through_type(*format, text).as_ref(), Ok(text));
                touch_accessors(*format, text);
            }
            Some(why) => {
                let error = checked.expect_err(&format!("{format} accepts {shown:?}"));
                assert_eq!(through_type(*format, text), Err(error));
                if let Some(why) = why {
                    assert_eq!(error.to_string(), format!("not a valid {format}: {why}"), "for {shown:?}");
                }
            }
        }
    }
}

fn own_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (format, file) in OWN {
        let mut counts = [0, 0];
        for line in file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (text, fault) = if let Some(text) = line.strip_prefix("+ ") {
                (text, None)
            } else {
                let case = line.strip_prefix("- ").and_then(|case| case.split_once('\t'));
                let (text, why) = case.unwrap_or_else(|| panic!("malformed case in {format}: {line:?}"));
                (text, Some(Some(why.to_owned())))
            };
            counts[usize::from(fault.is_some())] += 1;
            cases.push(Case { format, text: unescape(text), fault });
        }
        assert!(counts[0] >= 4 && counts[1] >= 4, "{format} has too few cases: {counts:?}");
    }
    cases
}

/// Resolves the escapes that the head of every vector file explains.
fn unescape(raw: &str) -> String {
    let mut text = String::new();
    let mut rest = raw;
    while let Some((plain, escape)) = rest.split_once('\\') {
        text.push_str(plain);
        let (kind, after) = escape.split_at(1);
        rest = match kind {
            "n" => push(&mut text, "\n", after),
            "t" => push(&mut text, "\t", after),
            "0" => push(&mut text, "\0", after),
            "\\" => push(&mut text, "\\", after),
            "u" => {
                let (code, after) = after[1..].split_once('}').unwrap();
                let character = char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
                push(&mut text, &character.to_string(), after)
            }
            "{" => {
                let (repeat, after) = after.split_once('}').unwrap();
                let (unit, count) = repeat.split_once('*').unwrap();
                push(&mut text, &unit.repeat(count.parse().unwrap()), after)
            }
            _ => panic!("unknown escape in {raw:?}"),
        };
    }
    text.push_str(rest);
    text
}

fn push<'a>(text: &mut String, piece: &str, after: &'a str) -> &'a str {
    text.push_str(piece);
    after
}

fn public_cases() -> Vec<Case> {
    let folder = shared().join("vectors/atproto/syntax");
    let Ok(files) = fs::read_dir(&folder) else {
        println!("skipped: the public vectors, for want of the folder {}", folder.display());
        return Vec::new();
    };
    let mut cases = Vec::new();
    for file in files {
        let path = file.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (format, valid) = read_name(name).unwrap_or_else(|| panic!("no format for the file {name}"));
        for line in fs::read_to_string(&path).unwrap().lines() {
            if !line.is_empty() && !line.starts_with('#') {
                let fault = if valid { None } else { Some(None) };
                cases.push(Case { format, text: line.to_owned(), fault });
            }
        }
    }
    assert!(cases.len() > 300, "only {} public cases found", cases.len());
    cases
}

/// Reads a name such as `atidentifier_syntax_valid`; files of any other name must not be skipped in silence.
fn read_name(name: &str) -> Option<(Format, bool)> {
    let (format, kind) = name.split_once('_')?;
    let format = Format::ALL.into_iter().find(|known| known.name().replace('-', "") == format)?;
    match kind {
        "syntax_valid" => Some((format, true)),
        "syntax_invalid" | "parse_invalid" => Some((format, false)),
        _ => None,
    }
}

fn shared() -> PathBuf {
    match env::var_os("CONVOKE_SHARED") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    }
}
