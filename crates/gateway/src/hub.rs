//! The hub: what every door has at hand.

use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use broker::query::agents::{FindRegistered, RegistryPage};
use broker::query::work::StateVersion;
use broker::{Accept, AgentKey, Blocker, Command, Door, OpenSession, Query, Receipted, Request};
use dialect::Name;
use history::{History, HistoryError};
use json::Limits;
use message::{Address, AgentName, Seq};
use node::{Awaited, CallError, Durations, Executed, Node};
use tokio::sync::{Semaphore, watch};

use crate::channels::Channels;
use crate::lexicons::Lexicons;
use crate::pollers::{self, Pollers};
use crate::{
    Code, Connections, Denied, Directory, Listed, OpenConnection, Outgoing, OutgoingError, Principal,
    Problem, RateLimits, Rates, Reading, SealKey, Stored, Submission, Token, TokenHash, TranslationCache,
    Who, card,
};

/// How long the history is waited for when only it can answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Large answers to one agent that it has not read, at most.
const UNREAD_MAX: usize = 16;
/// Bytes of translations that are kept for the next recipients of the same messages.
const TRANSLATIONS_BYTES_MAX: usize = 32 << 20;
/// Large documents that are translated at the same time: each takes many times its size in memory.
const LARGE_MAX: usize = 2;
/// Agents that are read from the registry at a time.
pub const AGENTS_MAX: usize = 500;
/// How the handle ends that stands in for an agent without one.
const STAND_IN: &str = ".agent.invalid";

/// The handle of whoever has none.
const NO_HANDLE: &str = "handle.invalid";

/// What decides who somebody is, and what is ours.
#[derive(Clone, Debug)]
pub struct Authority {
    /// The operator's token.
    pub operator: TokenHash,
    /// Whether whoever comes without a token may do everything.
    pub open: bool,
    /// Whether tokens are read from URLs, for clients that can set no headers.
    pub allow_token_in_url: bool,
    /// By which origins that the bus wrote itself are known.
    pub seal: SealKey,
    /// By which names the server may be called, ports left out.
    pub hosts: Vec<String>,
    /// Whether figures are shown to whoever asks.
    pub metrics_public: bool,
}

/// How much each may ask.
#[derive(Clone, Debug)]
pub struct HubLimits {
    /// Requests and frames of each.
    pub rates: RateLimits,
    /// Sockets, streams and long polls that each may hold open.
    pub connections_max: usize,
    /// Bytes of a request's body.
    pub body_bytes_max: usize,
    /// Bytes of a batch.
    pub batch_bytes_max: usize,
    /// How long a lease is for whoever does not say, in milliseconds.
    pub lease_ms: u64,
}

/// What every door has at hand. Copies are the same hub.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

struct Inner {
    node: Node,
    history: History,
    authority: Authority,
    limits: HubLimits,
    rates: Rates,
    connections: Arc<Connections>,
    /// Large answers that were not read yet.
    unread: Arc<Connections>,
    /// Readers take the shared copy and let go of the lock at once.
    directory: RwLock<Arc<Directory>>,
    lexicons: Lexicons,
    translations: TranslationCache,
    /// Who may translate a large document now.
    large: Arc<Semaphore>,
    /// How often the registry changed.
    changes: watch::Sender<u64>,
    /// The last event that changed the shared state, while somebody follows it.
    state_version: watch::Sender<Seq>,
    /// Whether a task looks for changes of the shared state.
    is_state_watched: Mutex<bool>,
    stopping: watch::Sender<bool>,
    answered: Durations,
    pollers: Pollers,
    channels: Channels,
}

