//! Records: who keeps what, and that it is there as it was written.

use std::collections::BTreeMap;
use std::rc::Rc;

use broker::{AgentKey, Refusal};
use message::MessageId;

use super::state::State;
use super::{Outcome, text};
use crate::driver::Kept;
use crate::request::{Recorded, Recording};
use crate::violation::{Promise, Violation, ensure};

/// The documents of records, by whose they are and by their names.
pub(crate) type Records = BTreeMap<(AgentKey, (&'static str, &'static str)), Rc<[u8]>>;

impl State {
    /// Notes that a record was written or removed, or why not.
    pub(super) fn recorded(&mut self, recorded: &Recorded, outcome: &Outcome) -> Result<(), Violation> {
        if self.refused_unknown(recorded.repo, outcome)? {
            return Ok(());
        }
        let name = (recorded.repo, recorded.name);
        let refusal = outcome.as_ref().err();
        let what = format_args!("{recorded:?}: {outcome:?}");
        let document = match &recorded.how {
            Recording::Remove => {
                self.records.remove(&name);
                return ensure(refusal.is_none(), Promise::Answers, what);
            }
            Recording::Here(document) => Rc::clone(document),
            Recording::OfMessage(id) => Rc::clone(&self.messages[id].body),
        };
        let limits = &self.settings.limits;
        let is_full = !self.records.contains_key(&name) && self.records.len() as u64 >= limits.records_max;
        let is_large = document.len() as u64 > limits.body_bytes_max;
        let is_over = match &recorded.how {
            Recording::OfMessage(id) => !self.open_messages().contains(id),
            Recording::Here(_) | Recording::Remove => false,
        };
        let is_right = match refusal {
            Some(Refusal::TooMany { .. }) => is_full,
            Some(Refusal::TooLarge { .. }) => is_large,
            Some(Refusal::Settled) => is_over,
            Some(_) => false,
            None => !is_full && !is_large && !is_over,
        };
        ensure(is_right, Promise::Answers, what)?;
        if refusal.is_none() {
            self.records.insert(name, document);
        }
        Ok(())
    }

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
        let found = kept.iter().map(|kept| (kept.repo, &*kept.collection, &*kept.key, &*kept.document));
        let expected = self
            .records
            .iter()
            .map(|((repo, (collection, key)), document)| (*repo, *collection, *key, &**document));
        let (found, expected): (Vec<_>, Vec<_>) = (found.collect(), expected.collect());
        let wrong = expected.iter().find(|record| !found.contains(record));
        let what = format_args!(
            "{} records are kept, {} expected; {:?} is not as it was written",
            found.len(),
            expected.len(),
            wrong.map(|(repo, collection, key, document)| (repo, collection, key, text(document)))
        );
        ensure(found == expected, Promise::Records, what)
    }
}
