//! A commit: writes of one repository, and the messages that they are, as one command of the broker.

use atproto_syntax::{Cid, Tid, cid};
use broker::{AgentKey, Digest, RecordChange, RecordWrite, tid_of};
use lexicon::ValidationStatus;

use super::Write;
use super::write::{Change, Draft};
use crate::{Code, Hub, Problem};

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

/// What is said of a write when its record has its key.
struct Outline {
    collection: String,
    cid: Option<Cid>,
    status: Option<ValidationStatus>,
}

impl Commit {
    /// Carries it out, and answers when it is durable.
    pub async fn execute(self, hub: &Hub) -> Result<Committed, Problem> {
        let Commit { repo, did, swap, hold, writes } = self;
        let (outlines, writes) = writes.into_iter().map(|write| write.into_command(hold)).unzip();
        let command = broker::Commit { repo, did: did.as_str().into(), swap, writes };
        let committed = hub.execute(command).await?;
        let head = committed.head.map(|head| head_of(repo, head)).transpose()?;
        let outlines: Vec<Outline> = outlines;
        let written = outlines.into_iter().zip(&committed.keys).map(|(outline, key)| Written {
            uri: format!("at://{did}/{}/{key}", outline.collection),
            cid: outline.cid,
            status: outline.status,
        });
        Ok(Committed { head, written: written.collect() })
    }
}

impl Write {
    /// Returns the write for the broker, and what is said of it afterwards.
    fn into_command(self, hold: bool) -> (Outline, RecordWrite) {
        let Write { collection, key, swap, change } = self;
        let name = collection.as_str().into();
        let (cid, status, change) = match change {
            Change::Remove => (None, None, RecordChange::Remove),
            Change::Set(draft) => {
                let Draft { cid, digest, status, envelope, submission, digests, blobs: _ } = *draft;
                let submit = submission.map(|submission| {
                    let mut accept = submission.accept;
                    accept.hold |= hold;
                    accept
                });
                let change = RecordChange::Set { cid: digest, document: envelope, submit, blobs: digests };
                (Some(cid), status, change)
            }
        };
        let write = RecordWrite { collection: name, key: key.map(Into::into), swap, change };
        (Outline { collection, cid, status }, write)
    }
}

fn head_of(repo: AgentKey, head: broker::Head) -> Result<Head, Problem> {
    let rev = tid_of(repo, head.rev);
    let rev = rev.ok_or_else(|| Problem::new(Code::Internal, "the clock is beyond all TIDs"))?;
    Ok(Head { cid: Cid::new(cid::CODEC_DAG_CBOR, head.commit.0), rev })
}
