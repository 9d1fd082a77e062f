//! Comparing a root with what a server has.

use std::collections::BTreeMap;
use std::fmt;

use channel_root::Root;
use message::Sha256;

use crate::MirrorError;
use crate::nats::{Nats, NatsSettings, Reading};

/// Something in which a root and a server differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The channel.
    pub channel: String,
    /// The message.
    pub id: String,
    /// In what.
    pub what: What,
}

/// In what they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The server does not have it.
    MissingOnNats,
    /// The root does not have it.
    MissingInRoot,
    /// Both have it, with other bytes.
    OtherBytes,
    /// The server has it more than once.
    Twice,
    /// The server's copy cannot be read.
    BrokenCopy,
    /// The file cannot be read.
    Unreadable,
}

impl What {
    /// Returns the stable code.
    pub fn code(self) -> &'static str {
        match self {
            What::MissingOnNats => "missing_on_nats",
            What::MissingInRoot => "missing_in_root",
            What::OtherBytes => "other_bytes",
            What::Twice => "twice",
            What::BrokenCopy => "broken_copy",
            What::Unreadable => "unreadable",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.what.code(), self.channel, self.id)
    }
}

/// Compares all messages of a root with what a server has; returns how many are the same, and the differences.
pub async fn compare(root: &Root, settings: &NatsSettings) -> Result<(u64, Vec<Difference>), MirrorError> {
    let nats = Nats::connect(settings).await?;
    let mut copies: BTreeMap<(String, String), Option<Sha256>> = BTreeMap::new();
    let mut differences = Vec::new();
    let mut walk = nats.walk(Reading { after: 0, headers_only: false }).await?;
    while let Some((label, payload)) = walk.next().await? {
        let Some(label) = label else { continue };
        let digest = match nats.bytes_of(&label, payload).await {
            Ok(bytes) => Some(Sha256::of(&bytes)),
            Err(MirrorError::Copy { .. }) => None,
            Err(error) => return Err(error),
        };
        let (channel, id) = (label.channel, label.id);
        if copies.insert((channel.clone(), id.clone()), digest).is_some() {
            differences.push(Difference { channel, id, what: What::Twice });
        }
    }
    let mut same = 0;
    for channel in root.channels()? {
        for name in root.messages(&channel)? {
            let id = name.strip_suffix(".json").unwrap_or(&name).to_owned();
            let file = root.read(&channel, &name);
            let what = match (file, copies.remove(&(channel.clone(), id.clone()))) {
                (Err(_), _) => What::Unreadable,
                (Ok(None), _) => continue,
                (Ok(Some(_)), None) => What::MissingOnNats,
                (Ok(Some(_)), Some(None)) => What::BrokenCopy,
                (Ok(Some(bytes)), Some(Some(digest))) if Sha256::of(&bytes) == digest => {
                    same += 1;
                    continue;
                }
                (Ok(Some(_)), Some(Some(_))) => What::OtherBytes,
            };
            differences.push(Difference { channel: channel.clone(), id, what });
        }
    }
    let left = copies.into_keys().map(|(channel, id)| Difference { channel, id, what: What::MissingInRoot });
    differences.extend(left);
    differences.sort_by(|left, right| (&left.channel, &left.id).cmp(&(&right.channel, &right.id)));
    Ok((same, differences))
}
