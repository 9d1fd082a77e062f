//! The reader of server-sent events: whatever the pieces in which bytes come, the events are the same.

use proptest::prelude::*;

use crate::events::{Parser, Raw};

fn events(pieces: &[&[u8]]) -> Vec<Raw> {
    let mut parser = Parser::default();
    for piece in pieces {
        parser.push(piece).unwrap();
    }
    std::iter::from_fn(|| parser.next()).collect()
}

fn raw(id: Option<&str>, event: &str, data: &str) -> Raw {
    Raw { id: id.map(str::to_owned), event: event.to_owned(), data: data.to_owned() }
}

#[test]
fn fields_comments_and_line_ends() {
    let cases: [(&str, Vec<Raw>); 7] = [
        ("id: 7\nevent: accepted\ndata: {}\n\n", vec![raw(Some("7"), "accepted", "{}")]),
        ("id:7\r\nevent:accepted\r\ndata:{}\r\n\r\n", vec![raw(Some("7"), "accepted", "{}")]),
        ("data: a\rdata: b\r\r", vec![raw(None, "", "a\nb")]),
        (": keep-alive\n\n: more\ndata: x\n\n", vec![raw(None, "", "x")]),
        ("event: nothing\n\n", vec![]),
        ("data\n\n", vec![raw(None, "", "")]),
        ("data: unfinished\n", vec![]),
    ];
    for (text, expected) in cases {
        assert_eq!(events(&[text.as_bytes()]), expected, "{text:?}");
    }
}

#[test]
fn what_is_no_event_is_refused() {
    assert!(Parser::default().push(b"data: \xff\n").is_err());
    assert!(Parser::default().push(&vec![b'x'; 5 << 20]).is_err());
}

proptest! {
    #[test]
    fn pieces_do_not_matter(
        text in "(id|data|event|:|other)[: ]{0,2}[a-zé]{0,6}(\n|\r\n|\r){1,2}([a-z: \n\r]{0,40})",
        cuts in prop::collection::vec(0_usize..100, 0..6),
    ) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).chain([0, bytes.len()]).collect();
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(events(&pieces), events(&[bytes]));
    }
}
