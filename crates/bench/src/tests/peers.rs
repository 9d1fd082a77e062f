//! The area `peers`: what is written is what a server understands, what is read is not more than came, and every side
//! that is installed runs.

use json::Limits;

use crate::area::{Form, Length, Options, Outcome};
use crate::peers::clock::busy_and_all;
use crate::peers::document::{BYTES, Documents, Language, Recipients, Worth, number_in};
use crate::peers::frames::{self, Frame, Writer, apply};
use crate::peers::http;
use crate::peers::input::{Input, last_number, line};
use crate::peers::server::ticks;
use crate::peers::speech::{Consume, Publish};
use crate::peers::tools::{nats_version, redis_version};
use crate::peers::{AREA, PARTS, nats, redis, socket};

use std::time::Duration;

#[test]
fn smoke() {
    let options =
        Options { rounds: 1, duration: Duration::ZERO, form: Form::Text, only: None, length: Length::Quick };
    assert_eq!((AREA.smoke)(&options).unwrap(), Outcome::Agreed);
    let unknown = Options { only: Some("T99".to_owned()), ..options };
    let error = (AREA.smoke)(&unknown).unwrap_err().to_string();
    assert!(PARTS.iter().all(|part| error.contains(part.name)), "{error}");
    assert!((AREA.work)("ours", 1).is_err() && (AREA.work)("nobody-1x1", 1).is_err());
}

#[test]
fn documents_are_valid_and_differ() {
    for worth in [Worth::AtLeastOnce, Worth::AtMostOnce] {
        let mut documents = Documents::new(3, 41, Language::Native(worth), Recipients::All);
        for number in 41..300 {
            let text = documents.next();
            assert_eq!((text.len(), number_in(text)), (BYTES, Some(number)));
            let value = json::parse(text, Limits::DOCUMENT).unwrap();
            let verdict = translate::dialect(dialect::Name::Convoke).validate(&value);
            let findings = [verdict.errors.kept(), verdict.warnings.kept()].concat();
            assert!(findings.is_empty(), "{findings:?}");
            let recipient = format!("a{:02}", number % 64);
            assert_eq!(value.pointer("/to/0").and_then(|to| to.as_str()), Some(recipient.as_str()));
        }
    }
}

#[test]
fn documents_in_other_languages_are_valid_and_differ() {
    let mut seen = std::collections::HashSet::new();
    for (language, name) in [
        (Language::Bus, dialect::Name::Bus),
        (Language::Record("did:web:a03.example.com"), dialect::Name::Comms),
    ] {
        let mut documents = Documents::new(3, 41, language, Recipients::Itself);
        for _ in 0..100 {
            let text = documents.next();
            assert!(text.len() == BYTES && seen.insert(text.to_vec()));
            let value = json::parse(text, Limits::DOCUMENT).unwrap();
            let document = value.get("record").unwrap_or(&value);
            let verdict = translate::dialect(name).validate(document);
            assert!(verdict.errors.kept().is_empty(), "{:?}", verdict.errors.kept());
            let recipient = ["/recipient/agent_id", "/recipient"].map(|at| document.pointer(at));
            let recipient = recipient.into_iter().flatten().find_map(|to| to.as_str()).unwrap();
            assert!(recipient.contains("a03"), "{recipient}");
        }
    }
}

#[test]
fn frames_are_masked_and_read_back() {
    for length in [0, 1, 7, 125, 126, 127, 1024, 65_535, 65_536] {
        let payload: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
        let mut out = Vec::new();
        Writer::new().text(&[&payload[..length / 3], &payload[length / 3..]], &mut out);
        // A server does not mask: without its mask, the frame is one that a server could have sent.
        let head = out.len() - length;
        let mask = <[u8; 4]>::try_from(&out[head - 4..head]).unwrap();
        apply(mask, &mut out[head..]);
        out.drain(head - 4..head);
        out[1] &= 0x7f;
        for cut in [0, 1, 3, out.len() - 1] {
            assert_eq!(frames::read(&out[..cut.min(out.len() - 1)]).unwrap(), None);
        }
        assert_eq!(frames::read(&out).unwrap(), Some((Frame::Text(&payload), out.len())));
    }
    assert!(frames::read(&[0x81, 0x80, 0, 0, 0, 0]).is_err());
    assert!(frames::read(&[0x88, 2, 3, 232]).is_err());
}

#[test]
fn answers_are_counted_whole_wherever_they_are_cut() {
    let nats = "INFO {}\r\nMSG i 1 6\r\n{\"a\"}\n\r\nPING\r\nMSG i 1 2\r\n{}\r\n";
    let redis = "$3\r\n1-0\r\n$3\r\n2-0\r\n";
    let http = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}".repeat(2);
    let receipt = br#"{"op":"receipts","upto":"0","count":1}"#;
    let socket = [&[0x81, receipt.len() as u8][..], receipt].concat().repeat(2);
    for cut in 0..socket.len().max(http.len()) {
        counts(&mut nats::Single::new(0), nats.as_bytes(), cut);
        counts(&mut redis::Adder, redis.as_bytes(), cut);
        counts(&mut http::Poster::new("t", 201), http.as_bytes(), cut);
        counts(&mut socket::Sender::new(), &socket, cut);
    }
}

