//! Calls: connections that are kept, lost and made again, problems, and a token that nobody sees.

use message::Dialect;

use super::server::{Line, Server, answer};
use crate::address::{Address, Scheme};
use crate::{AgentSettings, Client, ClientError, ClientOptions, SendOptions, Sent};

const RECEIPT: &str = r#"{"id":"0193b2c4-5d6e-7f80-9a1b-2c3d4e5f6071","dialect":"convoke","kind":"note","from":"ann","to":["bob"],"priority":"normal","guarantee":"at_least_once","stage":"stored","recipients":[],"duplicate":false,"warnings":[]}"#;

#[test]
fn addresses() {
    let good = [
        ("http://127.0.0.1:7700", Scheme::Http, "127.0.0.1", 7700, "http://127.0.0.1:7700"),
        ("http://localhost", Scheme::Http, "localhost", 80, "http://localhost"),
        ("https://bus.example/", Scheme::Https, "bus.example", 443, "https://bus.example"),
        ("https://bus.example/a/b/", Scheme::Https, "bus.example", 443, "https://bus.example/a/b"),
        ("http://[::1]:7700", Scheme::Http, "::1", 7700, "http://[::1]:7700"),
    ];
    for (url, scheme, host, port, shown) in good {
        let address = Address::parse(url).unwrap();
        assert_eq!((address.scheme, address.host.as_str(), address.port), (scheme, host, port), "{url}");
        assert_eq!(address.url(), shown);
    }
    for bad in [
        "",
        "localhost:7700",
        "ftp://x",
        "http://",
        "http://:80",
        "http://a:b",
        "http://u@h",
        "http://h?q",
        "http://a b",
        "http://[::1",
    ] {
        assert_eq!(Address::parse(bad).unwrap_err().code(), "url", "{bad:?}");
    }
}

#[tokio::test]
async fn one_connection_serves_many_calls_and_a_lost_one_is_replaced() {
    let me = answer("200 OK", r#"{"agent":"ann","operator":false,"seq":7}"#);
    let lines = vec![Line::Answers(vec![me.clone(), me.clone()]), Line::Answers(vec![me])];
    let server = Server::start(lines).await;
    let client = Client::new(&server.url, Some("secret~ann")).unwrap();
    for _ in 0..3 {
        let me = client.me().await.unwrap();
        assert_eq!((me.agent.as_str(), me.seq), ("ann", Some(7)));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| request.contains("authorization: Bearer secret~ann")));
}

#[tokio::test]
async fn a_connection_that_breaks_is_told_and_nothing_is_repeated() {
    let server = Server::start(vec![Line::HangsUp]).await;
    let client = Client::new(&server.url, None).unwrap();
    let error = client.send("{}", &SendOptions::default()).await.unwrap_err();
    assert_eq!(error.code(), "broken");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn nobody_at_the_address() {
    let client = Client::new("http://127.0.0.1:1", None).unwrap();
    let error = client.health().await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("unreachable", "cannot reach http://127.0.0.1:1")
    );
}

#[tokio::test]
async fn problems_keep_what_the_bus_said() {
    let problem = r#"{"status":404,"title":"Not Found","code":"unknown_recipient","detail":"nobody is called `bobb`","suggestions":["bob"]}"#;
    let full = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n".to_owned();
    let answers = vec![answer("404 Not Found", problem), full, answer("200 OK", "nonsense")];
    let server = Server::start(vec![Line::Answers(answers)]).await;
    let client = Client::new(&server.url, Some("secret~ann")).unwrap();
    let error = client.agent("bobb").await.unwrap_err();
    let problem = error.problem().unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (404, "unknown_recipient"));
    assert_eq!(problem.texts("suggestions"), ["bob"]);
    let error = client.agents().await.unwrap_err();
    assert_eq!(error.code(), "http_429");
    assert_eq!(error.problem().unwrap().retry_after.unwrap().as_secs(), 7);
    assert_eq!(client.agents().await.unwrap_err().code(), "answer");
}

#[tokio::test]
async fn names_are_never_paths() {
    let server =
        Server::start(vec![Line::Answers(vec![answer("200 OK", "{}"), answer("200 OK", "{}")])]).await;
    let client = Client::new(&server.url, None).unwrap();
    client.join("a/../b?c", "#x y").await.unwrap();
    client.revoke_token("bob", "all").await.unwrap();
    let requests = server.requests();
    let (first, second) = (requests[0].lines().next().unwrap(), requests[1].lines().next().unwrap());
    assert_eq!(first, "PUT /v1/agents/a%2F..%2Fb%3Fc/subscriptions/%23x%20y HTTP/1.1");
    assert_eq!(second, "DELETE /v1/agents/bob/tokens/all HTTP/1.1");
}

#[tokio::test]
async fn sending_says_how_and_reads_receipts_and_replies() {
    let reply = format!(r#"{{"receipt":{RECEIPT},"dialect":"wire","reply":{{"wire":"1.0"}}}}"#);
    let batch = format!("{RECEIPT}\n{}\n", r#"{"status":422,"code":"invalid","detail":"bad"}"#);
    let answers = vec![answer("201 Created", RECEIPT), answer("200 OK", &reply), answer("200 OK", &batch)];
    let server = Server::start(vec![Line::Answers(answers)]).await;
    let client = Client::new(&server.url, None).unwrap();
    let mut options = SendOptions::new(Dialect::Bus);
    options.key = Some("k-1".to_owned());
    let sent = client.send("{}", &options).await.unwrap();
    assert_eq!(sent.receipt().from.as_str(), "ann");
    let mut waiting = SendOptions::default();
    (waiting.wait, waiting.hold) = (Some(std::time::Duration::from_secs(30)), true);
    let Sent::Replied(reply) = client.send("{}", &waiting).await.unwrap() else { panic!("no reply") };
    assert_eq!(
        (reply.dialect, reply.document.to_json().as_str()),
        (Some(Dialect::Wire), r#"{"wire":"1.0"}"#)
    );
    let answers = client.send_batch("{}\n{}", Some(Dialect::Convoke)).await.unwrap();
    assert!(answers[0].is_ok());
    assert_eq!(answers[1].as_ref().unwrap_err().code, "invalid");
    let requests = server.requests();
    assert!(requests[0].starts_with("POST /v1/messages?dialect=bus HTTP/1.1"));
    assert!(requests[0].contains("idempotency-key: k-1"));
    assert!(requests[1].starts_with("POST /v1/messages?dialect=auto&wait=30s&hold=true HTTP/1.1"));
    assert!(requests[2].starts_with("POST /v1/messages/batch?dialect=convoke HTTP/1.1"));
}

#[tokio::test]
async fn tokens_are_shown_to_nobody() {
    let body = r#"{"agent":"bob","token":"new-secret~bob"}"#;
    let server = Server::start(vec![Line::Answers(vec![answer("201 Created", body)])]).await;
    let mut options = ClientOptions::new(&server.url);
    options.token = Some(crate::Token::new("secret~ann"));
    let shown = format!("{options:?}");
    let client = Client::with(options).unwrap();
    let made = client.put_agent("bob", &AgentSettings::default()).await.unwrap();
    for shown in [shown, format!("{client:?}"), format!("{made:?}")] {
        assert!(!shown.contains("secret"), "{shown}");
    }
    assert_eq!(made.token.unwrap().reveal(), "new-secret~bob");
    let refused = Client::new(&server.url, Some("secret\n")).unwrap_err();
    assert!(matches!(refused, ClientError::Token) && !format!("{refused:?} {refused}").contains("secret"));
}
