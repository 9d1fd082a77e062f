//! What agents keep: a map from names to documents.

use std::rc::Rc;

use broker::{AgentKey, Refusal};

use super::Outcome;
use super::state::State;
use crate::request::Kept;
use crate::violation::{Promise, Violation, broken, ensure};

impl State {
    /// Notes that somebody stored a record or removed it.
    pub(super) fn kept(
        &mut self,
        repo: AgentKey,
        key: &str,
        change: &Kept,
        outcome: &Outcome,
    ) -> Result<(), Violation> {
        if self.refused_unknown(repo, outcome)? {
            return Ok(());
        }
        let name = (repo, Box::from(key));
        let is_there = self.records.contains_key(&name);
        let body = match change {
            Kept::Nothing => None,
            Kept::New(body) | Kept::Any(body) => Some(Rc::clone(body)),
            Kept::Message(id) => match self.messages.get(id) {
                Some(letter) => Some(Rc::clone(&letter.body)),
                None => return broken(Promise::Answers, format_args!("{id} was never sent")),
            },
        };
        let is_full = self.records.len() as u64 >= self.settings.limits.records_max;
        let is_too_large =
            body.as_ref().is_some_and(|body| body.len() as u64 > self.settings.limits.body_bytes_max);
        let what = format_args!("{key} of {repo:?} is kept, {change:?}: {outcome:?}");
        match (outcome, change) {
            (Err(Refusal::RecordExists), Kept::New(_)) => ensure(is_there, Promise::Answers, what),
            (Err(Refusal::TooMany { .. }), _) => ensure(is_full && !is_there, Promise::Limits, what),
            (Err(Refusal::TooLarge { .. }), _) => ensure(is_too_large, Promise::Limits, what),
            // What is settled may be forgotten.
            (Err(Refusal::UnknownMessage), Kept::Message(id)) => {
                let is_open = self.parts_of(*id).any(|(_, part)| part.is_open());
                ensure(!is_open, Promise::Answers, what)
            }
            (Ok(_), _) => {
                let is_new = matches!(change, Kept::New(_));
                ensure(!(is_new && is_there) && !is_too_large, Promise::Answers, what)?;
                ensure(is_there || !is_full || body.is_none(), Promise::Limits, what)?;
                match body {
                    Some(body) => drop(self.records.insert(name, body)),
                    None => drop(self.records.remove(&name)),
                }
                Ok(())
            }
            (Err(_), _) => broken(Promise::Answers, what),
        }
    }

    /// Compares what the bus keeps, as it is read from the log, with what was stored.
    pub(super) fn check_records(&self, kept: &[(AgentKey, Box<str>, Vec<u8>)]) -> Result<(), Violation> {
        let count = self.records.len();
        let what = format_args!("{} records are kept, expected {count}", kept.len());
        ensure(kept.len() == count, Promise::Durable, what)?;
        for (repo, key, body) in kept {
            let expected = self.records.get(&(*repo, key.clone()));
            let is_it = expected.is_some_and(|expected| **expected == **body);
            let what = format_args!("{key} of {repo:?} says {:?}", String::from_utf8_lossy(body));
            ensure(is_it, Promise::Bodies, what)?;
        }
        Ok(())
    }
}
