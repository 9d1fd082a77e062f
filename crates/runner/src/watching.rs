//! What a watcher is set up with, and what it does with one message whatever it came by.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use message::Timestamp;
use tokio::sync::{mpsc, watch};

use crate::invocation::{Invocation, InvocationError};
use crate::judgement::Reading;
use crate::{Post, prompt};

/// Lines of the state file that are shown.
const STATE_LINES_MAX: usize = 100;
/// Bytes of the state file or the memory file that are shown.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// What a watcher is set up with.
#[derive(Clone, Debug)]
pub struct Watching {
    /// For which agent it watches.
    pub agent: String,
    /// How "is it for us" is read.
    pub reading: Reading,
    /// What answers.
    pub invocation: Invocation,
    /// How many earlier messages are shown.
    pub earlier_count: usize,
    /// A file that says how things stand.
    pub state: Option<PathBuf>,
    /// A file with what the agent remembers.
    pub memory: Option<PathBuf>,
    /// What the agent is there for.
    pub role: Option<String>,
    /// How many commands run at the same time.
    pub concurrency: usize,
    /// How many are started in a minute at most.
    pub per_minute: Option<usize>,
    /// Whether it ends when nothing is left to do.
    pub is_once: bool,
    /// How often a folder is looked at.
    pub poll_every: Duration,
    /// For how long a message of the bus is this watcher's before it must say that it still works.
    pub lease: Duration,
    /// Who is told of each answer on a root, as channel and id, to publish it elsewhere too.
    pub posted: Option<mpsc::Sender<(String, String)>>,
    /// The wall clock.
    pub now: fn() -> Timestamp,
}

/// What a watcher has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were answered.
    pub answered: u64,
    /// Messages for which the command failed.
    pub failed: u64,
    /// Messages that were passed over.
    pub passed: u64,
}

/// Tells a watcher to stop.
#[derive(Clone, Debug)]
pub struct Stop {
    asked: watch::Receiver<bool>,
}

/// Stops a watcher.
#[derive(Debug)]
pub struct Stopper {
    sender: watch::Sender<bool>,
}

/// Makes both ends of what stops a watcher. Letting go of the stopper does not stop it.
pub fn stopping() -> (Stopper, Stop) {
    let (sender, asked) = watch::channel(false);
    (Stopper { sender }, Stop { asked })
}

impl Stopper {
    /// Asks the watcher to stop.
    pub fn stop(&self) {
        self.sender.send_replace(true);
    }
}

impl Stop {
    /// Tells whether it was asked.
    pub fn is_asked(&self) -> bool {
        *self.asked.borrow()
    }

    /// Waits until it is asked.
    pub async fn asked(&mut self) {
        if self.asked.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Watching {
    /// Runs the command on a message.
    pub(crate) async fn answer(
        &self,
        place: &str,
        post: &Post,
        earlier: &[Post],
        handed_over: impl Future<Output = ()>,
    ) -> Result<String, InvocationError> {
        let state = self.state.as_deref().and_then(read_head);
        let state = state.map(|text| text.lines().take(STATE_LINES_MAX).collect::<Vec<_>>().join("\n"));
        let memory = self.memory.as_deref().and_then(read_head);
        let prompt = prompt::build(&prompt::Parts {
            agent: &self.agent,
            role: self.role.as_deref(),
            place,
            state: state.as_deref(),
            memory: memory.as_deref(),
            earlier,
            message: post,
        });
        let mut invocation = self.invocation.clone();
        invocation.environment.set("CONVOKE_AGENT", &self.agent);
        invocation.environment.set("CONVOKE_MESSAGE", &post.id);
        invocation.run(&prompt, handed_over).await
    }
}

/// Reads the head of a file. One that is not there says nothing.
fn read_head(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            tracing::warn!("{} cannot be read and is left out: {error}", path.display());
            None
        }
    }
}