impl Hub {
    /// Makes the hub of a node.
    pub async fn new(
        node: Node,
        history: History,
        authority: Authority,
        limits: HubLimits,
    ) -> Result<Self, CallError> {
        let directory = RwLock::new(Arc::new(read_directory(&node).await?));
        let hub = Hub {
            inner: Arc::new(Inner {
                rates: Rates::new(limits.rates),
                connections: Connections::new(limits.connections_max),
                unread: Connections::new(UNREAD_MAX),
                node,
                history,
                authority,
                limits,
                directory,
                lexicons: Lexicons::default(),
                translations: TranslationCache::new(TRANSLATIONS_BYTES_MAX),
                large: Arc::new(Semaphore::new(LARGE_MAX)),
                changes: watch::Sender::new(0),
                state_version: watch::Sender::new(Seq(0)),
                is_state_watched: Mutex::new(false),
                stopping: watch::Sender::new(false),
                answered: Durations::default(),
                pollers: Pollers::default(),
                channels: Channels::default(),
            }),
        };
        hub.watch_visits();
        if let Err(problem) = hub.refresh_lexicons().await {
            tracing::error!("the operator's lexicons are not at hand: {}", problem.detail);
        }
        Ok(hub)
    }

    /// Returns the node.
    pub fn node(&self) -> &Node {
        &self.inner.node
    }

    /// Returns what can be looked back at.
    pub fn history(&self) -> &History {
        &self.inner.history
    }

    /// Returns how much each may ask.
    pub fn limits(&self) -> &HubLimits {
        &self.inner.limits
    }

    /// Returns by which names the server may be called.
    pub fn hosts(&self) -> &[String] {
        &self.inner.authority.hosts
    }

    /// Tells who speaks by a token, or without one.
    pub fn principal(&self, token: Option<&Token>) -> Result<Principal, Denied> {
        let authority = &self.inner.authority;
        match token {
            None if authority.open => Ok(Principal::Anybody),
            None => Err(Denied::NoToken),
            Some(token) if authority.operator.is_of(token) => Ok(Principal::Operator),
            Some(token) => self.with_directory(|directory| directory.speaker(token, self.inner.node.wall())),
        }
    }

    /// Tells who speaks by a session that an agent opened with its token.
    pub fn session(&self, agent: &AgentName, id: &str) -> Result<Principal, Denied> {
        let (wall, open) = (self.inner.node.wall(), self.inner.authority.open);
        self.with_directory(|directory| directory.session(agent, id, wall, open))
    }

    /// Counts a request of somebody against how often it may ask.
    pub fn count_request(&self, principal: &Principal) -> Result<(), Problem> {
        self.count_request_of(principal.who())
    }

    /// Counts a request of whoever is meant.
    pub fn count_request_of(&self, who: Who) -> Result<(), Problem> {
        let counted = self.inner.rates.check(who, 1, self.inner.node.steady());
        counted.map_err(|later| {
            Problem::new(Code::RateLimited, later.to_string()).retry_after(later.whole_seconds())
        })
    }

    /// Counts a socket, stream or long poll of somebody, until it is dropped.
    pub fn count_connection(&self, principal: &Principal) -> Result<OpenConnection, Problem> {
        self.count_connection_of(principal.who())
    }

    /// Counts a connection of whoever is meant, until it is dropped.
    pub fn count_connection_of(&self, who: Who) -> Result<OpenConnection, Problem> {
        let counted = self.inner.connections.open(who);
        counted.map_err(|error| Problem::new(Code::TooManyConnections, error.to_string()))
    }

    /// Refuses somebody who has not read as many large answers as he may have.
    pub fn may_answer_at_length(&self, who: Who) -> Result<(), Problem> {
        if self.inner.unread.is_full(who) {
            let detail = format!("{UNREAD_MAX} large answers are not read yet");
            return Err(Problem::new(Code::TooManyConnections, detail));
        }
        Ok(())
    }

    /// Counts a large answer to somebody, until it is dropped.
    pub fn count_answer(&self, who: Who) -> OpenConnection {
        self.inner.unread.open_anyway(who)
    }

    /// Counts frames of somebody, and waits as long as it must wait before the next: over a socket, whoever sends too
    /// fast is slowed down.
    pub async fn count_frames(&self, principal: &Principal, count: usize) {
        let cost = u32::try_from(count).unwrap_or(u32::MAX);
        while let Err(later) = self.inner.rates.check(principal.who(), cost, self.inner.node.steady()) {
            tokio::time::sleep(later.0).await;
        }
    }

