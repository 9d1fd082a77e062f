//! Messages become files: a stream of letters for each agent that lives in a root.
//!
//! A letter is settled when its file is durable under its name. The name follows from the message alone, so that a
//! letter that is handed out again finds its file there; one that came out of this very folder does too.

use std::collections::HashMap;
use std::sync::Arc;

use broker::{AgentKey, Command, Delay, Door, Nack, OpenSession};
use channel_root::{Put, RootError};
use dialect::Name;
use gateway::letters::{self, BYTES_MAX};
use gateway::socket::{Session, stops};
use gateway::{Hub, Problem};
use message::MessageId;
use node::{Letter, Subscription, Wishes};

use crate::place::{self, Placed, as_it_lies};
use crate::shelf::Shelf;
use crate::site::Site;

/// By which a receipt says that this door handed something over.
const BY: &str = "files";
/// Letters of one agent on their way to the disk. Each that is not settled when the process ends has lost one try.
const WINDOW: u32 = 16;
/// Letters that are written and settled together: few, so that a process that lives briefly gets on all the same.
const TOGETHER_MAX: usize = 8;
/// How often a file is tried that cannot be written, before its message is given back.
const TRIES_MAX: usize = 30;

/// What became of a letter.
enum Outcome {
    Written,
    /// It cannot be a file, now or ever.
    Impossible(String),
    /// The disk says no; it may say yes later.
    Later(String),
}

/// Writes what comes for an agent, until the bus stops.
pub(crate) async fn deliver(site: Arc<Site>, agent: AgentKey) {
    match stream(&site, agent).await {
        Ok((session, subscription)) => {
            write_all(&site, subscription).await;
            drop(session);
        }
        Err(problem) => {
            tracing::warn!("nothing is written for an agent of {}: {}", site.path, problem.detail)
        }
    }
}

async fn stream(site: &Site, agent: AgentKey) -> Result<(Session, Subscription), Problem> {
    let hub = &site.hub;
    let opened = hub.execute(OpenSession { agent, door: Door::Poll }).await?;
    let session = Session::new(hub.clone(), opened.session);
    let wishes = Wishes {
        agent,
        session: Some(session.key),
        max: WINDOW,
        bytes_max: BYTES_MAX,
        lease_ms: hub.limits().lease_ms,
        by: BY.into(),
    };
    let subscription = hub.node().subscribe(wishes).await.map_err(Problem::from)?;
    subscription.add_credit(WINDOW);
    Ok((session, subscription))
}

async fn write_all(site: &Arc<Site>, mut subscription: Subscription) {
    let mut stopping = site.stopping.clone();
    loop {
        let mut letters = Vec::new();
        let count = tokio::select! {
            count = subscription.next_many(&mut letters, TOGETHER_MAX) => count,
            () = stops(&mut stopping) => return,
        };
        if count == 0 {
            return;
        }
        if write(site, letters).await.is_none() {
            return;
        }
        subscription.add_credit(u32::try_from(count).unwrap_or(u32::MAX));
    }
}

/// Writes letters, and settles them. What the disk refuses is tried again for a while.
async fn write(site: &Arc<Site>, mut letters: Vec<Letter>) -> Option<()> {
    let mut stopping = site.stopping.clone();
    for tried in 1.. {
        let outcomes = site.with_shelf(move |site, shelf| {
            let outcomes = put_all(site, shelf, &letters);
            letters.into_iter().zip(outcomes).collect::<Vec<_>>()
        });
        let (mut done, mut left) = (Vec::new(), Vec::new());
        for (letter, outcome) in outcomes.await? {
            match outcome {
                Outcome::Later(reason) if tried < TRIES_MAX => left.push((letter, reason)),
                Outcome::Written | Outcome::Impossible(_) | Outcome::Later(_) => done.push((letter, outcome)),
            }
        }
        settle(&site.hub, done).await?;
        let Some((_, reason)) = left.first() else { return Some(()) };
        if tried == 1 {
            tracing::warn!("{} messages cannot be written in {} now: {reason}", left.len(), site.path);
        }
        letters = left.into_iter().map(|(letter, _)| letter).collect();
        // What is not written when the root is let go of goes back with the session.
        tokio::select! {
            () = tokio::time::sleep(site.poll) => {}
            () = stops(&mut stopping) => return None,
        }
    }
    Some(())
}

