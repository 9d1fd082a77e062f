//! A NATS server: connecting, its streams, publishing one message, reading them all.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::consumer::pull::{Ordered, OrderedConfig};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::object_store::{self, ObjectMetadata, ObjectStore};
use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions, HeaderMap};
use futures_util::StreamExt;
use json::{Object, Value};
use tokio::io::AsyncReadExt;

use crate::copy::{BUCKET, Copy, Label};
use crate::subject::{CHAT, CHAT_SUBJECTS, EVT, EVT_SUBJECTS, chat_subject};
use crate::{MirrorError, presence};

/// How long a stream that we make remembers the ids of messages.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// How long what happens beside the messages is kept.
const EVENTS_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Bytes that the server counts beside the body; headers of ours are far shorter.
const HEADERS_BYTES_MAX: usize = 4 << 10;
/// Bytes of an object that are read back.
const OBJECT_BYTES_MAX: u64 = 8 << 20;
/// Bytes of one part of an object.
const CHUNK_BYTES_MAX: usize = 128 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Where the server is and how long it may take.
#[derive(Clone)]
pub struct NatsSettings {
    /// Its address, such as `nats://127.0.0.1:4222`; it may hold a user and a password, or a token.
    pub url: String,
    /// A file of credentials.
    pub credentials: Option<PathBuf>,
    /// How long to wait for it before a message is left for later.
    pub timeout: Duration,
}

/// What the server says of a message that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The stream that has it.
    pub stream: String,
    /// Its number there.
    pub seq: u64,
    /// Whether it was there before.
    pub duplicate: bool,
}

/// A server with its streams.
#[derive(Clone)]
pub struct Nats {
    client: Client,
    jetstream: jetstream::Context,
    settings: NatsSettings,
}

impl NatsSettings {
    /// Returns the address without credentials, to be shown.
    pub fn shown(&self) -> String {
        match self.url.rsplit_once('@') {
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("nats", |(scheme, _)| scheme);
                format!("{scheme}://{host}")
            }
            None => self.url.clone(),
        }
    }

    pub(crate) fn away(&self, reason: impl fmt::Display) -> MirrorError {
        MirrorError::Away { url: self.shown(), reason: reason.to_string() }
    }

    fn refused(&self, doing: &'static str, reason: impl fmt::Display) -> MirrorError {
        MirrorError::Refused { url: self.shown(), doing, reason: reason.to_string() }
    }
}

/// Shows where the server is, never its credentials.
impl fmt::Debug for NatsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NatsSettings({})", self.shown())
    }
}

impl Ack {
    /// Writes it as answers of commands have it.
    pub fn to_value(&self) -> Value<'static> {
        Value::Object(Object::from_iter([
            ("stream", Value::from(self.stream.clone())),
            ("seq", Value::from(self.seq)),
            ("duplicate", Value::from(self.duplicate)),
        ]))
    }
}

impl Nats {
    /// Connects, and makes the streams that are not there.
    pub async fn connect(settings: &NatsSettings) -> Result<Self, MirrorError> {
        let nats = Nats::connect_only(settings).await?;
        let making = async {
            nats.stream(CHAT, CHAT_SUBJECTS, Duration::ZERO).await?;
            nats.stream(EVT, EVT_SUBJECTS, EVENTS_AGE_MAX).await
        };
        nats.in_time(making).await??;
        Ok(nats)
    }

    async fn connect_only(settings: &NatsSettings) -> Result<Self, MirrorError> {
        let timeout = settings.timeout.min(CONNECT_TIMEOUT);
        let mut options = ConnectOptions::new().name("convoke").connection_timeout(timeout);
        if let Some(path) = &settings.credentials {
            let failed = |error: std::io::Error| MirrorError::Credentials {
                path: path.display().to_string(),
                reason: error.to_string(),
            };
            options = options.credentials_file(path).await.map_err(failed)?;
        }
        let client =
            match tokio::time::timeout(settings.timeout, options.connect(settings.url.as_str())).await {
                Ok(Ok(client)) => client,
                // The library's words may hold what was in the address.
                Ok(Err(error)) => return Err(settings.away(error.kind())),
                Err(_) => return Err(settings.away("it does not answer")),
            };
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(settings.timeout);
        Ok(Nats { client, jetstream, settings: settings.clone() })
    }

    /// Returns where the server is, without credentials.
    pub fn shown(&self) -> String {
        self.settings.shown()
    }

