//! The stream of everything that happens.

use axum::body::{Body, BodyDataStream};
use axum::http::{Request, header};
use futures_util::StreamExt;
use gateway::Token;
use tower::ServiceExt;

use super::start;
use doorstep::Server;

/// Reads events from a stream.
struct Events {
    stream: BodyDataStream,
    text: String,
}

impl Events {
    async fn open(server: &Server, query: &str, token: &Token, last: Option<&str>) -> Events {
        let mut request = Request::builder()
            .uri(format!("/v1/events{query}"))
            .header(header::HOST, "localhost")
            .header(header::AUTHORIZATION, format!("Bearer {}", token.reveal()));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = server.router().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        Events { stream: response.into_body().into_data_stream(), text: String::new() }
    }

    /// Returns the next event: its id, its name and its data.
    async fn next(&mut self) -> Option<(String, String, String)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name));
                    line.map(|line| line.trim().to_owned()).unwrap_or_default()
                };
                let found = (field("id:"), field("event:"), field("data:"));
                self.text = rest.to_owned();
                return Some(found);
            }
            let piece = self.stream.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    async fn until(&mut self, name: &str) -> (String, String) {
        loop {
            let (id, found, data) = self.next().await.expect("the stream goes on");
            if found == name {
                return (id, data);
            }
        }
    }
}

#[tokio::test]
async fn events_are_told_as_they_happen_and_resumed_where_they_stopped() {
    let server = start().await;
    let (ann, bob) = (server.agent("ann", "").await, server.agent("bob", "").await);
    let mut events = Events::open(&server, "", &server.operator, None).await;
    events.until("hello").await;
    let note = r#"{"kind":"note","from":"ann","to":["bob"],"text":"hello there"}"#;
    let sent = server.call("POST", "/v1/messages", Some(&ann), note).await;
    let (id, data) = events.until("accepted").await;
    assert!(data.contains(&sent.get("/id")) && data.contains("\"text\":\"hello there\""), "{data}");
    let taken = server.call("POST", "/v1/agents/bob/inbox/take", Some(&bob), "").await;
    let (_, data) = events.until("dispatched").await;
    assert!(data.contains("\"agent\":\"bob\"") && data.contains("\"by\":\"http\""), "{data}");
    drop(events);
    let path = format!("/v1/deliveries/{}/ack", taken.get("/deliveries/0/delivery"));
    server.call("POST", &path, Some(&bob), r#"{"by":"me"}"#).await;
    let mut resumed = Events::open(&server, "", &server.operator, Some(&id)).await;
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "acknowledged") {
        let name = resumed.next().await.unwrap().1;
        // Bob came to his inbox for the first time.
        if name != "session_opened" {
            names.push(name);
        }
    }
    assert_eq!(names, ["hello", "dispatched", "acknowledged"], "nothing is told twice and nothing left out");
}

#[tokio::test]
async fn agents_hear_of_their_own_and_a_gap_is_said() {
    let server = start().await;
    let (ann, eve) = (server.agent("ann", "").await, server.agent("eve", "").await);
    server.agent("bob", "").await;
    let mut events = Events::open(&server, "?after=0", &eve, None).await;
    let secret = r#"{"kind":"note","from":"ann","to":["bob"],"text":"secret"}"#;
    server.call("POST", "/v1/messages", Some(&ann), secret).await;
    let public = r##"{"kind":"announce","from":"ann","to":["#news"],"text":"public"}"##;
    server.call("POST", "/v1/messages", Some(&ann), public).await;
    let (_, data) = events.until("accepted").await;
    assert!(data.contains("public"), "the first that eve hears of: {data}");
    let mut beyond = Events::open(&server, "?after=100000", &server.operator, None).await;
    let (_, data) = beyond.until("gap").await;
    assert!(data.contains("\"last\":100000"), "{data}");
}

#[tokio::test]
async fn a_stream_ends_with_its_token_and_with_the_bus() {
    let server = start().await;
    let ann = server.agent("ann", "").await;
    let mut events = Events::open(&server, "", &ann, None).await;
    events.until("hello").await;
    server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&server.operator), "").await;
    while events.next().await.is_some() {}
    let mut events = Events::open(&server, "", &server.operator, None).await;
    events.until("hello").await;
    server.hub.stop();
    while events.next().await.is_some() {}
}
