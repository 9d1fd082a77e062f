//! A commit: writes of one repository, and the messages that they are, all together or not at all.

use std::borrow::Cow;

use atproto_syntax::{Cid, Tid, cid, tid};
use broker::{Accept, AgentKey, Broker, Command, Digest, Document, Identity, Receipted, RecordChange};
use broker::{RecordView, RecordWrite, Refusal, Request, Swap};
use json::{Object, Value};
use lexicon::ValidationStatus;
use message::{Address, MessageId};
use node::{CallError, Turn};

use super::Write;
use super::write::{Change, Draft};
use crate::{Code, Problem, Submission};

/// Writes of one repository that belong together.
#[derive(Debug)]
pub struct Commit {
    /// Whose repository it is.
    pub repo: AgentKey,
    /// Its DID.
    pub did: String,
    /// The commit that must be the last one, if that matters.
    pub swap: Option<Digest>,
    /// Whether messages may wait for recipients that are not registered yet.
    pub hold: bool,
    /// What is written.
    pub writes: Vec<Write>,
}

/// What a commit led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The commit; none if nothing had to be changed.
    pub head: Option<Head>,
    /// What became of each write, in order.
    pub written: Vec<Written>,
}

/// What a commit is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its CID.
    pub cid: Cid,
    /// When it was made; it grows from commit to commit.
    pub rev: Tid,
}

/// What became of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The record.
    pub uri: String,
    /// What it is known by now, unless it is gone.
    pub cid: Option<Cid>,
    /// What validation said.
    pub status: Option<ValidationStatus>,
}

/// A write whose record has its key.
struct Named<'w> {
    write: &'w Write,
    key: Cow<'w, str>,
    /// The message that there was before.
    before: Option<MessageId>,
}

