//! The data folder of a bus: private, with the secrets that are made at the first start, and a note of who runs.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use gateway::{SealKey, Token};
use json::{Limits, Object, Value};
use message::Timestamp;

use crate::failure::Failure;

/// The file that holds the operator's token.
pub(crate) const OPERATOR_TOKEN: &str = "operator.token";
/// The file that holds the key with which origins are sealed.
pub(crate) const ORIGIN_KEY: &str = "origin.key";
/// The file that a bus in the background logs to.
pub(crate) const SERVER_LOG: &str = "server.log";
/// The file that says which bus runs.
const SERVER: &str = "server.json";

/// A bus that runs on a data folder, as it said itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) url: String,
    pub(crate) pid: u32,
    pub(crate) started: Timestamp,
}

/// Makes the data folder if there is none; what agents write to each other is nobody else's.
pub(super) fn make_private(data: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data)
}

/// Returns the mode of a folder that is not its owner's alone.
pub(crate) fn open_to_others(data: &Path) -> Option<u32> {
    let mode = fs::metadata(data).ok()?.mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Reads the operator's token, or makes it when there is none yet. Only its owner can read the file.
pub(super) fn operator_token(data: &Path) -> Result<Token, Failure> {
    let text = secret(&data.join(OPERATOR_TOKEN), || {
        let human = "human".parse().expect("`human` is a name");
        Token::new(human).map(|token| token.reveal())
    })?;
    text.parse().map_err(|error| damaged(&data.join(OPERATOR_TOKEN), &error))
}

/// Reads the key by which the bus knows its own origins, or makes it when there is none yet.
pub(super) fn origin_key(data: &Path) -> Result<SealKey, Failure> {
    let text = secret(&data.join(ORIGIN_KEY), || SealKey::new().map(|key| key.reveal()))?;
    text.parse().map_err(|error| damaged(&data.join(ORIGIN_KEY), &error))
}

/// Reads a secret, or makes one. Of two that start at the same moment one makes it and both use it.
fn secret(path: &Path, make: impl FnOnce() -> Result<String, getrandom::Error>) -> Result<String, Failure> {
    let unreadable = |error: &io::Error| Failure::unreadable(&path.display().to_string(), error);
    match fs::read_to_string(path) {
        Ok(text) => return Ok(text.trim().to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(&error)),
    }
    let unwritable = |error: &io::Error| Failure::unwritable(path, error);
    let text = make().map_err(|error| Failure::wrong_use(format!("no randomness: {error}")))?;
    // Linked into place when it is whole: nobody ever reads half a secret.
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = write_private(&draft, &format!("{text}\n")).and_then(|()| fs::hard_link(&draft, path));
    let removed = fs::remove_file(&draft);
    match written {
        Ok(()) => removed.map(|()| text).map_err(|error| unwritable(&error)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::read_to_string(path).map(|text| text.trim().to_owned()).map_err(|error| unreadable(&error))
        }
        Err(error) => Err(unwritable(&error)),
    }
}

fn damaged(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::wrong_use(format!("{}: {error}", path.display()))
        .hint("move the file away, and a new one is made")
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

impl Running {
    /// Writes down which bus runs, in one step: who reads sees all of it or what was there before.
    pub(super) fn write(&self, data: &Path) -> io::Result<()> {
        let members: Object<'_> = [
            ("url", Value::from(self.url.as_str())),
            ("pid", Value::from(u64::from(self.pid))),
            ("started", Value::from(self.started.to_string())),
        ]
        .into_iter()
        .collect();
        let draft = data.join(format!("{SERVER}.tmp"));
        write_private(&draft, &format!("{}\n", Value::Object(members).to_json()))?;
        fs::rename(draft, data.join(SERVER))
    }

    /// Reads which bus runs; what cannot be understood is nobody.
    pub(crate) fn read(data: &Path) -> Option<Self> {
        let bytes = fs::read(data.join(SERVER)).ok()?;
        let value = json::parse(&bytes, Limits::DOCUMENT).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Running {
            url: text("url")?.to_owned(),
            pid: value.get("pid").and_then(Value::as_integer).and_then(|pid| u32::try_from(pid).ok())?,
            started: text("started")?.parse().ok()?,
        })
    }

    /// Removes the note, when the bus that wrote it stops.
    pub(super) fn remove(data: &Path) {
        // Left behind it does no harm: who reads it asks the process first.
        drop(fs::remove_file(data.join(SERVER)));
    }
}

/// Returns the file that whoever runs on a data folder holds locked.
pub(crate) fn lock_file(data: &Path) -> PathBuf {
    data.join("log").join("lock")
}

/// Returns the process that holds a data folder, as the system sees it.
pub(crate) fn holder(data: &Path) -> Option<u32> {
    let inode = fs::metadata(lock_file(data)).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (kind, _, _, pid, place) =
            (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
        let is_ours = kind == "FLOCK" && place.rsplit(':').next() == Some(inode.as_str());
        is_ours.then(|| pid.parse().ok()).flatten()
    })
}
