//! Documents of every dialect, in and out.

use std::fs;

use broker::Identity;
use dialect::{Name, Names};
use json::Limits;
use message::{Address, Guarantee, Priority, Sha256};

use crate::{Asking, IntakeError, Outgoing, OutgoingError, Reading, SealKey, Stored, Submission};

/// What the tests' own bus reads and writes with.
fn with_reading<R>(work: impl FnOnce(Reading<'_>) -> R) -> R {
    let seal: SealKey = "07".repeat(32).parse().unwrap();
    let lexicons = dialect_comms::catalog();
    work(Reading { names: &Names::default(), seal: &seal, limits: Limits::DOCUMENT, trace: None, lexicons })
}

fn receive(document: &str, dialect: Option<Name>) -> Result<Submission, IntakeError> {
    with_reading(|reading| crate::receive(document.as_bytes(), dialect, reading))
}

fn write(body: &[u8], to: Name, attempt: u32, instead: Option<&str>) -> Result<Outgoing, OutgoingError> {
    let came = broker::Time(1_790_000_000_000).timestamp();
    with_reading(|reading| {
        crate::write(Stored { body, place: None, came, attempt, instead }, Some(to), reading)
    })
}

fn read(document: &str, dialect: Name) -> Submission {
    receive(document, Some(dialect)).unwrap()
}

fn addresses(submission: &Submission) -> Vec<String> {
    submission.accept.to.iter().map(Address::to_string).collect()
}

/// Every good document that a dialect has, by name; those that are no messages are told apart by the dialect.
fn good(dialect: Name) -> Vec<(String, String)> {
    let folder = testkit::root().join("vectors").join(dialect.name()).join("good");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let documents = paths.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()));
    documents.filter(|(name, _)| name.ends_with(".json")).collect()
}

#[test]
fn what_comes_in_goes_out_as_it_was() {
    let mut count = 0;
    for dialect in Name::ALL {
        for (path, document) in good(*dialect) {
            let Ok(submission) = receive(&document, Some(*dialect)) else {
                // Registrations, health reports and the like are no messages.
                continue;
            };
            let accept = submission.accept;
            assert!(!accept.to.is_empty(), "{path}: to nobody");
            let outgoing = write(&accept.body, *dialect, 1, None).unwrap();
            assert_eq!((outgoing.dialect, outgoing.text.as_str()), (*dialect, document.as_str()), "{path}");
            for other in Name::ALL {
                let translated = write(&accept.body, *other, 1, None);
                assert!(translated.is_ok(), "{path} to {other}: {translated:?}");
            }
            count += 1;
        }
    }
    assert!(count > 50, "only {count} documents were found");
}

#[test]
fn a_repeat_is_known_whatever_its_spaces_and_its_count_of_tries() {
    let document = |spaces: &str, tries: u32| {
        format!(
            "{{{spaces}\"id\":\"7b0e4c52-1d3a-4f6b-9c8e-00000000000c\",\"from\":\"ann\",\"to\":\"bob\",\
             \"timestamp\":\"2026-11-15T10:00:00.000Z\",\"type\":\"HEARTBEAT\",\
             \"payload\":{{\"agent_id\":\"ann\",\"state\":\"IDLE\",\"timestamp\":\"2026-11-15T10:00:00.000Z\"}},\
             \"metadata\":{{\"priority\":\"low\",\"retry_count\":{tries},\"max_retries\":3,\"ttl_ms\":1000}}}}"
        )
    };
    let of = |text: &str| read(text, Name::Coord).accept.fingerprint;
    assert_eq!(of(&document("", 0)), of(&document("  \n", 2)));
    let other = document("", 0).replace("IDLE", "BUSY");
    assert_ne!(of(&document("", 0)), of(&other));
}

#[test]
fn a_channel_document_for_all_reaches_its_channel() {
    let document = r#"{"id":"msg-20261115-100000-ann-0a1b","from":"ann","to":"all","session_id":"team-a",
        "timestamp":"2026-11-15T10:00:00Z","type":"chat","content":{"text":"hello"}}"#;
    assert_eq!(addresses(&read(document, Name::Channel)), ["channel:team-a"]);
}

#[test]
fn work_that_names_nobody_is_for_anyone() {
    let document = r#"{"$type":"agent.comms.request","sender":"did:plc:alice7iza6de2dwap2sb",
        "task":"Review the parser","createdAt":"2026-11-15T10:00:00Z"}"#;
    assert_eq!(addresses(&read(document, Name::Comms)), ["roles.any"]);
}