/// What a message has to do with a write.
enum Act<'w> {
    Nothing,
    Send(&'w Submission),
    Amend(MessageId, &'w Submission),
    Retract(MessageId),
}

/// Returns the TID of a tick of somebody's repository.
pub fn tid_of(repo: AgentKey, tick: u64) -> Option<Tid> {
    let clock_id = u16::try_from(repo.0 & u32::from(tid::CLOCK_ID_MAX)).ok()?;
    Tid::from_parts(tick, clock_id).ok()
}

impl Commit {
    /// Carries it out.
    pub fn carry_out(&self, turn: &mut Turn<'_>) -> Result<Committed, Problem> {
        let tick = turn.broker().next_tick(turn.now());
        let (named, written) = self.name(turn.broker(), tick)?;
        if named.is_empty() {
            return Ok(Committed { head: None, written });
        }
        let last = turn.broker().repo(self.repo).map(|repo| repo.commit);
        let head = self.head(last, tick + named.len() as u64 - 1, &named)?;
        let commit = digest(&head.cid)?;
        let bare: Vec<_> = named.iter().map(|named| named.write(None, false)).collect();
        turn.broker().check_commit(&self.command(commit, tick, bare)).map_err(CallError::Refused)?;
        let messages = self.act(turn, &named)?;
        let is_open = |message: Option<MessageId>| message.is_some_and(|id| turn.broker().is_open(id));
        let writes = named.iter().zip(messages).map(|(named, id)| named.write(id, is_open(id)));
        let writes: Vec<_> = writes.collect();
        turn.execute(&Command::Commit(Box::new(self.command(commit, tick, writes))))?;
        Ok(Committed { head: Some(head), written })
    }

    fn command(&self, commit: Digest, tick: u64, writes: Vec<RecordWrite>) -> broker::Commit {
        broker::Commit { repo: self.repo, swap: self.swap, commit, tick, writes }
    }

    /// Gives each record its key, and leaves out what would change nothing.
    fn name<'w>(&'w self, broker: &Broker, tick: u64) -> Result<(Vec<Named<'w>>, Vec<Written>), Problem> {
        let (mut named, mut written) = (Vec::new(), Vec::new());
        for write in &self.writes {
            let key = match &write.key {
                Some(key) => Cow::Borrowed(key.as_str()),
                None => Cow::Owned(self.tid(tick + named.len() as u64)?.to_string()),
            };
            let found = broker.record(self.repo, &write.collection, &key);
            let (before, changes) = (found.and_then(|record| record.message), write.changes(found));
            written.push(Written {
                uri: self.uri(&write.collection, &key),
                cid: write.draft().map(|draft| draft.cid.clone()),
                status: write.draft().and_then(|draft| draft.status),
            });
            if changes {
                named.push(Named { write, key, before });
            }
        }
        Ok((named, written))
    }

    fn uri(&self, collection: &str, key: &str) -> String {
        format!("at://{}/{collection}/{key}", self.did)
    }

    fn tid(&self, tick: u64) -> Result<Tid, Problem> {
        tid_of(self.repo, tick).ok_or_else(|| Problem::new(Code::Internal, "the clock is beyond all TIDs"))
    }

    /// Makes what the commit is known by: the CID of an object that names the repository, the commit before it and
    /// what is written. Nobody signs it.
    fn head(&self, last: Option<Digest>, rev: u64, named: &[Named<'_>]) -> Result<Head, Problem> {
        let rev = self.tid(rev)?;
        let writes: Vec<Value<'_>> = named.iter().map(Named::summary).collect();
        let prev = last.map_or(Value::Null, link);
        let members: Object<'_> = [
            ("did", Value::from(self.did.as_str())),
            ("version", Value::from(1_u64)),
            ("rev", Value::from(rev.as_str())),
            ("prev", prev),
            ("writes", Value::Array(writes)),
        ]
        .into_iter()
        .collect();
        let cid = lexicon::data::cid(&Value::Object(members));
        let cid = cid.map_err(|_| Problem::new(Code::Internal, "a commit cannot be written"))?;
        Ok(Head { cid, rev })
    }

    /// Sends, amends and takes back the messages that the records are. If one is refused, nothing has happened.
    fn act(&self, turn: &mut Turn<'_>, named: &[Named<'_>]) -> Result<Vec<Option<MessageId>>, Problem> {
        let acts: Vec<Act<'_>> = named.iter().map(Named::act).collect();
        for (act, named) in acts.iter().zip(named) {
            self.check(turn, act, named)?;
        }
        let mut sent: Vec<MessageId> = Vec::new();
        let mut messages = Vec::with_capacity(acts.len());
        for (act, named) in acts.iter().zip(named) {
            messages.push(match *act {
                Act::Nothing => None,
                Act::Send(submission) => match self.send(turn, submission, named) {
                    Ok(id) => {
                        sent.push(id);
                        Some(id)
                    }
                    Err(problem) => {
                        self.take_back(turn, &sent);
                        return Err(problem);
                    }
                },
                Act::Amend(message, submission) => {
                    let body = submission.accept.body.clone();
                    let amended = turn.execute(&Command::Amend { message, by: self.repo, body });
                    unless_over(amended)?.map(|_| message)
                }
                Act::Retract(message) => {
                    let retracted = turn.execute(&Command::Retract { message, by: self.repo });
                    unless_over(retracted)?;
                    None
                }
            });
        }
        Ok(messages)
    }

    /// Refuses what would be refused, before anything is done.
    fn check(&self, turn: &mut Turn<'_>, act: &Act<'_>, named: &Named<'_>) -> Result<(), Problem> {
        match *act {
            Act::Nothing | Act::Retract(_) => Ok(()),
            Act::Amend(message, submission) => {
                check_recipients(turn.broker(), message, &submission.accept.to)
            }
            Act::Send(submission) => {
                let uri = self.uri(&named.write.collection, &named.key);
                match turn.check(&Command::Accept(self.accept(submission, &uri))) {
                    // A record that was gone may come again.
                    Ok(()) | Err(CallError::Refused(Refusal::Conflict { .. })) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
        }
    }

    fn send(
        &self,
        turn: &mut Turn<'_>,
        submission: &Submission,
        named: &Named<'_>,
    ) -> Result<MessageId, Problem> {
        let uri = self.uri(&named.write.collection, &named.key);
        match accept(turn, self.accept(submission, &uri)) {
            Ok(receipted) if !receipted.duplicate => return Ok(receipted.id),
            Ok(_) | Err(CallError::Refused(Refusal::Conflict { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        // The name of a record that was gone is known; this is another message nevertheless.
        let uri = format!("{uri}#{}", turn.broker().next_tick(turn.now()));
        Ok(accept(turn, self.accept(submission, &uri))?.id)
    }

    /// Returns the message that a record is; repeats are known by the record's name.
    fn accept(&self, submission: &Submission, uri: &str) -> Box<Accept> {
        let mut accept = submission.accept.clone();
        if accept.identity == Identity::Content {
            accept.identity = Identity::Native(uri.into());
        }
        accept.hold |= self.hold;
        accept
    }

    /// Takes back what was sent in this turn, of which nobody has seen anything.
    fn take_back(&self, turn: &mut Turn<'_>, sent: &[MessageId]) {
        for message in sent {
            let retracted = turn.execute(&Command::Retract { message: *message, by: self.repo });
            debug_assert!(retracted.is_ok(), "{retracted:?}");
        }
    }
}

impl Write {
    fn draft(&self) -> Option<&Draft> {
        match &self.change {
            Change::Set(draft) => Some(draft),
            Change::Remove => None,
        }
    }

    /// Tells whether there is anything to do: what is there already stays, what is gone need not be removed.
    fn changes(&self, found: Option<RecordView<'_>>) -> bool {
        match (&self.change, found, self.swap) {
            (Change::Set(draft), Some(record), Swap::Anything | Swap::Something | Swap::Is(_)) => {
                record.cid != draft.digest
            }
            (Change::Set(_), None, _) | (Change::Set(_), Some(_), Swap::Nothing) => true,
            (Change::Remove, Some(_), _) | (Change::Remove, None, Swap::Something) => true,
            (Change::Remove, None, Swap::Anything | Swap::Nothing | Swap::Is(_)) => false,
        }
    }
}

impl Named<'_> {
    /// Says what is written, for what the commit is known by.
    fn summary(&self) -> Value<'_> {
        let cid = self.write.draft().map_or(Value::Null, |draft| link(draft.digest));
        let members = [
            ("collection", Value::from(self.write.collection.as_str())),
            ("rkey", Value::from(self.key.as_ref())),
            ("cid", cid),
        ];
        Value::Object(members.into_iter().collect())
    }

    fn act(&self) -> Act<'_> {
        match (self.write.draft().and_then(|draft| draft.submission.as_ref()), self.before) {
            (Some(submission), None) => Act::Send(submission),
            (Some(submission), Some(message)) => Act::Amend(message, submission),
            (None, Some(message)) => Act::Retract(message),
            (None, None) => Act::Nothing,
        }
    }

    /// Returns the write for the broker, with the message that it is. What an open message says need not be stored
    /// twice; what another says may be given up.
    fn write(&self, message: Option<MessageId>, is_open: bool) -> RecordWrite {
        let change = match &self.write.change {
            Change::Remove => RecordChange::Remove,
            Change::Set(draft) => {
                let document = match message {
                    Some(message) if is_open && draft.is_its_message() => Document::OfMessage(message),
                    Some(_) | None => Document::Here(draft.envelope.clone()),
                };
                // A message that is long over stays the one that the record was.
                let message = message.or(self.before.filter(|_| draft.submission.is_some()));
                RecordChange::Set { cid: draft.digest, document, message, blobs: draft.digests.clone() }
            }
        };
        let (collection, key) = (self.write.collection.as_str().into(), self.key.as_ref().into());
        RecordWrite { collection, key, swap: self.write.swap, change }
    }
}

/// Refuses that a message gets other recipients than it was sent to.
fn check_recipients(broker: &Broker, message: MessageId, to: &[Address]) -> Result<(), Problem> {
    let Some(view) = broker.look_into(message) else { return Ok(()) };
    let named = to.iter().filter_map(|to| match to {
        Address::Agent(agent) => Some(agent.as_str()),
        Address::Session { agent, .. } => Some(agent.as_str()),
        Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => None,
    });
    let is_new = |name: &&str| broker.agent(name).is_some_and(|agent| !view.agents.contains(&agent));
    match named.into_iter().find(is_new) {
        Some(name) => Err(Problem::bad_request(format!(
            "the message went to others than `{name}`: delete it, and create one for `{name}`"
        ))),
        None => Ok(()),
    }
}

fn accept(turn: &mut Turn<'_>, accept: Box<Accept>) -> Result<Receipted, CallError> {
    let reply = turn.execute(&Command::Accept(accept))?;
    Box::<Accept>::answer(reply).ok_or(CallError::Unexpected)
}

/// Nothing is wrong with a message that is over, or that the state has forgotten: only the record changes.
fn unless_over<R>(done: Result<R, CallError>) -> Result<Option<R>, Problem> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(CallError::Refused(Refusal::UnknownMessage | Refusal::Settled)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn digest(cid: &Cid) -> Result<Digest, Problem> {
    super::write::digest_of(cid).ok_or_else(|| Problem::new(Code::Internal, "a CID without a hash"))
}

/// Writes a link to what has a hash.
fn link(digest: Digest) -> Value<'static> {
    let cid = Cid::new(cid::CODEC_DAG_CBOR, digest.0);
    Value::Object([("$link", Value::from(cid.as_str().to_owned()))].into_iter().collect())
}
