//! A commit: ticks and keys for its writes, then its messages, then its records.
//!
//! Steps, each decided on the state that the one before left: what changes nothing is left out, and the rest gets ticks
//! and keys; everything is checked, the records and all messages; messages are sent, amended and taken back; the
//! records are written. Only a message that is refused because of another one of the same commit is found after
//! something has happened: what was sent before it is taken back then, and no message of old is touched yet.

use std::borrow::Cow;

use message::{MessageId, Seq};

use super::head::{head, tid};
use super::messages::{Act, Sent};
use crate::broker::{Broker, Decided, Decision};
use crate::effect::Effects;
use crate::{
    Commit, Committed, Context, Event, Head, RecordChange, RecordSet, RecordView, RecordWrite, Refusal,
    Reply, Swap, Time,
};

/// The writes of a commit that change something.
pub(super) struct Plan<'c> {
    pub(super) commit: &'c Commit,
    /// The tick of the first write; each further one has the next.
    pub(super) tick: u64,
    pub(super) head: Head,
    pub(super) writes: Vec<Planned<'c>>,
}

/// A write that changes something, with the key of its record.
pub(super) struct Planned<'c> {
    pub(super) write: &'c RecordWrite,
    pub(super) key: Cow<'c, str>,
    /// The message that the record was before.
    pub(super) before: Option<MessageId>,
}

impl Broker {
    /// Carries a commit out, with the messages that its records are.
    pub(crate) fn commit_with_messages(
        &mut self,
        cx: &mut Context<'_>,
        commit: &Commit,
        effects: &mut Effects,
        write: &mut dyn FnMut(Seq, Time, &Event<'_>),
    ) -> Result<Reply, Refusal> {
        let (plan, keys) = self.plan(cx.now, commit)?;
        let Some(plan) = plan else { return Ok(Reply::Committed(Committed { head: None, keys })) };
        let acts = self.checked(cx, &plan)?;
        let messages = self.act(cx, commit.repo, &acts, effects, write)?;
        let events = self.written(&plan, &messages);
        self.commit_all(cx.now, &events, effects, write);
        Ok(Reply::Committed(Committed { head: Some(plan.head), keys }))
    }

    /// Decides whether a commit would be refused.
    pub(crate) fn check_commit(&self, cx: &mut Context<'_>, commit: &Commit) -> Decided<'static> {
        let (plan, keys) = self.plan(cx.now, commit)?;
        if let Some(plan) = &plan {
            self.checked(cx, plan)?;
        }
        let head = plan.map(|plan| plan.head);
        Ok(Decision { events: Vec::new(), reply: Reply::Committed(Committed { head, keys }) })
    }

    /// Gives each record its key, and each write that changes something its tick. Returns the keys of all writes; no
    /// plan if none of them changes anything.
    fn plan<'c>(&self, now: Time, commit: &'c Commit) -> Result<(Option<Plan<'c>>, Vec<Box<str>>), Refusal> {
        let Commit { repo, did, .. } = commit;
        self.agent_at(*repo)?;
        let tick = self.next_tick(now);
        let mut writes: Vec<Planned<'c>> = Vec::with_capacity(commit.writes.len());
        let mut keys = Vec::with_capacity(commit.writes.len());
        for write in &commit.writes {
            let key: Cow<'c, str> = match &write.key {
                Some(key) => Cow::Borrowed(key),
                None => Cow::Owned(tid(*repo, tick.saturating_add(writes.len() as u64))?.to_string()),
            };
            keys.push(Box::from(&*key));
            let found = self.record(*repo, &write.collection, &key);
            if write.changes(found) {
                let before = found.and_then(|record| record.message);
                writes.push(Planned { write, key, before });
            }
        }
        if writes.is_empty() {
            return Ok((None, keys));
        }
        let last = self.repo(*repo).map(|repo| repo.commit);
        let rev = tick.saturating_add(writes.len() as u64 - 1);
        let head = head((*repo, did), last, rev, &writes)?;
        Ok((Some(Plan { commit, tick, head, writes }), keys))
    }

    /// Refuses a commit that cannot be, before anything has happened; returns what its messages need.
    fn checked(&self, cx: &mut Context<'_>, plan: &Plan<'_>) -> Result<Vec<Act>, Refusal> {
        self.check_records(plan)?;
        let acts: Vec<Act> = plan.writes.iter().map(|planned| self.act_of(cx, plan, planned)).collect();
        for act in &acts {
            self.check_act(cx, plan.commit.repo, act)?;
        }
        Ok(acts)
    }

    /// Returns the events of the writes, whose records are these messages now.
    fn written<'p>(&self, plan: &'p Plan<'_>, messages: &[Option<Sent>]) -> Vec<Event<'p>> {
        let writes = (plan.tick..).zip(&plan.writes).zip(messages);
        writes.filter_map(|((tick, planned), sent)| self.written_at(plan, planned, tick, *sent)).collect()
    }

    fn written_at<'p>(
        &self,
        plan: &'p Plan<'_>,
        planned: &'p Planned<'_>,
        tick: u64,
        sent: Option<Sent>,
    ) -> Option<Event<'p>> {
        let (repo, Head { commit, rev }) = (plan.commit.repo, plan.head);
        let (collection, key) = (&*planned.write.collection, &*planned.key);
        let found = self.records.repos.get(&repo).and_then(|repo| repo.get(collection, key));
        let RecordChange::Set { cid, document, submit, blobs } = &planned.write.change else {
            let body = found?.body;
            return Some(Event::RecordRemoved { repo, collection, key, tick, rev, commit, body });
        };
        // What an open message says need not be stored twice; what another says may be given up.
        let says_it = |sent: &Sent| sent.is_its_body && submit.as_ref().is_some_and(|it| it.body == document);
        let place = sent.filter(says_it).and_then(|sent| self.open_body(sent.message));
        // A message that is long over stays the one that the record was.
        let before = planned.before.filter(|_| submit.is_some());
        Some(Event::RecordSet(Box::new(RecordSet {
            repo,
            collection,
            key,
            cid: *cid,
            tick,
            rev,
            commit,
            is_new: found.is_none(),
            message: sent.map(|sent| sent.message).or(before),
            blobs: blobs.clone(),
            place,
            bytes: u32::try_from(document.len()).unwrap_or(u32::MAX),
            body: if place.is_some() { b"" } else { document },
        })))
    }

    /// Returns where the body of an open message lies.
    fn open_body(&self, id: MessageId) -> Option<Seq> {
        let message = self.find(id).and_then(|key| self.message(key))?;
        (message.open > 0).then_some(message.body)
    }
}

impl RecordWrite {
    /// Tells whether there is anything to do: what is there already stays, what is gone need not be removed.
    fn changes(&self, found: Option<RecordView<'_>>) -> bool {
        match (&self.change, found, self.swap) {
            (RecordChange::Set { cid, .. }, Some(record), Swap::Anything | Swap::Something | Swap::Is(_)) => {
                record.cid != *cid
            }
            (RecordChange::Set { .. }, None, _) | (RecordChange::Set { .. }, Some(_), Swap::Nothing) => true,
            (RecordChange::Remove, Some(_), _) | (RecordChange::Remove, None, Swap::Something) => true,
            (RecordChange::Remove, None, Swap::Anything | Swap::Nothing | Swap::Is(_)) => false,
        }
    }
}
