//! Running a command on a prompt: an argument list, never a shell; bounded in time and output; nothing of it stays.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};

use crate::environment::{Environment, Secrets};
use crate::extraction::{Extraction, NoAnswer};

/// What stands for the prompt, or for the path of its file, in an argument of its own.
pub const PLACE: &str = "{prompt}";
/// Bytes of one argument; Linux allows no more.
const ARGUMENT_BYTES_MAX: usize = 128 << 10;
/// Bytes at the end of the error output that are kept.
const ERROR_BYTES_MAX: usize = 4 << 10;
/// How long a command has to end when it is told to.
const ENDING: Duration = Duration::from_secs(2);
/// How long output may still come when a command has ended.
const DRAINING: Duration = Duration::from_secs(1);
/// How long it may take to say that a command that has ended was shown the prompt.
const HANDING: Duration = Duration::from_secs(10);

/// How a command gets its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptBy {
    /// On its standard input.
    Stdin,
    /// As an argument: in the place of `{prompt}`, else the last one.
    Argument,
    /// In a file of its own, whose path is an argument.
    File,
}

/// A command and how it is run.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How it gets the prompt.
    pub prompt_by: PromptBy,
    /// The folder in which it works.
    pub folder: Option<PathBuf>,
    /// What it finds in its environment.
    pub environment: Environment,
    /// What must not be in its answer or in a log.
    pub secrets: Secrets,
    /// How long it may take.
    pub timeout: Duration,
    /// Bytes that it may print.
    pub output_bytes_max: usize,
    /// Which part of its output is the answer.
    pub extraction: Extraction,
}

/// Why a command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum InvocationError {
    /// It could not be started.
    #[error("cannot start {program}")]
    CannotStart {
        /// What was to be started.
        program: String,
        /// Why.
        #[source]
        error: io::Error,
    },
    /// The prompt is too long for an argument.
    #[error("the prompt has {bytes} bytes, and an argument may have {ARGUMENT_BYTES_MAX}")]
    PromptTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It took too long and was ended.
    #[error("it took longer than {seconds} s and was ended")]
    TimedOut {
        /// How long it had.
        seconds: u64,
        /// The end of its error output.
        said: String,
    },
    /// It printed too much and was ended.
    #[error("it printed more than {bytes_max} bytes and was ended")]
    Flooded {
        /// How much it may print.
        bytes_max: usize,
    },
    /// It says itself that it failed.
    #[error("it ended with {status}")]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// The end of its error output.
        said: String,
    },
    /// It printed nothing that is an answer.
    #[error("{why}")]
    NoAnswer {
        /// What is missing.
        why: NoAnswer,
        /// The end of its error output.
        said: String,
    },
}

impl InvocationError {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            InvocationError::CannotStart { .. } => "cannot_start",
            InvocationError::PromptTooLong { .. } => "prompt_too_long",
            InvocationError::TimedOut { .. } => "timed_out",
            InvocationError::Flooded { .. } => "flooded",
            InvocationError::Failed { .. } => "failed",
            InvocationError::NoAnswer { .. } => "no_answer",
        }
    }

    /// Says what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            InvocationError::CannotStart { .. } => "check the command and PATH",
            InvocationError::PromptTooLong { .. } => "give the prompt by stdin or by file, or less context",
            InvocationError::TimedOut { .. } => "give it more time, or look why it waits",
            InvocationError::Flooded { .. } => "let it print less, or allow more",
            InvocationError::Failed { .. } => "run the command by hand and see what it says",
            InvocationError::NoAnswer { .. } => "compare what the command prints with the extraction rule",
        }
    }

    /// Returns everything that is known in one line.
    pub fn detail(&self) -> String {
        let cause = std::error::Error::source(self).map(|cause| format!(": {cause}")).unwrap_or_default();
        let said = match self {
            InvocationError::TimedOut { said, .. }
            | InvocationError::Failed { said, .. }
            | InvocationError::NoAnswer { said, .. } => said.trim(),
            InvocationError::CannotStart { .. }
            | InvocationError::PromptTooLong { .. }
            | InvocationError::Flooded { .. } => "",
        };
        let said =
            said.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ");
        let said = if said.is_empty() { said } else { format!("; it said: {said}") };
        format!("{self}{cause}{said}")
    }
}