    /// Finds a stream or makes it. One that is there is used as it is.
    async fn stream(&self, name: &str, subjects: &str, max_age: Duration) -> Result<(), MirrorError> {
        if let Ok(stream) = self.jetstream.get_stream(name).await {
            let window = stream.cached_info().config.duplicate_window;
            if window < DUPLICATE_WINDOW {
                let seconds = window.as_secs();
                tracing::warn!(
                    "the stream {name} forgets ids after {seconds} s: what is published again later is there twice"
                );
            }
            return Ok(());
        }
        let config = stream::Config {
            name: name.to_owned(),
            subjects: vec![subjects.to_owned()],
            duplicate_window: if max_age.is_zero() {
                DUPLICATE_WINDOW
            } else {
                DUPLICATE_WINDOW.min(max_age)
            },
            max_age,
            storage: stream::StorageType::File,
            ..stream::Config::default()
        };
        let made = self.jetstream.get_or_create_stream(config).await;
        made.map(|_| ()).map_err(|error| self.settings.refused("make a stream", error))
    }

    /// Publishes a message, and comes back when the server has it.
    pub async fn publish(&self, copy: &Copy) -> Result<Ack, MirrorError> {
        let ack = self.publish_as(copy, &copy.id).await?;
        if !ack.duplicate || self.is_same(copy, ack.seq).await? {
            return Ok(ack);
        }
        // Another channel has a message of that id.
        self.publish_as(copy, &format!("{}@{}", copy.id, copy.channel)).await
    }

    async fn publish_as(&self, copy: &Copy, message_id: &str) -> Result<Ack, MirrorError> {
        let (to, from) = copy.parties();
        let subject = chat_subject(&copy.channel, &to, &from);
        let bytes_max = self.client.server_info().max_payload.saturating_sub(HEADERS_BYTES_MAX);
        if copy.bytes.len() <= bytes_max {
            return self.send(subject, copy.headers(message_id, None), copy.bytes.clone()).await;
        }
        let digest = copy.digest();
        let (bucket, mut bytes) = (self.bucket().await?, copy.bytes.as_slice());
        if self.in_time(bucket.info(&digest)).await?.is_err() {
            let chunk_size = Some(bytes_max.clamp(1, CHUNK_BYTES_MAX));
            let about = ObjectMetadata { name: digest.clone(), chunk_size, ..ObjectMetadata::default() };
            let put = self.in_time(bucket.put(about, &mut bytes)).await?;
            put.map_err(|error| self.settings.refused("store an object", error))?;
        }
        let reference = copy.reference(&digest).into_bytes();
        self.send(subject, copy.headers(message_id, Some(&digest)), reference).await
    }

    async fn send(&self, subject: String, headers: HeaderMap, body: Vec<u8>) -> Result<Ack, MirrorError> {
        let publishing = async {
            let sent = self.jetstream.publish_with_headers(subject, headers, body.into()).await;
            sent.map_err(|error| self.settings.away(error))?.await.map_err(|error| {
                let kind = error.kind();
                match kind {
                    // A stream that is gone is made again with the next connection.
                    PublishErrorKind::TimedOut
                    | PublishErrorKind::BrokenPipe
                    | PublishErrorKind::StreamNotFound => self.settings.away(kind),
                    PublishErrorKind::WrongLastMessageId
                    | PublishErrorKind::WrongLastSequence
                    | PublishErrorKind::MaxAckPending
                    | PublishErrorKind::MaxPayloadExceeded
                    | PublishErrorKind::Other => self.settings.refused("store a message", error),
                }
            })
        };
        let ack = self.in_time(publishing).await??;
        Ok(Ack { stream: ack.stream, seq: ack.sequence, duplicate: ack.duplicate })
    }

    /// Publishes something that happened beside the messages.
    pub(crate) async fn tell(&self, subject: String, id: &str, body: String) -> Result<(), MirrorError> {
        let mut headers = HeaderMap::new();
        headers.insert(async_nats::header::NATS_MESSAGE_ID, id);
        self.send(subject, headers, body.into_bytes()).await.map(|_| ())
    }

    /// Tells whether what the server has under a number is this message.
    async fn is_same(&self, copy: &Copy, seq: u64) -> Result<bool, MirrorError> {
        let stream = self.in_time(self.jetstream.get_stream(CHAT)).await?;
        let stream = stream.map_err(|error| self.settings.refused("show a stream", error))?;
        let Ok(there) = self.in_time(stream.get_raw_message(seq)).await? else { return Ok(true) };
        let Some(label) = Label::read(Some(&there.headers), &there.payload) else { return Ok(false) };
        let is_same_bytes = match &label.object {
            Some(object) => *object == copy.digest(),
            None => there.payload.as_ref() == copy.bytes,
        };
        Ok(label.channel == copy.channel && is_same_bytes)
    }

