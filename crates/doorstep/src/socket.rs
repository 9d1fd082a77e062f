//! A WebSocket by a client that we did not write.

use futures_util::{SinkExt, StreamExt};
use gateway::Token;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::{PATIENCE, Server};

/// An open socket. Pings are answered while frames are read, and only then.
pub struct Socket {
    /// The connection.
    pub stream: WebSocketStream<TcpStream>,
}

/// A frame with text.
#[derive(Debug)]
pub struct Frame(pub String);

/// How a socket was closed: the code and why.
pub type Closed = Option<(u16, String)>;

impl Socket {
    /// Opens a socket, with a token in the head or without.
    pub async fn open(server: &Server, path: &str, token: Option<&Token>) -> Result<Socket, Error> {
        let token = token.map(|token| format!("Bearer {}", token.reveal()));
        Socket::with_header(server, path, "authorization", token.as_deref()).await
    }

    /// Opens a socket with a header, or without.
    pub async fn with_header(
        server: &Server,
        path: &str,
        name: &'static str,
        value: Option<&str>,
    ) -> Result<Socket, Error> {
        let address = server.listen().await;
        let mut request = format!("ws://{address}{path}").into_client_request()?;
        if let Some(value) = value {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        let connection = TcpStream::connect(address).await.unwrap();
        let (stream, _) = client_async(request, connection).await?;
        Ok(Socket { stream })
    }

    /// Sends a frame with text.
    pub async fn send(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    /// Returns the next frame with text.
    pub async fn next(&mut self) -> Frame {
        self.frame().await.unwrap_or_else(|closed| panic!("the socket is closed: {closed:?}"))
    }

    /// Returns the next frame with text, or how the socket was closed.
    pub async fn frame(&mut self) -> Result<Frame, Closed> {
        let next = async {
            loop {
                match self.stream.next().await {
                    Some(Ok(Message::Text(text))) => return Ok(Frame(text.to_string())),
                    Some(Ok(Message::Close(frame))) => {
                        return Err(frame.map(|frame| (frame.code.into(), frame.reason.to_string())));
                    }
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => return Err(None),
                }
            }
        };
        timeout(PATIENCE, next).await.unwrap()
    }
}

impl Frame {
    /// Returns what a path leads to, as text; nothing if there is nothing.
    pub fn get(&self, path: &str) -> String {
        let value = json::parse_str(&self.0, json::Limits::DOCUMENT).unwrap();
        let found = value.pointer(&format!("/{path}")).cloned();
        found.map(|found| found.as_str().map_or_else(|| found.to_json(), str::to_owned)).unwrap_or_default()
    }
}
