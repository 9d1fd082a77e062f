//! Commits: records that are written together, and the messages that they are.

use std::collections::BTreeSet;
use std::rc::Rc;

use broker::{AgentKey, Committed, Effect, Refusal, Reply, Swap, Time};
use message::{Address, Kind, MessageId};

use super::accept::Fate;
use super::records::{Name, Record};
use super::route::Reason;
use super::state::{Known, State};
use super::work::No;
use crate::driver::Answer;
use crate::request::{Recorded, Recording, Sent, Writing, cid_of};
use crate::violation::{Promise, Violation, broken, ensure};

/// Ticks have as many bits as what spells them has room for.
const TICK_MAX: u64 = (1 << 53) - 1;
/// The characters of a TID, in their order.
const TID_ALPHABET: &[u8; 32] = b"234567abcdefghijklmnopqrstuvwxyz";

/// A write that changes something.
struct Step<'r> {
    writing: &'r Writing,
    tick: u64,
    /// Its key, which the bus makes from the tick where none was given.
    key: Rc<str>,
    /// The record that is there, and the message that it is.
    before: Option<Record>,
}

/// Why a commit may be refused.
#[derive(Clone, Copy, Debug)]
enum Hindrance {
    Swapped,
    Exists,
    Missing,
    Twice,
    TooLarge,
    TooMany,
    OtherRecipient,
    /// An id stands for another message.
    Conflict(MessageId),
    Message(Reason),
}

impl Hindrance {
    fn fits(self, refusal: &Refusal) -> bool {
        match self {
            Hindrance::Swapped => matches!(refusal, Refusal::Swapped { .. }),
            Hindrance::Exists => matches!(refusal, Refusal::RecordExists),
            Hindrance::Missing => matches!(refusal, Refusal::UnknownRecord),
            Hindrance::Twice => matches!(refusal, Refusal::RecordTwice { .. }),
            Hindrance::TooLarge => matches!(refusal, Refusal::TooLarge { .. }),
            Hindrance::TooMany => matches!(refusal, Refusal::TooMany { what: "records", .. }),
            Hindrance::OtherRecipient => matches!(refusal, Refusal::OtherRecipient { .. }),
            Hindrance::Conflict(id) => *refusal == Refusal::Conflict { id },
            Hindrance::Message(reason) => reason.fits(refusal),
        }
    }
}

impl From<No> for Hindrance {
    fn from(no: No) -> Self {
        Hindrance::Message(Reason::Work(no))
    }
}

impl Step<'_> {
    fn message(&self) -> Option<MessageId> {
        self.before.as_ref().and_then(|record| record.message)
    }

    fn sent(&self) -> Option<&Rc<Sent>> {
        match &self.writing.how {
            Recording::Set(_, sent) => sent.as_ref(),
            Recording::Remove => None,
        }
    }
}

impl State {
    /// Notes what a commit has written and sent, or that it was refused and did nothing.
    pub(super) fn committed(&mut self, recorded: &Recorded, answer: &Answer) -> Result<(), Violation> {
        if self.refused_unknown(recorded.repo, &answer.outcome)? {
            return Ok(());
        }
        let steps = self.steps(recorded, answer.now);
        let hindrances = self.hindrances(recorded, &steps, answer);
        if !hindrances.is_empty() && !steps.is_empty() {
            refused(&hindrances, recorded, answer)?;
            let what = format_args!("a refused commit sends {:?}: {recorded:?}", answer.sent);
            return ensure(answer.sent.is_empty(), Promise::Records, what);
        }
        let replaced: Vec<bool> =
            (1..).zip(&steps).map(|(next, step)| self.is_replaced(step, &steps[next..])).collect();
        for (step, _) in steps.iter().zip(&replaced).filter(|(_, is_replaced)| **is_replaced) {
            self.change_message(recorded.repo, step, &mut None, answer)?;
        }
        let Some(mut messages) = self.send_all(recorded, &steps, answer)? else { return Ok(()) };
        for ((step, message), is_replaced) in steps.iter().zip(&mut messages).zip(replaced) {
            if !is_replaced {
                self.change_message(recorded.repo, step, message, answer)?;
            }
        }
        let Ok(Reply::Committed(committed)) = &answer.outcome else {
            return broken(Promise::Records, format_args!("{:?}: {recorded:?}", answer.outcome));
        };
        self.check_head(recorded, committed, &steps)?;
        check_keys(recorded, committed, &steps)?;
        self.keep(recorded, committed, &steps, &messages);
        Ok(())
    }

