//! The handle by which everybody speaks to a node.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use broker::{Accept, AgentKey, Command, Event, Query, Receipted, Request, Time};
use bytes::Bytes;
use log::{LogReader, ReadError, Reader, RealDisk};
use message::{DeliveryId, Seq};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::counters::Counters;
use crate::driver::{
    Awaited, Executed, Job, Keep, Letter, Moved, QueryJob, RecentBodies, ReplyTo, SubscriberId, Take, Taken,
    Trim,
};
use crate::failure::CallError;
use crate::maintenance_signal::TrimRequest;
use crate::start::ServerLog;
use crate::subscription::{Subscription, Wishes};
use crate::threads::{Shared, Stopped};

/// How many letters a stream holds that nobody has read yet.
pub(crate) const STREAM_LETTERS_MAX: u32 = 1_024;

/// How often a body is looked for again that was carried while it was looked for.
const MOVES_FOLLOWED: usize = 3;

/// A running node. Copies are the same node.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    shared: Arc<Shared<ServerLog>>,
    /// How much may be asked and not answered; who asks more waits.
    permits: Arc<Semaphore>,
    reader: LogReader<RealDisk>,
    moved: Arc<Moved>,
    recent: Arc<RecentBodies>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    stopped: watch::Receiver<Stopped>,
}

impl Node {
    pub(crate) fn new(
        shared: Arc<Shared<ServerLog>>,
        reader: LogReader<RealDisk>,
        (moved, recent): (Arc<Moved>, Arc<RecentBodies>),
        stopped: watch::Receiver<Stopped>,
        calls_max: usize,
    ) -> Self {
        let permits = Arc::new(Semaphore::new(calls_max));
        let threads = Mutex::default();
        Node { inner: Arc::new(Inner { shared, permits, reader, moved, recent, threads, stopped }) }
    }

