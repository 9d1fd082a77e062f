//! The handle by which everybody speaks to a node.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use broker::{AgentKey, At, Command, Event, Query, Reply, Request, Time};
use log::{LogReader, ReadError, Reader, RealDisk};
use message::{DeliveryId, Seq};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

use crate::bell::Bell;
use crate::clock::Clock;
use crate::counters::Counters;
use crate::failure::CallError;
use crate::mailman::{Letter, Waiting};
use crate::moved::Moved;
use crate::release::{Outbox, Release};
use crate::subscription::{Subscription, Wishes};
use crate::trim::{self, Keep, Trim};
use crate::turn::Turn;
use crate::writer::{Job, Queue, Seat};

/// How many letters a stream holds that nobody has read yet.
pub(crate) const STREAM_LETTERS_MAX: u32 = 1_024;

/// Turns that somebody who asks carries out for others too, before it goes its own way.
const TURNS_MAX: usize = 8;
/// Commands that somebody who asks carries out itself. For more it pays to have the thread do it, which has the state
/// in its processor's memory, while whoever asks reads on.
const LED_MAX: usize = 16;
/// Bytes of bodies that are read at a time; more is read when they were asked for.
const PIECE_BYTES: usize = 1 << 20;
/// How often a body is looked for again that was carried while it was looked for.
const MOVES_FOLLOWED: usize = 3;

/// A running node. Copies are the same node.
#[derive(Clone)]
pub struct Node {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) queue: Arc<Queue>,
    seat: Arc<Seat>,
    /// How much may be asked and not answered; who asks more waits.
    permits: Arc<Semaphore>,
    outbox: Arc<Outbox>,
    bell: Arc<Bell>,
    reader: LogReader<RealDisk>,
    moved: Arc<Moved>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    stopped: watch::Receiver<Option<String>>,
    clock: Arc<dyn Clock>,
    pub(crate) counters: Arc<Counters>,
}

impl Node {
    pub(crate) fn new(
        seat: Arc<Seat>,
        (queue, outbox, bell): (Arc<Queue>, Arc<Outbox>, Arc<Bell>),
        (reader, moved): (LogReader<RealDisk>, Arc<Moved>),
        stopped: watch::Receiver<Option<String>>,
        (clock, counters): (Arc<dyn Clock>, Arc<Counters>),
        calls_max: usize,
    ) -> Self {
        let permits = Arc::new(Semaphore::new(calls_max));
        let threads = Mutex::new(Vec::new());
        Node {
            inner: Arc::new(Inner {
                queue,
                seat,
                permits,
                outbox,
                bell,
                reader,
                moved,
                threads,
                stopped,
                clock,
                counters,
            }),
        }
    }