impl Invocation {
    /// Runs the command. `handed_over` is waited for when the command has the whole prompt.
    ///
    /// Whoever lets go of the future ends the command and everything that it started.
    pub async fn run(
        &self,
        prompt: &str,
        handed_over: impl Future<Output = ()>,
    ) -> Result<String, InvocationError> {
        let file = match self.prompt_by {
            PromptBy::File => Some(prompt_file(prompt).map_err(|error| self.cannot_start(error))?),
            PromptBy::Stdin | PromptBy::Argument => None,
        };
        let place = file.as_ref().map(|file| file.path().display().to_string());
        let mut child = self.spawn(prompt, place.as_deref())?;
        let group = Group::of(&child);
        let collected = Collected::new(self.output_bytes_max);
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut handing = pin!(async {
            hand_over(stdin, prompt).await;
            handed_over.await;
        });
        let mut reading = pin!(async {
            tokio::join!(collected.read_output(stdout), collected.read_errors(stderr));
        });
        let mut deadline = pin!(tokio::time::sleep(self.timeout));
        let (mut is_handed, mut is_read) = (false, false);
        let ended = loop {
            tokio::select! {
                () = &mut handing, if !is_handed => is_handed = true,
                () = &mut reading, if !is_read => is_read = true,
                () = collected.flooded.notified() => break Err(self.flooded()),
                status = child.wait() => break status.map_err(|error| self.cannot_start(error)),
                () = &mut deadline => break Err(self.timed_out()),
            }
        };
        if ended.is_err() {
            group.end(&mut child).await;
        }
        // What it left running would hold its output open.
        drop(group);
        if !is_read {
            drop(tokio::time::timeout(DRAINING, reading).await);
        }
        if !is_handed {
            drop(tokio::time::timeout(HANDING, handing).await);
        }
        self.judge(ended, &collected)
    }

    fn spawn(&self, prompt: &str, file: Option<&str>) -> Result<Child, InvocationError> {
        let (program, rest) = self.argv.split_first().ok_or_else(|| {
            self.cannot_start(io::Error::new(io::ErrorKind::InvalidInput, "no command was given"))
        })?;
        let filling = match self.prompt_by {
            PromptBy::Stdin => None,
            PromptBy::Argument if prompt.len() >= ARGUMENT_BYTES_MAX => {
                return Err(InvocationError::PromptTooLong { bytes: prompt.len() });
            }
            PromptBy::Argument => Some(prompt),
            PromptBy::File => file,
        };
        let has_place = rest.iter().any(|argument| argument == PLACE);
        let mut command = Command::new(program);
        for argument in rest {
            command.arg(filling.filter(|_| argument == PLACE).unwrap_or(argument));
        }
        command.args(filling.filter(|_| !has_place));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let variables = self.environment.variables().iter().map(|(name, value)| (name, value));
        let stdin = if self.prompt_by == PromptBy::Stdin { Stdio::piped() } else { Stdio::null() };
        command.env_clear().envs(variables).stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command.spawn().map_err(|error| self.cannot_start(error))
    }

    fn judge(
        &self,
        ended: Result<ExitStatus, InvocationError>,
        collected: &Collected,
    ) -> Result<String, InvocationError> {
        let said = || self.secrets.hide(&collected.errors());
        let status = ended.map_err(|error| match error {
            InvocationError::TimedOut { seconds, .. } => InvocationError::TimedOut { seconds, said: said() },
            other @ (InvocationError::CannotStart { .. }
            | InvocationError::PromptTooLong { .. }
            | InvocationError::Flooded { .. }
            | InvocationError::Failed { .. }
            | InvocationError::NoAnswer { .. }) => other,
        })?;
        if collected.is_over() {
            return Err(self.flooded());
        }
        if !status.success() {
            return Err(InvocationError::Failed { status, said: said() });
        }
        let answer = self.extraction.take(&collected.output());
        answer
            .map(|answer| self.secrets.hide(&answer))
            .map_err(|why| InvocationError::NoAnswer { why, said: said() })
    }

