//! Serving: who may connect, how long a peer may keep us waiting, and how it all ends.
//!
//! A connection costs memory and a descriptor, so there are limits: on how many there are, on how many one peer has,
//! and on how long each may be silent. When all places are taken, the connection that has kept us waiting longest is
//! closed for a new one; a flood of silent connections therefore shuts nobody out. A few more places are kept for
//! peers on this machine, so that its operator always gets in.
//!
//! Nothing here knows what is served: it is given routes, and they may be exchanged while it runs.

mod body;
mod line;
mod table;
mod timer;
mod tls;

#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::serve::body::{Answer, Paced};
use crate::serve::line::Line;
use crate::serve::table::{Phase, Slot, Table};

pub use tls::{Tls, TlsError, Validity};

/// How long accepting pauses after it failed, at first and at most.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// After how long it is said again that nobody can be let in.
const TELL_AGAIN: Duration = Duration::from_secs(60);

/// After how long silence a peer is asked whether it is still there, how often, and how many times.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_PAUSE: Duration = Duration::from_secs(15);
const KEEPALIVE_COUNT: u32 = 4;

/// The smallest buffer that a connection can have.
const BUFFER_BYTES_MIN: usize = 64 << 10;

/// What a peer may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeLimits {
    /// Connections at the same time.
    pub connections_max: usize,
    /// Connections of one address, unless it is this machine's own.
    pub connections_per_peer_max: usize,
    /// Connections beyond the first limit that only peers on this machine may have.
    pub connections_reserve: usize,
    /// Bytes of a request's head.
    pub head_bytes_max: usize,
    /// How long a head may take to arrive; also a TLS handshake.
    pub head_timeout: Duration,
    /// How long a connection may be idle between two requests.
    pub idle_timeout: Duration,
    /// Bytes of a body that must arrive in a second, on average.
    pub body_rate_min: u64,
    /// How long a body may fall behind that.
    pub body_grace: Duration,
    /// How long a peer may take nothing of what is written to it.
    pub write_timeout: Duration,
    /// How long requests under way may take when everything stops.
    pub stop_grace: Duration,
}

/// Serves routes until it is told to stop and every connection is done or its grace is over.
pub async fn serve(
    listener: TcpListener,
    routes: watch::Receiver<Router>,
    limits: ServeLimits,
    tls: Option<Tls>,
    stop: impl Future<Output = ()>,
) {
    let table = Arc::new(Table::new(&limits));
    let (stopping, stopped) = watch::channel(false);
    let shop = Shop { routes, limits: Arc::new(limits), tls, stopped };
    let mut tasks = JoinSet::new();
    accept_until(stop, &listener, &shop, &table, &mut tasks).await;
    // Whoever connects from here on is refused by the system, not left waiting.
    drop(listener);
    stopping.send_replace(true);
    if tokio::time::timeout(shop.limits.stop_grace, table.emptied()).await.is_err() {
        tracing::info!("closing {} connections that took too long to end", table.count());
    }
    table.cut_all();
    tasks.shutdown().await;
}

/// What every connection needs.
#[derive(Clone)]
struct Shop {
    routes: watch::Receiver<Router>,
    limits: Arc<ServeLimits>,
    tls: Option<Tls>,
    stopped: watch::Receiver<bool>,
}

async fn accept_until(
    stop: impl Future<Output = ()>,
    listener: &TcpListener,
    shop: &Shop,
    table: &Arc<Table>,
    tasks: &mut JoinSet<()>,
) {
    tokio::pin!(stop);
    let mut trouble = Trouble::default();
    loop {
        tokio::select! {
            () = &mut stop => return,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    trouble.pause = Duration::ZERO;
                    match table.admit(peer.ip()) {
                        Some(slot) => drop(tasks.spawn(shop.clone().connection(stream, peer, slot))),
                        None => refuse(&stream, shop.tls.is_none()),
                    }
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    // Descriptors may be short: whoever only keeps us waiting gives one back.
                    table.make_room();
                    let pause = trouble.pause_after(&error);
                    tokio::select! {
                        () = &mut stop => return,
                        () = tokio::time::sleep(pause) => {}
                    }
                }
            },
            Some(_) = tasks.join_next() => {}
        }
    }
}

/// That nobody can be let in for now.
#[derive(Default)]
struct Trouble {
    pause: Duration,
    told_at: Option<Instant>,
}

impl Trouble {
    /// Says what is wrong, but not all the time, and returns how long to wait.
    fn pause_after(&mut self, error: &io::Error) -> Duration {
        if self.told_at.is_none_or(|told| told.elapsed() > TELL_AGAIN) {
            tracing::warn!("cannot accept connections for now: {error}");
            self.told_at = Some(Instant::now());
        }
        self.pause = (self.pause * 2).clamp(PAUSE_FIRST, PAUSE_MAX);
        self.pause
    }
}