#[test]
fn refusals_are_errors() {
    let answers = |speech: &mut dyn Publish, said: &[u8]| {
        speech.answers(&mut holding(said), &mut Vec::new()).unwrap_err().to_string()
    };
    let error = br#"{"op":"error","code":"full"}"#;
    let frame = [&[0x81, error.len() as u8][..], error].concat();
    assert!(answers(&mut socket::Sender::new(), &frame).contains("full"));
    assert!(answers(&mut nats::Single::new(0), b"MSG i 1 12\r\n{\"error\":{}}\r\n").contains("error"));
    assert!(answers(&mut nats::Single::new(0), b"-ERR 'no'\r\n").contains("no"));
    assert!(answers(&mut redis::Adder, b"-ERR no\r\n").contains("no"));
    let refused = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\n{}";
    assert!(answers(&mut http::Poster::new("t", 201), refused).contains("403"));
}

#[test]
fn what_is_delivered_is_acknowledged_once() {
    let read = |speech: &mut dyn Consume, said: &[u8]| {
        let (mut input, mut out, mut seen) = (holding(said), Vec::new(), 0);
        let settled = speech.receive(&mut input, &mut out, &mut |_| seen += 1).unwrap();
        assert!(input.rest().is_empty());
        (settled, seen, String::from_utf8_lossy(&out).into_owned())
    };
    let (settled, seen, out) = read(&mut nats::Taker::new(0), b"MSG i 1 $JS.ACK.1 2\r\n{}\r\n");
    assert_eq!((settled, seen, out.as_str()), (1, 1, "PUB $JS.ACK.1 0\r\n\r\n"));
    let with_headers = b"HMSG i 1 $JS.ACK.2 17 19\r\nNATS/1.0\r\nA:b\r\n\r\n{}\r\nHMSG i 1 16 16\r\nNATS/1.0 408\r\n\r\n\r\n";
    let (settled, seen, out) = read(&mut nats::Taker::new(0), with_headers);
    assert_eq!((settled, seen, out.as_str()), (1, 1, "PUB $JS.ACK.2 0\r\n\r\n"));
    let entries = b"*1\r\n*2\r\n$1\r\ns\r\n*2\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nd\r\n$2\r\n{}\r\n\
        *2\r\n$3\r\n2-0\r\n*2\r\n$1\r\nd\r\n$2\r\n{}\r\n";
    for (acks, answers, commands) in
        [(redis::Acks::Single, &b":1\r\n:1\r\n"[..], 2), (redis::Acks::Together, b":2\r\n", 1)]
    {
        let mut taker = redis::Taker::new(0, acks);
        let (settled, seen, out) = read(&mut taker, entries);
        assert_eq!((settled, seen, out.matches("XACK").count()), (0, 2, commands), "{acks:?}");
        assert_eq!(read(&mut taker, answers).0, 2, "{acks:?}");
    }
    let mut taker = socket::Taker::new();
    let frame = |text: &[u8]| [&[0x81, text.len() as u8][..], text].concat();
    let deliveries = frame(br#"{"op":"deliver","delivery":"d1","document":{}}"#).repeat(3);
    let (settled, seen, _) = read(&mut taker, &deliveries);
    assert_eq!((settled, seen), (0, 3));
    assert_eq!(read(&mut taker, &frame(br#"{"op":"done","ref":"0"}"#)).0, 3);
}

#[test]
fn what_programs_and_the_system_tell_is_read() {
    assert_eq!(nats_version("nats-server: v2.15.1"), Some("2.15.1"));
    assert_eq!(redis_version("Redis server v=7.0.15 sha=0:0 malloc=jemalloc"), Some("7.0.15"));
    assert_eq!(ticks("7 (a b) c) S 1 2 3 4 5 6 7 8 9 10 30 12 0 0"), Some(42));
    assert_eq!(busy_and_all("cpu  10 1 5 80 4 0 0 0 0 0\ncpu0 1"), Some((16, 100)));
    assert_eq!(line(b"one\r\ntwo"), Some((&b"one"[..], 5)));
    assert_eq!(last_number(b"MSG a 1 42"), Some(42));
}

/// Feeds two answers in two pieces.
fn counts(speech: &mut dyn Publish, said: &[u8], cut: usize) {
    let (first, second) = said.split_at(cut.min(said.len()));
    let (mut input, mut out) = (holding(first), Vec::new());
    let mut count = speech.answers(&mut input, &mut out).unwrap();
    let mut rest = second;
    if !rest.is_empty() {
        input.fill_blocking(&mut rest).unwrap();
        count += speech.answers(&mut input, &mut out).unwrap();
    }
    assert_eq!((count, input.rest().len()), (2, 0), "cut at {cut}");
}

fn holding(said: &[u8]) -> Input {
    let mut input = Input::default();
    let mut said = said;
    if !said.is_empty() {
        input.fill_blocking(&mut said).unwrap();
    }
    input
}

#[test]
fn a_socket_is_open_when_the_server_is_ready() {
    let ready = br#"{"op":"ready"}"#;
    let said =
        [b"HTTP/1.1 101 Switching Protocols\r\n\r\n", &[0x89, 0][..], &[0x81, ready.len() as u8], ready]
            .concat();
    assert!(!socket::is_open(&mut holding(&said[..said.len() - 1])).unwrap());
    let mut input = holding(&said);
    assert!(socket::is_open(&mut input).unwrap() && input.rest().is_empty());
    assert!(socket::is_open(&mut holding(b"HTTP/1.1 401 Unauthorized\r\n\r\n")).is_err());
}
