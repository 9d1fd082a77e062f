//! Receipts: the JSON of the contract, its stage, and what is refused.

use proptest::prelude::*;

use super::generators::receipt;
use super::{minimal, parse, show};
use crate::{
    Dialect, Guarantee, MessageId, Origin, Priority, Reachability, Receipt, RecipientReceipt, Stage,
    StageEntry, Warning, codes,
};

const FULL: &str = r##"{"id":"01932e3a-7c1e-7000-8000-0123456789ab","native_id":"n-7","dialect":"wire","kind":"task.request","from":"ann","to":["bob","#deploys"],"priority":"high","guarantee":"at_least_once","stage":"stored","recipients":[{"agent":"bob","stage":"surfaced","stages":[{"stage":"stored","at":"2026-11-15T10:00:00Z"},{"stage":"surfaced","at":"2026-11-15T10:00:00.250Z","by":"mcp"}],"attempts":1,"reachability":"watcher"},{"agent":"cyd","stage":"stored","stages":[],"attempts":0,"reachability":"poll"}],"duplicate":true,"warnings":[{"path":"/to/1","code":"no_recipient","source":"rule","message":"nobody listens"}]}"##;

fn part(stage: Stage) -> RecipientReceipt {
    let mut part = RecipientReceipt::new("bob".parse().unwrap(), Reachability::Poll);
    part.stage = stage;
    part
}

fn fresh() -> Receipt {
    Receipt::new(MessageId::new(0, [0; 10]), Guarantee::AtMostOnce, &minimal())
}

#[test]
fn a_receipt_is_written_as_the_contract_says() {
    let receipt = Receipt::from_value(parse(FULL)).unwrap();
    assert_eq!(receipt.to_value().to_string(), FULL);
    assert_eq!(receipt.recipients[0].stages[1].by.as_deref(), Some("mcp"));
    assert_eq!(receipt.warnings[0].code, "no_recipient");
}

#[test]
fn the_stage_is_that_of_the_least_advanced_recipient() {
    let cases = [
        (&[][..], Stage::Stored),
        (&[Stage::Answered, Stage::Acknowledged], Stage::Acknowledged),
        (&[Stage::Dead, Stage::Dispatched], Stage::Dispatched),
        (&[Stage::Answered, Stage::Dead, Stage::Unconfirmed], Stage::Dead),
        (&[Stage::Accepted, Stage::Surfaced], Stage::Accepted),
    ];
    for (stages, expected) in cases {
        let mut receipt = fresh();
        receipt.recipients = stages.iter().map(|stage| part(*stage)).collect();
        assert_eq!(receipt.stage(), expected, "{stages:?}");
    }
}

#[test]
fn a_fresh_receipt_takes_what_the_message_says() {
    assert_eq!((fresh().dialect, fresh().priority), (Dialect::Convoke, Priority::Normal));
    let mut message = minimal();
    message.priority = Some(Priority::Critical);
    message.native_id = Some("n".parse().unwrap());
    message.origin = Some(Box::new(Origin::of(Dialect::Bus, None, "{}".to_owned())));
    let receipt = Receipt::new(MessageId::new(1, [1; 10]), Guarantee::AtLeastOnce, &message);
    assert_eq!((receipt.dialect, receipt.priority), (Dialect::Bus, Priority::Critical));
    assert_eq!(receipt.native_id, message.native_id);
    assert_eq!(receipt.to, message.to);
}

#[test]
fn absent_lists_and_unknown_fields_do_no_harm() {
    let text = r#"{"id":"01932e3a-7c1e-7000-8000-0123456789ab","dialect":"bus","kind":"note","from":"ann","to":[],
        "priority":"low","guarantee":"at_most_once","recipients":[{"agent":"bob","stage":"stored",
        "reachability":"nobody","new":1}],"new":{}}"#;
    let receipt = Receipt::from_value(parse(text)).unwrap();
    assert_eq!((receipt.duplicate, receipt.warnings.len()), (false, 0));
    assert_eq!((receipt.recipients[0].attempts, receipt.recipients[0].stages.len()), (0, 0));
}

#[test]
fn everything_wrong_is_reported() {
    let missing = Receipt::from_value(parse("{}")).unwrap_err();
    let fields = ["id", "dialect", "kind", "from", "to", "priority", "guarantee", "recipients"];
    assert_eq!(show(&missing), fields.map(|field| format!("/{field} {}", codes::REQUIRED)));
    let text = r#"{"id":7,"native_id":"","dialect":"klingon","kind":"x","from":"all","to":["Bob"],"priority":"medium",
        "guarantee":"maybe","recipients":[{"agent":"","stage":"lost","attempts":-1,"reachability":"yes",
        "stages":[{"stage":"lost","at":"now","by":7},7]},{}],"duplicate":"no",
        "warnings":[{"path":7,"code":7,"source":"rumour","message":7},{}]}"#;
    let expected = [
        "/id type",
        "/native_id format",
        "/dialect enum",
        "/kind enum",
        "/from format",
        "/to/0 format",
        "/priority enum",
        "/guarantee enum",
        "/recipients/0/agent format",
        "/recipients/0/stage enum",
        "/recipients/0/stages/0/stage enum",
        "/recipients/0/stages/0/at format",
        "/recipients/0/stages/0/by type",
        "/recipients/0/stages/1 type",
        "/recipients/0/attempts range",
        "/recipients/0/reachability enum",
        "/recipients/1/agent required",
        "/recipients/1/stage required",
        "/recipients/1/reachability required",
        "/duplicate type",
        "/warnings/0/path type",
        "/warnings/0/code type",
        "/warnings/0/source enum",
        "/warnings/0/message type",
        "/warnings/1/code required",
        "/warnings/1/source required",
    ];
    assert_eq!(show(&Receipt::from_value(parse(text)).unwrap_err()), expected);
}

#[test]
fn findings_become_warnings() {
    let finding = crate::from_value(parse(r#"{"kind":"note","from":"ann","to":"bob"}"#)).unwrap().warnings;
    let warning = Warning::from(finding[0].clone());
    assert_eq!((warning.path.as_str(), warning.code.as_str()), ("/to", codes::BARE_RECIPIENT));
    let entry = StageEntry::new(Stage::Stored, crate::Timestamp::MIN);
    assert_eq!(entry.by, None);
}

proptest! {
    #[test]
    fn receipts_survive(receipt in receipt()) {
        let text = receipt.to_value().to_string();
        prop_assert_eq!(Receipt::from_value(parse(&text)).unwrap(), receipt);
    }
}
