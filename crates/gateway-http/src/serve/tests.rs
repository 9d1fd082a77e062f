//! Serving, over real sockets. Limits are short where a test waits for them to be reached.

mod limits;
mod places;
mod stopping;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::routing::{get, post};
use gateway::websocket::{Heard, Upgrade, WebSocket};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{ServeLimits, Tls, serve};

/// How long a test waits for what must happen before it fails.
const PATIENCE: Duration = Duration::from_secs(20);
/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(150);
/// A limit that no test reaches.
const LONG: Duration = Duration::from_secs(600);

/// A server that runs.
struct Server {
    address: SocketAddr,
    routes: watch::Sender<Router>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(limits: ServeLimits) -> Self {
        Self::start_with(limits, None).await
    }

    async fn start_with(limits: ServeLimits, tls: Option<Tls>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (routes, served) = watch::channel(routes());
        let (stop, stopped) = oneshot::channel();
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(serve(listener, served, limits, tls, stopped));
        Server { address, routes, stop: Some(stop), task }
    }

    async fn connect(&self) -> Peer {
        Peer { stream: TcpStream::connect(self.address).await.unwrap() }
    }

    /// Asks one thing on a connection of its own and returns the whole answer.
    async fn ask(&self, request: &str) -> String {
        let mut peer = self.connect().await;
        peer.send(request).await;
        peer.rest().await
    }

    fn stop(&mut self) {
        drop(self.stop.take());
    }

    async fn stopped(self) {
        timeout(PATIENCE, self.task).await.expect("it stops").unwrap();
    }
}

/// The other end of a connection.
struct Peer {
    stream: TcpStream,
}

impl Peer {
    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until a text has come.
    async fn expect(&mut self, wanted: &str) -> String {
        let mut heard = Vec::new();
        let mut some = [0; 4096];
        while !String::from_utf8_lossy(&heard).contains(wanted) {
            let read =
                timeout(PATIENCE, self.stream.read(&mut some)).await.expect("something comes").unwrap();
            assert!(read > 0, "closed after {:?}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&some[..read]);
        }
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// Reads until the connection is closed; a reset is an end as well.
    async fn rest(&mut self) -> String {
        let mut heard = Vec::new();
        let mut some = [0; 4096];
        loop {
            match timeout(PATIENCE, self.stream.read(&mut some)).await.expect("it is closed") {
                Ok(0) | Err(_) => return String::from_utf8_lossy(&heard).into_owned(),
                Ok(read) => heard.extend_from_slice(&some[..read]),
            }
        }
    }
}

const HELLO: &str = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
const HELLO_AND_CLOSE: &str = "GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const FOREVER: &str = "GET /forever HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn limits() -> ServeLimits {
    ServeLimits {
        connections_max: 100,
        connections_per_peer_max: 100,
        connections_reserve: 0,
        head_bytes_max: 16 << 10,
        head_timeout: LONG,
        idle_timeout: LONG,
        body_rate_min: 1_000,
        body_grace: LONG,
        write_timeout: LONG,
        stop_grace: LONG,
    }
}

fn routes() -> Router {
    Router::new()
        .route("/hello", get(async || "hello\n"))
        .route("/peer", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.ip().to_string()))
        .route("/count", post(async |body: Bytes| body.len().to_string()))
        .route("/forever", get(async || std::future::pending::<String>().await))
        .route("/endless", get(async || Body::from_stream(endless())))
        .route("/panic", get(panics))
        .route("/socket", get(async |upgrade: Upgrade| upgrade.of_bytes(1 << 20).serve(echo)))
}

fn endless() -> impl futures_util::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 65_536])))
}

async fn panics() -> String {
    panic!("planted")
}

async fn echo(mut socket: WebSocket) {
    while let Some(Heard::Text(text)) = socket.frames.recv().await {
        socket.sink.text(&text);
        if socket.sink.flush().await.is_none() {
            return;
        }
    }
}
