//! What a server has: the messages by channel and id, each as a hash.

use std::collections::HashSet;

use message::Sha256;

use crate::MirrorError;
use crate::nats::{Nats, Reading};

/// Messages that a server has.
#[derive(Debug, Default)]
pub(crate) struct Present {
    names: HashSet<[u8; 16]>,
}

impl Present {
    /// Asks the server what it has; returns also before which second it has given up messages.
    pub(crate) async fn ask(nats: &Nats) -> Result<(Self, Option<u64>), MirrorError> {
        let mut present = Present::default();
        let mut walk = nats.walk(Reading { after: 0, headers_only: true }).await?;
        while let Some((label, _)) = walk.next().await? {
            if let Some(label) = label {
                present.add(&label.channel, &label.id);
            }
        }
        Ok((present, walk.trimmed_before))
    }

    pub(crate) fn add(&mut self, channel: &str, id: &str) {
        self.names.insert(hash(channel, id));
    }

    pub(crate) fn has(&self, channel: &str, id: &str) -> bool {
        self.names.contains(&hash(channel, id))
    }
}

fn hash(channel: &str, id: &str) -> [u8; 16] {
    let digest = Sha256::of(format!("{channel}\0{id}").as_bytes()).to_bytes();
    let mut head = [0; 16];
    head.copy_from_slice(&digest[..16]);
    head
}
