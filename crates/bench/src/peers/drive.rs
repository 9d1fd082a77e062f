//! Driving connections: one thread for all of them, so that a server has the other processors.

use std::cell::Cell;
use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::future::try_join_all;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

use super::clock::now;
use super::document::Documents;
use super::input::Input;
use super::server::Server;
use super::side::Role;
use super::speech::{Consume, Publish};
use crate::figures::Pace;

/// How long no answer may come until the run fails instead of waiting for ever.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How long a braked publisher waits before it looks again.
const BRAKE: Duration = Duration::from_millis(5);

/// Opens connections and drives them.
pub(crate) struct Lines {
    runtime: Runtime,
}

/// A connection with what is said on it.
pub(crate) struct Line<S: ?Sized> {
    stream: TcpStream,
    input: Input,
    out: Vec<u8>,
    documents: Documents,
    speech: Box<S>,
}

/// What a run did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) messages: u64,
    pub(crate) wall: Duration,
}

/// How far consumers have come together.
pub(crate) struct Progress {
    settled: Cell<u64>,
    target: u64,
    reached: Notify,
}

impl Run {
    pub(crate) fn rate(&self) -> f64 {
        self.messages as f64 / self.wall.as_secs_f64()
    }
}

impl Lines {
    pub(crate) fn new() -> anyhow::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        Ok(Lines { runtime: runtime.context("starting the clients' thread")? })
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Connects and greets, and waits until the server is ready.
    pub(crate) fn open<S: ?Sized>(
        &self,
        server: &Server,
        place: usize,
        role: Role,
        speech: Box<S>,
        documents: Documents,
    ) -> anyhow::Result<Line<S>> {
        self.block_on(async {
            let mut stream = TcpStream::connect(server.address).await?;
            stream.set_nodelay(true)?;
            stream.write_all(&role.greeting(server, place)).await?;
            let mut input = Input::default();
            while !role.is_open(&mut input)? {
                input.fill(&mut stream).await?;
            }
            Ok(Line { stream, input, out: Vec::new(), documents, speech })
        })
    }

    /// Publishes on all connections, each with so many documents unanswered; ends when all are answered.
    pub(crate) fn publish(
        &self,
        lines: &mut [Line<dyn Publish>],
        window: u64,
        pace: Pace,
    ) -> anyhow::Result<Run> {
        let start = now();
        let goal = Goal::new(start, pace);
        let pumps = lines.iter_mut().map(|line| line.publish(window, goal));
        let counts = self.block_on(try_join_all(pumps))?;
        Ok(Run { messages: counts.into_iter().sum(), wall: start.elapsed() })
    }

    /// Consumes on all connections until so many messages are settled.
    pub(crate) fn consume(&self, lines: &mut [Line<dyn Consume>], target: u64) -> anyhow::Result<Run> {
        let start = now();
        let progress = Progress::new(target);
        let pumps = try_join_all(lines.iter_mut().map(|line| line.consume(&progress)));
        self.block_on(async {
            tokio::select! {
                ended = pumps => ended.map(|_| ()),
                () = progress.reached.notified() => Ok(()),
            }
        })?;
        Ok(Run { messages: progress.settled.get(), wall: start.elapsed() })
    }
}

/// When a connection stops publishing.
#[derive(Clone, Copy)]
pub(crate) enum Goal {
    Until(Instant),
    Count(u64),
}

impl Goal {
    fn new(start: Instant, pace: Pace) -> Self {
        match pace {
            Pace::For(duration) => Goal::Until(start + duration),
            Pace::Passes(count) => Goal::Count(count),
        }
    }

    /// How many more may be published.
    fn room(self, published: u64) -> u64 {
        match self {
            Goal::Until(end) if now() < end => u64::MAX,
            Goal::Until(_) => 0,
            Goal::Count(count) => count.saturating_sub(published),
        }
    }
}

impl<S: ?Sized> Line<S> {
    async fn flush(&mut self) -> anyhow::Result<()> {
        if !self.out.is_empty() {
            self.stream.write_all(&self.out).await.context("writing to the server")?;
            self.out.clear();
        }
        Ok(())
    }

    async fn fill(&mut self) -> anyhow::Result<()> {
        let filled = tokio::time::timeout(SILENCE_MAX, self.input.fill(&mut self.stream)).await;
        filled.context("the server has not answered for a minute")?.context("reading from the server")
    }
}

impl Line<dyn Publish> {
    async fn publish(&mut self, window: u64, goal: Goal) -> anyhow::Result<u64> {
        self.publish_braked(window, goal, &Cell::new(false)).await
    }

    /// Publishes, and waits while the brake is on.
    pub(crate) async fn publish_braked(
        &mut self,
        window: u64,
        goal: Goal,
        brake: &Cell<bool>,
    ) -> anyhow::Result<u64> {
        let (mut published, mut answered) = (0, 0);
        loop {
            while brake.get() && published == answered && goal.room(published) > 0 {
                tokio::time::sleep(BRAKE).await;
            }
            let window = if brake.get() { 0 } else { window };
            let free = u64::saturating_sub(window, published - answered);
            let more = free.min(goal.room(published));
            for _ in 0..more {
                self.speech.publish(self.documents.next(), &mut self.out);
            }
            published += more;
            self.flush().await?;
            if published == answered {
                return Ok(answered);
            }
            self.fill().await?;
            answered += self.speech.answers(&mut self.input, &mut self.out)?;
        }
    }
}

impl Line<dyn Consume> {
    pub(crate) async fn consume(&mut self, progress: &Progress) -> anyhow::Result<()> {
        self.speech.begin(&mut self.out);
        loop {
            self.flush().await?;
            self.fill().await?;
            let settled = self.speech.receive(&mut self.input, &mut self.out, &mut |_| {})?;
            progress.add(settled);
        }
    }
}

impl Progress {
    pub(crate) fn new(target: u64) -> Self {
        Progress { settled: Cell::new(0), target, reached: Notify::new() }
    }

    pub(crate) fn settled(&self) -> u64 {
        self.settled.get()
    }

    fn add(&self, settled: u64) {
        self.settled.set(self.settled.get() + settled);
        if self.settled.get() >= self.target {
            self.reached.notify_one();
        }
    }
}
