//! Writing records in the three modes of a PDS: what is stored under which CID, what is refused with which
//! words.

use json::Value;

use super::vectors::{check, items, owned, text};
use super::{catalog, document_of, shown, value};
use crate::{Catalog, Prepared, Refusal, Validation, Write, data, prepare_write};

const KEY: &str = "3jzfcijpj2z2a";

#[test]
fn writes() {
    check("write", |group| {
        let documents = items(group, "lexicons").iter().map(document_of).collect();
        let catalog = Catalog::new(documents).unwrap();
        let mut outcome = owned(group);
        let cases = items(group, "cases").iter().map(|case| show(&catalog, case));
        outcome.insert("cases", Value::Array(cases.collect()));
        Value::Object(outcome)
    });
}

#[test]
fn a_refusal_is_answered_as_an_invalid_request() {
    assert_eq!((Refusal::HTTP_STATUS, Refusal::ERROR_NAME), (400, "InvalidRequest"));
}

#[test]
fn the_type_is_filled_in_and_changes_the_bytes() {
    let record = value(r#"{"x":[1,  2],"emoji":"😀"}"#);
    let prepared = written(&Catalog::default(), &record).unwrap();
    assert_eq!(prepared.record.to_string(), r#"{"x":[1,2],"emoji":"😀","$type":"agent.comms.message"}"#);
    assert_ne!(prepared.cid, data::cid(&record).unwrap());
    assert_eq!(prepared.cid, data::cid(&prepared.record).unwrap());
    assert_eq!(prepared.bytes, data::to_dag_cbor(&prepared.record).unwrap());
}

#[test]
fn unknown_fields_survive_byte_for_byte() {
    let catalog = catalog(&[definitions::find("agent.comms.message").unwrap().text]);
    let text = concat!(
        r#"{"$type":"agent.comms.message","x":{"b":1.0,"a":[null,"é"]},"sender":"did:web:a.example","#,
        r#""recipient":"did:web:b.example","content":{"kind":"text","y":2},"createdAt":"2025-02-01T10:00:00Z"}"#
    );
    let record = value(text);
    let prepared = written(&catalog, &record).unwrap();
    assert_eq!(prepared.status.map(crate::ValidationStatus::name), Some("valid"));
    assert_eq!(prepared.record.to_string(), text);
}

/// One of the public fixtures, so that a suite without them still knows one CID by heart.
#[test]
fn a_known_record_has_its_known_cid() {
    let record = value(
        r#"{"a":{"$link":"bafyreidfayvfuwqa7qlnopdjiqrxzs6blmoeu4rujcjtnci5beludirz2a"},
            "b":{"$bytes":"nFERjvLLiw9qm45JrqH9QTzyC2Lu1Xb4ne6+sBrCzI0"},
            "c":{"$type":"blob","ref":{"$link":"bafkreiccldh766hwcnuxnf2wh6jgzepf2nlu2lvcllt63eww5p6chi4ity"},
                 "mimeType":"image/jpeg","size":10000}}"#,
    );
    let cid = data::cid(&record).unwrap();
    assert_eq!(cid.as_str(), "bafyreihldkhcwijkde7gx4rpkkuw7pl6lbyu5gieunyc7ihactn5bkd2nm");
}

#[test]
fn a_blob_has_a_raw_cid() {
    let cid = data::cid_of_blob(b"");
    assert_eq!(cid.as_str(), "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku");
}

fn written<'w>(catalog: &Catalog, record: &'w Value<'w>) -> Result<Prepared<'w>, Refusal> {
    let collection = "agent.comms.message";
    prepare_write(catalog, Write { collection, record_key: KEY, record, validation: Validation::default() })
}

/// Shows what each mode makes of a record.
fn show(catalog: &Catalog, case: &Value<'_>) -> Value<'static> {
    let mut outcome = owned(case);
    let modes = [
        ("required", Validation::Required),
        ("optimistic", Validation::Optimistic),
        ("skip", Validation::Skip),
    ];
    for (mode, validation) in modes {
        let record = case.get("record").unwrap();
        let (collection, record_key) = (text(case, "collection"), text(case, "key"));
        let write = Write { collection, record_key, record, validation };
        outcome.insert(mode, outcome_of(prepare_write(catalog, write)));
    }
    Value::Object(outcome)
}

fn outcome_of(written: Result<Prepared<'_>, Refusal>) -> String {
    match written {
        Ok(prepared) => {
            let status = prepared.status.map_or("unchecked", |status| status.name());
            let warnings = prepared.warnings.iter();
            let warnings = warnings.map(|warning| format!(" warns {} {}", warning.path, warning.code));
            format!("{status} {}{}", prepared.cid, warnings.collect::<String>())
        }
        Err(refusal) => match refusal.findings().len() {
            0 | 1 => format!("refused: {refusal}"),
            count => format!("refused: {refusal} ({count} findings)"),
        },
    }
}

#[test]
fn a_refusal_holds_everything_that_is_wrong() {
    let catalog = catalog(&[definitions::find("agent.comms.message").unwrap().text]);
    let refusal = written(&catalog, &value(r#"{"sender":"x","priority":6}"#)).unwrap_err();
    let Refusal::Record { report, .. } = &refusal else { panic!("{refusal}") };
    let expected = ["/sender format", "/priority maximum", "/recipient required", "/content required"];
    assert_eq!(shown(&report.errors, "")[..4], expected);
    assert_eq!(refusal.findings().len(), 5);
}