    /// Gives writes their ticks, and leaves out what changes nothing: what is there already stays, what is gone need
    /// not be removed.
    fn steps<'r>(&self, recorded: &'r Recorded, now: Time) -> Vec<Step<'r>> {
        let mut tick = (now.0 * 1_000).max(self.repos.tick + 1);
        let mut steps = Vec::new();
        for writing in &recorded.writes {
            let key = writing.key.clone().unwrap_or_else(|| tid(tick, recorded.repo).into());
            let name: Name = (recorded.repo, writing.collection, Rc::clone(&key));
            let before = self.repos.records.get(&name).cloned();
            let changes = match (&writing.how, &before) {
                (Recording::Set(document, _), Some(record)) => {
                    writing.swap == Swap::Nothing || record.cid != cid_of(document)
                }
                (Recording::Set(..), None) | (Recording::Remove, Some(_)) => true,
                (Recording::Remove, None) => writing.swap == Swap::Something,
            };
            if changes {
                steps.push(Step { writing, tick, key, before });
                tick += 1;
            }
        }
        steps
    }

    /// Finds every reason to refuse a commit before anything is done.
    fn hindrances(&self, recorded: &Recorded, steps: &[Step<'_>], answer: &Answer) -> Vec<Hindrance> {
        let mut found = Vec::new();
        let last = self.repos.last.get(&recorded.repo);
        if recorded.swap.is_some_and(|swap| Some(&swap) != last) {
            found.push(Hindrance::Swapped);
        }
        let (limits, mut names, mut added) = (&self.settings.limits, BTreeSet::new(), 0);
        for step in steps {
            let Writing { collection, swap, how, .. } = step.writing;
            if !names.insert((collection, &step.key)) {
                found.push(Hindrance::Twice);
            }
            let there = step.before.as_ref().map(|record| record.cid);
            match swap {
                Swap::Nothing if there.is_some() => found.push(Hindrance::Exists),
                Swap::Something if there.is_none() => found.push(Hindrance::Missing),
                Swap::Is(cid) if *cid != there => found.push(Hindrance::Swapped),
                Swap::Anything | Swap::Nothing | Swap::Something | Swap::Is(_) => {}
            }
            if let Recording::Set(document, _) = how {
                added += u64::from(there.is_none());
                if document.len() as u64 > limits.body_bytes_max {
                    found.push(Hindrance::TooLarge);
                }
            }
            found.extend(self.message_hindrances(recorded, (steps, step), answer));
        }
        if added > 0 && self.repos.records.len() as u64 + added > limits.records_max {
            found.push(Hindrance::TooMany);
        }
        found
    }

    /// Finds why the message of a record cannot be sent or amended.
    fn message_hindrances(
        &self,
        recorded: &Recorded,
        (steps, step): (&[Step<'_>], &Step<'_>),
        answer: &Answer,
    ) -> Vec<Hindrance> {
        match (step.sent(), step.message()) {
            (Some(sent), None) => {
                let sent = self.with_name(recorded, (steps, step), sent, answer.now);
                match self.expect(&sent, None, answer) {
                    Fate::Claim(no) => vec![no.into()],
                    Fate::Repeat(known) => conflict(&sent, &known).into_iter().collect(),
                    Fate::New(arrival) => arrival.reasons.iter().copied().map(Hindrance::Message).collect(),
                }
            }
            (Some(sent), Some(message)) => {
                let is_large = sent.body.len() as u64 > self.settings.limits.body_bytes_max;
                let is_other = self.is_for_others(message, &sent.to);
                let hindrances = [
                    (is_large && !self.is_taken_back(message), Hindrance::TooLarge),
                    (is_other, Hindrance::OtherRecipient),
                ];
                hindrances.into_iter().filter(|(is_so, _)| *is_so).map(|(_, it)| it).collect()
            }
            (None, _) => Vec::new(),
        }
    }

    /// Tells whether a message is addressed to an agent to which it did not go.
    fn is_for_others(&self, message: MessageId, to: &[Address]) -> bool {
        let entries = self.parts_of(message).filter(|(_, part)| part.is_entry());
        let holders: Vec<AgentKey> = entries.filter_map(|(_, part)| self.holder(part)).collect();
        to.iter().any(|to| {
            let agent = match to {
                Address::Agent(agent) => self.agent(agent.as_str()),
                Address::Session { agent, .. } => self.agent(agent.as_str()),
                Address::Role(_) | Address::Topic(_) | Address::Channel(_) | Address::All => None,
            };
            agent.is_some_and(|agent| !holders.contains(&agent))
        })
    }

    /// Gives a message without an id of its sender's the name of its record, or one with a tick where that is known.
    fn with_name(
        &self,
        recorded: &Recorded,
        (steps, step): (&[Step<'_>], &Step<'_>),
        sent: &Rc<Sent>,
        now: Time,
    ) -> Rc<Sent> {
        if sent.native_id.is_some() {
            return Rc::clone(sent);
        }
        let name = format!("at://{}/{}/{}", recorded.did, step.writing.collection, step.key);
        let first = steps.first().map_or(0, |step| step.tick);
        let with_ticks = (first..).map(|tick| format!("{name}#{tick}"));
        let named = |id: String| Sent { native_id: Some(id), ..sent.as_ref().clone() };
        let mut ids = std::iter::once(name.clone()).chain(with_ticks).map(named);
        let fresh = ids.find(|sent| self.known_again(sent, now).is_none());
        fresh.map_or_else(|| Rc::clone(sent), Rc::new)
    }

    /// A request goes before another one for its task comes; all other messages go after those that are sent.
    fn is_replaced(&self, step: &Step<'_>, later: &[Step<'_>]) -> bool {
        let (None, Some(message)) = (step.sent(), step.message()) else { return false };
        let task = &self.messages[&message].sent.task;
        let new = later.iter().filter(|step| step.message().is_none()).filter_map(Step::sent);
        task.is_some() && new.into_iter().any(|sent| sent.kind == Kind::TaskRequest && sent.task == *task)
    }

    /// Sends the messages of new records. Nothing if one is refused because of those before it: they are taken back.
    fn send_all(
        &mut self,
        recorded: &Recorded,
        steps: &[Step<'_>],
        answer: &Answer,
    ) -> Result<Option<Vec<Option<MessageId>>>, Violation> {
        let (mut messages, mut ids) = (Vec::new(), answer.sent.iter().copied());
        let mut taken_in = Vec::new();
        for step in steps {
            let (Some(sent), None) = (step.sent(), step.message()) else {
                messages.push(None);
                continue;
            };
            let id = ids.clone().next();
            let named = self.with_name(recorded, (steps, step), sent, answer.now);
            let hindrances = match self.expect(&named, id, answer) {
                Fate::Claim(no) => vec![no.into()],
                Fate::Repeat(known) => match conflict(&named, &known) {
                    Some(conflict) => vec![conflict],
                    None => {
                        messages.push(Some(known.message));
                        continue;
                    }
                },
                Fate::New(arrival) if arrival.reasons.is_empty() => {
                    let Some(id) = ids.next() else {
                        return broken(Promise::Records, format_args!("{named:?} is not sent"));
                    };
                    self.take_in(&named, *arrival, id, answer)?;
                    taken_in.push(id);
                    messages.push(Some(id));
                    continue;
                }
                Fate::New(arrival) => arrival.reasons.iter().copied().map(Hindrance::Message).collect(),
            };
            refused(&hindrances, recorded, answer)?;
            for id in taken_in {
                self.take_back(id, recorded.repo, answer.now);
            }
            let what = format_args!("a refused commit sends {:?}: {recorded:?}", answer.sent);
            return ensure(ids.next().is_none(), Promise::Records, what).map(|()| None);
        }
        let what = format_args!("a commit sends {:?}: {recorded:?}", answer.sent);
        ensure(ids.next().is_none(), Promise::Records, what)?;
        Ok(Some(messages))
    }

    /// Amends the message that a record was, or takes it back; one that is taken back already stays what it was.
    fn change_message(
        &mut self,
        repo: AgentKey,
        step: &Step<'_>,
        after: &mut Option<MessageId>,
        answer: &Answer,
    ) -> Result<(), Violation> {
        let Some(message) = step.message() else { return Ok(()) };
        let is_over = self.is_taken_back(message);
        if let Some(sent) = step.sent() {
            *after = Some(message);
            if !is_over {
                self.change_body(message, &sent.body, answer.now);
            }
            return Ok(());
        }
        if is_over {
            return Ok(());
        }
        let waited = self.messages[&message].wait_until.is_some();
        self.take_back(message, repo, answer.now);
        let is_it =
            |effect: &&Effect| matches!(effect, Effect::Unanswered { message: id, .. } if *id == message);
        let told = answer.effects.iter().any(|effect| is_it(&effect));
        ensure(told == waited, Promise::Replies, format_args!("the wait for {message}: {:?}", answer.effects))
    }

    /// Checks that a commit has the tick of its last write, and is known by what no other is.
    fn check_head(
        &self,
        recorded: &Recorded,
        committed: &Committed,
        steps: &[Step<'_>],
    ) -> Result<(), Violation> {
        let is_right = match committed.head {
            Some(head) => {
                let is_last = steps.last().is_some_and(|step| step.tick == head.rev);
                is_last && head.rev <= TICK_MAX && !self.repos.commits.contains(&head.commit)
            }
            None => steps.is_empty(),
        };
        let what = format_args!("{} writes become {committed:?}: {recorded:?}", steps.len());
        ensure(is_right, Promise::Records, what)
    }

    /// Notes what is written.
    fn keep(
        &mut self,
        recorded: &Recorded,
        committed: &Committed,
        steps: &[Step<'_>],
        messages: &[Option<MessageId>],
    ) {
        let Some(head) = committed.head else { return };
        let repos = &mut self.repos;
        repos.last.insert(recorded.repo, head.commit);
        repos.commits.insert(head.commit);
        repos.tick = head.rev;
        for (step, message) in steps.iter().zip(messages) {
            let name: Name = (recorded.repo, step.writing.collection, Rc::clone(&step.key));
            match &step.writing.how {
                Recording::Set(document, _) => {
                    let (document, cid, tick) = (Rc::clone(document), cid_of(document), step.tick);
                    repos.records.insert(name, Record { document, cid, tick, message: *message });
                }
                Recording::Remove => drop(repos.records.remove(&name)),
            }
        }
    }
}

/// Checks that each record has the key that was asked for, or the TID of its write.
fn check_keys(recorded: &Recorded, committed: &Committed, steps: &[Step<'_>]) -> Result<(), Violation> {
    let keys: Vec<Option<Rc<str>>> = recorded
        .writes
        .iter()
        .map(|writing| {
            let step = steps.iter().find(|step| std::ptr::eq(step.writing, writing));
            writing.key.clone().or_else(|| step.map(|step| Rc::clone(&step.key)))
        })
        .collect();
    let is_right = committed.keys.iter().map(|key| Some(&**key)).eq(keys.iter().map(Option::as_deref));
    let what = format_args!("{committed:?}, expected {keys:?}: {recorded:?}");
    ensure(is_right, Promise::Records, what)
}

/// Refuses nothing without a reason, and takes nothing in spite of one.
fn refused(hindrances: &[Hindrance], recorded: &Recorded, answer: &Answer) -> Result<(), Violation> {
    let is_right = answer
        .outcome
        .as_ref()
        .is_err_and(|refusal| hindrances.iter().any(|hindrance| hindrance.fits(refusal)));
    let what = format_args!("to be refused for {hindrances:?}: {:?}; {recorded:?}", answer.outcome);
    ensure(is_right, Promise::Records, what)
}

/// Another document under the same id is a conflict, the same one a repeat.
fn conflict(sent: &Sent, known: &Known) -> Option<Hindrance> {
    (known.document != sent.body).then_some(Hindrance::Conflict(known.message))
}

/// Spells a tick of a repository: the time and ten bits of whose it is, in base 32.
fn tid(tick: u64, repo: AgentKey) -> String {
    let number = (tick << 10) | u64::from(repo.0 & 0x3ff);
    let digits = (0..13).rev().map(|place| TID_ALPHABET[(number >> (5 * place)) as usize & 31]);
    digits.map(char::from).collect()
}
