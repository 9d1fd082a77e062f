//! Reading back: what a server has becomes files of a root, the same to the byte.

use std::time::Duration;

use channel_root::{Put, Root, RootError};

use crate::MirrorError;
use crate::copy::Label;
use crate::nats::{Nats, NatsSettings, Reading};

/// How often a server is asked for what is new.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// When something that follows ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// When nothing is left to do.
    WhenDone,
    /// When it is stopped.
    Never,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Back {
    /// Files that were written.
    pub written: u64,
    /// Files that were there already, the same to the byte.
    pub there: u64,
    /// Messages that cannot be files of the root, or are others there.
    pub refused: u64,
}

/// Writes every message that a server has into a root.
pub async fn read_back(
    root: &Root,
    settings: &NatsSettings,
    ending: Ending,
    stop: impl Future<Output = ()>,
) -> Result<Back, MirrorError> {
    let mut back = Back::default();
    let ended = tokio::select! {
        ended = follow(root, settings, ending, &mut back) => Some(ended),
        () = stop => None,
    };
    ended.transpose()?;
    Ok(back)
}

async fn follow(
    root: &Root,
    settings: &NatsSettings,
    ending: Ending,
    back: &mut Back,
) -> Result<(), MirrorError> {
    let mut after = 0;
    let mut nats = None;
    loop {
        match pass(root, settings, &mut nats, after, back).await {
            Ok(read) => after = read,
            Err(error @ MirrorError::Away { .. }) if ending == Ending::Never => {
                tracing::warn!("{error}");
                nats = None;
            }
            Err(error) => return Err(error),
        }
        if ending == Ending::WhenDone {
            return Ok(());
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// Reads what came after a number; returns how far it got.
async fn pass(
    root: &Root,
    settings: &NatsSettings,
    connected: &mut Option<Nats>,
    after: u64,
    back: &mut Back,
) -> Result<u64, MirrorError> {
    if connected.is_none() {
        *connected = Some(Nats::connect(settings).await?);
    }
    let Some(nats) = connected else { return Ok(after) };
    let mut walk = nats.walk(Reading { after, headers_only: false }).await?;
    while let Some((label, payload)) = walk.next().await? {
        match label {
            Some(label) => write(root, nats, &label, payload, back).await?,
            None => {
                back.refused += 1;
                tracing::warn!("a message on the server names no channel or no id, and is left out");
            }
        }
    }
    Ok(walk.read)
}

/// Writes one message. One that cannot be a file of the root is told and left out.
async fn write(
    root: &Root,
    nats: &Nats,
    label: &Label,
    payload: Vec<u8>,
    back: &mut Back,
) -> Result<(), MirrorError> {
    let put = match nats.bytes_of(label, payload).await {
        Ok(bytes) => root.put(&label.channel, &label.id, &bytes).map_err(MirrorError::from),
        Err(error) => Err(error),
    };
    match put {
        Ok(Put::Written) => back.written += 1,
        Ok(Put::WasThere) => back.there += 1,
        Err(
            error @ (MirrorError::Copy { .. }
            | MirrorError::Root(
                RootError::Clash { .. }
                | RootError::BadName { .. }
                | RootError::TooLarge { .. }
                | RootError::NotAFolder { .. },
            )),
        ) => {
            back.refused += 1;
            tracing::warn!("{} {}: {error}", label.channel, label.id);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}
