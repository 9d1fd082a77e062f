//! Keeping a copy of a root on a server: what it does not have is published, in order, as often as it comes back.
//!
//! The root itself is the outbox: what the server lacks is found by asking it what it has. So nothing is lost with this
//! process, and nothing is published twice because it ended at the wrong moment.

use std::collections::HashMap;
use std::time::Duration;

use channel_root::{Follower, Found, Limits, Root, RootError};
use dialect_channel::file_name::{self, FileName};
use message::Timestamp;
use tokio::time::Instant;

use crate::MirrorError;
use crate::back::Ending;
use crate::copy::Copy;
use crate::nats::{Nats, NatsSettings};
use crate::presence::Told;
use crate::present::Present;
use crate::subject::error_subject;

/// How large a message may be that is mirrored.
const FILE_BYTES_MAX: u64 = 8 << 20;
/// How long to wait before the server is asked again, at first and at most.
const PAUSE_MIN: Duration = Duration::from_millis(250);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Keeps a copy of a root on a server.
#[derive(Debug)]
pub struct Mirror {
    /// The root.
    pub root: Root,
    /// The server.
    pub settings: NatsSettings,
    /// How often the root is looked at.
    pub poll_every: Duration,
    /// The wall clock.
    pub now: fn() -> Timestamp,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mirrored {
    /// Messages that were published.
    pub published: u64,
    /// Messages that the server turned out to have.
    pub duplicates: u64,
    /// Files that cannot be mirrored.
    pub refused: u64,
}

impl Mirror {
    /// Mirrors until it is stopped, or until the server has everything.
    pub async fn run(&self, ending: Ending, stop: impl Future<Output = ()>) -> Result<Mirrored, MirrorError> {
        let mut mirrored = Mirrored::default();
        let running = self.follow(ending, &mut mirrored);
        let ended = tokio::select! {
            ended = running => Some(ended),
            () = stop => None,
        };
        ended.transpose()?;
        Ok(mirrored)
    }

    async fn follow(&self, ending: Ending, mirrored: &mut Mirrored) -> Result<(), MirrorError> {
        let (mut pause, mut is_away) = (PAUSE_MIN, false);
        let mut told = Told::default();
        loop {
            let session = async {
                let nats = Nats::connect(&self.settings).await?;
                told.forget();
                let mut session = Session::open(self, nats, &mut told).await?;
                if is_away {
                    tracing::warn!("the NATS server and the root are back");
                }
                (pause, is_away) = (PAUSE_MIN, false);
                session.run(ending, mirrored).await
            };
            match session.await {
                Ok(()) => return Ok(()),
                // A folder of a network may be away as well.
                Err(error @ (MirrorError::Away { .. } | MirrorError::Root(RootError::Storage { .. })))
                    if ending == Ending::Never =>
                {
                    if !is_away {
                        tracing::warn!("{error}; messages stay in the root and are published later");
                    }
                    is_away = true;
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// One connection: what the server had when it began, and what it has got since.
struct Session<'m> {
    mirror: &'m Mirror,
    nats: Nats,
    present: Present,
    trimmed_before: Option<u64>,
    followers: HashMap<String, Follower>,
    told: &'m mut Told,
    began: Instant,
}

impl<'m> Session<'m> {
    async fn open(mirror: &'m Mirror, nats: Nats, told: &'m mut Told) -> Result<Self, MirrorError> {
        let (present, trimmed_before) = Present::ask(&nats).await?;
        let followers = HashMap::new();
        Ok(Session { mirror, nats, present, trimmed_before, followers, told, began: Instant::now() })
    }

    async fn run(&mut self, ending: Ending, mirrored: &mut Mirrored) -> Result<(), MirrorError> {
        let mut quiet_polls = 0;
        loop {
            let more = self.publish_new(mirrored).await?;
            for changed in self.told.changed(&self.mirror.root, (self.mirror.now)())? {
                self.nats.tell_presence(&changed).await?;
            }
            quiet_polls = if more { 0 } else { quiet_polls + 1 };
            // A file that is no message yet has one more chance.
            if ending == Ending::WhenDone && quiet_polls > 1 {
                return Ok(());
            }
            if !more && ending == Ending::Never {
                tokio::time::sleep(self.mirror.poll_every).await;
            }
        }
    }

    /// Publishes what is new in all channels, by time and name; tells whether there was anything.
    async fn publish_new(&mut self, mirrored: &mut Mirrored) -> Result<bool, MirrorError> {
        let mut found: Vec<(String, Found)> = Vec::new();
        let mut unreadable = Vec::new();
        let since = self.began.elapsed();
        for channel in self.mirror.root.channels()? {
            if !self.followers.contains_key(&channel) {
                let follower = self.follower(&channel)?;
                self.followers.insert(channel.clone(), follower);
            }
            let Some(follower) = self.followers.get_mut(&channel) else { continue };
            let polled = follower.poll(since)?;
            found.extend(polled.found.into_iter().map(|found| (channel.clone(), found)));
            unreadable.extend(polled.unreadable.into_iter().map(|file| (channel.clone(), file)));
        }
        found.sort_by(|(_, left), (_, right)| {
            file_name::order((left.at, &left.name), (right.at, &right.name))
        });
        let is_any = !found.is_empty();
        for (channel, file) in unreadable {
            mirrored.refused += 1;
            self.tell_error(&channel, &file.name, &file.problem.to_string()).await?;
        }
        for (channel, found) in found {
            let id = found.name.strip_suffix(".json").unwrap_or(&found.name).to_owned();
            if self.present.has(&channel, &id) {
                continue;
            }
            let copy = Copy { channel, id, bytes: found.bytes };
            match self.nats.publish(&copy).await {
                Ok(ack) if ack.duplicate => mirrored.duplicates += 1,
                Ok(_) => mirrored.published += 1,
                Err(error @ MirrorError::Refused { .. }) => {
                    mirrored.refused += 1;
                    self.tell_error(&copy.channel, &copy.id, &error.to_string()).await?;
                }
                Err(error) => return Err(error),
            }
            self.present.add(&copy.channel, &copy.id);
        }
        Ok(is_any)
    }

    /// Follows a channel without what the server has, or had before it gave up its oldest messages.
    fn follower(&self, channel: &str) -> Result<Follower, MirrorError> {
        let limits = Limits { file_bytes_max: FILE_BYTES_MAX, ..Limits::default() };
        let mut follower = Follower::new(&self.mirror.root, channel, limits)?;
        for name in self.mirror.root.messages(channel)? {
            let id = name.strip_suffix(".json").unwrap_or(&name);
            if self.present.has(channel, id) || self.was_trimmed(id) {
                follower.mark(&name);
            }
        }
        Ok(follower)
    }

    fn was_trimmed(&self, id: &str) -> bool {
        let Some(first) = self.trimmed_before else { return false };
        let second =
            FileName::parse(id).and_then(|name| format!("{}{}", name.date, name.time).parse::<u64>().ok());
        second.is_some_and(|second| second < first)
    }

    async fn tell_error(&self, channel: &str, name: &str, reason: &str) -> Result<(), MirrorError> {
        tracing::warn!("{channel} {name} is not mirrored: {reason}");
        let agent = FileName::parse(name).map(|name| name.agent.into_owned()).unwrap_or_default();
        let members = json::Object::from_iter([
            ("channel", json::Value::from(channel)),
            ("file", json::Value::from(name)),
            ("reason", json::Value::from(reason)),
        ]);
        let id = format!("error-{channel}-{name}");
        self.nats.tell(error_subject(&agent), &id, json::Value::Object(members).to_json()).await
    }
}