    /// Tells whether figures are shown to whoever asks.
    pub fn shows_metrics(&self) -> bool {
        self.inner.authority.metrics_public
    }

    /// Tells whether whoever comes without a token may do everything.
    pub fn is_open(&self) -> bool {
        self.inner.authority.open
    }

    /// Tells whether tokens are read from URLs.
    pub fn allows_token_in_url(&self) -> bool {
        self.inner.authority.allow_token_in_url
    }

    /// Returns a handle that tells when the registry changed; who holds a connection by a token looks again then.
    pub fn registry_changes(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    /// Returns a handle that tells when the shared state has changed. One task looks for all who wait, and only while
    /// somebody does.
    pub fn state_changes(&self) -> watch::Receiver<Seq> {
        let receiver = self.inner.state_version.subscribe();
        let mut is_watched = self.inner.is_state_watched.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *is_watched, true) {
            tokio::spawn(watch_state(Arc::downgrade(&self.inner)));
        }
        receiver
    }

    /// Returns a handle by which it can be waited for that the bus stops.
    pub fn stopping(&self) -> watch::Receiver<bool> {
        self.inner.stopping.subscribe()
    }

    /// Says that the bus stops: sockets and streams end.
    pub fn stop(&self) {
        self.inner.stopping.send_replace(true);
    }

    /// Executes a command, and answers when everything that the answer was computed from is durable.
    pub async fn execute<R: Request>(&self, request: R) -> Result<R::Answer, Problem> {
        self.timed(self.inner.node.execute(request)).await
    }

    /// Looks at the state, and answers when everything that was seen is durable.
    pub async fn query<Q: Query>(&self, query: Q) -> Result<Q::Answer, Problem> {
        self.timed(self.inner.node.query(query)).await
    }

    /// Executes commands one after the other, in one batch. A command that is refused does not keep the next ones from
    /// being executed.
    pub async fn execute_all(&self, commands: Vec<Command>) -> Result<Vec<Executed>, Problem> {
        self.timed(self.inner.node.execute_all(commands)).await
    }

    /// Accepts a message, and begins to wait for its reply if its sender does.
    pub async fn accept(&self, accept: Box<Accept>) -> Result<(Receipted, Option<Awaited>), Problem> {
        self.timed(self.inner.node.accept(accept)).await
    }

    /// Counts how long an answer of the node takes.
    async fn timed<T>(&self, answer: impl Future<Output = Result<T, CallError>>) -> Result<T, Problem> {
        let begun = self.inner.node.steady();
        let answer = answer.await;
        self.inner.answered.add(self.inner.node.steady().saturating_sub(begun));
        answer.map_err(Problem::from)
    }

    /// Returns to whom an agent's own rules send what stops it.
    pub(crate) fn routes_of(&self, agent: AgentKey, blocker: Blocker) -> Vec<Address> {
        let said = self.with_directory(|directory| {
            let (_, listed) = directory.find(directory.name_of(agent)?.as_str())?;
            listed.profile.card.clone().or_else(|| listed.profile.descriptor.clone())
        });
        said.map(|said| card::routes(&said, blocker)).unwrap_or_default()
    }

    /// Waits until the history knows of everything that is durable now, when only it can answer.
    pub async fn catch_up(&self) -> Result<(), Problem> {
        let durable = self.inner.node.durable();
        let mut applied = self.inner.history.watch();
        let waited = tokio::time::timeout(PATIENCE, applied.wait_for(|applied| *applied >= durable)).await;
        let behind = |_| Problem::new(Code::HistoryBehind, "the history has not come that far yet");
        waited.map(drop).map_err(behind)
    }

