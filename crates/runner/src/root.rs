//! Watching channels of a root: messages are files, and so are answers and presence.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use channel_root::{Draft, Follower, Found, Heartbeat, Limits, Root, RootError};
use dialect_channel::addressing::{base_id, is_from_us_strict};
use dialect_channel::presence::{Event, Phase, REFRESH_AFTER};
use json::Value;
use message::Timestamp;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::journal::{Entry, Journal, State};
use crate::judgement::{Judgement, judge};
use crate::pace::Pace;
use crate::watching::{Stop, Tally, Watching};
use crate::{InvocationError, Post, WatchError};

/// What a message is said to have failed of when its watcher ended in the middle.
const INTERRUPTED: &str = "interrupted: the watcher ended before there was an answer";

/// Which messages that are already there are answered when a channel is watched for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    /// None.
    Skipped,
    /// All of them.
    Answered,
}

/// Watches channels of a root until it is stopped, or until nothing is left to do.
///
/// Whatever ends it, the agent's presence is `OFFLINE` afterwards.
pub async fn watch_root(
    root: Root,
    channels: Vec<String>,
    history: History,
    watching: Arc<Watching>,
    stop: Stop,
) -> Result<Tally, WatchError> {
    let (agent, now, place) = (watching.agent.clone(), watching.now, channels.join(","));
    let mut watcher = Watcher::new(root.clone(), channels, history, watching, stop)?;
    let ended = tokio::spawn(async move { watcher.run().await }).await;
    let heartbeat = Heartbeat::of(&agent, Phase::Offline, &place, Some(std::process::id()));
    let written = root.write_presence(&heartbeat, now());
    match ended {
        Ok(ended) => {
            let tally = ended?;
            written?;
            Ok(tally)
        }
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Ok(Tally::default()),
        },
    }
}

/// A message that is to be answered.
#[derive(Clone, Debug)]
struct Job {
    channel: String,
    file: String,
    post: Post,
}

struct Watcher {
    root: Root,
    watching: Arc<Watching>,
    journal: Journal,
    followers: Vec<Follower>,
    queue: VecDeque<Job>,
    running: JoinSet<(Job, Result<String, InvocationError>)>,
    working: Vec<Job>,
    phase: Phase,
    pace: Pace,
    tally: Tally,
    stop: Stop,
    /// Channels that could not be looked at the last time.
    troubled: HashSet<String>,
    began: Instant,
}

impl Watcher {
    fn new(
        root: Root,
        channels: Vec<String>,
        history: History,
        watching: Arc<Watching>,
        stop: Stop,
    ) -> Result<Self, WatchError> {
        let agent = base_id(&watching.agent).to_owned();
        let now = (watching.now)();
        let phase = Phase::Offline.after(Event::Started);
        let (mut journal, entries) = Journal::open(root.path(), &agent)?;
        let mut followers = Vec::new();
        for channel in channels {
            let mut follower = Follower::new(&root, &channel, Limits::default())?;
            let mut is_new = true;
            for entry in entries.iter().filter(|entry| entry.channel == channel) {
                is_new = false;
                follower.mark(&entry.file);
            }
            if is_new && history == History::Skipped {
                let there = root.messages(&channel).unwrap_or_default();
                there.iter().for_each(|file| follower.mark(file));
                journal.pass(&channel, &there, now)?;
            }
            if is_new {
                // From now on the channel is known, even if nothing was in it.
                journal.write(&channel, "", &State::Passed, now)?;
            }
            followers.push(follower);
        }
        let pace = Pace::new(watching.per_minute);
        let mut watcher = Watcher {
            root,
            watching,
            journal,
            followers,
            queue: VecDeque::new(),
            running: JoinSet::new(),
            working: Vec::new(),
            phase,
            pace,
            tally: Tally::default(),
            stop,
            troubled: HashSet::new(),
            began: Instant::now(),
        };
        watcher.settle_interrupted(&entries)?;
        watcher.say_presence();
        Ok(watcher)
    }

    /// Finds out what became of messages whose watcher ended in the middle.
    fn settle_interrupted(&mut self, entries: &[Entry]) -> Result<(), WatchError> {
        for entry in entries.iter().filter(|entry| entry.state == State::Started) {
            let state = match self.reply_to(entry) {
                Some(reply) => State::Answered(reply),
                None => {
                    self.log(&format!("{} {}: {INTERRUPTED}", entry.channel, entry.file));
                    self.tally.failed += 1;
                    State::Failed(INTERRUPTED.to_owned())
                }
            };
            self.journal.write(&entry.channel, &entry.file, &state, self.now())?;
        }
        Ok(())
    }

    /// Finds the answer to a message that this agent posted before it could say so.
    fn reply_to(&self, entry: &Entry) -> Option<String> {
        let id = self.post_of(&entry.channel, &entry.file)?.id;
        let names = self.root.messages(&entry.channel).ok()?;
        names.iter().rev().find_map(|name| {
            let post = self.post_of(&entry.channel, name)?;
            let is_reply = is_from_us_strict(&self.watching.agent, Some(&post.from))
                && post.reply_to.as_deref() == Some(&id);
            is_reply.then_some(post.id)
        })
    }