/// Puts letters into their files; the journal says so first.
fn put_all(site: &Site, shelf: &mut Shelf, letters: &[Letter]) -> Vec<Outcome> {
    let placed: Vec<Result<Placed, String>> = letters.iter().map(|letter| placed(site, letter)).collect();
    let mut outcomes = Vec::with_capacity(letters.len());
    let mut first = Vec::new();
    for (letter, placed) in letters.iter().zip(&placed) {
        if let Ok(placed) = placed
            && let Some(id) = placed.ids.first()
        {
            first.push((letter.delivery.id, (placed.channel.clone(), format!("{id}.json"))));
        }
    }
    let noted = shelf.writing(&first);
    for (letter, placed) in letters.iter().zip(&placed) {
        outcomes.push(match (&noted, placed) {
            (Err(error), _) => Outcome::Later(error.to_string()),
            (Ok(()), Err(reason)) => Outcome::Impossible(reason.clone()),
            (Ok(()), Ok(placed)) => put(site, shelf, letter.delivery.id, placed),
        });
    }
    sync(site, &placed, &mut outcomes);
    outcomes
}

/// Makes durable which files there are, once for each channel: only then is anything written.
fn sync(site: &Site, placed: &[Result<Placed, String>], outcomes: &mut [Outcome]) {
    let mut synced: HashMap<&str, Result<(), String>> = HashMap::new();
    for (placed, outcome) in placed.iter().zip(outcomes) {
        let (Ok(placed), Outcome::Written) = (placed, &outcome) else { continue };
        let channel = placed.channel.as_str();
        let sync = || site.root.sync(channel).map_err(|error| chain(&error));
        if let Err(reason) = synced.entry(channel).or_insert_with(sync) {
            *outcome = Outcome::Later(reason.clone());
        }
    }
}

fn placed(site: &Site, letter: &Letter) -> Result<Placed, String> {
    let (hub, delivery) = (&site.hub, &letter.delivery);
    let body = hub.node().body_blocking(delivery.body).map_err(|error| error.to_string())?;
    let text = letters::document_blocking(hub, letter, &body, Name::Channel);
    let text = text.map_err(|error| error.to_string())?;
    let name = |agent| hub.name_of(agent).map(|name| name.to_string()).unwrap_or_default();
    let (from, to) = (name(delivery.from), name(letter.agent));
    Ok(place::place(text, delivery.id, letters::came(delivery.id), &from, &to))
}

/// Puts one message into its file, under the first name that is not another message's.
fn put(site: &Site, shelf: &mut Shelf, message: MessageId, placed: &Placed) -> Outcome {
    let Placed { channel, ids, text } = placed;
    for (number, id) in ids.iter().enumerate() {
        if number > 0
            && let Err(error) = shelf.writing(&[(message, (channel.clone(), format!("{id}.json")))])
        {
            return Outcome::Later(error.to_string());
        }
        match site.root.put_before_sync(channel, id, text.as_bytes()) {
            Ok(Put::Written) => {
                site.hub.channels().count(&site.path, channel, |traffic| traffic.written += 1);
                return Outcome::Written;
            }
            Ok(Put::WasThere) => return Outcome::Written,
            Err(RootError::Clash { .. }) if is_of_this(site, channel, id, text) => return Outcome::Written,
            Err(RootError::Clash { .. }) => {}
            Err(error @ RootError::Storage { .. }) => return Outcome::Later(chain(&error)),
            Err(
                error @ (RootError::NotARoot { .. }
                | RootError::NotAFolder { .. }
                | RootError::BadName { .. }
                | RootError::NoSuchChannel { .. }
                | RootError::TooLarge { .. }),
            ) => return Outcome::Impossible(error.to_string()),
        }
    }
    Outcome::Impossible(format!("every name for it in {channel} is another message's"))
}

/// Tells whether a file that is there is where the message came from: it lies there as its sender wrote it.
fn is_of_this(site: &Site, channel: &str, id: &str, text: &str) -> bool {
    let there = site.root.read(channel, id).ok().flatten();
    there.is_some_and(|bytes| as_it_lies(&bytes, channel, id).is_some_and(|there| there.text == text))
}

async fn settle(hub: &Hub, done: Vec<(Letter, Outcome)>) -> Option<()> {
    if done.is_empty() {
        return Some(());
    }
    let commands = done.into_iter().map(|(letter, outcome)| {
        let (agent, delivery) = (letter.agent, letter.delivery.delivery);
        let nack =
            |reason: String, delay| Command::Nack(Nack { agent, delivery, reason: reason.into(), delay });
        match outcome {
            Outcome::Written => Command::Ack { agent, delivery, by: BY.into() },
            Outcome::Impossible(reason) => nack(reason, Delay::Never),
            Outcome::Later(reason) => nack(reason, Delay::Backoff),
        }
    });
    // What has ended meanwhile is refused; then there is nothing to settle.
    hub.node().execute_all(commands.collect()).await.ok().map(drop)
}

fn chain(error: &RootError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