#[test]
fn wishes_are_handed_on() {
    let document = r#"{"convoke":1,"native_id":"n-1","kind":"question","from":"ann","to":["bob"],"task":"t",
        "thread":"th","priority":"critical","delivery":{"mode":"sync","guarantee":"at_most_once","timeout":"10s",
        "retries":2,"backoff":"linear","fallback":["cid"],"hold":true}}"#;
    let mut submission = read(document, Name::Convoke);
    submission.ask(Asking { key: Some("ignored"), ..Asking::default() });
    let accept = submission.accept;
    assert_eq!(accept.identity, Identity::Native("n-1".into()));
    assert_eq!((accept.priority, accept.guarantee), (Priority::Critical, Guarantee::AtMostOnce));
    assert_eq!((accept.timeout_ms, accept.wait_ms, accept.retries), (Some(10_000), Some(20_000), Some(2)));
    assert_eq!((accept.task, accept.thread, accept.hold), (Some("t".into()), Some("th".into()), true));
    assert_eq!(accept.fallback.len(), 1);
}

#[test]
fn documents_are_delivered_as_their_dialect_says() {
    use Guarantee::{AtLeastOnce, AtMostOnce};
    let convoke = |rest: &str| (Name::Convoke, format!(r#"{{"from":"ann","to":["bob"],{rest}}}"#));
    let vector = |dialect: Name, name: &str| {
        let path = testkit::root().join(format!("vectors/{dialect}/good/{name}.json"));
        (dialect, testkit::read(&path))
    };
    let cases = [
        (convoke(r#""kind":"note""#), Priority::Normal, AtLeastOnce, None, false),
        (convoke(r#""kind":"agent.status""#), Priority::Normal, AtLeastOnce, None, false),
        (convoke(r#""kind":"agent.heartbeat","priority":"low""#), Priority::Low, AtMostOnce, None, false),
        (
            (Name::Convoke, r#"{"from":"ann","to":"bob","kind":"agent.heartbeat"}"#.to_owned()),
            Priority::Normal,
            AtMostOnce,
            None,
            false,
        ),
        (
            convoke(r#""kind":"agent.heartbeat","delivery":{"guarantee":"at_least_once","live_only":true}"#),
            Priority::Normal,
            AtLeastOnce,
            None,
            true,
        ),
        (vector(Name::Bus, "task-request"), Priority::High, AtLeastOnce, Some(600_000), false),
        (vector(Name::Bus, "heartbeat"), Priority::Low, AtMostOnce, Some(30_000), false),
        (vector(Name::Channel, "message"), Priority::Normal, AtLeastOnce, None, false),
        (vector(Name::Channel, "heartbeat"), Priority::Normal, AtMostOnce, None, false),
        (vector(Name::Channel, "typing"), Priority::Normal, AtMostOnce, Some(3_000), false),
        (vector(Name::Comms, "message-full"), Priority::High, AtLeastOnce, None, false),
        (vector(Name::Comms, "broadcast-full"), Priority::High, AtLeastOnce, Some(3_600_000), false),
        (vector(Name::Comms, "broadcast-presence"), Priority::Normal, AtMostOnce, Some(300_000), false),
        (vector(Name::Comms, "broadcast-live"), Priority::Normal, AtMostOnce, None, true),
        (vector(Name::Coord, "task-assignment"), Priority::High, AtLeastOnce, Some(3_600_000), false),
        (vector(Name::Coord, "heartbeat"), Priority::Low, AtMostOnce, None, false),
        (vector(Name::Wire, "brief"), Priority::Normal, AtLeastOnce, None, false),
        (vector(Name::Wire, "inbox-exec-gate"), Priority::Critical, AtLeastOnce, None, false),
    ];
    for ((dialect, document), priority, guarantee, lifetime_ms, live_only) in cases {
        let accept = read(&document, dialect).accept;
        let found = (accept.priority, accept.guarantee, accept.lifetime_ms, accept.live_only);
        assert_eq!(found, (priority, guarantee, lifetime_ms, live_only), "{document}");
    }
}

#[test]
fn a_key_stands_in_for_a_missing_id() {
    let document = r#"{"convoke":1,"kind":"note","from":"ann","to":["bob"],"text":"hi"}"#;
    let mut submission = read(document, Name::Convoke);
    assert_eq!(submission.accept.identity, Identity::Content);
    submission.ask(Asking { key: Some("key-1"), ..Asking::default() });
    assert_eq!(submission.accept.identity, Identity::Native("key-1".into()));
}

#[test]
fn a_fallback_is_told_whom_the_document_was_for() {
    let document = good(Name::Bus).into_iter().find(|(name, _)| name.ends_with("/task-request.json"));
    let Some((_, document)) = document else {
        println!("skipped: the vectors of the bus are not here");
        return;
    };
    let submission = read(&document, Name::Bus);
    let outgoing = write(&submission.accept.body, Name::Bus, 1, Some("cid")).unwrap();
    assert!(
        outgoing.text.contains("original_recipient") && outgoing.text.contains("cid"),
        "{}",
        outgoing.text
    );
}

#[test]
fn what_is_no_document_is_refused_with_the_reason() {
    let refuse = |text: &str, dialect| {
        let refused = receive(text, dialect);
        refused.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refuse("{", Some(Name::Bus)).starts_with("not a JSON document: "));
    assert_eq!(refuse("[]", Some(Name::Bus)), "a message is a JSON object");
    assert_eq!(refuse(r#"{"x":1}"#, None), "it looks like no dialect: say which one it is");
    assert_eq!(refuse(r#"{"x":1}"#, Some(Name::Bus)), "it is not a valid bus document");
    let odd_body = write(b"{}", Name::Bus, 1, None);
    assert_eq!(odd_body.unwrap_err().to_string(), "the stored document cannot be read");
}

const NOTE: &str = r#"{"kind":"note","from":"ann","to":["bob"],"text":"hello","odd":{"kept":1.50}}"#;

#[test]
fn what_the_bus_translated_is_restored_and_what_another_says_is_data() {
    let translated = write(&read(NOTE, Name::Convoke).accept.body, Name::Bus, 1, None).unwrap();
    let restored = read(&translated.text, Name::Bus);
    assert_eq!(restored.dialect, Name::Convoke, "it goes home to the byte");
    assert_eq!(write(&restored.accept.body, Name::Convoke, 1, None).unwrap().text, NOTE);

    let edited = read(&translated.text.replacen("hello", "bye", 1), Name::Bus);
    let edited = write(&edited.accept.body, Name::Convoke, 1, None).unwrap().text;
    assert!(edited.contains("\"text\":\"bye\"") && edited.contains("1.50"), "the edit wins: {edited}");

    // Whoever changes the origin, or makes one, has not the bus's key.
    let forged = translated.text.replace("hello", "forged");
    let forged = forged.replace(&Sha256::of(NOTE.as_bytes()).to_string(), &"0".repeat(64));
    assert_eq!(read(&forged, Name::Bus).dialect, Name::Bus);
    let other_key = SealKey::new().unwrap();
    let elsewhere = with_reading(|reading| {
        crate::receive(translated.text.as_bytes(), Some(Name::Bus), Reading { seal: &other_key, ..reading })
    });
    assert_eq!(elsewhere.unwrap().dialect, Name::Bus, "another bus's seal is none of ours");
}

#[test]
fn a_document_without_a_time_has_that_of_its_coming() {
    let submission = read(NOTE, Name::Convoke);
    let translated = write(&submission.accept.body, Name::Coord, 1, None).unwrap().text;
    assert!(translated.contains("\"timestamp\":\"2026-09-21T"), "{translated}");
    let home = read(&translated, Name::Coord);
    assert_eq!(write(&home.accept.body, Name::Convoke, 1, None).unwrap().text, NOTE);
}

/// Reads a document as an ordinary one and as any other, and compares what came of it.
fn agrees(document: &[u8]) {
    with_reading(|reading| {
        // What is skimmed is not decoded.
        let bare = |submission| Submission { decoded: None, ..submission };
        let show = |outcome: Result<Submission, IntakeError>| format!("{:?}", outcome.map(bare));
        let skimmed = show(crate::receive(document, Some(Name::Convoke), reading));
        let read = show(crate::intake::receive_unusual(document, Some(Name::Convoke), reading));
        assert_eq!(skimmed, read, "{}", String::from_utf8_lossy(document));
    });
}

#[test]
fn an_ordinary_document_is_taken_in_like_any_other() {
    let long = NOTE.replace("hello", &"a longer text ".repeat(60));
    let wishes = r#"{"convoke":1,"native_id":"n-1","kind":"question","from":"ann","to":["bob","all"],"task":"t",
        "thread":"th","priority":"critical","created":"2026-11-15T10:00:00Z","expires":"2027-11-15T10:00:00Z",
        "delivery":{"mode":"sync","guarantee":"at_most_once","live_only":true,"fallback":["cid"],"hold":true}}"#;
    let beat = r#"{"kind":"agent.heartbeat","from":"ann","to":["all"]}"#;
    for document in [NOTE, &long, wishes, beat, "{", "[]", "", r#"{"kind":"note"}"#] {
        agrees(document.as_bytes());
        // Every way of leaving out one byte, or of writing another one in its place.
        for at in 0..document.len().min(400) {
            let mut bytes = document.as_bytes().to_vec();
            bytes.remove(at);
            agrees(&bytes);
            for byte in *b"\"\\{[,: 0x\xff" {
                let mut bytes = document.as_bytes().to_vec();
                bytes[at] = byte;
                agrees(&bytes);
            }
        }
    }
    let folder = testkit::root().join("crates/message/vectors");
    for entry in ["good", "bad"].iter().flat_map(|name| fs::read_dir(folder.join(name)).unwrap()) {
        agrees(&fs::read(entry.unwrap().path()).unwrap());
    }
}