    async fn run(&mut self) -> Result<Tally, WatchError> {
        let mut beat = tokio::time::interval(REFRESH_AFTER);
        let mut quiet_polls = 0;
        loop {
            self.take_wishes()?;
            let mut more = false;
            if self.queue.is_empty() {
                more = self.poll()?;
            }
            let pause = self.start_jobs()?.unwrap_or(self.watching.poll_every);
            let is_quiet = !more && self.queue.is_empty() && self.running.is_empty();
            quiet_polls = if is_quiet { quiet_polls + 1 } else { 0 };
            // A file that is no message yet has one more chance.
            if self.watching.is_once && quiet_polls > 1 {
                return Ok(self.tally);
            }
            if more && self.queue.is_empty() && self.running.is_empty() {
                continue;
            }
            tokio::select! {
                Some(done) = self.running.join_next(), if !self.running.is_empty() => match done {
                    Ok((job, answer)) => self.finish(&job, answer)?,
                    Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                    Err(_) => {}
                },
                _ = beat.tick() => self.say_presence(),
                () = tokio::time::sleep(pause) => {}
                () = self.stop.asked() => return self.end().await,
            }
        }
    }

    /// Ends what runs; it can be tried again by hand.
    async fn end(&mut self) -> Result<Tally, WatchError> {
        self.running.shutdown().await;
        for job in std::mem::take(&mut self.working) {
            self.fail(&job, "stopped", "the watcher was stopped before there was an answer")?;
        }
        Ok(self.tally)
    }

    /// Looks for new messages; tells whether there are more than were taken.
    fn poll(&mut self) -> Result<bool, WatchError> {
        let mut more = false;
        let since = self.began.elapsed();
        for place in 0..self.followers.len() {
            let Some(follower) = self.followers.get_mut(place) else { continue };
            let channel = follower.channel().to_owned();
            let polled = match follower.poll(since) {
                Ok(polled) => polled,
                Err(error) => {
                    self.tell_trouble(&channel, &error);
                    continue;
                }
            };
            self.troubled.remove(&channel);
            more |= polled.more;
            let mut passed = Vec::new();
            for unreadable in polled.unreadable {
                self.log(&format!("{channel} {}: skipped, {}", unreadable.name, unreadable.problem));
                passed.push(unreadable.name);
            }
            for found in polled.found {
                match self.judge(&channel, &found) {
                    Some(job) => self.queue.push_back(job),
                    None => passed.push(found.name),
                }
            }
            self.tally.passed += passed.len() as u64;
            self.journal.pass(&channel, &passed, self.now())?;
        }
        let root = &self.root;
        self.journal.tidy(|entry| {
            entry.file.is_empty() || !matches!(root.read(&entry.channel, &entry.file), Ok(None))
        })?;
        Ok(more)
    }

    fn judge(&self, channel: &str, found: &Found) -> Option<Job> {
        let post = read_post(&found.name, &found.bytes)?;
        let agent = &self.watching.agent;
        let judgement = judge(&post, agent, self.watching.reading, self.own_age(channel, &post));
        match judgement {
            Judgement::Answer => Some(Job { channel: channel.to_owned(), file: found.name.clone(), post }),
            Judgement::TooManyHops | Judgement::Echo => {
                self.log(&format!("{channel} {}: passed over, {}", found.name, judgement.reason()));
                None
            }
            Judgement::FromUs | Judgement::NotForUs => None,
        }
    }

    /// Returns how long ago the message was sent that this one answers, if this agent sent it.
    fn own_age(&self, channel: &str, post: &Post) -> Option<Duration> {
        let asked = self.post_of(channel, post.reply_to.as_deref()?)?;
        let at: Timestamp = asked.at?.parse().ok()?;
        is_from_us_strict(&self.watching.agent, Some(&asked.from)).then(|| self.now().duration_since(at))?
    }

    /// Starts as many commands as may run; returns how long to wait if one may not be started yet.
    fn start_jobs(&mut self) -> Result<Option<Duration>, WatchError> {
        while self.running.len() < self.watching.concurrency
            && !self.queue.is_empty()
            && !self.stop.is_asked()
        {
            let since = self.began.elapsed();
            if let Some(wait) = self.pace.wait(since) {
                return Ok(Some(wait));
            }
            let Some(job) = self.queue.pop_front() else { break };
            self.pace.note(since);
            self.journal.write(&job.channel, &job.file, &State::Started, self.now())?;
            self.working.push(job.clone());
            self.turn(Event::Received);
            let earlier = self.earlier(&job);
            let watching = Arc::clone(&self.watching);
            self.running.spawn(async move {
                let place = format!("channel {}", job.channel);
                let answer = watching.answer(&place, &job.post, &earlier, async {}).await;
                (job, answer)
            });
        }
        Ok(None)
    }

