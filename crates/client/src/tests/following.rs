//! Following events: what was seen last is where it goes on, whatever happens in between.

use super::server::{Line, Server, answer};
use crate::{Client, EventFilter, EventsItem};

/// An answer without an end, which the scripted server cuts.
fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{events}")
}

/// Names an item in a few letters.
fn name(item: &EventsItem) -> String {
    match item {
        EventsItem::Event(event) => format!("{} {}", event.seq, event.name),
        EventsItem::Gap { first, last } => format!("gap {first}-{last}"),
        EventsItem::Lost { .. } => "lost".to_owned(),
        EventsItem::Found => "found".to_owned(),
    }
}

#[tokio::test]
async fn it_goes_on_after_what_was_seen_last() {
    let hello = "event: hello\ndata: {\"seq\":5}\n\n";
    let event = |seq: u64| format!("id: {seq}\nevent: accepted\ndata: {{\"seq\":{seq}}}\n\n");
    let gap = "event: gap\ndata: {\"first\":8,\"last\":9}\n\n";
    let busy = answer("503 Service Unavailable", "");
    let server = Server::start(vec![
        Line::Answers(vec![stream(hello)]),
        Line::Answers(vec![stream(&format!("{hello}{}{}", event(6), event(7)))]),
        Line::Answers(vec![busy]),
        Line::HangsUp,
        Line::Answers(vec![stream(&format!("{gap}{}id: 11\nevent: acc", event(10)))]),
        Line::Answers(vec![answer("401 Unauthorized", r#"{"code":"no_token"}"#)]),
    ])
    .await;
    let client = Client::new(&server.url, None).unwrap();
    let mut events = client.events(EventFilter::default()).await.unwrap();
    let mut seen = Vec::new();
    let error = loop {
        match events.next().await {
            Ok(item) => seen.push(name(&item)),
            Err(error) => break error,
        }
    };
    assert_eq!(error.code(), "no_token", "what trying again does not mend ends it");
    let expected =
        ["lost", "found", "6 accepted", "7 accepted", "lost", "found", "gap 8-9", "10 accepted", "lost"];
    assert_eq!(seen, expected);
    let asked: Vec<String> =
        server.requests().iter().map(|request| request.split(' ').nth(1).unwrap().to_owned()).collect();
    let after = |seq: u64| format!("/v1/events?after={seq}");
    assert_eq!(asked, ["/v1/events".to_owned(), after(5), after(7), after(7), after(7), after(10)]);
}