    fn flooded(&self) -> InvocationError {
        InvocationError::Flooded { bytes_max: self.output_bytes_max }
    }

    fn timed_out(&self) -> InvocationError {
        InvocationError::TimedOut { seconds: self.timeout.as_secs(), said: String::new() }
    }

    fn cannot_start(&self, error: io::Error) -> InvocationError {
        let program = self.argv.first().cloned().unwrap_or_default();
        InvocationError::CannotStart { program, error }
    }
}

/// The process group of a command; what is left of it ends with this.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // There may be nobody left in it.
            let _gone = kill_process_group(group, signal).is_err();
        }
    }

    /// Tells it to end, and ends it if it does not.
    async fn end(&self, child: &mut Child) {
        self.signal(Signal::TERM);
        if tokio::time::timeout(ENDING, child.wait()).await.is_err() {
            self.signal(Signal::KILL);
            drop(child.wait().await);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

/// What a command has printed so far.
struct Collected {
    output: Mutex<Vec<u8>>,
    errors: Mutex<Vec<u8>>,
    bytes_max: usize,
    flooded: tokio::sync::Notify,
}

impl Collected {
    fn new(bytes_max: usize) -> Self {
        let (output, errors) = (Mutex::default(), Mutex::default());
        Collected { output, errors, bytes_max, flooded: tokio::sync::Notify::new() }
    }

    async fn read_output(&self, pipe: Option<impl AsyncRead + Unpin>) {
        read(pipe, |bytes| {
            let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
            // One byte more than allowed shows that it is too much.
            let room = (self.bytes_max + 1).saturating_sub(output.len());
            output.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            if output.len() > self.bytes_max {
                self.flooded.notify_one();
            }
        })
        .await;
    }

    async fn read_errors(&self, pipe: Option<impl AsyncRead + Unpin>) {
        read(pipe, |bytes| {
            let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
            errors.extend_from_slice(bytes);
            let over = errors.len().saturating_sub(ERROR_BYTES_MAX);
            errors.drain(..over);
        })
        .await;
    }

    fn is_over(&self) -> bool {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).len() > self.bytes_max
    }

    fn output(&self) -> String {
        String::from_utf8_lossy(&self.output.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn errors(&self) -> String {
        String::from_utf8_lossy(&self.errors.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, mut take: impl FnMut(&[u8])) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        take(buffer.get(..count).unwrap_or_default());
    }
}

/// Writes the prompt. A command that does not want all of it may close its end.
async fn hand_over(stdin: Option<ChildStdin>, prompt: &str) {
    let Some(mut stdin) = stdin else { return };
    let written = stdin.write_all(prompt.as_bytes()).await;
    let _closed = written.is_err();
    drop(stdin.shutdown().await);
}

/// Puts the prompt into a file that only its owner may read and that goes with the command.
fn prompt_file(prompt: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("convoke-prompt-").suffix(".md").tempfile()?;
    file.write_all(prompt.as_bytes())?;
    file.flush()?;
    Ok(file)
}

impl FromStr for PromptBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "stdin" => Ok(PromptBy::Stdin),
            "arg" => Ok(PromptBy::Argument),
            "file" => Ok(PromptBy::File),
            _ => Err("a prompt is given by stdin, arg or file".to_owned()),
        }
    }
}

impl fmt::Display for PromptBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PromptBy::Stdin => "stdin",
            PromptBy::Argument => "arg",
            PromptBy::File => "file",
        })
    }
}
