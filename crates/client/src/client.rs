//! The client itself; its calls are in the files of what they are about.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::Method;
use json::Value;

use crate::address::Address;
use crate::http::{Answer, Call, Http};
use crate::query::Target;
use crate::{ClientError, Token, read};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Makes calls to one bus as one agent. Copies share their connections.
#[derive(Clone)]
pub struct Client {
    pub(crate) http: Arc<Http>,
}

/// How a client reaches its bus.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The address of the bus, such as `http://127.0.0.1:7700`.
    pub url: String,
    /// By which token to speak; a bus that is open needs none.
    pub token: Option<Token>,
    /// A file of certificates to trust besides those that the machine trusts.
    pub ca_file: Option<PathBuf>,
    /// How long an answer may take beyond what it was asked to wait.
    pub answer_timeout: Duration,
}

impl ClientOptions {
    /// Reaches a bus without a token, in the usual way.
    pub fn new(url: impl Into<String>) -> Self {
        ClientOptions { url: url.into(), token: None, ca_file: None, answer_timeout: ANSWER_TIMEOUT }
    }
}

impl Client {
    /// Makes a client; nothing is connected before the first call.
    pub fn new(url: &str, token: Option<&str>) -> Result<Self, ClientError> {
        Client::with(ClientOptions { token: token.map(Token::new), ..ClientOptions::new(url) })
    }

    /// Makes a client with options.
    ///
    /// ```
    /// use std::time::Duration;
    /// let mut options = client::ClientOptions::new("https://bus.example");
    /// options.answer_timeout = Duration::from_secs(5);
    /// let client = client::Client::with(options)?;
    /// assert_eq!(client.url(), "https://bus.example");
    /// # Ok::<(), client::ClientError>(())
    /// ```
    pub fn with(options: ClientOptions) -> Result<Self, ClientError> {
        let address = Address::parse(&options.url)?;
        let http = Http::new(address, options.token.as_ref(), options.ca_file, options.answer_timeout)?;
        Ok(Client { http: Arc::new(http) })
    }

    /// Returns the address of the bus.
    pub fn url(&self) -> String {
        self.http.address.url()
    }

    pub(crate) async fn get(&self, target: Target) -> Result<Answer, ClientError> {
        self.http.call(Call::new(Method::GET, target.into_text())).await
    }

    /// Makes a call whose answer holds nothing that anybody reads.
    pub(crate) async fn tell(&self, method: Method, target: Target, body: String) -> Result<(), ClientError> {
        self.http.call(Call::new(method, target.into_text()).body(body)).await.map(|_| ())
    }

    /// Makes a call and reads its answer.
    pub(crate) async fn ask<T>(
        &self,
        call: Call,
        read_answer: impl FnOnce(Value<'_>) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        let answer = self.http.call(call).await?;
        read_answer(read::parse(&answer.body)?)
    }

    /// Reads the answer to a plain question.
    pub(crate) async fn look_up<T>(
        &self,
        target: Target,
        read_answer: impl FnOnce(Value<'_>) -> Result<T, ClientError>,
    ) -> Result<T, ClientError> {
        self.ask(Call::new(Method::GET, target.into_text()), read_answer).await
    }
}

/// Shows the address, never the token.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({})", self.url())
    }
}