    /// Goes through the stream of messages, from a number to where it ends now.
    pub(crate) async fn walk(&self, what: Reading) -> Result<Walk<'_>, MirrorError> {
        let stream = self.in_time(self.jetstream.get_stream(CHAT)).await?;
        let stream = stream.map_err(|error| self.settings.refused("show a stream", error))?;
        let state = stream.cached_info().state.clone();
        let is_trimmed = state.first_sequence > 1 && state.messages > 0;
        let trimmed_before = is_trimmed.then(|| second_of(state.first_timestamp.unix_timestamp())).flatten();
        let (last, read) = (state.last_sequence, what.after);
        if last <= what.after || state.messages == 0 {
            return Ok(Walk { nats: self, messages: None, last, read: last.max(read), trimmed_before });
        }
        let start_sequence = what.after + 1;
        let config = OrderedConfig {
            filter_subject: CHAT_SUBJECTS.to_owned(),
            headers_only: what.headers_only,
            deliver_policy: jetstream::consumer::DeliverPolicy::ByStartSequence { start_sequence },
            ..OrderedConfig::default()
        };
        let consumer = self.in_time(stream.create_consumer(config)).await?;
        let consumer = consumer.map_err(|error| self.settings.refused("make a consumer", error))?;
        // What was deleted, or is of other subjects, is never given.
        let is_empty = consumer.cached_info().num_pending == 0;
        let messages = self.in_time(consumer.messages()).await?.map_err(|error| self.settings.away(error))?;
        let (messages, read) = if is_empty { (None, last) } else { (Some(messages), read) };
        Ok(Walk { nats: self, messages, last, read, trimmed_before })
    }

    /// Returns the bytes of a message: those that were published, or those that they refer to.
    pub(crate) async fn bytes_of(&self, label: &Label, payload: Vec<u8>) -> Result<Vec<u8>, MirrorError> {
        let Some(digest) = &label.object else { return Ok(payload) };
        let wrong = |reason: String| MirrorError::Copy { id: label.id.clone(), reason };
        let bucket = self.bucket().await?;
        let object = self.in_time(bucket.get(digest)).await?.map_err(|error| wrong(error.to_string()))?;
        let mut bytes = Vec::new();
        let read = self.in_time(object.take(OBJECT_BYTES_MAX + 1).read_to_end(&mut bytes)).await?;
        read.map_err(|error| wrong(error.to_string()))?;
        if bytes.len() as u64 > OBJECT_BYTES_MAX {
            return Err(wrong(format!("it has more than {OBJECT_BYTES_MAX} bytes")));
        }
        let found = message::Sha256::of(&bytes).to_string();
        if found == *digest { Ok(bytes) } else { Err(wrong("its bytes do not have its digest".to_owned())) }
    }

    async fn bucket(&self) -> Result<ObjectStore, MirrorError> {
        if let Ok(bucket) = self.in_time(self.jetstream.get_object_store(BUCKET)).await? {
            return Ok(bucket);
        }
        let config = object_store::Config { bucket: BUCKET.to_owned(), ..object_store::Config::default() };
        let made = self.in_time(self.jetstream.create_object_store(config)).await?;
        made.map_err(|error| self.settings.refused("make a bucket", error))
    }

    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, MirrorError> {
        let done = tokio::time::timeout(self.settings.timeout, work).await;
        done.map_err(|_| self.settings.away("it does not answer"))
    }

    /// Publishes the presence of agents that has changed.
    pub(crate) async fn tell_presence(&self, changed: &presence::Changed) -> Result<(), MirrorError> {
        self.tell(changed.subject.clone(), &changed.id, changed.document.clone()).await
    }
}

/// What of a stream is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// After which number.
    pub(crate) after: u64,
    /// Whether the bytes are left out.
    pub(crate) headers_only: bool,
}

/// A way through the stream of messages.
pub(crate) struct Walk<'n> {
    nats: &'n Nats,
    messages: Option<Ordered>,
    last: u64,
    /// The number up to which everything was read.
    pub(crate) read: u64,
    /// Before which second, in digits, the server has given up messages.
    pub(crate) trimmed_before: Option<u64>,
}

impl Walk<'_> {
    /// Returns the next message, as far as it can be read; nothing at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<(Option<Label>, Vec<u8>)>, MirrorError> {
        let Some(messages) = self.messages.as_mut().filter(|_| self.read < self.last) else {
            return Ok(None);
        };
        let settings = &self.nats.settings;
        let Some(next) = self.nats.in_time(messages.next()).await? else { return Ok(None) };
        let message = next.map_err(|error| settings.away(error))?;
        let info = message.info().map_err(|error| settings.refused("number a message", error))?;
        self.read =
            if info.pending == 0 { self.last.max(info.stream_sequence) } else { info.stream_sequence };
        Ok(Some((Label::read(message.headers.as_ref(), &message.payload), message.payload.to_vec())))
    }
}

/// Writes a second as the names of files do: the digits of date and time.
fn second_of(unix: i64) -> Option<u64> {
    let at = message::Timestamp::from_unix_micros(unix.checked_mul(1_000_000)?).ok()?.to_string();
    at.get(..19)?.chars().filter(char::is_ascii_digit).collect::<String>().parse().ok()
}
