//! A bus and who speaks to it: which address, which token, whose name.
//!
//! Administration uses the operator's token of the data folder. Talking needs a name: the one that was given or
//! `CONVOKE_AGENT`, whose token lies in the data folder too. Only a person at a terminal is `human` without saying so;
//! an agent's process never becomes the operator by accident.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use client::{Client, ClientError, ClientOptions, Token};
use json::{Limits, Value};

use crate::cli::remote::{RemoteArgs, SpeakerArgs};
use crate::data;
use crate::failure::Failure;
use crate::output::Form;
use crate::refusal;

/// Where a bus listens unless somebody says otherwise.
const URL: &str = "http://127.0.0.1:7700";
const HUMAN: &str = "human";
/// Whom the operator's token speaks for.
const OPERATOR_NAMES: [&str; 3] = [HUMAN, "system", "runner"];

/// A bus, and as whom it is spoken to.
pub(crate) struct Remote {
    pub(crate) client: Client,
    pub(crate) form: Form,
    /// The data folder, where the token came from it.
    pub(crate) data: Option<PathBuf>,
    /// Where the token came from, or should have come from.
    file: Option<PathBuf>,
}

/// Somebody with a name who talks.
pub(crate) struct Speaker {
    pub(crate) remote: Remote,
    pub(crate) name: String,
}

impl Remote {
    /// Speaks as the operator.
    pub(crate) fn administer(args: &RemoteArgs) -> Result<Self, Failure> {
        Remote::with_token_of(args, &|data| operator_file(data))
    }

    /// Looks around: as the agent of this shell if it has one, else as the operator.
    pub(crate) fn look(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Self, Failure> {
        match given(speaker.from.as_deref()) {
            Some(name) => Remote::with_token_of(args, &|data| token_file(data, name)),
            None => Remote::administer(args),
        }
    }

    fn with_token_of(args: &RemoteArgs, file: &dyn Fn(&Path) -> PathBuf) -> Result<Self, Failure> {
        let folder = folder();
        let mut options = ClientOptions::new(url(args, folder.as_deref()));
        options.ca_file = args.ca.clone();
        let (mut data, mut token_path) = (None, None);
        match (given(args.token.as_deref()), folder) {
            (Some(token), _) => options.token = Some(Token::new(token)),
            (None, Some(folder)) => {
                let path = file(&folder);
                // An open bus needs none; any other will say so, and then the reader is told where we looked.
                if let Some(token) = read_token(&path)? {
                    options.token = Some(token);
                    data = Some(folder);
                }
                token_path = Some(path);
            }
            (None, None) => {}
        }
        let client = Client::with(options).map_err(|error| refusal::failure(&error))?;
        Ok(Remote { client, form: Form::from_flag(args.json), data, file: token_path })
    }

    /// Turns what went wrong into words and a hint.
    pub(crate) fn failure(&self, error: &ClientError) -> Failure {
        let failure = refusal::failure(error);
        if error.problem().is_none_or(|problem| problem.status != 401) {
            return failure;
        }
        failure.hint(match &self.file {
            Some(path) => token_hint(path, self.data.is_some()),
            None => "the token of --token or CONVOKE_TOKEN opens nothing here".to_owned(),
        })
    }
}

impl Speaker {
    /// Finds out who talks.
    pub(crate) async fn find(args: &RemoteArgs, speaker: &SpeakerArgs) -> Result<Self, Failure> {
        let name = match given(speaker.from.as_deref()) {
            Some(name) => name.to_owned(),
            None if given(args.token.as_deref()).is_some() => {
                let remote = Remote::administer(args)?;
                let me = remote.client.me().await.map_err(|error| remote.failure(&error))?;
                return Ok(Speaker { remote, name: me.agent });
            }
            None if at_terminal() => HUMAN.to_owned(),
            None => {
                return Err(Failure::wrong_use("who speaks? this is no terminal, so it is not human")
                    .hint("name the agent with --from NAME, or set CONVOKE_AGENT"));
            }
        };
        let remote = Remote::with_token_of(args, &|data| token_file(data, &name))?;
        Ok(Speaker { remote, name })
    }
}

/// Runs something that waits, on this thread alone: a command has one thing to do.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::wrong_use(format!("cannot start: {error}")))?.block_on(work)
}

/// Tells whether the operator's token speaks for that name.
pub(crate) fn is_operator(name: &str) -> bool {
    OPERATOR_NAMES.contains(&name)
}

/// Makes a client of the same bus that speaks by another token.
pub(crate) fn client_with(args: &RemoteArgs, url: &str, token: Option<Token>) -> Result<Client, ClientError> {
    let mut options = ClientOptions::new(url);
    (options.token, options.ca_file) = (token, args.ca.clone());
    Client::with(options)
}

/// Returns the file in the data folder that holds the token of whoever has that name.
pub(crate) fn token_file(data: &Path, name: &str) -> PathBuf {
    if is_operator(name) {
        return operator_file(data);
    }
    // An alias such as `codex://ann` is one file name, never a path.
    data.join("agents").join(format!("{}.token", name.replace('/', "_")))
}

/// Returns the data folder that the environment names, or the user's own.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("CONVOKE_DATA").filter(|folder| !folder.is_empty());
    data::folder(named.map(PathBuf::from)).ok()
}

fn operator_file(data: &Path) -> PathBuf {
    data.join("operator.token")
}

/// A variable that is set to nothing is not set.
fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn url(args: &RemoteArgs, data: Option<&Path>) -> String {
    let running = || {
        let bytes = fs::read(data?.join("server.json")).ok()?;
        let value = json::parse(&bytes, Limits::DOCUMENT).ok()?;
        value.get("url").and_then(Value::as_str).map(str::to_owned)
    };
    given(args.url.as_deref()).map(str::to_owned).or_else(running).unwrap_or_else(|| URL.to_owned())
}

fn read_token(path: &Path) -> Result<Option<Token>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(Token::new(text.trim()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::unreadable(&path.display().to_string(), &error)
            .hint("the file belongs to whoever may speak by it; give a token with --token")),
    }
}

/// Says where a token would come from.
fn token_hint(path: &Path, is_there: bool) -> String {
    let place = path.display();
    let wrong = if is_there { format!("{place} is no longer good") } else { format!("there is no {place}") };
    match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("operator") | None => format!("{wrong}: is CONVOKE_DATA the folder of the bus? or give --token"),
        Some(name) => format!("{wrong}: `convoke agent token {name}` makes a token"),
    }
}

/// A person sees what is printed and types, or at least one of both; an agent's tools do neither.
fn at_terminal() -> bool {
    io::stderr().is_terminal() && (io::stdin().is_terminal() || io::stdout().is_terminal())
}
