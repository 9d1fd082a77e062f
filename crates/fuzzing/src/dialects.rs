//! The dialects: whatever a document says, it is judged and read without a panic, and what is read can
//! be written in every other dialect and comes back as it was.

use dialect::{Name, Names};
use json::{Limits, Value};
use translate::{Carry, Options, Reports};

/// Room for a document inside another one.
const LIMITS: Limits = Limits { bytes_max: 64 << 20, ..Limits::DOCUMENT };

pub(crate) fn bus(bytes: &[u8]) {
    read(Name::Bus, bytes);
}

pub(crate) fn channel(bytes: &[u8]) {
    read(Name::Channel, bytes);
}

pub(crate) fn comms(bytes: &[u8]) {
    read(Name::Comms, bytes);
}

pub(crate) fn coord(bytes: &[u8]) {
    read(Name::Coord, bytes);
}

pub(crate) fn wire(bytes: &[u8]) {
    read(Name::Wire, bytes);
}

/// A document of whichever dialect it looks like, to every other and back.
pub(crate) fn translation(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(value) = json::parse_str(text, Limits::DOCUMENT) else { return };
    let Some(from) = translate::detect(&value) else { return };
    let names = Names::default();
    let (carry, reports) = (Carry::Origin, Reports::Wanted);
    let options = Options {
        names: &names,
        limits: LIMITS,
        carry,
        reports,
        trusts: &|_| true,
        seals: None,
        came: None,
        to: None,
    };
    for to in Name::ALL {
        let Ok(there) = translate::translate(text, from, *to, &options) else { continue };
        let written = json::parse_str(&there.text, LIMITS).expect("a translation is JSON");
        if from != *to {
            let verdict = translate::dialect(*to).validate(&written);
            assert!(verdict.is_valid(), "{from} to {to}: {:?}", verdict.errors.kept());
        }
        if !carries_an_origin(from, &value) {
            let back =
                translate::translate(&there.text, *to, from, &options).expect("a translation can be read");
            assert_eq!(back.text, text, "{from} to {to} and back");
        }
    }
}

fn read(name: Name, bytes: &[u8]) {
    let Ok(value) = json::parse(bytes, Limits::DOCUMENT) else { return };
    let (dialect, names) = (translate::dialect(name), Names::default());
    let verdict = dialect.validate(&value);
    let decoded = dialect.decode(&value, &names);
    if value.as_object().is_none() {
        assert!(!verdict.is_valid() && decoded.is_err(), "only objects are documents");
        return;
    }
    if let Ok(decoded) = decoded {
        let encoded = dialect.encode(&decoded.message, &names);
        let verdict = dialect.validate(&Value::Object(encoded.document));
        assert!(verdict.is_valid(), "{name}: {:?}", verdict.errors.kept());
    }
}

/// A document that carries an origin may be a translation itself: it goes back to what it was made of.
fn carries_an_origin(name: Name, value: &Value<'_>) -> bool {
    value.pointer(translate::dialect(name).origin_place()).is_some()
}