    fn finish(&mut self, job: &Job, answer: Result<String, InvocationError>) -> Result<(), WatchError> {
        self.working.retain(|other| (&other.channel, &other.file) != (&job.channel, &job.file));
        match answer {
            Ok(text) => match self.root.post(&job.channel, &self.reply(job, text), self.now()) {
                Ok(posted) => {
                    self.tell_posted(&job.channel, &posted.id);
                    let state = State::Answered(posted.id);
                    self.journal.write(&job.channel, &job.file, &state, self.now())?;
                    self.tally.answered += 1;
                }
                Err(error) => self.fail(job, error.code(), &error.to_string())?,
            },
            Err(error) => self.fail(job, error.code(), &format!("{}; {}", error.detail(), error.hint()))?,
        }
        if self.working.is_empty() {
            self.turn(Event::Posted);
        }
        Ok(())
    }

    /// Says once that a channel cannot be looked at. A folder of a network may be back at the next look.
    fn tell_trouble(&mut self, channel: &str, error: &RootError) {
        if self.troubled.insert(channel.to_owned()) {
            let cause =
                std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            self.log(&format!("{channel} cannot be looked at: {error}{cause}"));
        }
    }

    fn tell_posted(&self, channel: &str, id: &str) {
        let Some(posted) = &self.watching.posted else { return };
        if posted.try_send((channel.to_owned(), id.to_owned())).is_err() {
            tracing::warn!("{channel} {id}: too many answers wait to be published elsewhere");
        }
    }

    fn fail(&mut self, job: &Job, code: &str, detail: &str) -> Result<(), WatchError> {
        self.log(&format!("{} {}: {code}: {detail}", job.channel, job.file));
        self.tally.failed += 1;
        let state = State::Failed(format!("{code}: {detail}"));
        self.journal.write(&job.channel, &job.file, &state, self.now())
    }

    fn reply(&self, job: &Job, text: String) -> Draft {
        let is_direct = job.post.to.as_deref().is_some_and(|to| base_id(to) == base_id(&self.watching.agent));
        let sender = Some(&job.post.from).filter(|from| is_direct && !from.is_empty());
        let to = sender.cloned().unwrap_or_else(|| "all".to_owned());
        let mut draft = Draft::new(self.watching.agent.clone(), to, text);
        draft.mode = "watcher".to_owned();
        draft.in_reply_to = Some(job.post.id.clone());
        draft.metadata.push(("hops".to_owned(), Value::from(job.post.hops.saturating_add(1))));
        draft
    }

    /// Returns the messages before one, the oldest first.
    fn earlier(&self, job: &Job) -> Vec<Post> {
        let names = self.root.messages(&job.channel).unwrap_or_default();
        let end = names.iter().position(|name| *name == job.file).unwrap_or(names.len());
        let start = end.saturating_sub(self.watching.earlier_count);
        let names = names.get(start..end).unwrap_or_default();
        names.iter().filter_map(|name| self.post_of(&job.channel, name)).collect()
    }

    /// Lets messages be tried again as was asked, if their commands have failed.
    fn take_wishes(&mut self) -> Result<(), WatchError> {
        let wishes = self.journal.wishes()?;
        if wishes.is_empty() {
            return Ok(());
        }
        let (entries, _) = Journal::look(self.root.path(), base_id(&self.watching.agent))?;
        for (channel, file) in wishes {
            let entry = entries.iter().find(|entry| entry.channel == channel && entry.file == file);
            let is_failed = entry.is_some_and(|entry| matches!(entry.state, State::Failed(_)));
            let is_queued = self.queue.iter().any(|job| job.channel == channel && job.file == file);
            if let Some(post) = self.post_of(&channel, &file).filter(|_| is_failed && !is_queued) {
                self.queue.push_back(Job { channel, file, post });
            }
        }
        // Until a command is started on them they are listed as failed: nothing is lost if we end now.
        self.journal.wishes_are_done()
    }

    fn post_of(&self, channel: &str, name: &str) -> Option<Post> {
        read_post(name, &self.root.read(channel, name).ok()??)
    }

    fn turn(&mut self, event: Event) {
        self.phase = self.phase.after(event);
        self.say_presence();
    }

    /// Says how the agent is. Nobody relies on it, so a failure is only told.
    fn say_presence(&self) {
        let channels: Vec<&str> = self.followers.iter().map(Follower::channel).collect();
        let pid = Some(std::process::id());
        let heartbeat = Heartbeat::of(&self.watching.agent, self.phase, &channels.join(","), pid);
        if let Err(error) = self.root.write_presence(&heartbeat, self.now()) {
            tracing::warn!("presence cannot be written: {error}");
        }
    }

    fn log(&self, line: &str) {
        let name = format!("{}-watch", base_id(&self.watching.agent));
        let line = self.watching.invocation.secrets.hide(line);
        tracing::warn!("{line}");
        if let Err(error) = self.root.log(&name, &format!("{} {line}", self.now())) {
            tracing::warn!("the log of the root cannot be written: {error}");
        }
    }

    fn now(&self) -> Timestamp {
        (self.watching.now)()
    }
}

fn read_post(name: &str, bytes: &[u8]) -> Option<Post> {
    let limits = json::Limits { bytes_max: bytes.len(), ..json::Limits::DOCUMENT };
    let document = json::parse(bytes, limits).ok()?;
    Some(Post::from_document(name.strip_suffix(".json").unwrap_or(name), document.as_object()?))
}