    pub(crate) fn adopt(&self, thread: JoinHandle<()>) {
        self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    /// Executes a command, and answers when everything that the answer was computed from is durable. Everything that
    /// is asked meanwhile shares one sync.
    pub async fn execute<R: Request>(&self, request: R) -> Result<R::Answer, CallError> {
        let executed = self.execute_all(vec![request.into_command()]).await?.pop();
        executed.ok_or(CallError::Unexpected)?.answer::<R>()
    }

    /// Executes commands one after the other, in one batch. A command that is refused does not keep the next ones from
    /// being executed.
    pub async fn execute_all(&self, commands: Vec<Command>) -> Result<Vec<Executed>, CallError> {
        let (reply, replied) = oneshot::channel();
        let reply = ReplyTo::Caller { reply, permit: Some(self.permit().await?) };
        self.push(Job::Execute { commands, reply })?;
        replied.await.map_err(|_| CallError::Stopped)
    }

    /// Accepts a message, and begins to wait for its reply if its sender does.
    pub async fn accept(&self, accept: Box<Accept>) -> Result<(Receipted, Option<Awaited>), CallError> {
        let executed = self.execute_all(vec![Command::Accept(accept)]).await?.pop();
        let mut executed = executed.ok_or(CallError::Unexpected)?;
        let awaited = executed.awaited.take();
        Ok((executed.answer::<Box<Accept>>()?, awaited))
    }

    /// Executes commands, and puts what came of them into a place that the caller has reserved in a queue of its own;
    /// does not wait for that. What one caller submits is executed, and put there, in that order.
    pub async fn submit(
        &self,
        commands: Vec<Command>,
        slot: mpsc::OwnedPermit<Vec<Executed>>,
    ) -> Result<(), CallError> {
        let reply = ReplyTo::Queue { slot, permit: Some(self.permit().await?) };
        self.push(Job::Execute { commands, reply })
    }

    /// Executes a command whose outcome its caller does not wait for. A sign of life is dropped when too many wait, as
    /// the next one is soon there; anything else is carried out.
    pub fn note(&self, command: Command) {
        let is_sign = matches!(command, Command::SetPresence { .. } | Command::Sign { .. });
        let job = match is_sign {
            true => Job::Note(command),
            false => Job::Execute { commands: vec![command], reply: ReplyTo::Nobody },
        };
        // A node that has stopped takes no notes.
        drop(self.push(job));
    }

    /// Looks at the state, and answers when everything that was seen is durable.
    pub async fn query<Q: Query>(&self, query: Q) -> Result<Q::Answer, CallError> {
        let (reply, replied) = oneshot::channel();
        let permit = Some(self.permit().await?);
        self.push(Job::Query(Box::new(QueryJob { query, reply, permit })))?;
        replied.await.map_err(|_| CallError::Stopped)
    }

    async fn permit(&self) -> Result<OwnedSemaphorePermit, CallError> {
        Arc::clone(&self.inner.permits).acquire_owned().await.map_err(|_| CallError::Stopped)
    }

    pub(crate) fn push(&self, job: Job) -> Result<(), CallError> {
        self.inner.shared.queue.push(job)
    }

    /// Gives an agent what waits for it; if nothing does, waits for it a while.
    pub async fn take(&self, wishes: Wishes, wait: Duration) -> Result<Vec<Letter>, CallError> {
        let ((letters, mut come), (reply, replied)) = (oneshot::channel(), oneshot::channel());
        let (waits, permit) = (!wait.is_zero(), Some(self.permit().await?));
        self.push(Job::Take(Take { wishes, waits, reply, letters, permit }))?;
        let waiting = match replied.await.map_err(|_| CallError::Stopped)?? {
            Taken::Letters(letters) => return Ok(letters),
            Taken::Waiting(subscriber) => subscriber,
        };
        // A caller that stops waiting here, by time or because it has gone, is taken off the list.
        let mut guard = Leave { node: self.clone(), subscriber: Some(waiting) };
        match tokio::time::timeout(wait, &mut come).await {
            Ok(letters) => {
                // Who was given something is on no list any more.
                guard.subscriber = None;
                letters.map_err(|_| CallError::Stopped)
            }
            Err(_) => {
                drop(guard);
                // What was handed out before is released before this is.
                self.execute_all(Vec::new()).await?;
                Ok(come.try_recv().unwrap_or_default())
            }
        }
    }

    /// Lets letters come as they may leave, as many as there is credit for; there is none at first.
    pub async fn subscribe(&self, wishes: Wishes) -> Result<Subscription, CallError> {
        let (letters, come) = mpsc::channel(STREAM_LETTERS_MAX as usize);
        let (agent, (reply, replied)) = (wishes.agent, oneshot::channel());
        self.push(Job::Subscribe { wishes, letters, reply })?;
        let subscriber = replied.await.map_err(|_| CallError::Stopped)?;
        Ok(Subscription::new(self.clone(), agent, subscriber, come))
    }

    /// Reads the body of a message for a caller that may block.
    pub fn body_blocking(&self, place: Seq) -> Result<Bytes, ReadError> {
        let (mut bodies, read) = self.bodies_within(&[place], usize::MAX);
        read.map(|()| bodies.pop().unwrap_or_default())
    }

    /// Reads a record of the log for a caller that may block.
    pub(crate) fn record_blocking(&self, place: Seq) -> Result<Vec<u8>, ReadError> {
        self.inner.reader.read(place)
    }

    /// Reads bodies from the first on until they have so many bytes, one in any case, or one cannot be read. Neighbours
    /// cost one read. What was carried meanwhile is read from where it is now.
    pub(crate) fn bodies_within(
        &self,
        places: &[Seq],
        bytes_max: usize,
    ) -> (Vec<Bytes>, Result<(), ReadError>) {
        let mut bodies = self.recent_bodies(places, bytes_max);
        let mut bytes: usize = bodies.iter().map(Bytes::len).sum();
        if bodies.len() == places.len() || (bytes >= bytes_max && !bodies.is_empty()) {
            return (bodies, Ok(()));
        }
        let mut read = |places: &[Seq], bodies: &mut Vec<Bytes>| {
            self.inner.reader.read_many(places, &mut |_, record| {
                let body = Bytes::from(body_of(record));
                bytes = bytes.saturating_add(body.len());
                bodies.push(body);
                if bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        };
        let from = bodies.len();
        let mut found = read(&places[from..], &mut bodies);
        for _ in 0..MOVES_FOLLOWED {
            if !matches!(found, Err(ReadError::Trimmed { .. })) {
                break;
            }
            found = read(&self.inner.moved.now(&places[bodies.len()..]), &mut bodies);
        }
        (bodies, found)
    }

    /// Returns the bodies with which a list begins, as far as they are in memory and the log still holds them, until they
    /// have so many bytes.
    pub(crate) fn recent_bodies(&self, places: &[Seq], bytes_max: usize) -> Vec<Bytes> {
        let (first, mut bytes) = (self.log_first(), 0_usize);
        let recent = self.inner.recent.get_many(places).into_iter().zip(places);
        let recent = recent.map_while(|(body, place)| {
            let body = body.filter(|_| *place >= first && bytes < bytes_max)?;
            bytes = bytes.saturating_add(body.len());
            Some(body)
        });
        recent.collect()
    }

    /// Returns the oldest record that the log holds.
    pub fn log_first(&self) -> Seq {
        self.inner.shared.commits.held().0
    }

    /// Returns what the files of the log take on the disk.
    pub fn log_bytes(&self) -> u64 {
        self.inner.shared.commits.held().1
    }

    /// Lets the log be trimmed from now on, as its settings say and behind whoever follows it: `read` says up to which
    /// record it has read the log for good, so that not even a power loss makes it ask for it again.
    pub fn trim_behind(&self, read: impl Fn() -> Option<Seq> + Send + 'static) {
        self.inner.shared.signal.follow(Box::new(read));
    }

    /// Trims the log now, or only says what would be given up.
    pub async fn trim(&self, keep: Keep, is_trial: bool) -> Result<Trim, CallError> {
        let permit = self.permit().await?;
        let (answer, answered) = oneshot::channel();
        let answer = Box::new(move |trim| {
            // Who asked may be gone.
            let _gone = answer.send(trim);
            drop(permit);
        });
        let asked = self.inner.shared.signal.trim(TrimRequest { keep, is_trial, answer });
        asked.map_err(|_| CallError::Stopped)?;
        answered.await.map_err(|_| CallError::Stopped)
    }

    /// Blocks until the log is durable beyond a place, and returns up to where it is; nothing when no more will come.
    pub fn wait_durable(&self, after: Seq) -> Option<Seq> {
        self.inner.shared.commits.wait_beyond(after)
    }

    /// Tells whether new messages are refused because the disk is full.
    pub fn is_full(&self) -> bool {
        self.inner.shared.commits.is_full()
    }

    /// Returns the handle that reads the log; bound it by [`Node::durable`].
    pub fn reader(&self) -> LogReader<RealDisk> {
        self.inner.reader.clone()
    }

    /// Returns up to where the log is durable.
    pub fn durable(&self) -> Seq {
        self.inner.shared.commits.durable()
    }

    /// Returns a handle by which it can be waited for that the log is durable further on.
    pub fn watch_durable(&self) -> watch::Receiver<Seq> {
        self.inner.shared.commits.watch()
    }

    /// Returns how long ago some fixed moment was; it never goes back.
    pub fn steady(&self) -> Duration {
        self.inner.shared.clock.steady()
    }

    /// Returns what the wall clock shows.
    pub fn wall(&self) -> Time {
        self.inner.shared.clock.wall()
    }

    /// Returns what was done so far.
    pub fn counters(&self) -> &Counters {
        &self.inner.shared.counters
    }

    /// Tells whether the node has stopped, or stops.
    pub fn is_stopped(&self) -> bool {
        self.inner.shared.queue.is_closed()
    }

    /// Waits until the node has stopped, and says why if it was not asked to.
    pub async fn stopped(&self) -> Option<String> {
        let mut stopped = self.inner.stopped.clone();
        match &*stopped.wait_for(|stopped| *stopped != Stopped::Not).await.ok()? {
            Stopped::Not | Stopped::Asked => None,
            Stopped::Failed(reason) => Some(reason.clone()),
        }
    }

    /// Finishes what was asked, makes it durable and stops. Blocks until that is done.
    pub fn shut_down(&self) {
        self.inner.shared.queue.close();
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has said so.
            drop(thread.join());
        }
        self.inner.permits.close();
    }

    /// Gives a stream more credit, and what it may have at once.
    pub(crate) fn add_credit(&self, subscriber: SubscriberId, more: u32) {
        // A node that has stopped has no subscribers.
        drop(self.push(Job::Credit { subscriber, more }));
    }

    pub(crate) fn unsubscribe(&self, subscriber: SubscriberId, agent: AgentKey, unread: Vec<DeliveryId>) {
        let unread = unread.into_iter().map(|delivery| (agent, delivery)).collect();
        // A node that has stopped has no subscribers.
        drop(self.push(Job::Unsubscribe { subscriber, unread }));
    }
}

/// Takes a caller off the list of those who wait.
struct Leave {
    node: Node,
    subscriber: Option<SubscriberId>,
}

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(subscriber) = self.subscriber {
            self.node.unsubscribe(subscriber, AgentKey::SYSTEM, Vec::new());
        }
    }
}

pub(crate) fn body_of(record: &[u8]) -> Vec<u8> {
    match Event::decode(record) {
        Ok((_, Event::Accepted(accepted))) => accepted.body.into_owned(),
        Ok((_, Event::Amended { body, .. } | Event::Carried { body, .. })) => body.to_vec(),
        Ok((_, Event::RecordSet(set))) => set.body.to_vec(),
        Ok((_, Event::RecordCarried { body, .. } | Event::TaskCarried { body, .. })) => body.to_vec(),
        Ok(_) | Err(_) => Vec::new(),
    }
}
