//! A server that answers what it was told to, and remembers what it was asked.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// What the server does with one connection.
pub(super) enum Line {
    /// Gives these answers, one for each request, and hangs up.
    Answers(Vec<String>),
    /// Hangs up when the first request has come.
    HangsUp,
}

/// A server of which each connection is scripted.
pub(super) struct Server {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(super) async fn start(lines: Vec<Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for line in lines {
                let (stream, _) = listener.accept().await.unwrap();
                serve(stream, line, &seen).await;
            }
        });
        Server { url, requests }
    }

    /// Starts one that speaks TLS, by a certificate for `localhost`.
    pub(super) async fn start_secure(acceptor: TlsAcceptor, lines: Vec<Line>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://localhost:{}", listener.local_addr().unwrap().port());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            for line in lines {
                let (stream, _) = listener.accept().await.unwrap();
                // A client that does not trust the certificate hangs up here.
                if let Ok(stream) = acceptor.accept(stream).await {
                    serve(stream, line, &seen).await;
                }
            }
        });
        Server { url, requests }
    }

    /// Returns what was asked so far, heads and bodies.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Writes an answer.
pub(super) fn answer(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, line: Line, seen: &Mutex<Vec<String>>) {
    let answers = match line {
        Line::Answers(answers) => answers,
        Line::HangsUp => {
            request(&mut stream, seen).await;
            return;
        }
    };
    for answer in answers {
        if !request(&mut stream, seen).await {
            return;
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

/// Reads a request to its end; tells whether one came.
async fn request(stream: &mut (impl AsyncRead + Unpin), seen: &Mutex<Vec<String>>) -> bool {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                seen.lock().unwrap().push(text);
                return true;
            }
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return false,
            Ok(count) => text.push_str(std::str::from_utf8(&buffer[..count]).unwrap()),
        }
    }
}
