//! What a commit is known by: the CID of an object that names the repository, the commit before it and what is
//! written. Nobody signs it.

use atproto_syntax::{Cid, Tid, cid, tid};
use json::{Object, Value};

use super::commit::Planned;
use crate::{AgentKey, Digest, Head, RecordChange, Refusal};

/// Returns the TID of a tick of somebody's repository; none if the tick is beyond all TIDs.
pub fn tid_of(repo: AgentKey, tick: u64) -> Option<Tid> {
    let clock_id = u16::try_from(repo.0 & u32::from(tid::CLOCK_ID_MAX)).ok()?;
    Tid::from_parts(tick, clock_id).ok()
}

/// Returns the TID of a tick, or refuses the commit.
pub(super) fn tid(repo: AgentKey, tick: u64) -> Result<Tid, Refusal> {
    tid_of(repo, tick).ok_or(Refusal::CommitHead { what: "the clock is beyond all TIDs" })
}

/// Makes what a commit is known by, whose last write has the tick `rev`.
pub(super) fn head(
    (repo, did): (AgentKey, &str),
    last: Option<Digest>,
    rev: u64,
    writes: &[Planned<'_>],
) -> Result<Head, Refusal> {
    let tid = tid(repo, rev)?;
    let writes: Vec<Value<'_>> = writes.iter().map(summary).collect();
    let members: Object<'_> = [
        ("did", Value::from(did)),
        ("version", Value::from(1_u64)),
        ("rev", Value::from(tid.as_str())),
        ("prev", last.map_or(Value::Null, link)),
        ("writes", Value::Array(writes)),
    ]
    .into_iter()
    .collect();
    let cid = lexicon::data::cid(&Value::Object(members)).ok();
    let commit = cid.and_then(|cid| digest_of(&cid));
    let commit = commit.ok_or(Refusal::CommitHead { what: "a commit cannot be written" })?;
    Ok(Head { commit, rev })
}

/// Says what is written.
fn summary<'p>(planned: &'p Planned<'_>) -> Value<'p> {
    let cid = match &planned.write.change {
        RecordChange::Set { cid, .. } => link(*cid),
        RecordChange::Remove => Value::Null,
    };
    let members = [
        ("collection", Value::from(&*planned.write.collection)),
        ("rkey", Value::from(&*planned.key)),
        ("cid", cid),
    ];
    Value::Object(members.into_iter().collect())
}

/// Writes a link to what has a hash.
fn link(digest: Digest) -> Value<'static> {
    let cid = Cid::new(cid::CODEC_DAG_CBOR, digest.0);
    Value::Object([("$link", Value::from(cid.as_str().to_owned()))].into_iter().collect())
}

fn digest_of(cid: &Cid) -> Option<Digest> {
    cid.decode().ok()?.digest.try_into().ok().map(Digest)
}
