//! Records: who keeps what, and that it is there as it was written.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use broker::{AgentKey, Digest};
use message::MessageId;

use super::state::State;
use super::text;
use crate::driver::Kept;
use crate::violation::{Promise, Violation, ensure};

/// Whose record it is, its collection and its key.
pub(super) type Name = (AgentKey, &'static str, Rc<str>);

/// What agents keep.
#[derive(Clone, Default)]
pub(crate) struct Repos {
    pub(super) records: BTreeMap<Name, Record>,
    /// The last commit of each.
    pub(super) last: BTreeMap<AgentKey, Digest>,
    /// Every commit that there was.
    pub(super) commits: BTreeSet<Digest>,
    /// The tick of the last write.
    pub(super) tick: u64,
}

/// A record as it was written.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(super) document: Rc<[u8]>,
    pub(super) cid: Digest,
    pub(super) tick: u64,
    pub(super) message: Option<MessageId>,
}

impl State {
    /// Compares with what was read from the log for every open task: what asks for it.
    pub(super) fn check_asked(&self, asked: &[(MessageId, Vec<u8>)]) -> Result<(), Violation> {
        for (id, document) in asked {
            let sent = &self.messages[id].body;
            let what = format_args!("{id} asks for {:?}, not {:?}", text(document), text(sent));
            ensure(**sent == **document, Promise::Bodies, what)?;
        }
        Ok(())
    }

    /// Compares with what was read from the log for every record.
    pub(super) fn check_kept(&self, kept: &[Kept]) -> Result<(), Violation> {
        let found =
            kept.iter().map(|kept| ((kept.repo, &*kept.collection, &*kept.key), kept.stamp, &*kept.document));
        let expected = self.repos.records.iter().map(|((repo, collection, key), record)| {
            let stamp = (record.cid, record.tick, record.message);
            ((*repo, *collection, &**key), stamp, &*record.document)
        });
        let (found, expected): (Vec<_>, Vec<_>) = (found.collect(), expected.collect());
        let wrong = expected.iter().find(|record| !found.contains(record));
        let what = format_args!(
            "{} records are kept, {} expected; {:?} is not as it was written",
            found.len(),
            expected.len(),
            wrong.map(|(name, stamp, document)| (name, stamp, text(document)))
        );
        ensure(found == expected, Promise::Records, what)
    }
}
