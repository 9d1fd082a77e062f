//! Tests of the vocabulary: vectors as files, tables of good and bad values, limits, and round trips by property.

mod addresses;
mod boundaries;
mod durations;
mod every_field;
mod generators;
mod ids;
mod properties;
mod receipts;
mod skimming;
mod timestamps;
mod vectors;
mod vocabulary;

use json::{Finding, Limits, Value};

use crate::{Decoded, Dialect, Envelope, Message, decode};

/// Reads a document that must be good.
fn good(text: &str) -> Decoded {
    decode(text.as_bytes(), Limits::DOCUMENT).unwrap_or_else(|findings| panic!("{findings:?}\n{text}"))
}

/// Reads a document that must be bad, and lists its findings as `path code`.
fn refusals(text: &str) -> Vec<String> {
    match decode(text.as_bytes(), Limits::DOCUMENT) {
        Ok(decoded) => panic!("accepted: {decoded:?}"),
        Err(findings) => show(&findings),
    }
}

fn show(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.path, finding.code)).collect()
}

/// Makes the smallest message, for tests to add to.
fn minimal() -> Message {
    good(r#"{"kind":"note","from":"ann","to":["bob"]}"#).message
}

fn parse(text: &str) -> Value<'static> {
    json::parse_str(text, Limits::DOCUMENT).unwrap().into_owned()
}

#[test]
fn an_envelope_gives_back_what_was_put_in() {
    for dialect in Dialect::ALL {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        for (given, kept) in [(None, None), (Some(trace), Some(trace)), (Some("00-nonsense"), None)] {
            for to in [None, Some("roles.dev #news bob")] {
                let put = Envelope { dialect: *dialect, trace: given, to, document: b"{}" };
                let bytes = put.to_bytes();
                let opened = Envelope::open(&bytes).unwrap();
                assert_eq!(opened, Envelope { trace: kept, ..put });
                let addresses = opened.addresses().map(|all| all.iter().map(ToString::to_string).collect());
                assert_eq!(addresses, to.map(|to| to.split(' ').map(str::to_owned).collect::<Vec<_>>()));
            }
        }
    }
    for wrong in [
        &b""[..],
        b"\x01",
        b"\x00\x00{}",
        b"\x02\x00{}",
        b"\x01\xff{}",
        b"\x03\x00\x05\x00{}",
        b"\x03\x00\x00",
        b"\x05\x00{}",
    ] {
        assert_eq!(Envelope::open(wrong), None, "{wrong:?}");
    }
}