    pub(crate) fn adopt(&self, thread: JoinHandle<()>) {
        self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    /// Executes a command, and answers when everything that the answer was computed from is durable.
    pub async fn execute<R: Request>(&self, request: R) -> Result<R::Answer, CallError> {
        let command = request.into_command();
        let reply = self.call(move |turn| turn.execute(&command)).await??;
        R::answer(reply).ok_or(CallError::Unexpected)
    }

    /// Executes commands one after the other, in one batch. A command that is refused does not keep the next ones from
    /// being executed.
    pub async fn execute_all(
        &self,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Reply, CallError>>, CallError> {
        self.call(move |turn| commands.iter().map(|command| turn.execute(command)).collect()).await
    }

    /// Executes a command whose outcome nobody relies on, such as a sign of life.
    pub fn note(&self, command: Command) {
        // A refusal is nobody's to know.
        self.post(move |turn| drop(turn.execute(&command)));
    }

    /// Looks at the state, and answers when everything that was seen is durable.
    pub async fn query<Q: Query>(&self, query: Q) -> Result<Q::Answer, CallError> {
        self.call(move |turn| query.run(turn.broker(), At { now: turn.now(), wall: turn.wall() })).await
    }

    /// Does something with the state, and gives back what came of it when everything that it was computed from is
    /// durable. Everything that is asked meanwhile shares one sync.
    pub async fn call<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Turn<'_>) -> R + Send + 'static,
    ) -> Result<R, CallError> {
        let permit = Arc::clone(&self.inner.permits).acquire_owned().await.map_err(|_| CallError::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |turn| {
            let result = work(turn);
            let release: Release = Box::new(move || {
                drop(answer.send(result));
                drop(permit);
            });
            Some(release)
        });
        self.ask(job).await?;
        answered.await.map_err(|_| CallError::Stopped)
    }

    /// Does something with the state, and passes what came of it on when everything that it was computed from is
    /// durable; does not wait for that. `then` runs on the thread that makes things durable, and must not block. The
    /// count says how many commands it comes to.
    ///
    /// What one caller starts is done in that order, and passed on in that order.
    pub async fn start_call<R: Send + 'static>(
        &self,
        count: usize,
        work: impl FnOnce(&mut Turn<'_>) -> R + Send + 'static,
        then: impl FnOnce(R) + Send + 'static,
    ) -> Result<(), CallError> {
        let permit = Arc::clone(&self.inner.permits).acquire_owned().await.map_err(|_| CallError::Stopped)?;
        let job: Job = Box::new(move |turn| {
            let result = work(turn);
            let release: Release = Box::new(move || {
                then(result);
                drop(permit);
            });
            Some(release)
        });
        if count > LED_MAX {
            return self.inner.queue.push(job);
        }
        self.ask(job).await
    }

    /// Asks for something that somebody waits for. If nobody is at work it is carried out here, together with what
    /// everybody else asks who is ready to; if there was nobody else of late, at once.
    async fn ask(&self, job: Job) -> Result<(), CallError> {
        let Some(mut place) = self.inner.queue.push_or_lead(job)? else { return Ok(()) };
        for turn in 0..TURNS_MAX {
            if turn > 0 || !place.is_alone {
                tokio::task::yield_now().await;
            }
            if !place.work(&self.inner.seat) {
                break;
            }
        }
        Ok(())
    }

    /// Does something with the state whose outcome nobody relies on, such as a sign of life, and does not wait until
    /// it is durable.
    pub fn note_with(&self, work: impl FnOnce(&mut Turn<'_>) + Send + 'static) {
        self.post(work);
    }

    /// Gives an agent what waits for it; if nothing does, waits for it a while.
    pub async fn take(&self, wishes: Wishes, wait: Duration) -> Result<Vec<Letter>, CallError> {
        let (letters, mut come) = oneshot::channel();
        let waits = !wait.is_zero();
        let asked = self.call(move |turn| -> Result<Result<Vec<Letter>, Waiting>, CallError> {
            let letters_now = turn.take(&wishes.take())?;
            if !letters_now.is_empty() || !waits {
                return Ok(Ok(letters_now));
            }
            Ok(Err(turn.mailman.wait_once(wishes, letters)))
        });
        let waiting = match asked.await?? {
            Ok(letters) => return Ok(letters),
            Err(waiting) => waiting,
        };
        // Whoever stops waiting here, by time or because nobody listens any more, is taken off the list.
        let mut guard = Leave { node: self.clone(), waiting: Some(waiting) };
        match tokio::time::timeout(wait, &mut come).await {
            Ok(letters) => {
                // Who was given something is on no list any more.
                guard.waiting = None;
                letters.map_err(|_| CallError::Stopped)
            }
            Err(_) => {
                drop(guard);
                // What was handed out before is released before this call is.
                self.call(|_| ()).await?;
                Ok(come.try_recv().unwrap_or_default())
            }
        }
    }

    /// Lets letters come as they may leave, as many as there is credit for; there is none at first.
    pub async fn subscribe(&self, wishes: Wishes) -> Result<Subscription, CallError> {
        let (letters, come) = mpsc::channel(STREAM_LETTERS_MAX as usize);
        let agent = wishes.agent;
        let waiting = self.call(move |turn| turn.mailman.wait_on(wishes, letters)).await?;
        Ok(Subscription::new(self.clone(), agent, waiting, come))
    }

    /// Reads the body of a message from its place in the log, or from where it was carried.
    pub fn body(&self, place: Seq) -> Result<Vec<u8>, ReadError> {
        Ok(self.bodies(&[place])?.pop().unwrap_or_default())
    }

    /// Reads a record of the log.
    pub fn record(&self, place: Seq) -> Result<Vec<u8>, ReadError> {
        self.inner.reader.read(place)
    }

    /// Reads the bodies of messages from their places in the log, in that order.
    pub fn bodies(&self, places: &[Seq]) -> Result<Vec<Vec<u8>>, ReadError> {
        let (bodies, read) = self.bodies_within(places, usize::MAX);
        read.map(|()| bodies)
    }

    /// Reads bodies as they are asked for: however many there are, few are in memory. Behind one that cannot be read
    /// the others come.
    pub fn bodies_in_turn<'n>(
        &'n self,
        places: &'n [Seq],
    ) -> impl Iterator<Item = Result<Vec<u8>, ReadError>> + 'n {
        let (mut rest, mut here, mut failed) = (places, Vec::new().into_iter(), None);
        std::iter::from_fn(move || {
            if here.len() == 0 && failed.is_none() && !rest.is_empty() {
                let (bodies, read) = self.bodies_within(rest, PIECE_BYTES);
                failed = read.err();
                rest = &rest[bodies.len() + usize::from(failed.is_some())..];
                here = bodies.into_iter();
            }
            here.next().map(Ok).or_else(|| failed.take().map(Err))
        })
    }