/// Tells whether an error says something about one connection only.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

/// Tells a peer that there is no place for it, as far as its socket takes that at once.
fn refuse(stream: &TcpStream, plain: bool) {
    const BODY: &str = r#"{"status":503,"title":"Service Unavailable","code":"too_many_connections","detail":"there are too many connections: close some, or try again later"}"#;
    if plain {
        let length = BODY.len();
        let answer = format!(
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\n\
             Content-Length: {length}\r\nRetry-After: 1\r\nConnection: close\r\n\r\n{BODY}"
        );
        // A peer that cannot even take this does not hear it.
        drop(stream.try_write(answer.as_bytes()));
    }
    tracing::debug!("a connection was refused: there are too many");
}

impl Shop {
    async fn connection(self, stream: TcpStream, peer: SocketAddr, slot: Slot) {
        if let Err(error) = prepare(&stream, self.limits.write_timeout) {
            tracing::debug!("a connection was gone before it began: {error}");
            return;
        }
        match self.tls.clone() {
            None => self.drive(stream, peer, slot).await,
            Some(tls) => {
                let cut = slot.cut();
                let handshake = tokio::time::timeout(self.limits.head_timeout, tls.accept(stream));
                tokio::select! {
                    () = cut.notified() => {}
                    shaken = handshake => match shaken {
                        Ok(Ok(stream)) => self.drive(stream, peer, slot).await,
                        Ok(Err(error)) => tracing::debug!("a TLS handshake failed: {error}"),
                        Err(_) => tracing::debug!("a TLS handshake took too long"),
                    }
                }
            }
        }
    }

    async fn drive<S>(self, stream: S, peer: SocketAddr, slot: Slot)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Shop { routes, limits, stopped, tls: _ } = self;
        let phase = slot.phase();
        let line = Line::new(stream, slot, &limits);
        let head_bytes_max = limits.head_bytes_max;
        let service = service_fn(move |request| {
            answer(request, routes.borrow().clone(), peer, phase.clone(), Arc::clone(&limits))
        });
        let connection = http1::Builder::new()
            .header_read_timeout(None)
            .max_header_size(head_bytes_max)
            .max_buf_size(head_bytes_max.max(BUFFER_BYTES_MIN))
            .serve_connection(TokioIo::new(line), service)
            .with_upgrades();
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = told_to_stop(stopped) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!("a connection ended early: {error}");
        }
    }
}

async fn told_to_stop(mut stopped: watch::Receiver<bool>) {
    // Who tells it outlives every connection; its end means the same.
    drop(stopped.wait_for(|stopped| *stopped).await);
}

/// Sets what the system does for a connection: no delay of small answers, and a look after peers that vanished.
fn prepare(stream: &TcpStream, write_timeout: Duration) -> io::Result<()> {
    use rustix::net::sockopt;
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, KEEPALIVE_IDLE)?;
    sockopt::set_tcp_keepintvl(stream, KEEPALIVE_PAUSE)?;
    sockopt::set_tcp_keepcnt(stream, KEEPALIVE_COUNT)?;
    let write_timeout_ms = u32::try_from(write_timeout.as_millis()).unwrap_or(u32::MAX);
    sockopt::set_tcp_user_timeout(stream, write_timeout_ms)?;
    Ok(())
}

/// Answers one request. A panic in it ends the request and nothing else.
async fn answer(
    request: Request<Incoming>,
    routes: Router,
    peer: SocketAddr,
    phase: Phase,
    limits: Arc<ServeLimits>,
) -> Result<Response<Answer>, Infallible> {
    phase.works();
    let (parts, body) = request.into_parts();
    let mut body = Paced::new(body, phase.clone(), &limits);
    if matches!(parts.method, Method::GET | Method::HEAD) {
        body.pass_over().await;
    }
    let mut request = Request::from_parts(parts, Body::new(body));
    request.extensions_mut().insert(ConnectInfo(peer));
    let answered = AssertUnwindSafe(routes.oneshot(request)).catch_unwind().await;
    let response = match answered {
        Ok(Ok(response)) => response,
        Ok(Err(never)) => match never {},
        Err(_) => broken(),
    };
    let upgrades = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    if upgrades {
        phase.upgrades();
    }
    Ok(response.map(|body| Answer::new(body, phase)))
}

/// What is answered when answering failed; the log has the reason.
fn broken() -> Response<Body> {
    const BODY: &str = r#"{"status":500,"title":"Internal Server Error","code":"internal","detail":"this is our fault: the server's log says more"}"#;
    let kind = [(header::CONTENT_TYPE, "application/problem+json"), (header::CONNECTION, "close")];
    (StatusCode::INTERNAL_SERVER_ERROR, kind, BODY).into_response()
}
