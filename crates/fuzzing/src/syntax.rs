//! The string formats: a check and the parser of its type agree, and a type gives back the text it was made of.

use std::fmt::Display;
use std::str::FromStr;

use atproto_syntax::{
    AtIdentifier, AtUri, Cid, Datetime, Did, Format, Handle, Language, Nsid, Precision, RecordKey, Tid, Uri,
    tid,
};

pub(crate) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for line in text.lines().chain([text]) {
        for format in Format::ALL {
            agrees(format, line);
        }
        meanings(line);
    }
}

fn agrees(format: Format, text: &str) {
    let parsed = match format {
        Format::Did => shown::<Did>(text),
        Format::Handle => shown::<Handle>(text),
        Format::AtIdentifier => shown::<AtIdentifier>(text),
        Format::Nsid => shown::<Nsid>(text),
        Format::AtUri => shown::<AtUri>(text),
        Format::Tid => shown::<Tid>(text),
        Format::RecordKey => shown::<RecordKey>(text),
        Format::Cid => shown::<Cid>(text),
        Format::Datetime => shown::<Datetime>(text),
        Format::Language => shown::<Language>(text),
        Format::Uri => shown::<Uri>(text),
    };
    let expected = format.check(text).is_ok().then(|| text.to_owned());
    assert_eq!(parsed, expected, "{}: check and parse agree", format.name());
}

fn shown<T: FromStr + Display>(text: &str) -> Option<String> {
    text.parse::<T>().ok().map(|parsed| parsed.to_string())
}

/// What the parts of a valid string must satisfy.
fn meanings(text: &str) {
    if let Ok(uri) = text.parse::<AtUri>() {
        assert!(uri.authority().parse::<AtIdentifier>().is_ok(), "the authority of {uri} is an identifier");
        assert!(uri.collection().is_none_or(|collection| collection.parse::<Nsid>().is_ok()), "{uri}");
        assert!(uri.rkey().is_none_or(|key| key.parse::<RecordKey>().is_ok()), "{uri}");
    }
    // The syntax leaves room for one bit more than a time has; such TIDs can be read but are never made.
    if let Ok(tid) = text.parse::<Tid>()
        && tid.micros() <= tid::MICROS_MAX
    {
        assert_eq!(Tid::from_parts(tid.micros(), tid.clock_id()), Ok(tid), "a TID is its parts");
    }
    if let Ok(cid) = text.parse::<Cid>()
        && let Ok(bytes) = cid.to_bytes()
        && cid.decode().is_ok()
    {
        let again = Cid::from_bytes(&bytes).and_then(|again| again.to_bytes());
        assert_eq!(again, Ok(bytes), "the bytes of {cid} name the same content");
    }
    if let Ok(datetime) = text.parse::<Datetime>() {
        let micros = datetime.moment().unix_micros();
        let again =
            Datetime::from_unix_micros(micros, Precision::Micros).map(|again| again.moment().unix_micros());
        assert_eq!(again, Ok(micros), "{datetime} survives formatting");
    }
    if let Ok(nsid) = text.parse::<Nsid>() {
        assert_eq!(nsid.segments().collect::<Vec<_>>().join("."), text, "an NSID is its segments");
    }
}