    /// Asks the history, on a thread that may wait.
    pub async fn ask<R: Send + 'static>(
        &self,
        work: impl FnOnce(&History) -> Result<R, HistoryError> + Send + 'static,
    ) -> Result<R, Problem> {
        let history = self.inner.history.clone();
        let asked = tokio::task::spawn_blocking(move || work(&history)).await;
        let asked = asked.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        asked.map_err(|error| {
            tracing::error!(error = %error, "the history cannot answer");
            Problem::new(Code::Internal, "the history cannot answer")
        })
    }

    /// Returns how long answers took, from the asking until they were durable.
    pub fn answered(&self) -> &Durations {
        &self.inner.answered
    }

    /// Notes that an agent came by itself to look or to take.
    pub fn note_visit(&self, agent: AgentKey) {
        if !self.inner.pollers.visit(agent, self.inner.node.steady()) {
            return;
        }
        let hub = self.clone();
        tokio::spawn(async move {
            // An agent that is gone has no session.
            if let Ok(opened) = hub.inner.node.execute(OpenSession { agent, door: Door::Poll }).await {
                hub.inner.pollers.name(agent, opened.session);
            }
        });
    }

    /// Forgets from time to time who no longer comes, for as long as the hub is there.
    fn watch_visits(&self) {
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(pollers::IDLE / 10).await;
                let Some(inner) = inner.upgrade() else { return };
                for session in inner.pollers.forget(inner.node.steady()) {
                    inner.node.note(Command::CloseSession { session });
                }
            }
        });
    }

    /// Returns what is known of channel folders.
    pub fn channels(&self) -> &Channels {
        &self.inner.channels
    }

    /// Returns how many sockets, streams and long polls are open.
    pub fn connections(&self) -> usize {
        self.inner.connections.count()
    }

    /// Returns an agent by its name or one of its aliases.
    pub fn find(&self, alias: &str) -> Option<(AgentName, AgentKey, Name)> {
        self.with_directory(|directory| {
            directory.find(alias).map(|(name, listed)| (name.clone(), listed.key, listed.dialect))
        })
    }

    /// Returns the number of the agent that has this name or alias.
    pub fn key_of(&self, alias: &str) -> Option<AgentKey> {
        self.with_directory(|directory| directory.key_of(alias))
    }

    /// Returns what an agent says of itself at the door of its own protocol, as JSON.
    pub fn descriptor_of(&self, name: &AgentName) -> Option<String> {
        self.with_directory(|directory| directory.find(name.as_str())?.1.profile.descriptor.clone())
    }

    /// Tells whether an agent is still in the registry.
    pub fn is_there(&self, agent: AgentKey) -> bool {
        self.with_directory(|directory| directory.has(agent))
    }

    /// Returns the name of an agent.
    pub fn name_of(&self, agent: AgentKey) -> Option<AgentName> {
        self.with_directory(|directory| directory.name_of(agent).cloned())
    }

    /// Returns the lexicons by which is checked now.
    pub fn lexicons(&self) -> Arc<lexicon::Catalog> {
        self.inner.lexicons.get()
    }

    pub(crate) fn set_lexicons(&self, catalog: lexicon::Catalog) {
        self.inner.lexicons.set(catalog);
    }

    /// Returns a key for a purpose, which only this bus can have.
    pub fn derive_key(&self, purpose: &str) -> [u8; 32] {
        self.inner.authority.seal.derive(purpose)
    }

    /// Returns the agent that a name in a document means: its own, an alias, or what stands in for its DID.
    pub fn resolve(&self, native: &str) -> Option<(AgentName, AgentKey)> {
        self.with_directory(|directory| {
            let is_handle = native.ends_with(STAND_IN) && !native.starts_with("did:");
            let did = if is_handle { format!("did:web:{native}") } else { native.to_owned() };
            let meant = directory.names().agent(&did);
            let (name, listed) = directory.find(meant.as_str())?;
            Some((name.clone(), listed.key))
        })
    }

    /// Returns what an agent is called in the AT Protocol: its DID and its handle, or what stands in for them.
    pub fn called(&self, agent: &AgentName) -> (String, String) {
        self.with_directory(|directory| {
            let (did, _) = directory.names().did(agent.as_str());
            let handle = directory.names().handle(agent.as_str()).map(str::to_owned);
            // What stands in for a DID has a host name, and that is a handle.
            let stood_in = did.strip_prefix("did:web:").filter(|host| host.ends_with(STAND_IN));
            let handle = handle.or(stood_in.map(str::to_owned));
            (did, handle.unwrap_or_else(|| NO_HANDLE.to_owned()))
        })
    }

    /// Does something with what documents are read and written with.
    pub fn reading<R>(&self, work: impl FnOnce(Reading<'_>) -> R) -> R {
        self.with_directory(|directory| {
            let (names, seal) = (directory.names(), &self.inner.authority.seal);
            let lexicons = &self.inner.lexicons.get();
            work(Reading { names, seal, limits: Limits::DOCUMENT, trace: None, lexicons })
        })
    }

    /// Writes a stored document in a language, or in its own, from the translations that are kept where one fits.
    pub fn write(&self, stored: Stored<'_>, wanted: Option<Name>) -> Result<Outgoing, OutgoingError> {
        self.reading(|reading| self.inner.translations.write(stored, wanted, reading))
    }

    /// Keeps what a document said for its first translation, if it may have readers of another dialect.
    pub(crate) fn keep_decoded(&self, submission: &mut Submission) {
        if submission.decoded.is_none() {
            return;
        }
        let directory = self.directory();
        let is_read_elsewhere = submission.accept.to.iter().any(|to| match to {
            Address::Agent(agent) => {
                directory.find(agent.as_str()).is_some_and(|(_, listed)| listed.dialect != submission.dialect)
            }
            Address::Session { .. }
            | Address::Role(_)
            | Address::Topic(_)
            | Address::Channel(_)
            | Address::All => true,
        });
        if is_read_elsewhere {
            self.inner.translations.keep_decoded(submission);
        } else {
            submission.decoded = None;
        }
    }

    /// Translates a large document on a thread that may block, after those that are translated already. Nothing if
    /// the runtime is shutting down or the work panicked.
    pub(crate) async fn translate_large<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Hub) -> R + Send + 'static,
    ) -> Option<R> {
        // The thread keeps the permit: the work goes on although whoever waits for it has gone.
        let permit = Arc::clone(&self.inner.large).acquire_owned().await.ok()?;
        let hub = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&hub)
        });
        done.await.ok()
    }

    /// Looks an agent up again in the registry, before its change is answered.
    pub async fn refresh(&self, name: AgentName) -> Result<(), Problem> {
        let (agent, version) = self.query(FindRegistered { name: name.as_str().into() }).await?;
        let listed = agent.as_ref().and_then(Listed::of).map(|(_, listed)| listed);
        {
            let mut directory = self.inner.directory.write().unwrap_or_else(PoisonError::into_inner);
            // Whoever reads a document now goes on with the directory that it has.
            Arc::make_mut(&mut directory).refresh(&name, listed, version);
        }
        self.inner.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Returns the directory as it is now.
    pub fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.inner.directory.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn with_directory<R>(&self, work: impl FnOnce(&Directory) -> R) -> R {
        work(&self.directory())
    }
}

/// Tells those who follow the shared state when it has changed, until nobody follows it.
async fn watch_state(inner: Weak<Inner>) {
    let Some(mut durable) = inner.upgrade().map(|inner| inner.node.watch_durable()) else { return };
    loop {
        let Some(hub) = inner.upgrade() else { return };
        {
            let mut is_watched = hub.is_state_watched.lock().unwrap_or_else(PoisonError::into_inner);
            if hub.state_version.receiver_count() == 0 {
                *is_watched = false;
                return;
            }
        }
        durable.mark_unchanged();
        let Ok(version) = hub.node.query(StateVersion).await else { return };
        hub.state_version.send_if_modified(|known| std::mem::replace(known, version) != version);
        drop(hub);
        if durable.changed().await.is_err() {
            return;
        }
    }
}

/// Reads the registry, page by page.
async fn read_directory(node: &Node) -> Result<Directory, CallError> {
    let mut directory = Directory::default();
    let mut after = None;
    loop {
        let (agents, next) = node.query(RegistryPage { after, max: AGENTS_MAX }).await?;
        for (name, listed) in agents.iter().filter_map(Listed::of) {
            directory.set(name, listed);
        }
        after = next;
        if after.is_none() {
            return Ok(directory);
        }
    }
}