    /// Reads bodies from the first on until they have so many bytes, one in any case, or one cannot be read. Neighbours
    /// cost one read. What was carried meanwhile is read from where it is now.
    pub(crate) fn bodies_within(
        &self,
        places: &[Seq],
        bytes_max: usize,
    ) -> (Vec<Vec<u8>>, Result<(), ReadError>) {
        let (mut bodies, mut bytes) = (Vec::new(), 0_usize);
        let mut read = |places: &[Seq], bodies: &mut Vec<Vec<u8>>| {
            self.inner.reader.read_many(places, &mut |_, record| {
                let body = body_of(record);
                bytes = bytes.saturating_add(body.len());
                bodies.push(body);
                if bytes >= bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        };
        let mut found = read(places, &mut bodies);
        for _ in 0..MOVES_FOLLOWED {
            if !matches!(found, Err(ReadError::Trimmed { .. })) {
                break;
            }
            found = read(&self.inner.moved.now(&places[bodies.len()..]), &mut bodies);
        }
        (bodies, found)
    }

    /// Returns the oldest record that the log holds.
    pub fn log_first(&self) -> Seq {
        self.inner.outbox.held().0
    }

    /// Returns what the files of the log take on the disk.
    pub fn log_bytes(&self) -> u64 {
        self.inner.outbox.held().1
    }

    /// Lets the log be trimmed from now on, as its settings say and behind whoever follows it: `read` says up to which
    /// record it has read the log for good, so that not even a power loss makes it ask for it again.
    pub fn trim_behind(&self, read: impl Fn() -> Option<Seq> + Send + 'static) {
        self.inner.bell.follow(Box::new(read));
    }

    /// Trims the log now, or only says what would be given up.
    pub async fn trim(&self, keep: Keep, is_trial: bool) -> Result<Trim, CallError> {
        let permit = Arc::clone(&self.inner.permits).acquire_owned().await.map_err(|_| CallError::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let answer = Box::new(move |trim| {
            // Who asked may be gone.
            let _gone = answer.send(trim);
            drop(permit);
        });
        let asked = self.inner.bell.ask(trim::Request { keep, is_trial, answer });
        asked.map_err(|_| CallError::Stopped)?;
        answered.await.map_err(|_| CallError::Stopped)
    }

    /// Blocks until the log is durable beyond a place, and returns up to where it is; nothing when no more will come.
    pub fn wait_durable(&self, after: Seq) -> Option<Seq> {
        self.inner.outbox.wait_beyond(after)
    }

    /// Tells whether new messages are refused because the disk is full.
    pub fn is_full(&self) -> bool {
        self.inner.outbox.is_full()
    }

    /// Returns the handle that reads the log; bound it by [`Node::durable`].
    pub fn reader(&self) -> LogReader<RealDisk> {
        self.inner.reader.clone()
    }

    /// Returns up to where the log is durable.
    pub fn durable(&self) -> Seq {
        self.inner.outbox.durable()
    }

    /// Returns a handle by which it can be waited for that the log is durable further on.
    pub fn watch_durable(&self) -> watch::Receiver<Seq> {
        self.inner.outbox.watch()
    }

    /// Returns how long ago some fixed moment was; it never goes back.
    pub fn steady(&self) -> Duration {
        self.inner.clock.steady()
    }

    /// Returns what the wall clock shows.
    pub fn wall(&self) -> Time {
        self.inner.clock.wall()
    }

    /// Returns what was done so far.
    pub fn counters(&self) -> &Counters {
        &self.inner.counters
    }

    /// Tells whether the node has stopped, or stops.
    pub fn is_stopped(&self) -> bool {
        self.inner.queue.is_closed()
    }

    /// Waits until the node has stopped, and says why if it was not asked to.
    pub async fn stopped(&self) -> Option<String> {
        let mut stopped = self.inner.stopped.clone();
        // Threads that ended without a reason were asked to.
        stopped.wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Finishes what was asked, makes it durable and stops. Blocks until that is done.
    pub fn shut_down(&self) {
        self.inner.queue.close();
        let threads = std::mem::take(&mut *self.inner.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread that panicked has said so.
            drop(thread.join());
        }
        self.inner.permits.close();
    }

    /// Gives a stream more credit, and what it may have at once.
    pub(crate) fn add_credit(&self, waiting: Waiting, more: u32) {
        self.post(move |turn| {
            turn.mailman.add_credit(waiting, more);
            turn.serve(waiting);
        });
    }

    pub(crate) fn unsubscribe(&self, waiting: Waiting, agent: AgentKey, unread: Vec<DeliveryId>) {
        self.post(move |turn| {
            turn.mailman.leave(waiting);
            for delivery in unread {
                // It may have ended meanwhile; then there is nothing to return.
                drop(turn.execute(&Command::Return { agent, delivery }));
            }
        });
    }

    /// Does something without waiting for it.
    fn post(&self, work: impl FnOnce(&mut Turn<'_>) + Send + 'static) {
        let job: Job = Box::new(move |turn| {
            work(turn);
            None
        });
        // A node that has stopped has forgotten everybody anyway.
        drop(self.inner.queue.push(job));
    }
}

/// Takes somebody off the list of those who wait.
struct Leave {
    node: Node,
    waiting: Option<Waiting>,
}

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting {
            self.node.post(move |turn| turn.mailman.leave(waiting));
        }
    }
}

pub(crate) fn body_of(record: &[u8]) -> Vec<u8> {
    match Event::decode(record) {
        Ok((_, Event::Accepted(accepted))) => accepted.body.into_owned(),
        Ok((_, Event::Amended { body, .. } | Event::Carried { body, .. })) => body.to_vec(),
        Ok((_, Event::RecordSet(set))) => set.body.to_vec(),
        Ok((_, Event::RecordCarried { body, .. })) => body.to_vec(),
        Ok(_) | Err(_) => Vec::new(),
    }
}
