//! Tests of all formats: vectors, exact values of the types, and properties.

mod properties;
mod values;
mod vectors;

use std::fmt::Display;
use std::str::FromStr;

use crate::{
    AtIdentifier, AtUri, Cid, Datetime, Did, Format, Handle, Language, Nsid, RecordKey, SyntaxError, Tid, Uri,
};

/// Turns a text into the type of its format, in both ways that there are, and writes it out again.
fn through_type(format: Format, text: &str) -> Result<String, SyntaxError> {
    match format {
        Format::AtIdentifier => round_trip::<AtIdentifier>(text),
        Format::AtUri => round_trip::<AtUri>(text),
        Format::Cid => round_trip::<Cid>(text),
        Format::Datetime => round_trip::<Datetime>(text),
        Format::Did => round_trip::<Did>(text),
        Format::Handle => round_trip::<Handle>(text),
        Format::Language => round_trip::<Language>(text),
        Format::Nsid => round_trip::<Nsid>(text),
        Format::RecordKey => round_trip::<RecordKey>(text),
        Format::Tid => round_trip::<Tid>(text),
        Format::Uri => round_trip::<Uri>(text),
    }
}

fn round_trip<T>(text: &str) -> Result<String, SyntaxError>
where
    T: FromStr<Err = SyntaxError>
        + TryFrom<String, Error = SyntaxError>
        + Display
        + AsRef<str>
        + Into<String>,
{
    let moved = T::try_from(text.to_owned()).map(T::into);
    let parsed = text.parse::<T>();
    if let Ok(value) = &parsed {
        assert_eq!((value.as_ref(), value.to_string().as_str()), (text, text));
    }
    assert_eq!(parsed.map(T::into), moved);
    moved
}

/// Asks every accessor of the type, so that a text which passes the check but breaks an accessor is found.
fn touch_accessors(format: Format, text: &str) {
    match format {
        Format::AtIdentifier => {
            let identifier: AtIdentifier = text.parse().unwrap();
            assert_ne!(identifier.did().is_some(), identifier.handle().is_some());
        }
        Format::AtUri => {
            let uri: AtUri = text.parse().unwrap();
            assert!(!uri.authority().is_empty());
            assert!(uri.collection().is_some() || uri.rkey().is_none());
            assert!(uri.fragment().is_none_or(|fragment| fragment.starts_with('/')));
        }
        Format::Cid => {
            let cid: Cid = text.parse().unwrap();
            assert!(cid.decode().is_err() || cid.to_bytes().is_ok());
            assert!(cid.decode().is_ok() || !cid.is_blessed());
        }
        Format::Datetime => assert!(text.parse::<Datetime>().unwrap().moment().nanos < 1_000_000_000),
        Format::Did => {
            let did: Did = text.parse().unwrap();
            assert_eq!(format!("did:{}:{}", did.method(), did.identifier()), text);
        }
        Format::Handle => {
            let handle: Handle = text.parse().unwrap();
            assert!(text.ends_with(handle.tld()));
            assert_eq!(handle.normalized().disallowed_tld(), handle.disallowed_tld());
        }
        Format::Language => {
            let language: Language = text.parse().unwrap();
            assert!(text.starts_with(language.primary()));
            assert!(language.script().is_none_or(|script| language.subtags().any(|subtag| subtag == script)));
            assert!(language.region().is_none_or(|region| language.subtags().any(|subtag| subtag == region)));
        }
        Format::Nsid => {
            let nsid: Nsid = text.parse().unwrap();
            assert_eq!(nsid.authority().len() + 1 + nsid.name().len(), text.len());
        }
        Format::RecordKey => assert_eq!(
            text.parse::<RecordKey>().unwrap().tid().map(RecordKey::from).map(String::from),
            text.parse::<Tid>().ok().map(String::from)
        ),
        Format::Tid => assert!(text.parse::<Tid>().unwrap().clock_id() < 1024),
        Format::Uri => {
            let uri: Uri = text.parse().unwrap();
            assert_eq!(format!("{}:{}", uri.scheme(), uri.rest()), text);
        }
    }
}
