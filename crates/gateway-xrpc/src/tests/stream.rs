//! The stream, by a client that we did not write.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use gateway::Token;
use json::{Limits, Value};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::{Bus, key_of, message};

struct Stream(WebSocketStream<TcpStream>);

impl Stream {
    async fn open(bus: &Bus, query: &str, token: Option<&Token>) -> Option<Stream> {
        let address = bus.server.listen().await;
        let mut request = format!("ws://{address}/subscribe{query}").into_client_request().unwrap();
        if let Some(token) = token {
            let bearer = format!("Bearer {}", token.reveal());
            request.headers_mut().insert("authorization", bearer.parse().unwrap());
        }
        let connection = TcpStream::connect(address).await.unwrap();
        client_async(request, connection).await.ok().map(|(stream, _)| Stream(stream))
    }

    /// Returns the next event: what was done to which record, and the whole.
    async fn next(&mut self) -> (String, Value<'static>) {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(30), self.0.next()).await;
            let Ok(Some(Ok(frame))) = frame else { panic!("the stream has ended: {frame:?}") };
            let Message::Text(text) = frame else { continue };
            let value = json::parse_str(&text, Limits::DOCUMENT).unwrap().into_owned();
            let part = |name: &str| value.pointer(name).and_then(Value::as_str).unwrap_or("-").to_owned();
            assert_eq!(part("/kind"), "commit");
            let told = format!(
                "{} {}/{}",
                part("/commit/operation"),
                part("/commit/collection"),
                part("/commit/rkey")
            );
            return (told, value);
        }
    }

    async fn expect(&mut self, expected: &[String]) -> Vec<Value<'static>> {
        let mut events = Vec::new();
        for expected in expected {
            let (told, event) = self.next().await;
            assert_eq!(told, *expected);
            events.push(event);
        }
        events
    }
}

fn time(event: &Value<'_>) -> i64 {
    event.get("time_us").and_then(Value::as_integer).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_are_told_as_they_come_and_again_from_a_cursor() {
    let bus = Bus::start_whole().await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let mut live = Stream::open(&bus, "", Some(&bob)).await.unwrap();
    let note = |key: &str, text: &str| {
        format!(
            r#"{{"repo":"ann","collection":"com.example.note","rkey":"{key}","record":{{"text":"{text}"}}}}"#
        )
    };
    for (call, body) in
        [("createRecord", note("a", "one")), ("putRecord", note("a", "two")), ("deleteRecord", note("a", ""))]
    {
        assert_eq!(bus.repo(call, &ann, &body).await.status, 200);
    }
    let uri = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "hello")).await;
    let expected = [
        "create com.example.note/a".to_owned(),
        "update com.example.note/a".to_owned(),
        "delete com.example.note/a".to_owned(),
        format!("create agent.comms.message/{}", key_of(&uri)),
    ];
    let events = live.expect(&expected).await;
    assert_eq!(events[0].pointer("/did").and_then(Value::as_str), Some("did:web:ann.agent.invalid"));
    assert_eq!(events[1].pointer("/commit/record/text").and_then(Value::as_str), Some("two"));
    assert_eq!(events[3].pointer("/commit/record/content/text").and_then(Value::as_str), Some("hello"));
    assert!(events[2].pointer("/commit/record").is_none() && events[2].pointer("/commit/cid").is_none());
    assert_eq!(
        events[3].pointer("/commit/cid").and_then(Value::as_str),
        Some(&*bus.read(Some(&bob), &uri).await.get("/cid"))
    );
    assert!(events.windows(2).all(|pair| time(&pair[0]) < time(&pair[1])));

    // From behind each event on, also after a restart; the whole from the beginning.
    let bus = bus.restart().await;
    for (place, event) in events.iter().enumerate() {
        let query = format!("?cursor={}", time(event));
        let mut late = Stream::open(&bus, &query, Some(&bob)).await.unwrap();
        late.expect(&expected[place + 1..]).await;
    }
    let mut whole = Stream::open(&bus, "?cursor=0", Some(&bob)).await.unwrap();
    whole.expect(&expected).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn subscribers_see_what_they_want_and_may() {
    let bus = Bus::start_public(&["com.example.*"]).await;
    let ann = bus.server.agent("ann", "{}").await;
    let bob = bus.server.agent("bob", "{}").await;
    let eve = bus.server.agent("eve", "{}").await;
    let wanted = "?wantedCollections=agent.comms.*&wantedDids=did:web:ann.agent.invalid";
    let mut chosen = Stream::open(&bus, wanted, Some(&bob)).await.unwrap();
    let mut other = Stream::open(&bus, "", Some(&eve)).await.unwrap();
    let mut anybody = Stream::open(&bus, "", None).await.unwrap();
    let mut hello = Stream::open(&bus, "?requireHello=true&cursor=0", Some(&bob)).await.unwrap();
    let note = bus.create(&ann, "ann", "com.example.note", r#"{"xOrigin":{"document":"x"}}"#).await;
    let secret = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "psst")).await;
    bus.create(&bob, "bob", "agent.comms.message", &message("bob", "eve", "psst")).await;
    let last = bus.create(&ann, "ann", "com.example.note", "{}").await;
    let public = bus.create(&ann, "ann", "agent.comms.message", &message("ann", "bob", "end")).await;
    let of = |uri: &str, collection: &str| format!("create {collection}/{}", key_of(uri));
    let (notes, messages) = ("com.example.note", "agent.comms.message");
    chosen.expect(&[of(&secret, messages), of(&public, messages)]).await;
    let seen = anybody.expect(&[of(&note, notes), of(&last, notes)]).await;
    assert!(seen[0].pointer("/commit/record/xOrigin").is_none());
    let (told, _) = other.next().await;
    assert_eq!(told, of(&note, notes));
    let (told, _) = other.next().await;
    assert!(told.starts_with("create agent.comms.message/"), "bob wrote to her: {told}");
    other.expect(&[of(&last, notes)]).await;
    let update = format!(r#"{{"type":"options_update","payload":{{"wantedCollections":["{notes}"]}}}}"#);
    hello.0.send(Message::text(update)).await.unwrap();
    hello.expect(&[of(&note, notes), of(&last, notes)]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_token_and_at_nonsense() {
    let bus = Bus::start().await;
    let ann = bus.server.agent("ann", "{}").await;
    assert!(Stream::open(&bus, "", None).await.is_none(), "nobody is let in");
    assert!(Stream::open(&bus, "?compress=true", Some(&ann)).await.is_none());
    assert!(Stream::open(&bus, "?wantedCollections=x*", Some(&ann)).await.is_none());
    let mut told = Stream::open(&bus, "", Some(&ann)).await.unwrap();
    told.0.send(Message::text("nonsense")).await.unwrap();
    let mut revoked = Stream::open(&bus, "", Some(&ann)).await.unwrap();
    assert_eq!(bus.server.call("DELETE", "/v1/agents/ann/tokens/all", Some(&ann), "").await.status, 200);
    for (stream, code) in [(&mut told, 1007), (&mut revoked, 1008)] {
        let frame = tokio::time::timeout(Duration::from_secs(30), stream.0.next()).await.unwrap();
        let Some(Ok(Message::Close(Some(frame)))) = frame else { panic!("{frame:?}") };
        assert_eq!(u16::from(frame.code), code);
    }
    let plain = bus.server.call("GET", "/subscribe", Some(&bus.server.operator), "").await;
    assert_eq!(plain.status, 426, "{}", plain.text);
}
