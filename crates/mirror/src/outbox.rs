//! One message that was just posted: published at once, or left in the outbox for later.
//!
//! The outbox is `.state/nats.outbox`: one line a message, written before it is published. Whoever publishes next takes
//! all of it, in order. What was taken lies in `.state/nats.taken` until the server has it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use channel_root::Root;
use json::{Limits, Object, Value};
use tokio::time::Instant;

use crate::MirrorError;
use crate::copy::Copy;
use crate::nats::{Ack, Nats, NatsSettings};

/// Bytes of an outbox; what does not fit is found by a mirror, which compares.
const OUTBOX_BYTES_MAX: u64 = 16 << 20;
const CONNECT_EVERY: Duration = Duration::from_millis(100);
const LOCK_EVERY: Duration = Duration::from_millis(20);

/// What became of a message that was posted.
#[derive(Debug)]
pub struct Through {
    /// What the server says, if it has the message.
    pub ack: Option<Ack>,
    /// Why it does not.
    pub problem: Option<MirrorError>,
}

/// Publishes a message of a root, after everything that was left for later. What cannot be published now is left.
pub async fn write_through(root: &Root, settings: &NatsSettings, channel: &str, id: &str) -> Through {
    let outbox = Outbox { folder: root.path().join(".state") };
    let publishing = async {
        outbox.add(channel, id)?;
        outbox.drain(root, settings, (channel, id)).await
    };
    match tokio::time::timeout(settings.timeout, publishing).await {
        Ok(Ok(ack)) => Through { ack, problem: None },
        Ok(Err(problem)) => Through { ack: None, problem: Some(problem) },
        Err(_) => Through { ack: None, problem: Some(settings.away("it does not answer")) },
    }
}

/// Leaves a message of a root in the outbox: it is published with the next one.
pub fn leave(root: &Root, channel: &str, id: &str) -> Result<(), MirrorError> {
    Outbox { folder: root.path().join(".state") }.add(channel, id)
}

struct Outbox {
    folder: PathBuf,
}

impl Outbox {
    fn add(&self, channel: &str, id: &str) -> Result<(), MirrorError> {
        let path = self.folder.join("nats.outbox");
        let line = Object::from_iter([("channel", Value::from(channel)), ("id", Value::from(id))]);
        let line = format!("{}\n", Value::Object(line).to_json());
        let write = || {
            fs::create_dir_all(&self.folder)?;
            let mut file = self.locked(&path)?;
            if file.metadata()?.len() > OUTBOX_BYTES_MAX {
                return Err(io::Error::other("it is full; run `convoke channel mirror`"));
            }
            file.write_all(line.as_bytes())?;
            file.sync_data()
        };
        write().map_err(failed("write", &path))
    }

    /// Opens the outbox so that nobody takes it meanwhile. One that was taken before it was locked is no longer it.
    fn locked(&self, path: &Path) -> io::Result<File> {
        loop {
            let file = open(path, OpenOptions::new().create(true).append(true))?;
            file.lock()?;
            if fs::metadata(path)
                .is_ok_and(|there| file.metadata().is_ok_and(|open| open.ino() == there.ino()))
            {
                return Ok(file);
            }
        }
    }

    /// Publishes everything that was left, and returns what the server says of one of them.
    async fn drain(
        &self,
        root: &Root,
        settings: &NatsSettings,
        wanted: (&str, &str),
    ) -> Result<Option<Ack>, MirrorError> {
        let _lock = self.lock().await?;
        let nats = connect(settings).await?;
        let mut ack = None;
        // What somebody took and did not finish comes first.
        for _ in 0..2 {
            for (channel, id) in self.taken()? {
                let Ok(Some(bytes)) = root.read(&channel, &id) else { continue };
                let published =
                    nats.publish(&Copy { channel: channel.clone(), id: id.clone(), bytes }).await?;
                if (channel.as_str(), id.as_str()) == wanted {
                    ack = Some(published);
                }
            }
            self.finish()?;
        }
        Ok(ack)
    }

    /// Waits until nobody else publishes what was left.
    async fn lock(&self) -> Result<File, MirrorError> {
        let path = self.folder.join("nats.lock");
        let file =
            open(&path, OpenOptions::new().create(true).append(true)).map_err(failed("open", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(LOCK_EVERY).await,
                Err(fs::TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
            }
        }
    }

    /// Takes what was left; what was taken before and not finished is still that.
    fn taken(&self) -> Result<Vec<(String, String)>, MirrorError> {
        let (path, taken) = (self.folder.join("nats.outbox"), self.folder.join("nats.taken"));
        let take = || {
            if !taken.exists() && path.exists() {
                let _locked = self.locked(&path)?;
                fs::rename(&path, &taken)?;
            }
            if !taken.exists() {
                return Ok(String::new());
            }
            let mut text = String::new();
            open(&taken, OpenOptions::new().read(true))?
                .take(2 * OUTBOX_BYTES_MAX)
                .read_to_string(&mut text)?;
            Ok(text)
        };
        let text = take().map_err(failed("take", &path))?;
        let line = |line: &str| {
            let value = json::parse_str(line, Limits::DOCUMENT).ok()?;
            let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((text("channel")?, text("id")?))
        };
        Ok(text.lines().filter_map(line).collect())
    }

    fn finish(&self) -> Result<(), MirrorError> {
        let taken = self.folder.join("nats.taken");
        match fs::remove_file(&taken) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("empty", &taken)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}

/// Connects to the server; one that is away has until the time is over.
async fn connect(settings: &NatsSettings) -> Result<Nats, MirrorError> {
    let began = Instant::now();
    loop {
        match Nats::connect(settings).await {
            Err(MirrorError::Away { .. }) if began.elapsed() + CONNECT_EVERY < settings.timeout => {
                tokio::time::sleep(CONNECT_EVERY).await;
            }
            connected => return connected,
        }
    }
}

fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = options.clone().mode(0o600).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> MirrorError {
    let path = path.display().to_string();
    move |error| MirrorError::Outbox { doing, path: path.clone(), error }
}
