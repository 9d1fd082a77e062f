//! Requests and answers: one connection is kept and used again, another is made when that one is busy or gone.

use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, AUTHORIZATION, HOST, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::address::{Address, Scheme};
use crate::connection::Connection;
use crate::{ClientError, Problem, Token, read, tls};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Idle connections that are kept; more than a few come only from many calls at once.
const IDLE_MAX: usize = 4;

pub(crate) type Sender = SendRequest<Full<Bytes>>;

/// Whom to speak to, as whom, and the connections that are idle now.
pub(crate) struct Http {
    pub(crate) address: Address,
    pub(crate) answer_timeout: Duration,
    authorization: Option<HeaderValue>,
    ca_file: Option<PathBuf>,
    tls: OnceLock<TlsConnector>,
    idle: Mutex<Vec<Sender>>,
}

/// One request.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    /// How long the bus was asked to wait before it answers.
    pub(crate) wait: Duration,
}

/// An answer that is not a problem.
pub(crate) struct Answer {
    pub(crate) dialect: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Call {
    pub(crate) fn new(method: Method, target: String) -> Self {
        Call { method, target, body: Vec::new(), headers: Vec::new(), wait: Duration::ZERO }
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub(crate) fn wait(mut self, wait: Option<Duration>) -> Self {
        self.wait = wait.unwrap_or_default();
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Result<Self, ClientError> {
        let value = HeaderValue::try_from(value)
            .map_err(|_| ClientError::answer(format!("the value of {name} cannot go into a header")))?;
        self.headers.push((HeaderName::from_static(name), value));
        Ok(self)
    }
}

impl Http {
    pub(crate) fn new(
        address: Address,
        token: Option<&Token>,
        ca_file: Option<PathBuf>,
        answer_timeout: Duration,
    ) -> Result<Self, ClientError> {
        let bearer = |token: &Token| {
            let mut value = HeaderValue::try_from(format!("Bearer {}", token.reveal()))
                .map_err(|_| ClientError::Token)?;
            value.set_sensitive(true);
            Ok(value)
        };
        let authorization = token.map(bearer).transpose()?;
        let (tls, idle) = (OnceLock::new(), Mutex::new(Vec::new()));
        Ok(Http { address, answer_timeout, authorization, ca_file, tls, idle })
    }

    /// Makes a call and reads its whole answer.
    pub(crate) async fn call(&self, call: Call) -> Result<Answer, ClientError> {
        let limit = self.answer_timeout + call.wait;
        let answered = timeout(limit, async {
            let (response, sender) = self.respond(call).await?;
            let answer = self.read(response).await;
            // Only a connection whose answer was read to its end can carry another call.
            if matches!(answer, Ok(_) | Err(ClientError::Problem(_))) {
                self.keep(sender);
            }
            answer
        });
        answered.await.map_err(|_| self.timed_out(limit))?
    }

    /// Makes a call whose answer has no end; the connection is the caller's.
    pub(crate) async fn stream(&self, call: Call) -> Result<(Response<Incoming>, Sender), ClientError> {
        let limit = self.answer_timeout;
        let responded = timeout(limit, self.respond(call)).await.map_err(|_| self.timed_out(limit))?;
        let (response, sender) = responded?;
        if response.status().is_success() {
            return Ok((response, sender));
        }
        match timeout(limit, self.read(response)).await.map_err(|_| self.timed_out(limit))? {
            Ok(_) => Err(ClientError::answer("no stream")),
            Err(error) => Err(error),
        }
    }

    /// Opens a connection.
    pub(crate) async fn connect(&self) -> Result<Connection, ClientError> {
        let unreachable = |source| ClientError::Unreachable { url: self.address.url(), source };
        // What is wrong with the certificates is told whether or not somebody is there.
        let tls = match self.address.scheme {
            Scheme::Http => None,
            Scheme::Https => Some(self.tls()?),
        };
        let place = (self.address.host.as_str(), self.address.port);
        let connected = timeout(CONNECT_TIMEOUT, TcpStream::connect(place)).await;
        let stream = connected.map_err(|_| self.timed_out(CONNECT_TIMEOUT))?.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let Some(tls) = tls else { return Ok(Connection::Plain(stream)) };
        let name = ServerName::try_from(self.address.host.clone())
            .map_err(|error| ClientError::Tls { reason: error.to_string() })?;
        let connected = timeout(CONNECT_TIMEOUT, tls.connect(name, stream)).await;
        let stream = connected.map_err(|_| self.timed_out(CONNECT_TIMEOUT))?.map_err(unreachable)?;
        Ok(Connection::Tls(Box::new(stream)))
    }

    /// Returns the header that says who speaks.
    pub(crate) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    pub(crate) fn broken(&self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ClientError {
        ClientError::Broken { url: self.address.url(), source: source.into() }
    }

    async fn respond(&self, call: Call) -> Result<(Response<Incoming>, Sender), ClientError> {
        let mut request = self.request(call)?;
        while let Some(mut sender) = self.idle_connection() {
            if sender.ready().await.is_err() {
                continue;
            }
            // A connection that the bus closed meanwhile gives the request back unsent.
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(self.broken(error.into_error())),
                },
            }
        }
        let mut sender = self.handshake().await?;
        let response = sender.send_request(request).await.map_err(|error| self.broken(error))?;
        Ok((response, sender))
    }

    async fn handshake(&self) -> Result<Sender, ClientError> {
        let io = TokioIo::new(self.connect().await?);
        let (sender, connection) = http1::handshake(io).await.map_err(|error| self.broken(error))?;
        // It ends when the sender is dropped or the bus hangs up; its errors reach whoever waits for an answer.
        tokio::spawn(async { drop(connection.await) });
        Ok(sender)
    }

    fn request(&self, call: Call) -> Result<Request<Full<Bytes>>, ClientError> {
        let target = format!("{}{}", self.address.prefix, call.target);
        let mut request = Request::builder()
            .method(call.method)
            .uri(target)
            .header(HOST, self.address.authority.as_str())
            .header(ACCEPT, "*/*");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        let body = Full::new(Bytes::from(call.body));
        request
            .body(body)
            .map_err(|error| ClientError::answer(format!("the request cannot be made: {error}")))
    }

    async fn read(&self, response: Response<Incoming>) -> Result<Answer, ClientError> {
        let (head, mut incoming) = response.into_parts();
        let mut body = Vec::new();
        while let Some(frame) = incoming.frame().await {
            let frame = frame.map_err(|error| self.broken(error))?;
            if let Some(bytes) = frame.data_ref() {
                if body.len() + bytes.len() > read::ANSWER_BYTES_MAX {
                    return Err(ClientError::answer("it is too large"));
                }
                body.extend_from_slice(bytes);
            }
        }
        let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
        if head.status.is_success() {
            let dialect = header("convoke-dialect").map(str::to_owned);
            return Ok(Answer { dialect, body });
        }
        let retry_after = header(RETRY_AFTER.as_str()).and_then(|text| text.parse().ok());
        let retry_after = retry_after.map(Duration::from_secs);
        let problem = Problem::read(head.status.as_u16(), retry_after, read::parse(&body).ok());
        Err(ClientError::Problem(Box::new(problem)))
    }

    fn tls(&self) -> Result<&TlsConnector, ClientError> {
        if self.tls.get().is_none() {
            let connector = tls::connector(self.ca_file.as_deref())?;
            return Ok(self.tls.get_or_init(|| connector));
        }
        self.tls.get().ok_or_else(|| ClientError::Tls { reason: "it was not set up".to_owned() })
    }

    fn idle_connection(&self) -> Option<Sender> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(|sender| !sender.is_closed())
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(sender);
        }
    }

    fn timed_out(&self, limit: Duration) -> ClientError {
        ClientError::TimedOut { url: self.address.url(), seconds: limit.as_secs() }
    }
}
